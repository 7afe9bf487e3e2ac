//! What every measured client loads, beside each other.

use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::{ClientRange, Explanation, Fate, Verdict, ranges_by};

use super::super::error::CliError;
use super::super::facts;
use super::super::figures::{count, things};
use super::super::out::Out;
use super::super::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET, STRONG, paint};
use super::super::table::{Align, Cell, Table, truncate_to_width};
use super::super::{clean, entry};
use super::{labels, strip};
use crate::text::shell::typed;

/// Columns from which on there is room for percents.
const WIDE: usize = 72;
/// Columns from which on there is room for strips, and their width.
const WIDER: usize = 110;
const STRIP: usize = 24;

/// Prints a row for each range of clients that agree, and how the ranges differ.
pub(super) fn print(explained: &Explanation, session: &str, out: &mut Out) -> Result<(), CliError> {
    let ranges = explained.ranges();
    for line in facts::wrap(&vec![(STRONG, sentence(explained, &ranges))], out.width()) {
        out.line(&line)?;
    }
    out.line("")?;
    table(explained, &ranges, out.width()).print(out)?;
    out.line("")?;
    if out.width() >= WIDER {
        out.line(&paint(QUIET, &strip::signs()))?;
        out.line("")?;
    }
    leaves(explained, out)?;
    refusals(explained, out)?;
    footer(explained, session, out)
}

fn name(explained: &Explanation, range: &ClientRange) -> String {
    let version = |k: usize| explained.verdicts[k].measured.unwrap_or_default();
    let (first, last) = (version(*range.start()), version(*range.end()));
    if first == last { first.to_owned() } else { format!("{first} – {last}") }
}

/// Says how the clients differ.
fn sentence(explained: &Explanation, ranges: &[ClientRange]) -> String {
    let clients = explained.verdicts.len();
    let of = |range: &ClientRange| &explained.verdicts[*range.start()];
    let Some(first) = ranges.first() else { return String::new() };
    let entries = of(first).resume.entries as u64;
    if ranges.len() == 1 {
        let loaded = of(first).count(Fate::Loaded) as u64;
        return match of(first).resume.halt {
            Some(halt) => format!("Each of {clients} measured clients {}", labels::halted(halt)),
            None if loaded == entries => {
                format!("Each of {clients} measured clients loads everything: {}", things(entries, "entry"))
            }
            None => format!(
                "All {clients} measured clients load the same {} of {}",
                count(loaded),
                things(entries, "entry")
            ),
        };
    }
    // Of equals the newest.
    let loaded = |range: &ClientRange| of(range).count(Fate::Loaded);
    let most = ranges.iter().max_by_key(|range| loaded(range)).unwrap_or(first);
    let least = ranges.iter().rev().min_by_key(|range| loaded(range)).unwrap_or(first);
    let said = format!("{clients} measured clients load this session in {} ways", ranges.len());
    let number = |range: &ClientRange| count(loaded(range) as u64);
    if loaded(most) == loaded(least) {
        return format!("{said}, each {} of {}", number(most), things(entries, "entry"));
    }
    let (more, all) = (name(explained, most), things(entries, "entry"));
    let fewer = name(explained, least);
    format!("{said}: most by {more} ({} of {all}), least by {fewer} ({})", number(most), number(least))
}

fn table(explained: &Explanation, ranges: &[ClientRange], width: usize) -> Table {
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("client", Align::Left, 24)
        .column("leaf", Align::Left, 36)
        .column("loaded", Align::Right, 9)
        .column("", Align::Right, 9)
        .column("turns", Align::Right, 7)
        .column("lost", Align::Right, 9)
        .column("the session", Align::Left, STRIP)
        .column("begins at", Align::Left, 60);
    for range in ranges {
        let verdict = &explained.verdicts[*range.start()];
        let resume = &verdict.resume;
        let loaded = verdict.count(Fate::Loaded) as u64;
        let lost = verdict.count(Fate::Lost) as u64;
        let leaf = resume
            .leaf
            .map(|(leaf, _)| explained.session.handle(explained.speaker(leaf)))
            .unwrap_or_default();
        table.row(vec![
            mark(explained, range),
            name(explained, range).into(),
            Cell::new(NAME, leaf),
            count(loaded).into(),
            if width >= WIDE {
                Cell::new(QUIET, labels::share(loaded, resume.entries as u64))
            } else {
                Cell::default()
            },
            count(verdict.turns as u64).into(),
            if lost > 0 { Cell::new(BAD, count(lost)) } else { Cell::new(QUIET, "0") },
            if width >= WIDER { strip::cell(explained, verdict, STRIP) } else { Cell::default() },
            end(explained, verdict),
        ]);
    }
    table
}

