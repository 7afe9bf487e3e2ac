//! Compares the entries that each measured client loads.

use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::explain::{ClientRange, ClientVerdict, EntryFate, Explanation, group_verdicts};

use super::{labels, strip};
use crate::cli::error::CliError;
use crate::cli::figures::{count_noun, format_percent, group_digits};
use crate::cli::out::Out;
use crate::cli::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET, STRONG, paint};
use crate::cli::table::{Align, Cell, Table, truncate_to_width};
use crate::cli::{clean, entry, facts};
use crate::text::command::build_command;

/// The minimum screen width for percentages.
const MIN_PERCENT_WIDTH: usize = 72;
/// The minimum screen width for strips.
const MIN_STRIP_WIDTH: usize = 110;
/// The width of a strip.
const STRIP_WIDTH: usize = 24;

/// Prints a row for each range of client versions with the same result, and their differences.
pub(super) fn print(explanation: &Explanation, session: &str, out: &mut Out) -> Result<(), CliError> {
    let ranges = explanation.client_ranges();
    for line in facts::wrap_styled(&vec![(STRONG, summarize_ranges(explanation, &ranges))], out.width()) {
        out.line(&line)?;
    }
    out.line("")?;
    build_table(explanation, &ranges, out.width()).print(out)?;
    out.line("")?;
    if out.width() >= MIN_STRIP_WIDTH {
        out.line(&paint(QUIET, &strip::format_legend()))?;
        out.line("")?;
    }
    print_leaves(explanation, out)?;
    print_rejections(explanation, out)?;
    print_footer(explanation, session, out)
}

/// Formats a range of client versions: the first and the last, or the only one.
fn format_range(explanation: &Explanation, range: &ClientRange) -> String {
    let version = |idx: usize| explanation.verdicts[idx].rules_of.unwrap_or_default();
    let (first, last) = (version(*range.start()), version(*range.end()));
    if first == last { first.to_owned() } else { format!("{first} – {last}") }
}

/// Summarizes the differences between the clients in one sentence.
fn summarize_ranges(explanation: &Explanation, ranges: &[ClientRange]) -> String {
    let clients = explanation.verdicts.len();
    let verdict_of = |range: &ClientRange| &explanation.verdicts[*range.start()];
    let Some(first) = ranges.first() else { return String::new() };
    let entries = verdict_of(first).resume.entries as u64;
    if ranges.len() == 1 {
        let loaded = verdict_of(first).count(EntryFate::Loaded) as u64;
        return match verdict_of(first).resume.failure {
            Some(failure) => format!("Each of {clients} measured clients {}", labels::failure_label(failure)),
            None if loaded == entries => {
                format!(
                    "Each of {clients} measured clients loads everything: {}",
                    count_noun(entries, "entry")
                )
            }
            None => format!(
                "All {clients} measured clients load the same {} of {}",
                group_digits(loaded),
                count_noun(entries, "entry")
            ),
        };
    }
    // If several ranges load the same number of entries, name the newest one.
    let loaded = |range: &ClientRange| verdict_of(range).count(EntryFate::Loaded);
    let most_loaded = ranges.iter().max_by_key(|range| loaded(range)).unwrap_or(first);
    let least_loaded = ranges.iter().rev().min_by_key(|range| loaded(range)).unwrap_or(first);
    let results = explanation.count_results();
    let summary = format!("{clients} measured clients load this session with {results} different results");
    let loaded_text = |range: &ClientRange| group_digits(loaded(range) as u64);
    if loaded(most_loaded) == loaded(least_loaded) {
        return format!("{summary}, each {} of {}", loaded_text(most_loaded), count_noun(entries, "entry"));
    }
    let (most_name, all) = (format_range(explanation, most_loaded), count_noun(entries, "entry"));
    let least_name = format_range(explanation, least_loaded);
    format!(
        "{summary}: most by {most_name} ({} of {all}), least by {least_name} ({})",
        loaded_text(most_loaded),
        loaded_text(least_loaded)
    )
}

/// Builds a table with a row per range of client versions: leaf, loaded entries, turns, losses, start.
fn build_table(explanation: &Explanation, ranges: &[ClientRange], width: usize) -> Table {
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("client", Align::Left, 24)
        .column("leaf", Align::Left, 36)
        .column("loaded", Align::Right, 9)
        .column("", Align::Right, 9)
        .column("turns", Align::Right, 7)
        .column("lost", Align::Right, 9)
        .column("session", Align::Left, STRIP_WIDTH)
        .column("starts at", Align::Left, 60);
    for range in ranges {
        let verdict = &explanation.verdicts[*range.start()];
        let resume = &verdict.resume;
        let loaded = verdict.count(EntryFate::Loaded) as u64;
        let lost = verdict.count(EntryFate::Lost) as u64;
        let leaf = resume
            .leaf
            .map(|(leaf, _)| explanation.session.entry_handle(explanation.nearest_message(leaf)))
            .unwrap_or_default();
        table.row(vec![
            build_current_mark(explanation, range),
            format_range(explanation, range).into(),
            Cell::new(NAME, leaf),
            group_digits(loaded).into(),
            if width >= MIN_PERCENT_WIDTH {
                Cell::new(QUIET, format_percent(loaded as f64, resume.entries as f64))
            } else {
                Cell::default()
            },
            group_digits(verdict.turns as u64).into(),
            if lost > 0 { Cell::new(BAD, group_digits(lost)) } else { Cell::new(QUIET, "0") },
            if width >= MIN_STRIP_WIDTH {
                strip::build_strip_cell(explanation, verdict, STRIP_WIDTH)
            } else {
                Cell::default()
            },
            build_start_cell(explanation, verdict),
        ]);
    }
    table
}

