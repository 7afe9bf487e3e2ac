//! `rethread context`: where the context window went, as a chart, by cause and by block.

mod chart;
mod labels;

use rethread_engine::core::context::{Cause, Dropped};
use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::ops::{self, Context, ContextRequest, Growth};

use unicode_width::UnicodeWidthStr;

use self::chart::Column;
use super::args;
use super::error::{CliError, Exit};
use super::figures::{bar, count, things, tokens};
use super::out::Out;
use super::style::{MARK, NAME, PLAIN, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table, fit_end, truncate_to_width};
use super::{AppContext, clean, entry};
use crate::json;
use crate::text::shell::typed;

/// How many causes are shown, and how many drops.
const MOST_ROWS: usize = 14;
const MOST_DROPS: usize = 6;
const MOST_REREADS: usize = 5;
/// Columns of the table of causes: names, bars, and what stands between and beside these.
const WIDEST_CAUSE: usize = 44;
const WIDEST_BAR: usize = 24;
const NARROWEST_BAR: usize = 6;
const BESIDE_BARS: usize = 31;
/// The widest chart.
const WIDEST: usize = 120;

/// Runs the command.
pub(crate) fn run(args: &args::Context, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(&args.session)?;
    let context = ops::context(&ContextRequest { path, turns: args.turns })?;
    let something = context.window.used() > 0;
    if out.is_json() {
        json(&context, args.turns, out)?;
        return Ok(Exit::found(something));
    }
    if !something {
        out.note("nothing was said in this session");
        return Ok(Exit::Nothing);
    }
    out.may_page();
    super::header(&context.head, place, out)?;
    head(&context, out)?;
    if !context.curve.points.is_empty() {
        out.line("")?;
        growth(&context, out)?;
    }
    if args.turns {
        heading("By turn", out)?;
        turns(&context, out)?;
    }
    heading("In the window now", out)?;
    causes(&context, out)?;
    rereads(&context, out)?;
    heading("Largest", out)?;
    largest(&context, out)?;
    out.line("")?;
    footer(&context, &args.session, out)?;
    Ok(Exit::Done)
}

fn json(context: &Context, turns: bool, out: &mut Out) -> Result<(), CliError> {
    let id = &context.head.id;
    out.json(&json::context(context))?;
    for (k, turn) in context.turns.iter().enumerate().filter(|_| turns) {
        let before = k.checked_sub(1).map_or(0, |before| context.turns[before].last);
        out.json(&json::context_turn(id, turn, before))?;
    }
    for (drop, place) in context.curve.drops.iter().zip(&context.drops) {
        out.json(&json::context_drop(id, drop, *place))?;
    }
    for row in &context.rows {
        out.json(&json::context_cause(id, row))?;
    }
    for reread in &context.rereads {
        out.json(&json::context_reread(id, reread))?;
    }
    context.largest.iter().try_for_each(|large| out.json(&json::context_item(id, large)))
}

fn heading(text: &str, out: &mut Out) -> Result<(), CliError> {
    out.line("")?;
    out.line(&paint(STRONG, text))
}

/// Says how full the window is, and what that number is made of.
fn head(context: &Context, out: &mut Out) -> Result<(), CliError> {
    let window = &context.window;
    let used = window.used();
    let counted = window.context.is_some() && window.output.1 && window.since == 0;
    let percent = used as f64 * 100.0 / context.limit as f64;
    let full = format!("{} of {} tokens", labels::amount(used, counted), tokens(context.limit));
    let model = clean::line(&context.curve.model);
    let model = if model.is_empty() { String::new() } else { format!(" · {model}") };
    out.line(&format!("{} ({percent:.0}%){}", paint(STRONG, &full), paint(QUIET, &model)))?;
    let parts = match window.context {
        Some(sent) => {
            let mut parts = vec![format!("{} sent with the last request", tokens(sent))];
            parts.push(format!("{} answered", labels::amount(window.output.0, window.output.1)));
            if window.since > 0 {
                parts.push(format!("~{} since", tokens(window.since)));
            }
            parts.join(" + ")
        }
        None => "no request of what is loaded was counted: all numbers are estimates".to_owned(),
    };
    out.line(&paint(QUIET, &truncate_to_width(&parts, out.width())))
}

