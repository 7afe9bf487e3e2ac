//! What stands around the turns of a session: its head, and the tools of the reader.

use std::cell::RefCell;
use std::collections::HashSet;

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::session::SessionInfo;
use rethread_engine::ops::{AgentRow, BranchView, SessionRow, SessionView};

use super::resume_banner;
use super::session_row::short_model;
use super::text::safe_address;
use crate::text::clean;
use crate::text::error::{error_message, hint};
use crate::text::figures::{duration, size, things};
use crate::text::folder::git_branch;
use crate::text::time::Clock;

/// What is said of a session.
pub(crate) struct Head<'a> {
    /// What was read.
    pub(crate) reading: &'a SessionView,
    /// Which way is shown.
    pub(crate) way: &'a BranchView,
    /// What it is called.
    pub(crate) title: &'a str,
    /// Its address.
    pub(crate) base: &'a str,
    /// What an address says of the way that is shown; more may follow.
    pub(crate) query: String,
    /// Its key, or that of the session it belongs to.
    pub(crate) key: &'a str,
    /// The key of the session that a subagent belongs to.
    pub(crate) main: Option<&'a str>,
    /// What the list knows of it.
    pub(crate) row: Option<&'a SessionRow>,
    /// Whether all turns of the file are shown.
    pub(crate) everything: bool,
    /// Whether only a subagent inside the session's file is shown.
    pub(crate) side: bool,
    /// What to type to go on with it.
    pub(crate) resume: String,
    /// Whether another way than the client's is shown.
    pub(crate) other_way: bool,
    /// The user's zone.
    pub(crate) clock: &'a Clock,
    /// Writes a path with `~`.
    pub(crate) tilde: &'a dyn Fn(&str) -> String,
    /// Says what another session is called.
    pub(crate) title_of: &'a dyn Fn(&str) -> Option<String>,
}

/// Draws the head of a session.
pub(crate) fn top(head: &Head<'_>) -> Markup {
    let sketch = &head.reading.session.sketch;
    let folder = (head.tilde)(sketch.cwd.as_deref().unwrap_or_default());
    let branch = git_branch(sketch.git_branch.as_deref());
    html! {
        header class="session-top" {
            p class="session-where quiet cut" {
                @if let Some(main) = head.main {
                    @let title = (head.title_of)(main).filter(|title| !title.is_empty());
                    a href={ "/s/" (main) } { (title.as_deref().unwrap_or("the session")) } " › subagent"
                }
                @else { (folder) @if let Some(branch) = branch { " · " (branch) } }
            }
            h1 title=(head.title) { @if head.title.is_empty() { "(no prompt was typed)" } @else { (head.title) } }
            p class="session-facts quiet num" { (facts(head).join(" · ")) }
            (ties(head))
            @if head.main.is_none() {
                (actions(head))
                @if let Some(banner) = resume_banner::banner(head.key, &head.reading.verdict(), &head.reading.session) { (banner) }
            }
            (damage(head))
            (shown(head))
        }
    }
}

/// Says what the list calls damaged, and what mends it.
fn damage(head: &Head<'_>) -> Markup {
    let sketch = &head.reading.session.sketch;
    let lines =
        (sketch.damages > 0).then(|| format!("{} in its lines", things(sketch.damages as u64, "defect")));
    let islands = (sketch.islands > 0)
        .then(|| format!("{} whose beginning is missing", things(sketch.islands as u64, "part")));
    let told: Vec<String> = lines.into_iter().chain(islands).collect();
    html! {
        @if !told.is_empty() {
            p class="session-way session-damage" {
                "The file is damaged: " (told.join(", ")) ". "
                @if head.main.is_none() { button type="button" class="button no-print" data-act="repair" { "See what can be mended…" } }
            }
        }
    }
}

/// Says what a session came to.
pub(crate) fn facts(head: &Head<'_>) -> Vec<String> {
    let session = &head.reading.session;
    let sketch = &session.sketch;
    let some = |number: usize, least: usize, one: &str| (number >= least).then(|| things(number as u64, one));
    if head.side {
        // The file tells of all of the session.
        let (from, to) = (
            head.way.stops.iter().filter_map(|stop| stop.from),
            head.way.stops.iter().filter_map(|stop| stop.to),
        );
        let facts = [took(from.min(), to.max(), head.clock), some(head.way.turns(), 0, "turn")];
        return facts.into_iter().flatten().collect();
    }
    let models: Vec<String> = sketch.models.iter().map(|model| short_model(model)).collect();
    let facts = [
        span(sketch, head.clock),
        some(sketch.turns, 0, "turn"),
        some(sketch.compactions, 1, "compaction"),
        Some(size(session.bytes)),
        sketch.versions.last().map(|version| format!("client {}", clean::line(version))),
        (!models.is_empty()).then(|| models.join(", ")),
    ];
    facts.into_iter().flatten().collect()
}

/// Says from when to when a session went, and how long that is.
pub(crate) fn span(sketch: &SessionInfo, clock: &Clock) -> Option<String> {
    took(sketch.first, sketch.last, clock)
}

fn took(first: Option<Timestamp>, last: Option<Timestamp>, clock: &Clock) -> Option<String> {
    let (first, last) = first.zip(last)?;
    let took = duration(last.0.saturating_sub(first.0).unsigned_abs());
    Some(format!("{} ({took})", clock.range(first, last)))
}

