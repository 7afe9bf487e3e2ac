//! `rethread context`: shows what fills the context window, as a chart, by cause and by block.

mod chart;
mod labels;

use rethread_engine::core::context::{ContextCause, DropReason};
use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::ops;
use rethread_engine::ops::context::{ContextReport, ContextRequest, TurnGrowth};

use unicode_width::UnicodeWidthStr;

use self::chart::Column;
use super::args;
use super::error::{CliError, Exit};
use super::figures::{count_noun, draw_bar, format_percent, format_tokens, group_digits};
use super::out::Out;
use super::style::{MARK, NAME, PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table, truncate_start, truncate_to_width};
use super::{AppContext, clean, entry};
use crate::json;
use crate::text::command::build_command;

/// The maximum number of listed causes.
const MAX_CAUSES: usize = 14;
/// The maximum number of listed drops.
const MAX_DROPS: usize = 6;
/// The maximum number of listed repeated reads.
const MAX_REREADS: usize = 5;
/// The maximum width of the name of a cause.
const MAX_CAUSE_WIDTH: usize = 44;
/// The maximum width of a bar.
const MAX_BAR_WIDTH: usize = 24;
/// The minimum width of a bar.
const MIN_BAR_WIDTH: usize = 6;
/// The width of the other columns and the gaps.
const OTHER_COLUMNS_WIDTH: usize = 31;
/// The maximum width of the chart.
const MAX_CHART_WIDTH: usize = 120;

/// Runs `rethread context`: prints the size of the context, its growth, and its content by cause and block.
///
/// Returns [`Exit::Nothing`] if the context is empty.
pub(crate) fn run(args: &args::Context, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(&args.session)?;
    let context = ops::context::analyze_context(&ContextRequest { path, turns: args.by_turn })?;
    let has_context = context.window.used_tokens() > 0;
    if out.is_json() {
        print_json(&context, args.by_turn, out)?;
        return Ok(Exit::from_found(has_context));
    }
    if !has_context {
        out.note("this session has no messages");
        return Ok(Exit::Nothing);
    }
    out.allow_pager();
    super::print_header(&context.header, app, out)?;
    print_size(&context, out)?;
    if !context.history.samples.is_empty() {
        out.line("")?;
        print_growth(&context, out)?;
    }
    if args.by_turn {
        print_heading("By turn", out)?;
        print_turns(&context, out)?;
    }
    print_heading("In context now", out)?;
    print_causes(&context, out)?;
    print_rereads(&context, out)?;
    print_heading("Largest blocks", out)?;
    print_largest(&context, out)?;
    out.line("")?;
    print_footer(&context, &args.session, out)?;
    Ok(Exit::Done)
}

/// Prints the report as JSON. `with_turns` adds an object per turn.
fn print_json(context: &ContextReport, with_turns: bool, out: &mut Out) -> Result<(), CliError> {
    let id = &context.header.id;
    out.json(&json::build_context(context))?;
    for (idx, turn) in context.turns.iter().enumerate().filter(|_| with_turns) {
        let tokens_before = idx.checked_sub(1).map_or(0, |previous| context.turns[previous].last_tokens);
        out.json(&json::build_context_turn(id, turn, tokens_before))?;
    }
    for (drop, location) in context.history.drops.iter().zip(&context.drops) {
        out.json(&json::build_context_drop(id, drop, *location))?;
    }
    for row in &context.by_cause {
        out.json(&json::build_context_cause(id, row))?;
    }
    for reread in &context.rereads {
        out.json(&json::build_context_reread(id, reread))?;
    }
    context.largest.iter().try_for_each(|large| out.json(&json::build_context_item(id, large)))
}

fn print_heading(text: &str, out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    out.line(&paint(STRONG, text))
}

/// Prints the used part of the context window, and its components.
fn print_size(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    let window = &context.window;
    let used = window.used_tokens();
    let is_measured = window.context.is_some() && window.output.1 && window.since == 0;
    let percent = format_percent(used as f64, context.limit as f64);
    let usage =
        format!("{} of {} tokens", labels::format_amount(used, is_measured), format_tokens(context.limit));
    let model = clean::line(&context.history.model);
    let model = if model.is_empty() { String::new() } else { format!(" · {model}") };
    out.line(&format!("{} ({percent}){}", paint(STRONG, &usage), paint(QUIET, &model)))?;
    let parts = match window.context {
        Some(sent) => {
            let mut parts = vec![format!("{} sent with the last request", format_tokens(sent))];
            parts.push(format!("{} in the answer", labels::format_amount(window.output.0, window.output.1)));
            if window.since > 0 {
                parts.push(format!("~{} since", format_tokens(window.since)));
            }
            parts.join(" + ")
        }
        None => "the API counted no request of this path: all numbers are estimates".to_owned(),
    };
    out.line(&paint(QUIET, &truncate_to_width(&parts, out.width())))
}