/// Draws how the context grew, and lists where it dropped.
fn growth(context: &Context, out: &mut Out) -> Result<(), CliError> {
    let points = &context.curve.points;
    let mut columns: Vec<Column> = points
        .iter()
        .map(|point| Column { size: point.context, judged: !point.measured, sign: None, turn: None })
        .collect();
    for turn in &context.turns {
        columns[turn.points.start].turn = turn.no;
    }
    let last = points.len() - 1;
    for drop in &context.curve.drops {
        let sign = &mut columns[drop.at.min(last)].sign;
        *sign = (*sign).max(Some(labels::sign(&drop.how)));
    }
    for line in chart::draw(&columns, out.width().min(WIDEST)) {
        out.line(&line)?;
    }
    if points.iter().any(|point| !point.measured) {
        out.line(&paint(QUIET, "░ estimated: the API's count is missing"))?;
    }
    let skipped = context.curve.drops.len().saturating_sub(MOST_DROPS);
    if skipped > 0 {
        out.line(&paint(QUIET, &format!("{} before these", things(skipped as u64, "drop"))))?;
    }
    for (drop, (line, turn)) in context.curve.drops.iter().zip(&context.drops).skip(skipped) {
        let turn = turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
        let sizes = match (drop.before, drop.after) {
            (Some(before), Some(after)) => format!(", {} → {}", tokens(before), tokens(after)),
            (Some(before), None) => format!(", {} before", tokens(before)),
            (None, Some(after)) => format!(", {} after", tokens(after)),
            (None, None) => String::new(),
        };
        let sign = paint(MARK, &labels::sign(&drop.how).to_string());
        let name = paint(NAME, &format!("L{line}"));
        out.line(&format!("{sign} {name}{}  {}{sizes}", paint(QUIET, &turn), labels::drop(&drop.how)))?;
    }
    Ok(())
}

fn turns(context: &Context, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("turn", Align::Right, 6)
        .column("line", Align::Left, 8)
        .column("responses", Align::Right, 9)
        .column("first", Align::Right, 8)
        .column("last", Align::Right, 8)
        .column("growth", Align::Right, 9)
        .column("", Align::Left, 1)
        .column("began with", Align::Left, 400);
    let mut before = 0;
    for turn in &context.turns {
        table.row(turn_row(context, turn, before, out.width()));
        before = turn.last;
    }
    table.print(out)
}

fn turn_row(context: &Context, turn: &Growth, before: u64, width: usize) -> Vec<Cell> {
    let sign = context.curve.drops.iter().filter(|drop| turn.points.contains(&drop.at));
    let sign = sign.map(|drop| labels::sign(&drop.how)).max();
    let change = match turn.last.checked_sub(before) {
        Some(more) => format!("+{}", tokens(more)),
        None => format!("-{}", tokens(before - turn.last)),
    };
    let said = turn
        .said
        .as_ref()
        .map(|said| entry::words(said, EntryRole::Prompt, Kind::User, &context.head.folder));
    vec![
        turn.no.map(|no| format!("t{no}")).unwrap_or_default().into(),
        Cell::new(NAME, turn.line.map(|line| format!("L{line}")).unwrap_or_default()),
        count(turn.points.len() as u64).into(),
        labels::amount(turn.first, turn.measured).into(),
        labels::amount(turn.last, turn.measured).into(),
        change.into(),
        Cell::new(MARK, sign.map(String::from).unwrap_or_default()),
        Cell::new(PLAIN, truncate_to_width(&said.unwrap_or_default(), width)),
    ]
}

