//! `rethread stats`: counts over a store or over sessions.

use std::collections::BTreeMap;

use rethread_engine::Roots;
use rethread_engine::core::entry::{Timestamp, Usage};
use rethread_engine::core::stats::{Counts, FileCounts};
use rethread_engine::ops;

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{bar, count, duration, size, things, tokens};
use super::out::Out;
use super::style::{BAD, MARK, PLAIN, QUIET, STRONG, TOOL, paint};
use super::table::{Align, Cell, Table};
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Stats, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let named = args.session.iter().map(|name| place.session(name)).collect::<Result<Vec<_>, _>>()?;
    let roots = if named.is_empty() { place.roots.clone() } else { Roots { paths: named } };
    let stats = ops::stats(&roots, args.files, place.index.as_ref());
    if out.is_json() {
        for (path, counts) in &stats.files {
            out.json(&json::file(path, counts))?;
        }
        out.json(&json::stats(&stats.counts))?;
    } else if stats.counts.files == 0 {
        super::say_nothing_found(place, out);
    } else {
        out.may_page();
        if args.files {
            files(&stats.files, out)?;
            out.line("")?;
        }
        draw(&stats.counts, place, out)?;
    }
    error::warn(&stats.failures, out);
    error::notice(stats.notice.as_ref(), out);
    Ok(match stats.counts.files {
        0 if !stats.failures.is_empty() => Exit::Failed,
        files => Exit::found(files > 0),
    })
}

fn files(files: &[(String, FileCounts)], out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("size", Align::Right, 9)
        .column("lines", Align::Right, 10)
        .column("malformed", Align::Right, 9)
        .column("messages", Align::Right, 9)
        .column("tools", Align::Right, 8)
        .column("errors", Align::Right, 7)
        .column("file", Align::Left, 300);
    for (path, counts) in files {
        let some = |n: u64| if n == 0 { String::new() } else { count(n) };
        table.row(vec![
            Cell::new(QUIET, size(counts.bytes)),
            count(counts.lines).into(),
            Cell::new(BAD, some(counts.malformed)),
            some(counts.messages).into(),
            some(counts.tool_uses).into(),
            Cell::new(BAD, some(counts.tool_results_is_error)),
            clean::line(path).into(),
        ]);
    }
    table.print(out)
}

fn draw(counts: &Counts, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let total = &counts.total;
    out.line(&format!(
        "{}, {}, {}",
        paint(STRONG, &things(counts.files, "file")),
        size(total.bytes),
        things(total.lines, "line")
    ))?;
    if let Some((first, last)) = counts.span {
        let range = place.clock.range(Timestamp(first), Timestamp(last));
        let active = duration(counts.active.unsigned_abs());
        out.line(&format!("{range}, {active} active"))?;
    }
    let copied = counts.turns_written.saturating_sub(counts.turns);
    let mut talk = vec![things(counts.turns, "turn")];
    talk.extend((copied > 0).then(|| format!("{} more copied by forks", count(copied))));
    let spent = counts.once();
    talk.push(things(spent.responses as u64, "response"));
    talk.extend((counts.forks > 0).then(|| things(counts.forks, "fork")));
    out.line(&talk.join(", "))?;
    usage(&spent.usage, out)?;
    tools(counts, out)?;
    names("models, by lines", &counts.models, PLAIN, out)?;
    names("types of lines", &total.types, PLAIN, out)?;
    names("content blocks", &counts.blocks, PLAIN, out)?;
    names("subtypes of system lines", &counts.system_subtypes, PLAIN, out)?;
    let odd = [
        (total.malformed, "malformed line"),
        (total.salvaged, "entry"),
        (total.uuids_repeated, "repeated uuid"),
        (total.parents_missing, "missing parent"),
        (total.tool_uses_unpaired, "call without a result"),
        (total.tool_results_unpaired, "result without a call"),
    ];
    let said = |(n, what): &(u64, &str)| match *what {
        "entry" => format!("{} read from them", things(*n, "entry")),
        "call without a result" if *n != 1 => format!("{} calls without a result", count(*n)),
        "result without a call" if *n != 1 => format!("{} results without a call", count(*n)),
        what => things(*n, what),
    };
    let odd: Vec<String> = odd.iter().filter(|(n, _)| *n > 0).map(said).collect();
    if !odd.is_empty() {
        out.line("")?;
        for line in textwrap::wrap(&odd.join(", "), out.width()) {
            out.line(&paint(MARK, &line))?;
        }
    }
    names("problems", &counts.problems, MARK, out)?;
    names("unknown", &counts.unknown, MARK, out)
}

fn usage(usage: &Usage, out: &mut Out) -> Result<(), CliError> {
    if usage.total() == 0 {
        return Ok(());
    }
    let rows = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache written", usage.cache_write),
        ("cache read", usage.cache_read),
    ];
    section("tokens, each response once", out)?;
    let most = rows.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let mut table = Table::new(2)
        .column("", Align::Left, 40)
        .column("", Align::Right, 16)
        .column("", Align::Right, 8)
        .column("", Align::Left, 24);
    for (name, number) in rows {
        let short = Cell::new(QUIET, tokens(number));
        table.row(vec![name.into(), count(number).into(), short, Cell::new(TOOL, bar(number, most, 24))]);
    }
    table.print(out)
}

fn tools(counts: &Counts, out: &mut Out) -> Result<(), CliError> {
    let mut tools: Vec<_> = counts.tools.iter().collect();
    if tools.is_empty() {
        return Ok(());
    }
    tools.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.calls), *name));
    section("tools", out)?;
    let most = tools.iter().map(|(_, tool)| tool.calls).max().unwrap_or(0);
    let mut table = Table::new(2)
        .column("", Align::Left, 40)
        .column("calls", Align::Right, 9)
        .column("errors", Align::Right, 7)
        .column("mean", Align::Right, 8)
        .column("", Align::Left, 24);
    for (name, tool) in tools {
        let mean = tool.millis.checked_div(tool.timed).map(duration).unwrap_or_default();
        let name = if name.is_empty() { "(no name)".to_owned() } else { clean::line(name) };
        table.row(vec![
            name.into(),
            count(tool.calls).into(),
            Cell::new(BAD, if tool.errors == 0 { String::new() } else { count(tool.errors) }),
            Cell::new(QUIET, mean),
            Cell::new(TOOL, bar(tool.calls, most, 24)),
        ]);
    }
    table.print(out)
}

fn names(
    heading: &str,
    names: &BTreeMap<String, u64>,
    style: anstyle::Style,
    out: &mut Out,
) -> Result<(), CliError> {
    if names.is_empty() {
        return Ok(());
    }
    section(heading, out)?;
    let mut rows: Vec<_> = names.iter().collect();
    rows.sort_by_key(|(name, number)| (std::cmp::Reverse(**number), *name));
    let most = rows.iter().map(|(_, number)| **number).max().unwrap_or(0);
    let mut table =
        Table::new(2).column("", Align::Left, 40).column("", Align::Right, 12).column("", Align::Left, 24);
    for (name, number) in rows {
        let bar = Cell::new(TOOL, bar(*number, most, 24));
        table.row(vec![Cell::new(style, clean::line(name)), count(*number).into(), bar]);
    }
    table.print(out)
}

fn section(heading: &str, out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    out.line(&paint(STRONG, heading))
}
