//! Renders the list of branches of a session, with their actions.

use maud::{Markup, html};
use rethread_engine::core::entry::Kind;
use rethread_engine::core::tree::ParentLink;
use rethread_engine::ops::branches::{BranchList, BranchRow};

use super::action::render_action_button;
use crate::text::entry;
use crate::text::figures::{count_noun, format_branch_count, format_tokens, group_digits};
use crate::text::layout::truncate_to_width;
use crate::text::time::Clock;

/// Maximum width of the text of a branch, in columns.
const MAX_COLUMNS: usize = 240;

/// Renders the branches of the session at the address `base`, the active one first, then the most recent ones. Two can be
/// selected for comparison.
pub(crate) fn render_branch_list(base: &str, list: &BranchList, clock: &Clock) -> Markup {
    let active = list.rows.iter().find(|row| row.active).map(|row| row.tip_handle.as_str());
    let is_forked = list.rows.len() > 1;
    // The active branch first, then the most recent ones.
    let mut rows: Vec<&BranchRow> = list.rows.iter().collect();
    rows.sort_by_key(|row| (!row.active, std::cmp::Reverse(row.branch.last_time)));
    html! {
        p class="muted" { (format_list_summary(list)) }
        form action={ (base) "/diff" } class="branches" data-compare="" {
            ol class="branch-list" {
                @for row in rows { (render_branch(base, row, active, is_forked, &list.header.folder, clock)) }
            }
            @if is_forked {
                p class="branch-compare" {
                    button class="button button-primary" { "Compare selected branches" }
                    span class="muted" { "Select two branches." }
                }
            }
        }
    }
}

/// Formats the number of branches, and which one the client loads.
fn format_list_summary(list: &BranchList) -> String {
    let mut facts = vec![format_branch_count(list.branches, list.orphaned)];
    if list.rows.len() == 1 {
        facts.push("no forks".to_owned());
    }
    if let (Some(row), Some(leaf)) = (list.rows.iter().find(|row| row.active), &list.resume_handle) {
        facts.push(format!("the client loads {} up to {leaf}", row.tip_handle));
    }
    facts.join(" · ")
}

/// Renders a branch with its actions. `active` is the tip of the active branch; `is_forked` is `true` if there are
/// several branches.
fn render_branch(
    base: &str,
    row: &BranchRow,
    active: Option<&str>,
    is_forked: bool,
    folder: &str,
    clock: &Clock,
) -> Markup {
    let text = truncate_to_width(
        &entry::format_entry_line(&row.first_preview, row.first_role, Kind::User, folder),
        MAX_COLUMNS,
    );
    let handle = row.tip_handle.as_str();
    let class = if row.active { "branch branch-active" } else { "branch" };
    html! {
        li class=(class) {
            div class="branch-head" {
                @if is_forked {
                    input type="checkbox" name="pick" value=(handle) class="branch-select" aria-label={ "Compare branch " (handle) };
                }
                a class="branch-text" href={ (base) "?tip=" (handle) } { (text) }
                @if row.active { span class="badge badge-good" { "resumes here" } }
                (render_origin(row))
            }
            (render_stats(base, row, is_forked, clock))
            p class="branch-actions" {
                a class="button" href={ (base) "?tip=" (handle) } { "Read" }
                @if let Some(active) = active.filter(|_| !row.active) {
                    a class="button" href={ (base) "/diff?a=" (active) "&b=" (handle) } { "Compare with active branch" }
                }
                @if !row.active { (render_action_button(base, "goto", Some(handle), "Resume from here")) }
                (render_action_button(base, "fork", Some(handle), "Fork"))
            }
        }
    }
}

/// Renders the age, turns, tokens, tip and fork point of a branch. The tokens are those of its own part if the
/// session forks.
fn render_stats(base: &str, row: &BranchRow, is_forked: bool, clock: &Clock) -> Markup {
    let branch = &row.branch;
    let usage = if is_forked { &row.own_usage } else { &row.usage };
    html! {
        p class="branch-stats muted num" {
            @if let Some(last) = branch.last_time { time title=(clock.format_minute(last)) { (clock.format_age(Some(last))) } " · " }
            @if is_forked { (count_noun(branch.own_turns as u64, "turn")) " of its own, " (group_digits(branch.turns as u64)) " in total" }
            @else { (count_noun(branch.turns as u64, "turn")) }
            " · " (format_tokens(usage.total())) " tokens · tip " code { (row.tip_handle) }
            @if let Some(from) = &row.forked_from {
                " · forks at " a href={ (base) "?tip=" (row.tip_handle) "#" (from.handle) } { (from.handle) }
                @if let Some(turn) = from.turn { " t" (turn) }
            }
        }
    }
}

/// Renders badges: how a branch arose and its number at the fork, and why its parent is missing.
fn render_origin(row: &BranchRow) -> Markup {
    let problem = match row.branch.broken_link {
        Some(ParentLink::CycleBroken) => "orphaned: parent cycle",
        Some(_) if row.branch.orphaned => "orphaned: missing parent",
        Some(_) => "missing parent",
        None => "",
    };
    html! {
        @if let Some(from) = row.branch.fork_point { span class="badge" { (from.kind.name()) " " (from.branch_number) "/" (from.branch_count) } }
        @if !problem.is_empty() { span class="badge badge-warn" { (problem) } }
    }
}