/// Builds the cell with the entry at which loading starts and why, or with the failure.
fn build_start_cell(explanation: &Explanation, verdict: &ClientVerdict) -> Cell {
    let resume = &verdict.resume;
    if let Some(failure) = resume.failure {
        return Cell::new(MARK, labels::failure_label(failure));
    }
    let handle = |id: NodeId| explanation.session.entry_handle(id);
    match (resume.early_end, resume.chain.first()) {
        (Some(end), _) => {
            Cell::new(NAME, handle(end.node)).and(PLAIN, format!(", {}", labels::end_label(end.reason)))
        }
        (None, Some(&first)) => Cell::new(NAME, handle(first)),
        _ => Cell::default(),
    }
}

/// Prints the rule by which each client selects its leaf.
fn print_leaves(explanation: &Explanation, out: &mut Out) -> Result<(), CliError> {
    let leaf_choice = |verdict: &ClientVerdict| {
        let leaf = verdict.resume.leaf;
        leaf.map(|(leaf, rule)| (explanation.nearest_message(leaf), labels::leaf_rule_label(rule)))
    };
    let mut entries = explanation.open_entries()?;
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("client", Align::Left, 24)
        .column("leaf", Align::Left, 36)
        .column("rule", Align::Left, 40)
        .column("text", Align::Left, 400);
    let mut previous_leaf = None;
    for range in group_verdicts(&explanation.verdicts, |a, b| leaf_choice(a) == leaf_choice(b)) {
        let Some((leaf, rule)) = leaf_choice(&explanation.verdicts[*range.start()]) else { continue };
        let is_repeated = previous_leaf.replace(leaf) == Some(leaf);
        let node = explanation.session.tree.node(leaf);
        let preview = entry::format_entry_line(
            &entries.preview(leaf)?,
            node.role,
            node.kind,
            &explanation.header.folder,
        );
        table.row(vec![
            build_current_mark(explanation, &range),
            format_range(explanation, &range).into(),
            Cell::new(NAME, explanation.session.entry_handle(leaf)),
            rule.into(),
            if is_repeated { Cell::default() } else { out.truncate_cell(&preview).into() },
        ]);
    }
    table.print(out)?;
    out.line("")
}

/// Prints the ranges of clients that send blocks which the API rejects.
fn print_rejections(explanation: &Explanation, out: &mut Out) -> Result<(), CliError> {
    let rejection_count = |verdict: &ClientVerdict| verdict.rejections.len() as u64;
    let ranges = group_verdicts(&explanation.verdicts, |a, b| rejection_count(a) == rejection_count(b));
    for range in ranges {
        let rejected = rejection_count(&explanation.verdicts[*range.start()]);
        if rejected > 0 {
            let text = format!(
                "the API rejects {} that {} would send",
                count_noun(rejected, "block"),
                format_range(explanation, &range)
            );
            for line in facts::wrap_styled(&vec![(MARK, text)], out.width()) {
                out.line(&line)?;
            }
        }
    }
    Ok(())
}

/// Builds a cell with a mark if the range contains the client that wrote the newest line, otherwise an empty cell.
fn build_current_mark(explanation: &Explanation, range: &ClientRange) -> Cell {
    let is_current = explanation.current_verdict().is_some_and(|idx| range.contains(&idx));
    if is_current { Cell::new(GOOD, "●") } else { Cell::default() }
}

/// Prints which client wrote the newest line, and a command that explains another range of clients.
fn print_footer(explanation: &Explanation, session: &str, out: &mut Out) -> Result<(), CliError> {
    let Some(current) = explanation.current_verdict() else {
        return out.line(&paint(QUIET, "no line names the client that wrote it"));
    };
    let writer =
        explanation.written_by.as_ref().map(|version| clean::line(&version.text)).unwrap_or_default();
    let measured = explanation.verdicts[current].rules_of.unwrap_or_default();
    let mut text = format!("● {} wrote the newest line", truncate_to_width(&writer, 24));
    if writer != measured {
        text = format!("{text}; not measured, uses the rules of {measured}");
    }
    for line in facts::wrap_styled(&vec![(QUIET, text)], out.width()) {
        out.line(&line)?;
    }
    let version = explanation.client_ranges().into_iter().find(|range| !range.contains(&current));
    let version =
        version.map_or(measured, |range| explanation.verdicts[*range.end()].rules_of.unwrap_or_default());
    let command = build_command(&["explain", session, "--client", version]);
    facts::print_command("details", &command, out)
}