/// Prints a chart of the context size by response, and lists the last 6 drops.
fn print_growth(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    let samples = &context.history.samples;
    let mut columns: Vec<Column> = samples
        .iter()
        .map(|sample| Column { size: sample.context, estimated: !sample.measured, symbol: None, turn: None })
        .collect();
    for turn in &context.turns {
        columns[turn.sample_range.start].turn = turn.number;
    }
    let last = samples.len() - 1;
    for drop in &context.history.drops {
        let symbol = &mut columns[drop.sample_idx.min(last)].symbol;
        *symbol = (*symbol).max(Some(labels::drop_symbol(&drop.reason)));
    }
    for line in chart::draw_chart(&columns, out.width().min(MAX_CHART_WIDTH)) {
        out.line(&line)?;
    }
    if samples.iter().any(|sample| !sample.measured) {
        out.line(&paint(QUIET, "░ estimated: the API's count is missing"))?;
    }
    let skipped_count = context.history.drops.len().saturating_sub(MAX_DROPS);
    if skipped_count > 0 {
        out.line(&paint(QUIET, &format!("{} earlier", count_noun(skipped_count as u64, "drop"))))?;
    }
    for (drop, location) in context.history.drops.iter().zip(&context.drops).skip(skipped_count) {
        let turn = location.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
        let sizes = match (drop.before, drop.after) {
            (Some(before), Some(after)) => format!(", {} → {}", format_tokens(before), format_tokens(after)),
            (Some(before), None) => format!(", {} before", format_tokens(before)),
            (None, Some(after)) => format!(", {} after", format_tokens(after)),
            (None, None) => String::new(),
        };
        let symbol = paint(MARK, &labels::drop_symbol(&drop.reason).to_string());
        let name = paint(NAME, &format!("L{}", location.line));
        out.line(&format!(
            "{symbol} {name}{}  {}{sizes}",
            paint(QUIET, &turn),
            labels::drop_label(&drop.reason)
        ))?;
    }
    Ok(())
}

/// Prints a row per turn with the context size in tokens at its first and last response.
fn print_turns(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("turn", Align::Right, 6)
        .column("line", Align::Left, 8)
        .column("responses", Align::Right, 9)
        .omitted_at(2)
        .column("first", Align::Right, 8)
        .omitted_at(1)
        .column("last", Align::Right, 8)
        .column("growth", Align::Right, 9)
        .column("", Align::Left, 1)
        .column("first text", Align::Left, 400);
    let mut tokens_before = 0;
    for turn in &context.turns {
        table.row(build_turn_row(context, turn, tokens_before, out.table_width()));
        tokens_before = turn.last_tokens;
    }
    table.print(out)
}

/// Builds the row of a turn. `tokens_before` is the context size at the end of the previous turn.
fn build_turn_row(
    context: &ContextReport,
    turn: &TurnGrowth,
    tokens_before: u64,
    width: Option<usize>,
) -> Vec<Cell> {
    let symbol = context.history.drops.iter().filter(|drop| turn.sample_range.contains(&drop.sample_idx));
    let symbol = symbol.map(|drop| labels::drop_symbol(&drop.reason)).max();
    let change = match turn.last_tokens.checked_sub(tokens_before) {
        Some(growth) => format!("+{}", format_tokens(growth)),
        None => format!("-{}", format_tokens(tokens_before - turn.last_tokens)),
    };
    let preview = turn.preview.as_ref().map(|preview| {
        entry::format_entry_line(preview, EntryRole::Prompt, Kind::User, &context.header.folder)
    });
    vec![
        turn.number.map(|number| format!("t{number}")).unwrap_or_default().into(),
        Cell::new(NAME, turn.line.map(|line| format!("L{line}")).unwrap_or_default()),
        group_digits(turn.sample_range.len() as u64).into(),
        labels::format_amount(turn.first_tokens, turn.measured).into(),
        labels::format_amount(turn.last_tokens, turn.measured).into(),
        change.into(),
        Cell::new(MARK, symbol.map(String::from).unwrap_or_default()),
        Cell::new(PLAIN, truncate_to_width(&preview.unwrap_or_default(), width.unwrap_or(usize::MAX))),
    ]
}