fn causes(context: &Context, out: &mut Out) -> Result<(), CliError> {
    let used = context.window.used();
    // One more row takes no more room than the line that would count it.
    let most = if context.rows.len() == MOST_ROWS + 1 { MOST_ROWS + 1 } else { MOST_ROWS };
    let (shown, rest) = context.rows.split_at(context.rows.len().min(most));
    let mut rows: Vec<(String, usize, u64, bool)> = shown
        .iter()
        .map(|row| (labels::cause(row.cause, &row.name), row.items, row.tokens, row.measured == row.tokens))
        .collect();
    if !rest.is_empty() {
        let name = things(rest.len() as u64, "smaller cause");
        let items = rest.iter().map(|row| row.items).sum();
        rows.push((name, items, rest.iter().map(|row| row.tokens).sum(), false));
    }
    let widest = rows.iter().map(|(name, ..)| name.width()).max().unwrap_or(0).min(WIDEST_CAUSE);
    let bars = out.width().saturating_sub(widest + BESIDE_BARS).min(WIDEST_BAR);
    let mut table = Table::new(0)
        .column("", Align::Left, WIDEST_CAUSE)
        .column("blocks", Align::Right, 8)
        .column("tokens", Align::Right, 8)
        .column("share", Align::Right, 6)
        .column("", Align::Left, WIDEST_BAR);
    let largest = rows.iter().map(|(_, _, number, _)| *number).max().unwrap_or(0);
    for (name, items, number, measured) in rows {
        let share = format!("{:.1}%", number as f64 * 100.0 / used as f64);
        let items = if items > 0 { count(items as u64) } else { String::new() };
        table.row(vec![
            name.into(),
            Cell::new(QUIET, items),
            labels::amount(number, measured).into(),
            Cell::new(QUIET, share),
            if bars < NARROWEST_BAR { Cell::default() } else { bar(number, largest, bars).into() },
        ]);
    }
    table.print(out)
}

fn rereads(context: &Context, out: &mut Out) -> Result<(), CliError> {
    if context.rereads.is_empty() {
        return Ok(());
    }
    heading("Read again", out)?;
    let mut table = Table::new(0)
        .column("reads", Align::Right, 6)
        .column("repeats cost", Align::Right, 12)
        .column("file", Align::Left, 400);
    for reread in context.rereads.iter().take(MOST_REREADS) {
        let path = clean::line(&reread.path);
        let folder = format!("{}/", context.head.folder);
        let path = path.strip_prefix(&folder).unwrap_or(&path).to_owned();
        table.row(vec![
            count(reread.reads as u64).into(),
            format!("~{}", tokens(reread.tokens)).into(),
            fit_end(&path, out.width().saturating_sub(22)).into(),
        ]);
    }
    table.print(out)?;
    let rest = &context.rereads[context.rereads.len().min(MOST_REREADS)..];
    if !rest.is_empty() {
        let cost = tokens(rest.iter().map(|reread| reread.tokens).sum());
        out.line(&paint(QUIET, &format!("{} more, ~{cost}", things(rest.len() as u64, "file"))))?;
    }
    Ok(())
}

fn largest(context: &Context, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("", Align::Left, 36)
        .column("", Align::Right, 8)
        .column("", Align::Left, 40)
        .column("", Align::Left, 400);
    for large in &context.largest {
        table.row(vec![
            Cell::new(NAME, large.handle.clone()),
            labels::amount(large.item.tokens, large.item.measured).into(),
            labels::block(large).into(),
            Cell::new(QUIET, truncate_to_width(&labels::content(large, &context.head.folder), out.width())),
        ]);
    }
    table.print(out)
}

fn footer(context: &Context, session: &str, out: &mut Out) -> Result<(), CliError> {
    let mut facts = vec![format!(
        "{} in {}",
        things(context.curve.points.len() as u64, "response"),
        things(context.turns.iter().filter(|turn| turn.no.is_some()).count() as u64, "turn")
    )];
    if context.elsewhere > 0 {
        facts.push(format!("{} on other branches or cut off", things(context.elsewhere as u64, "response")));
    }
    facts.push("~ is shared out or judged by length".to_owned());
    if context.rows.iter().any(|row| row.cause == Cause::Thinking) {
        facts.push("thinking counts as recorded: what the API drops of it is not known".to_owned());
    }
    if context.rows.iter().any(|row| row.cause == Cause::Unrecorded) {
        facts.push("what a request grew by beyond twice the estimate was never written".to_owned());
    }
    if context.curve.drops.iter().any(|drop| drop.how == Dropped::Unsaid) {
        facts.push("what left at ↓ is not known: thinking goes first, then results".to_owned());
    }
    if let Some(line) = context.cut {
        facts.push(format!("the path is cut off at L{line}: what was before counts as the client's"));
    }
    for line in textwrap::wrap(&facts.join(" · "), out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    let command = format!("rethread clone {} --preset light --dry-run", typed(session));
    out.line(&format!("{} {}", paint(QUIET, "a lighter copy:"), paint(NAME, &command)))
}
