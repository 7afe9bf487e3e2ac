//! `rethread stats`: counts over the store or over some sessions.

use std::collections::BTreeMap;

use rethread_engine::Roots;
use rethread_engine::core::entry::{Timestamp, Usage};
use rethread_engine::core::stats::{NotableFeature, StoreCounts};
use rethread_engine::ops;
use rethread_engine::ops::stats::FileStats;

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, draw_bar, format_duration, format_size, format_tokens, group_digits};
use super::out::Out;
use super::style::{BAD, MARK, PLAIN, QUIET, STRONG, TOOL, paint};
use super::table::{Align, Cell, DECORATION, Table};
use crate::json;

/// Runs `rethread stats`: prints counts over the store or the named sessions, and per file with `--files`.
///
/// Returns [`Exit::Failed`] if no file could be read, [`Exit::Nothing`] if there are none.
pub(crate) fn run(args: &args::Stats, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let named = args.session.iter().map(|name| app.find_session(name)).collect::<Result<Vec<_>, _>>()?;
    let roots = if named.is_empty() { app.roots.clone() } else { Roots::new(named) };
    let stats = ops::stats::collect_stats(&roots, args.files, app.cache.as_ref());
    if out.is_json() {
        for file in &stats.files {
            out.json(&json::build_file(&file.path, &file.counts))?;
        }
        out.json(&json::build_stats(&stats.counts))?;
    } else if stats.counts.files == 0 {
        super::print_no_sessions(app, out);
    } else {
        out.allow_pager();
        if args.files {
            print_files(&stats.files, out)?;
            out.line("")?;
        }
        print_counts(&stats.counts, app, out)?;
    }
    error::print_warnings(&stats.failures, out);
    error::print_cache_warning(stats.warning.as_ref(), out);
    Ok(match stats.counts.files {
        0 if !stats.failures.is_empty() => Exit::Failed,
        files => Exit::from_found(files > 0),
    })
}

/// Prints one row per file: messages, tool calls and turns, and the features for which it stands out.
fn print_files(files: &[FileStats], out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("size", Align::Right, 9)
        .column("lines", Align::Right, 10)
        .omitted_at(3)
        .column("user", Align::Right, 9)
        .omitted_at(6)
        .column("assistant", Align::Right, 9)
        .omitted_at(5)
        .column("tools", Align::Right, 8)
        .omitted_at(4)
        .column("errors", Align::Right, 7)
        .column("turns", Align::Right, 7)
        .omitted_at(2)
        .column("notable", Align::Left, 60)
        .omitted_at(1)
        .column("file", Align::Left, 300);
    for FileStats { path, counts } in files {
        let format_nonzero = |n: u64| if n == 0 { String::new() } else { group_digits(n) };
        let notable: Vec<&str> = counts.notable_features().map(NotableFeature::name).collect();
        table.row(vec![
            Cell::new(QUIET, format_size(counts.bytes)),
            group_digits(counts.lines).into(),
            format_nonzero(counts.user_messages).into(),
            format_nonzero(counts.messages).into(),
            format_nonzero(counts.tool_uses).into(),
            Cell::new(BAD, format_nonzero(counts.tool_results_is_error)),
            format_nonzero(counts.turns).into(),
            Cell::new(MARK, notable.join(", ")),
            clean::line(path).into(),
        ]);
    }
    table.print(out)
}