/// Prints the tokens by cause with bars, largest first. Causes after the 14th are one row.
fn print_causes(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    let used = context.window.used_tokens();
    // One more row takes no more space than the line that would summarize it.
    let max_rows = if context.by_cause.len() == MAX_CAUSES + 1 { MAX_CAUSES + 1 } else { MAX_CAUSES };
    let (shown, rest) = context.by_cause.split_at(context.by_cause.len().min(max_rows));
    let mut rows: Vec<(String, usize, u64, bool)> = shown
        .iter()
        .map(|row| {
            (labels::cause_label(row.cause, &row.name), row.items, row.tokens, row.measured == row.tokens)
        })
        .collect();
    if !rest.is_empty() {
        let name = count_noun(rest.len() as u64, "smaller cause");
        let items = rest.iter().map(|row| row.items).sum();
        rows.push((name, items, rest.iter().map(|row| row.tokens).sum(), false));
    }
    let name_width = rows.iter().map(|(name, ..)| name.width()).max().unwrap_or(0).min(MAX_CAUSE_WIDTH);
    let bar_width = out.width().saturating_sub(name_width + OTHER_COLUMNS_WIDTH).min(MAX_BAR_WIDTH);
    let mut table = Table::new(0)
        .column("", Align::Left, MAX_CAUSE_WIDTH)
        .column("blocks", Align::Right, 8)
        .column("tokens", Align::Right, 8)
        .column("share", Align::Right, 6)
        .column("", Align::Left, MAX_BAR_WIDTH);
    let largest = rows.iter().map(|(_, _, tokens, _)| *tokens).max().unwrap_or(0);
    for (name, items, tokens, measured) in rows {
        let share = format!("{:.1}%", tokens as f64 * 100.0 / used as f64);
        let items = if items > 0 { group_digits(items as u64) } else { String::new() };
        table.row(vec![
            name.into(),
            Cell::new(QUIET, items),
            labels::format_amount(tokens, measured).into(),
            Cell::new(QUIET, share),
            if bar_width < MIN_BAR_WIDTH {
                Cell::default()
            } else {
                draw_bar(tokens, largest, bar_width).into()
            },
        ]);
    }
    table.print(out)
}

/// Prints the first 5 files that were read repeatedly, with the tokens of the repeated reads.
fn print_rereads(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    if context.rereads.is_empty() {
        return Ok(());
    }
    print_heading("Files read more than once", out)?;
    let mut table = Table::new(0)
        .column("reads", Align::Right, 6)
        .column("repeated", Align::Right, 12)
        .column("file", Align::Left, 400);
    for reread in context.rereads.iter().take(MAX_REREADS) {
        let path = clean::line(&reread.path);
        let folder = format!("{}/", context.header.folder);
        let path = path.strip_prefix(&folder).unwrap_or(&path).to_owned();
        table.row(vec![
            group_digits(reread.reads as u64).into(),
            format!("~{}", format_tokens(reread.tokens)).into(),
            truncate_start(&path, out.width().saturating_sub(22)).into(),
        ]);
    }
    table.print(out)?;
    let rest = &context.rereads[context.rereads.len().min(MAX_REREADS)..];
    if !rest.is_empty() {
        let tokens = format_tokens(rest.iter().map(|reread| reread.tokens).sum());
        out.line(&paint(QUIET, &format!("{} more, ~{tokens}", count_noun(rest.len() as u64, "file"))))?;
    }
    Ok(())
}

/// Prints a row for each of the largest blocks: handle, tokens, kind and preview.
fn print_largest(context: &ContextReport, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("", Align::Left, 36)
        .column("", Align::Right, 8)
        .column("", Align::Left, 40)
        .column("", Align::Left, 400);
    for large in &context.largest {
        table.row(vec![
            Cell::new(NAME, large.handle.clone()),
            labels::format_amount(large.block.tokens, large.block.measured).into(),
            labels::block_label(large).into(),
            Cell::new(QUIET, out.truncate_cell(&labels::block_preview(large, &context.header.folder))),
        ]);
    }
    table.print(out)
}

/// Prints counts, explanations of the symbols used, and a command that makes a smaller copy.
fn print_footer(context: &ContextReport, session: &str, out: &mut Out) -> Result<(), CliError> {
    let mut facts = vec![format!(
        "{} in {}",
        count_noun(context.history.samples.len() as u64, "response"),
        count_noun(context.turns.iter().filter(|turn| turn.number.is_some()).count() as u64, "turn")
    )];
    if context.off_path_responses > 0 {
        facts.push(format!(
            "{} on other branches or unreachable",
            count_noun(context.off_path_responses as u64, "response")
        ));
    }
    facts.push("~ is estimated by length".to_owned());
    if context.by_cause.iter().any(|row| row.cause == ContextCause::Thinking) {
        facts.push("thinking is counted as recorded; the API may drop some of it".to_owned());
    }
    if context.by_cause.iter().any(|row| row.cause == ContextCause::Unrecorded) {
        facts.push("growth beyond twice the estimate is listed as unrecorded".to_owned());
    }
    if context.history.drops.iter().any(|drop| drop.reason == DropReason::Unexplained) {
        facts.push("content removed at ↓ is unknown; thinking is assumed first, then results".to_owned());
    }
    if let Some(line) = context.cut_off_line {
        facts.push(format!("the path is broken at L{line}; everything before counts as the client's part"));
    }
    for line in textwrap::wrap(&facts.join(" · "), out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    let command = build_command(&["clone", session, "--preset", "light", "--dry-run"]);
    out.line(&format!("{} {}", paint(QUIET, "make a smaller copy:"), paint(NAME, &command)))
}