/// Says where what is loaded begins, or that nothing is.
fn end(explained: &Explanation, verdict: &Verdict) -> Cell {
    let resume = &verdict.resume;
    if let Some(halt) = resume.halt {
        return Cell::new(MARK, labels::halted(halt));
    }
    let handle = |no: NodeId| explained.session.handle(no);
    match (resume.stop, resume.chain.first()) {
        (Some(stop), _) => {
            Cell::new(NAME, handle(stop.node)).and(PLAIN, format!(", {}", labels::end(stop.why)))
        }
        (None, Some(&first)) => Cell::new(NAME, handle(first)),
        _ => Cell::default(),
    }
}

/// Says by which rule each client chose its leaf.
fn leaves(explained: &Explanation, out: &mut Out) -> Result<(), CliError> {
    let chosen = |verdict: &Verdict| {
        let leaf = verdict.resume.leaf;
        leaf.map(|(leaf, rule)| (explained.speaker(leaf), labels::short_rule(rule)))
    };
    let mut quotes = explained.quotes()?;
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("client", Align::Left, 24)
        .column("leaf", Align::Left, 36)
        .column("chosen as", Align::Left, 40)
        .column("words", Align::Left, 400);
    let mut before = None;
    for range in ranges_by(&explained.verdicts, |a, b| chosen(a) == chosen(b)) {
        let Some((leaf, rule)) = chosen(&explained.verdicts[*range.start()]) else { continue };
        let known = before.replace(leaf) == Some(leaf);
        let node = explained.session.tree.node(leaf);
        let gist = entry::words(&quotes.said(leaf)?, node.voice, node.kind, &explained.head.folder);
        table.row(vec![
            mark(explained, &range),
            name(explained, &range).into(),
            Cell::new(NAME, explained.session.handle(leaf)),
            rule.into(),
            if known { Cell::default() } else { truncate_to_width(&gist, out.width()).into() },
        ]);
    }
    table.print(out)?;
    out.line("")
}

/// Says what the API refuses of which clients.
fn refusals(explained: &Explanation, out: &mut Out) -> Result<(), CliError> {
    let number = |verdict: &Verdict| verdict.refusals.len() as u64;
    let ranges = ranges_by(&explained.verdicts, |a, b| number(a) == number(b));
    for range in ranges {
        let refused = number(&explained.verdicts[*range.start()]);
        if refused > 0 {
            let said = format!(
                "the API refuses {} that {} would send",
                things(refused, "thing"),
                name(explained, &range)
            );
            for line in facts::wrap(&vec![(MARK, said)], out.width()) {
                out.line(&line)?;
            }
        }
    }
    Ok(())
}

/// Marks the client that wrote the newest line.
fn mark(explained: &Explanation, range: &ClientRange) -> Cell {
    let current = explained.current().is_some_and(|k| range.contains(&k));
    if current { Cell::new(GOOD, "●") } else { Cell::default() }
}

fn footer(explained: &Explanation, session: &str, out: &mut Out) -> Result<(), CliError> {
    let Some(current) = explained.current() else {
        return out.line(&paint(QUIET, "no line says which client wrote it"));
    };
    let written = explained.written_by.as_ref().map(|written| clean::line(&written.text)).unwrap_or_default();
    let measured = explained.verdicts[current].measured.unwrap_or_default();
    let mut said = format!("● {} wrote the newest line", truncate_to_width(&written, 24));
    if written != measured {
        said = format!("{said}; not measured itself, it is taken for {measured}");
    }
    for line in facts::wrap(&vec![(QUIET, said)], out.width()) {
        out.line(&line)?;
    }
    let version = explained.ranges().into_iter().find(|range| !range.contains(&current));
    let version =
        version.map_or(measured, |range| explained.verdicts[*range.end()].measured.unwrap_or_default());
    let command = format!("rethread explain {} --client {version}", typed(session));
    facts::command("one in full", &command, out)
}
