//! Two branches beside each other, from the last entry that both have.

use std::collections::HashSet;

use maud::{Markup, html};
use rethread_engine::core::diff::{MatchBasis, SideTurn, Totals};
use rethread_engine::ops::{Branch, Diff, NearbyEntry};

use super::action::act;
use super::text::prose;
use crate::text::clean;
use crate::text::figures::{count, duration, things, tokens};
use crate::text::fit::truncate_to_width;
use crate::text::outcome::call_status;
use crate::text::summary;
use crate::text::time::Clock;

/// Calls of a turn, tools and files that are named.
const CALLS: usize = 12;
const NAMED: usize = 20;
/// Letters of a call.
const LETTERS: usize = 120;
/// Letters of a prompt or answer that are drawn: a page of two columns is for comparing, not for reading.
const TEXT: usize = 6000;

/// Draws two branches of the session with this key.
pub(crate) fn sides(key: &str, diff: &Diff, clock: &Clock) -> Markup {
    let [a, b] = &diff.branches;
    let most = a.side.turns.len().max(b.side.turns.len());
    html! {
        (common(key, diff))
        div class="sides" {
            div class="sides-row sides-heads" { (head(key, "A", a)) (head(key, "B", b)) }
            @for k in 0..most.max(1) {
                div class="sides-row" { (cell("A", a, k, clock)) (cell("B", b, k, clock)) }
            }
        }
        h2 { "Since then" }
        (sums(diff))
    }
}

/// Says what both have.
fn common(key: &str, diff: &Diff) -> Markup {
    let Some([a, _]) = &diff.last else {
        return html! { p class="act-warning" { "They have no entry in common." } };
    };
    let by = match diff.by {
        MatchBasis::Uuid | MatchBasis::Nothing => "",
        MatchBasis::Message => ", known by its responses",
        MatchBasis::Words => ", known by its words",
    };
    html! {
        p class="sides-common" {
            "In common: " (things(diff.common_turns as u64, "turn")) ", " (things(diff.common_entries as u64, "entry")) (by)
            "; the last is " a href={ "/s/" (key) "#L" (a.line) } { "L" (a.line) @if let Some(turn) = a.turn { " t" (turn) } }
            span class="sides-last quiet" { (near(a, &diff.branches[0].head.folder)) }
        }
    }
}

fn near(near: &NearbyEntry, folder: &str) -> String {
    let said = match &near.call {
        Some(call) => format!("● {}  {}", clean::line(&call.name), summary::gist(call, folder)),
        None => clean::line(&near.words),
    };
    truncate_to_width(&said, LETTERS * 2)
}

fn head(key: &str, name: &str, branch: &Branch) -> Markup {
    let tip = branch.tip.map(|tip| format!("L{tip}"));
    html! {
        div class="side side-head" {
            h2 { (name) @if let Some(tip) = &tip { " " a href={ "/s/" (key) "?tip=" (tip) } { "tip " (tip) } } }
            @if branch.active { span class="badge badge-good" { "resumes here" } } @else {
                span class="badge" { "other branch" }
                @if let Some(tip) = &tip { (act(key, "goto", Some(tip), "Go on from here")) }
            }
        }
    }
}

/// Draws a turn of a branch; says once where it ends.
fn cell(name: &str, branch: &Branch, k: usize, clock: &Clock) -> Markup {
    let turns = &branch.side.turns;
    html! {
        div class="side" {
            @if k <= turns.len() { span class="side-letter badge" { (name) } }
            @match turns.get(k) {
                Some(side) => { (turn(side, &branch.head.folder, clock)) }
                None if k == turns.len() => { p class="quiet" { "ends here" } }
                None => {}
            }
        }
    }
}

fn turn(turn: &SideTurn, folder: &str, clock: &Clock) -> Markup {
    html! {
        p class="side-facts quiet num" {
            @match (turn.no, turn.goes_on) {
                (Some(no), false) => { strong { "t" (no) } }
                (Some(no), true) => { strong { "rest of t" (no) } }
                (None, _) => { strong { "no turn" } }
            }
            " L" (turn.line)
            @if let Some(from) = turn.from { " · " (clock.stamp(from)) }
        }
        @if turn.compacted { p class="quiet" { "compacted" } }
        @if let Some(prompt) = &turn.prompt { div class="side-prompt plain" { (clean::text(&short(prompt))) } }
        @if !turn.calls.is_empty() {
            ul class="side-calls" {
                @for call in turn.calls.iter().take(CALLS) {
                    @let ending = call_status(call);
                    li class=[ending.map(|_| "side-failed")] {
                        strong { (clean::line(&call.name)) } " " code { (truncate_to_width(&summary::gist(call, folder), LETTERS)) }
                        @if let Some(ending) = ending { " ✗ " (ending) }
                    }
                }
                @if turn.calls.len() > CALLS { li class="quiet" { (things((turn.calls.len() - CALLS) as u64, "more call")) } }
            }
        }
        @if let Some(answer) = &turn.answer { div class="side-answer md" { (prose(&short(answer))) } }
        @if let Some(error) = &turn.error { p class="side-failed" { "✗ " (clean::line(error)) } }
        @if turn.stopped { p class="side-stopped" { "stopped by the user" } }
    }
}

