//! Renders two branches side by side, from their last common entry on.

use std::collections::HashSet;

use maud::{Markup, html};
use rethread_engine::core::diff::{MatchBasis, SideTotals, SideTurn};
use rethread_engine::ops::NearbyEntry;
use rethread_engine::ops::diff::{BranchDiff, DiffBranch};

use super::action::render_action_button;
use super::text::render_prose;
use crate::text::clean;
use crate::text::figures::{count_noun, format_duration, format_tokens, group_digits};
use crate::text::layout::truncate_to_width;
use crate::text::outcome::call_status;
use crate::text::summary;
use crate::text::time::Clock;

/// Maximum number of tool calls listed per turn.
const MAX_CALLS: usize = 12;
/// Maximum number of tools, and of files, listed in the totals.
const MAX_NAMES: usize = 20;
/// Maximum width of a call, in columns.
const MAX_CALL_COLUMNS: usize = 120;
/// Maximum number of characters of a prompt or an answer. The page is for comparing, not for reading.
const MAX_TEXT_CHARS: usize = 6000;

/// Renders the comparison of two branches of the session with this key.
pub(crate) fn render_diff(base: &str, diff: &BranchDiff, clock: &Clock) -> Markup {
    let [a, b] = &diff.branches;
    let max_turns = a.side.turns.len().max(b.side.turns.len());
    html! {
        (render_common(base, diff))
        div class="diff" {
            div class="diff-row diff-heads" { (render_branch_head(base, "A", a)) (render_branch_head(base, "B", b)) }
            @for turn_idx in 0..max_turns.max(1) {
                div class="diff-row" { (render_cell("A", a, turn_idx, clock)) (render_cell("B", b, turn_idx, clock)) }
            }
        }
        h2 { "Since the last common entry" }
        (render_totals(diff))
    }
}

/// Renders how many turns and entries both branches have in common, and the last of these entries.
fn render_common(base: &str, diff: &BranchDiff) -> Markup {
    let Some([a, _]) = &diff.last_common else {
        return html! { p class="action-warning" { "The branches have no entry in common." } };
    };
    let basis = match diff.match_basis {
        MatchBasis::Uuid | MatchBasis::NoMatch => "",
        MatchBasis::Message => ", matched by message ids",
        MatchBasis::Text => ", matched by text",
    };
    html! {
        p class="diff-common" {
            "In common: " (count_noun(diff.common_turns as u64, "turn")) ", " (count_noun(diff.common_entries as u64, "entry")) (basis)
            "; the last is " a href={ (base) "#L" (a.line) } { "L" (a.line) @if let Some(turn) = a.turn { " t" (turn) } }
            span class="diff-last-entry muted" { (format_entry(a, &diff.branches[0].header.folder)) }
        }
    }
}

/// Formats an entry as one line: its tool call or its text.
fn format_entry(entry: &NearbyEntry, folder: &str) -> String {
    let text = match &entry.call {
        Some(call) => format!("● {}  {}", clean::line(&call.name), summary::summarize_call(call, folder)),
        None => clean::line(&entry.text),
    };
    truncate_to_width(&text, MAX_CALL_COLUMNS * 2)
}

/// Renders the head of a column. `name` is `A` or `B`.
fn render_branch_head(base: &str, name: &str, branch: &DiffBranch) -> Markup {
    let tip = branch.tip_line.map(|tip| format!("L{tip}"));
    html! {
        div class="diff-cell diff-cell-head" {
            h2 { (name) @if let Some(tip) = &tip { " " a href={ (base) "?tip=" (tip) } { "tip " (tip) } } }
            @if branch.active { span class="badge badge-good" { "resumes here" } } @else {
                span class="badge" { "other branch" }
                @if let Some(tip) = &tip { (render_action_button(base, "goto", Some(tip), "Resume from here")) }
            }
        }
    }
}

/// Renders one turn of a branch, by its index after the last common entry. The cell after the last turn marks the
/// end.
fn render_cell(name: &str, branch: &DiffBranch, turn_idx: usize, clock: &Clock) -> Markup {
    let turns = &branch.side.turns;
    html! {
        div class="diff-cell" {
            @if turn_idx <= turns.len() { span class="diff-cell-letter badge" { (name) } }
            @match turns.get(turn_idx) {
                Some(turn) => { (render_turn(turn, &branch.header.folder, clock)) }
                None if turn_idx == turns.len() => { p class="muted" { "ends here" } }
                None => {}
            }
        }
    }
}

/// Renders the prompt, the calls and the answer of a turn, each truncated.
fn render_turn(turn: &SideTurn, folder: &str, clock: &Clock) -> Markup {
    html! {
        p class="diff-cell-facts muted num" {
            @match (turn.number, turn.is_continuation) {
                (Some(number), false) => { strong { "t" (number) } }
                (Some(number), true) => { strong { "rest of t" (number) } }
                (None, _) => { strong { "no turn" } }
            }
            " L" (turn.line)
            @if let Some(from) = turn.started_at { " · " (clock.format_minute(from)) }
        }
        @if turn.compacted { p class="muted" { "compacted" } }
        @if let Some(prompt) = &turn.prompt { div class="diff-cell-prompt plain" { (clean::text(&truncate_text(prompt))) } }
        @if !turn.calls.is_empty() {
            ul class="diff-cell-calls" {
                @for call in turn.calls.iter().take(MAX_CALLS) {
                    @let status = call_status(call);
                    li class=[status.map(|_| "diff-cell-failed")] {
                        strong { (clean::line(&call.name)) } " " code { (truncate_to_width(&summary::summarize_call(call, folder), MAX_CALL_COLUMNS)) }
                        @if let Some(status) = status { " ✗ " (status) }
                    }
                }
                @if turn.calls.len() > MAX_CALLS { li class="muted" { (count_noun((turn.calls.len() - MAX_CALLS) as u64, "more call")) } }
            }
        }
        @if let Some(answer) = &turn.answer { div class="diff-cell-answer md" { (render_prose(&truncate_text(answer))) } }
        @if let Some(error) = &turn.error { p class="diff-cell-failed" { "✗ " (clean::line(error)) } }
        @if turn.interrupted { p class="diff-cell-interrupted" { "interrupted by the user" } }
    }
}

