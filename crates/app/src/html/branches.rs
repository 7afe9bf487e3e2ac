//! The branches of a session as a list: when, how much, what they say, and what to do with them.

use maud::{Markup, html};
use rethread_engine::core::entry::Kind;
use rethread_engine::core::tree::ParentLink;
use rethread_engine::ops::{BranchList, BranchRow};

use super::action::act;
use crate::text::entry;
use crate::text::figures::{count, things, tokens};
use crate::text::fit::truncate_to_width;
use crate::text::time::Clock;

/// Letters of the words that a branch is told by.
const LETTERS: usize = 240;

/// Draws all branches; two of them can be chosen to be compared.
pub(crate) fn list(key: &str, list: &BranchList, clock: &Clock) -> Markup {
    let active = list.rows.iter().find(|row| row.active).map(|row| row.handle.as_str());
    let forked = list.rows.len() > 1;
    // What was said last is wanted first.
    let mut rows: Vec<&BranchRow> = list.rows.iter().collect();
    rows.sort_by_key(|row| (!row.active, std::cmp::Reverse(row.branch.last)));
    html! {
        p class="quiet" { (summary(list)) }
        form action={ "/s/" (key) "/diff" } class="branches" data-pair="" {
            ol class="branch-list" {
                @for row in rows { (entry(key, row, active, forked, &list.head.folder, clock)) }
            }
            @if forked {
                p class="branch-compare" {
                    button class="button button-main" { "Compare the two chosen" }
                    span class="quiet" { "Choose two branches." }
                }
            }
        }
    }
}

/// Says how many there are, and which one the client loads.
fn summary(list: &BranchList) -> String {
    let mut facts = vec![things(list.branches as u64, "branch")];
    if list.islands > 0 {
        facts.push(things(list.islands as u64, "island"));
    }
    if list.rows.len() == 1 {
        facts.push("this conversation never forked".to_owned());
    }
    if let (Some(row), Some(leaf)) = (list.rows.iter().find(|row| row.active), &list.short) {
        facts.push(format!("the client loads {} up to {leaf}", row.handle));
    }
    facts.join(" · ")
}

fn entry(
    key: &str,
    row: &BranchRow,
    active: Option<&str>,
    forked: bool,
    folder: &str,
    clock: &Clock,
) -> Markup {
    let words = truncate_to_width(&entry::words(&row.first, row.voice, Kind::User, folder), LETTERS);
    let handle = row.handle.as_str();
    let class = if row.active { "branch branch-on" } else { "branch" };
    html! {
        li class=(class) {
            div class="branch-head" {
                @if forked {
                    input type="checkbox" name="pick" value=(handle) class="branch-pick" aria-label={ "Compare branch " (handle) };
                }
                a class="branch-words" href={ "/s/" (key) "?tip=" (handle) } { (words) }
                @if row.active { span class="badge badge-good" { "resumes here" } }
                (origin(row))
            }
            (figures(key, row, forked, clock))
            p class="branch-do" {
                a class="button" href={ "/s/" (key) "?tip=" (handle) } { "Read" }
                @if let Some(active) = active.filter(|_| !row.active) {
                    a class="button" href={ "/s/" (key) "/diff?a=" (active) "&b=" (handle) } { "Compare with the active one" }
                }
                @if !row.active { (act(key, "goto", Some(handle), "Go on from here")) }
                (act(key, "fork", Some(handle), "Fork"))
            }
        }
    }
}

fn figures(key: &str, row: &BranchRow, forked: bool, clock: &Clock) -> Markup {
    let branch = &row.branch;
    let usage = if forked { &row.own_usage } else { &row.usage };
    html! {
        p class="branch-figures quiet num" {
            @if let Some(last) = branch.last { time title=(clock.stamp(last)) { (clock.age(Some(last))) } " · " }
            @if forked { (things(branch.own_turns as u64, "turn")) " of its own, " (count(branch.turns as u64)) " in all" }
            @else { (things(branch.turns as u64, "turn")) }
            " · " (tokens(usage.total())) " tokens · tip " code { (row.handle) }
            @if let Some(from) = &row.from {
                " · leaves at " a href={ "/s/" (key) "?tip=" (row.handle) "#" (from.handle) } { (from.handle) }
                @if let Some(turn) = from.turn { " t" (turn) }
            }
        }
    }
}

/// Says how a branch arose, and which of how many ways it is; of an island, why it is one.
fn origin(row: &BranchRow) -> Markup {
    let cut = match row.branch.cut {
        Some(ParentLink::Cut) => "island: a cycle",
        Some(_) if row.branch.orphaned => "island: its parent is missing",
        Some(_) => "its parent is missing",
        None => "",
    };
    html! {
        @if let Some(from) = row.branch.from { span class="badge" { (from.kind.name()) " " (from.way) "/" (from.ways) } }
        @if !cut.is_empty() { span class="badge badge-warn" { (cut) } }
    }
}