/// Prints the totals: sizes, turns, tokens, tools, models, line types and problems.
fn print_counts(counts: &StoreCounts, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let total = &counts.total;
    out.line(&format!(
        "{}, {}, {}",
        paint(STRONG, &count_noun(counts.files, "file")),
        format_size(total.bytes),
        count_noun(total.lines, "line")
    ))?;
    if let Some((first, last)) = counts.time_span {
        let range = app.clock.format_range(Timestamp(first), Timestamp(last));
        let active = format_duration(counts.active_millis.unsigned_abs());
        out.line(&format!("{range}, {active} active"))?;
    }
    let copied = total.turns.saturating_sub(counts.turns);
    let mut parts = vec![count_noun(counts.turns, "turn")];
    parts.extend((copied > 0).then(|| format!("{} more copied by forks", group_digits(copied))));
    let unique = counts.deduplicated_totals();
    parts.push(count_noun(unique.responses as u64, "response"));
    let branches = total.forks.extra_branches;
    parts.extend((branches > 0).then(|| count_noun(branches, "fork")));
    out.line(&parts.join(", "))?;
    print_usage(&unique.usage, out)?;
    print_tools(counts, out)?;
    print_counts_by_name("models, by lines", &counts.models, PLAIN, out)?;
    print_counts_by_name("line types", &total.types, PLAIN, out)?;
    print_counts_by_name("entries with several children, by their types", &total.forks.siblings, PLAIN, out)?;
    print_counts_by_name("and by cause", &total.forks.kinds, PLAIN, out)?;
    let versions = total.forks.prompt_versions.iter();
    let versions = versions.map(|(versions, prompts)| (format!("{versions} versions"), *prompts)).collect();
    print_counts_by_name("edited prompts", &versions, PLAIN, out)?;
    print_counts_by_name("content blocks", &counts.blocks, PLAIN, out)?;
    print_counts_by_name("system subtypes", &counts.system_subtypes, PLAIN, out)?;
    let problems = [
        (total.malformed, "malformed line"),
        (total.salvaged, "entry"),
        (total.uuids_repeated, "repeated uuid"),
        (total.parents_missing, "missing parent"),
        (total.tool_uses_unpaired, "call without a result"),
        (total.tool_results_unpaired, "result without a call"),
    ];
    let problem_text = |(n, noun): &(u64, &str)| match *noun {
        "entry" => format!("{} recovered from them", count_noun(*n, "entry")),
        "call without a result" if *n != 1 => format!("{} calls without a result", group_digits(*n)),
        "result without a call" if *n != 1 => format!("{} results without a call", group_digits(*n)),
        noun => count_noun(*n, noun),
    };
    let problems: Vec<String> = problems.iter().filter(|(n, _)| *n > 0).map(problem_text).collect();
    if !problems.is_empty() {
        out.line("")?;
        for line in textwrap::wrap(&problems.join(", "), out.width()) {
            out.line(&paint(MARK, &line))?;
        }
    }
    print_counts_by_name("problems", &counts.problems, MARK, out)?;
    print_counts_by_name("unknown", &counts.unknown, MARK, out)
}

/// Prints the tokens by kind with bars. Prints nothing if there are none.
fn print_usage(usage: &Usage, out: &mut Out) -> Result<(), CliError> {
    if usage.total() == 0 {
        return Ok(());
    }
    let rows = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache written", usage.cache_write),
        ("cache read", usage.cache_read),
    ];
    print_heading("tokens, each response once", out)?;
    let max = rows.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let mut table = Table::new(2)
        .column("", Align::Left, 40)
        .column("", Align::Right, 16)
        .column("", Align::Right, 8)
        .column("", Align::Left, 24)
        .omitted_at(DECORATION);
    for (name, tokens) in rows {
        let short = Cell::new(QUIET, format_tokens(tokens));
        table.row(vec![
            name.into(),
            group_digits(tokens).into(),
            short,
            Cell::new(TOOL, draw_bar(tokens, max, 24)),
        ]);
    }
    table.print(out)
}

/// Prints the tools by number of calls, most first, with errors and mean duration.
fn print_tools(counts: &StoreCounts, out: &mut Out) -> Result<(), CliError> {
    let unique = counts.unique_tools();
    let mut tools: Vec<_> = unique.iter().collect();
    if tools.is_empty() {
        return Ok(());
    }
    tools.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.calls), *name));
    print_heading("tools, each call once", out)?;
    let max = tools.iter().map(|(_, tool)| tool.calls).max().unwrap_or(0);
    let mut table = Table::new(2)
        .column("", Align::Left, 40)
        .column("calls", Align::Right, 9)
        .column("errors", Align::Right, 7)
        .column("mean", Align::Right, 8)
        .column("", Align::Left, 24)
        .omitted_at(DECORATION);
    for (name, tool) in tools {
        let mean = tool.millis.checked_div(tool.timed).map(format_duration).unwrap_or_default();
        let name = if name.is_empty() { "(no name)".to_owned() } else { clean::line(name) };
        table.row(vec![
            name.into(),
            group_digits(tool.calls).into(),
            Cell::new(BAD, if tool.errors == 0 { String::new() } else { group_digits(tool.errors) }),
            Cell::new(QUIET, mean),
            Cell::new(TOOL, draw_bar(tool.calls, max, 24)),
        ]);
    }
    table.print(out)
}

/// Prints a heading and the counts with bars, largest first. Prints nothing if there are none.
fn print_counts_by_name(
    heading: &str,
    counts: &BTreeMap<String, u64>,
    style: crate::config::TextRole,
    out: &mut Out,
) -> Result<(), CliError> {
    if counts.is_empty() {
        return Ok(());
    }
    print_heading(heading, out)?;
    let mut rows: Vec<_> = counts.iter().collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let max = rows.iter().map(|(_, count)| **count).max().unwrap_or(0);
    let mut table = Table::new(2)
        .column("", Align::Left, 40)
        .column("", Align::Right, 12)
        .column("", Align::Left, 24)
        .omitted_at(DECORATION);
    for (name, count) in rows {
        let bar = Cell::new(TOOL, draw_bar(*count, max, 24));
        table.row(vec![Cell::new(style, clean::line(name)), group_digits(*count).into(), bar]);
    }
    table.print(out)
}

fn print_heading(heading: &str, out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    out.line(&paint(STRONG, heading))
}