/// Says what a subagent is called.
pub(crate) fn called(row: &AgentRow) -> String {
    let words = [&row.description, &row.prompt]
        .into_iter()
        .map(|text| clean::line(text))
        .find(|text| !text.is_empty());
    let words: String = words.unwrap_or_else(|| "subagent".to_owned()).chars().take(120).collect();
    let kind = clean::line(&row.kind);
    if kind.is_empty() { words } else { format!("{kind}: {words}") }
}

/// Draws what ties the session to others.
fn ties(head: &Head<'_>) -> Markup {
    let Some(row) = head.row else { return Markup::default() };
    let links = &row.links;
    // One session may be all of these, and is named once.
    let named = RefCell::new(HashSet::new());
    let other = |name: &str, id: &Option<String>| {
        let id = id.as_ref().filter(|id| named.borrow_mut().insert((*id).clone()))?;
        let title = (head.title_of)(id)?;
        Some(html! { li { span class="badge badge-mark" { (name) } " " a href={ "/s/" (id) } { (title) } } })
    };
    let ties: Vec<Markup> = [
        other("planned in", &links.plan),
        other("implemented in", &links.implementation),
        other("forked from", &links.forked_from),
        other("went on from", &links.came_from),
    ]
    .into_iter()
    .flatten()
    .chain(links.copies.iter().take(4).filter_map(|id| other("same beginning", &Some(id.clone()))))
    .collect();
    let requests = row.pull_requests();
    if ties.is_empty() && requests.is_empty() {
        return Markup::default();
    }
    html! {
        ul class="ties" {
            @for tie in &ties { (tie) }
            @for request in requests {
                li {
                    span class="badge badge-mark" { "pull request" } " "
                    @let name = format!("{} #{}", clean::line(&request.repository), clean::line(&request.number));
                    @if let Some(address) = safe_address(&request.url) {
                        a href=(address) rel="noopener noreferrer" target="_blank" { (name) }
                    } @else { (name) }
                }
            }
        }
    }
}

fn actions(head: &Head<'_>) -> Markup {
    let branches = head.reading.branches.list.len();
    let agents = head.row.map_or(0, |row| row.agents);
    html! {
        div class="session-actions no-print" {
            button type="button" class="button button-main" data-do="copy-text" data-text=(head.resume)
                data-said="Copied: paste it in a terminal" { "Continue in terminal" }
            button type="button" class="button" data-do="find" { "Find" }
            button type="button" class="button" data-do="present" { "Present" }
            @if branches > 1 { a class="button" href={ (head.base) "/branches" } { (things(branches as u64, "branch")) } }
            @if agents > 0 { button type="button" class="button" data-do="agents" { (things(agents as u64, "subagent")) } }
            details class="menu menu-left" {
                summary class="button" { "Export" }
                div class="menu-list" {
                    @for (format, name) in [("html", "As one page"), ("md", "As markdown"), ("text", "As text"), ("json", "As JSON Lines")] {
                        a href={ (head.base) "/export" (head.query) "format=" (format) } download { (name) }
                    }
                    hr;
                    button type="button" data-do="print" { "Print…" }
                }
            }
            details class="menu menu-left" {
                summary class="button" { "Change…" }
                div class="menu-list" {
                    button type="button" data-act="rename" { "Rename…" }
                    button type="button" data-act="clone" { "Clone lighter…" }
                    button type="button" data-act="repair" { "Repair…" }
                }
            }
        }
        div id="agents" hidden {}
    }
}

/// Says which way is shown, and how to see the others.
fn shown(head: &Head<'_>) -> Markup {
    let all = head.reading.session.tree.turns().count();
    let here = head.way.turns();
    html! {
        @if head.side {
        } @else if head.everything {
            p class="session-way" { "All " (things(all as u64, "turn")) " of the file, on every branch. " a href=(head.base) { "Only what goes on" } }
        } @else if head.other_way || here < all {
            p class="session-way" {
                @if head.other_way { "Another branch: " }
                (here) " of " (things(all as u64, "turn")) " are on this branch. "
                @if head.other_way { a href=(head.base) { "Back to the one that goes on" } " · " }
                a href={ (head.base) "?view=all" } { "Show all" }
            }
        }
    }
}

/// Draws the tools of the reader: find, and follow where somebody tells that it `grows`.
pub(crate) fn tools(grows: bool) -> Markup {
    html! {
        form class="find no-print" id="find" role="search" hidden {
            input type="search" name="q" aria-label="Find in this session" placeholder="Find in this session" autocomplete="off" spellcheck="false";
            span class="find-at num quiet" {}
            button type="button" class="bar-button" data-do="find-back" aria-label="Previous place" { "↑" }
            button type="button" class="bar-button" data-do="find-on" aria-label="Next place" { "↓" }
            button type="button" class="bar-button" data-do="find-close" aria-label="Close" { "×" }
        }
        @if grows {
            div class="follow no-print" {
                button type="button" class="button" data-do="newest" hidden { "New turns ↓" }
                span class="follow-lost" role="status" hidden { "rethread does not answer" }
                label { input type="checkbox" name="follow"; " follow" }
            }
        }
    }
}

/// Says what could not be read, in place of the session.
pub(crate) fn trouble(failure: &Error) -> Markup {
    html! {
        main id="main" class="trouble" { h1 { "That did not work" } p { (error_message(failure)) } p class="quiet" { (hint(failure)) } }
    }
}