/// Truncates text to [`MAX_TEXT_CHARS`] characters and an ellipsis.
fn truncate_text(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Renders the table of totals of both branches since their last common entry.
fn render_totals(diff: &BranchDiff) -> Markup {
    let [a, b] = diff.branches.each_ref().map(|branch| &branch.side.totals);
    let count = |count: usize| group_digits(count as u64);
    let calls = |totals: &SideTotals| count(totals.tools.iter().map(|(_, calls, _)| calls).sum());
    let duration = |totals: &SideTotals| {
        let millis = totals
            .first_time
            .zip(totals.last_time)
            .and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
        millis.map_or_else(|| "–".to_owned(), format_duration)
    };
    let usage = |totals: &SideTotals| totals.tokens.usage;
    html! {
        div class="action-scroll" { table class="action-table diff-totals" {
            thead { tr { th scope="col" { span class="visually-hidden" { "what" } } th scope="col" { "A" } th scope="col" { "B" } } }
            tbody {
                (render_row("turns", &count(a.turns), &count(b.turns)))
                (render_row("answers", &count(a.tokens.responses), &count(b.tokens.responses)))
                (render_row("tool calls", &calls(a), &calls(b)))
                (render_tools(a, b))
                (render_row("files changed", &count(a.files.len()), &count(b.files.len())))
                (render_files(diff, a, b))
                (render_row("input tokens", &format_tokens(usage(a).input), &format_tokens(usage(b).input)))
                (render_row("output tokens", &format_tokens(usage(a).output), &format_tokens(usage(b).output)))
                (render_row("cache written", &format_tokens(usage(a).cache_write), &format_tokens(usage(b).cache_write)))
                (render_row("cache read", &format_tokens(usage(a).cache_read), &format_tokens(usage(b).cache_read)))
                (render_row("time", &duration(a), &duration(b)))
            }
        } }
    }
}

fn render_row(name: &str, value_a: &str, value_b: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td { (value_a) } td { (value_b) } } }
}

/// Renders a row per tool with its calls and failed calls on each side.
fn render_tools(a: &SideTotals, b: &SideTotals) -> Markup {
    let calls_text = |totals: &SideTotals, name: &str| {
        let tool = totals.tools.iter().find(|(tool, ..)| tool == name);
        tool.map_or_else(
            || "–".to_owned(),
            |(_, calls, failed)| match failed {
                0 => group_digits(*calls as u64),
                failed => format!("{} ({failed} ✗)", group_digits(*calls as u64)),
            },
        )
    };
    let names =
        collect_distinct_names(a.tools.iter().map(|(name, ..)| name), b.tools.iter().map(|(name, ..)| name));
    render_name_rows(&names, |name| (clean::line(name), calls_text(a, name), calls_text(b, name)))
}

/// Renders a row per changed file with its number of changes on each side.
fn render_files(diff: &BranchDiff, a: &SideTotals, b: &SideTotals) -> Markup {
    let changes_text = |totals: &SideTotals, path: &str| {
        let file = totals.files.iter().find(|(file, _)| file == path);
        file.map_or_else(|| "–".to_owned(), |(_, changes)| group_digits(*changes as u64))
    };
    let folders = diff.branches.each_ref().map(|branch| branch.header.folder.as_str());
    let display_path = |path: &str| {
        let shortest = folders
            .map(|folder| summary::relative_path(path, folder))
            .into_iter()
            .min_by_key(|path| path.len());
        clean::line(shortest.unwrap_or(path))
    };
    let paths =
        collect_distinct_names(a.files.iter().map(|(path, _)| path), b.files.iter().map(|(path, _)| path));
    render_name_rows(&paths, |path| (display_path(path), changes_text(a, path), changes_text(b, path)))
}

/// Returns the names of both sides without duplicates, those of `a` first.
fn collect_distinct_names<'a>(
    a: impl Iterator<Item = &'a String>,
    b: impl Iterator<Item = &'a String>,
) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    a.chain(b).map(String::as_str).filter(|name| seen.insert(*name)).collect()
}

/// Renders a row for each of the first [`MAX_NAMES`] names. `cells` returns the display name and the values of side A
/// and B.
fn render_name_rows(names: &[&str], cells: impl Fn(&str) -> (String, String, String)) -> Markup {
    html! {
        @for name in names.iter().take(MAX_NAMES) {
            @let (label, value_a, value_b) = cells(name);
            tr class="action-detail" { th scope="row" { (label) } td { (value_a) } td { (value_b) } }
        }
        @if names.len() > MAX_NAMES { tr class="action-detail" { th scope="row" { (group_digits((names.len() - MAX_NAMES) as u64)) " more" } td {} td {} } }
    }
}