/// Cuts a long text at a letter.
fn short(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

fn sums(diff: &Diff) -> Markup {
    let [a, b] = diff.branches.each_ref().map(|branch| &branch.side.totals);
    let number = |number: usize| count(number as u64);
    let calls = |totals: &Totals| number(totals.tools.iter().map(|(_, calls, _)| calls).sum());
    let took = |totals: &Totals| {
        let took =
            totals.first.zip(totals.last).and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
        took.map_or_else(|| "–".to_owned(), duration)
    };
    let usage = |totals: &Totals| totals.spent.usage;
    html! {
        div class="act-scroll" { table class="act-table sides-sums" {
            thead { tr { th scope="col" { span class="unseen" { "what" } } th scope="col" { "A" } th scope="col" { "B" } } }
            tbody {
                (row("turns", &number(a.turns), &number(b.turns)))
                (row("answers", &number(a.spent.responses), &number(b.spent.responses)))
                (row("tool calls", &calls(a), &calls(b)))
                (tools(a, b))
                (row("files changed", &number(a.files.len()), &number(b.files.len())))
                (files(diff, a, b))
                (row("input tokens", &tokens(usage(a).input), &tokens(usage(b).input)))
                (row("output tokens", &tokens(usage(a).output), &tokens(usage(b).output)))
                (row("cache written", &tokens(usage(a).cache_write), &tokens(usage(b).cache_write)))
                (row("cache read", &tokens(usage(a).cache_read), &tokens(usage(b).cache_read)))
                (row("time", &took(a), &took(b)))
            }
        } }
    }
}

fn row(name: &str, of_a: &str, of_b: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td { (of_a) } td { (of_b) } } }
}

fn tools(a: &Totals, b: &Totals) -> Markup {
    let of = |totals: &Totals, name: &str| {
        let found = totals.tools.iter().find(|(known, ..)| known == name);
        found.map_or_else(
            || "–".to_owned(),
            |(_, calls, failed)| match failed {
                0 => count(*calls as u64),
                failed => format!("{} ({failed} ✗)", count(*calls as u64)),
            },
        )
    };
    let names = both(a.tools.iter().map(|(name, ..)| name), b.tools.iter().map(|(name, ..)| name));
    named(&names, |name| (clean::line(name), of(a, name), of(b, name)))
}

fn files(diff: &Diff, a: &Totals, b: &Totals) -> Markup {
    let of = |totals: &Totals, path: &str| {
        let found = totals.files.iter().find(|(known, _)| known == path);
        found.map_or_else(|| "–".to_owned(), |(_, changes)| count(*changes as u64))
    };
    let folders = diff.branches.each_ref().map(|branch| branch.head.folder.as_str());
    let shown = |path: &str| {
        let short =
            folders.map(|folder| summary::inside(path, folder)).into_iter().min_by_key(|path| path.len());
        clean::line(short.unwrap_or(path))
    };
    let paths = both(a.files.iter().map(|(path, _)| path), b.files.iter().map(|(path, _)| path));
    named(&paths, |path| (shown(path), of(a, path), of(b, path)))
}

/// Returns the names of either side, each once.
fn both<'a>(a: impl Iterator<Item = &'a String>, b: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    a.chain(b).map(String::as_str).filter(|name| seen.insert(*name)).collect()
}

/// Draws a row for each name, up to a number of them.
fn named(names: &[&str], of: impl Fn(&str) -> (String, String, String)) -> Markup {
    html! {
        @for name in names.iter().take(NAMED) {
            @let (shown, of_a, of_b) = of(name);
            tr class="act-part" { th scope="row" { (shown) } td { (of_a) } td { (of_b) } }
        }
        @if names.len() > NAMED { tr class="act-part" { th scope="row" { (count((names.len() - NAMED) as u64)) " more" } td {} td {} } }
    }
}
