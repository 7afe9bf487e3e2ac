//! The header of a session page, and the find and follow controls.

use std::cell::RefCell;
use std::collections::HashSet;

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::session::SessionInfo;
use rethread_engine::ops::agents::AgentRow;
use rethread_engine::ops::explain::ClientVerdict;
use rethread_engine::ops::list::SessionRow;
use rethread_engine::ops::read::{BranchSelector, BranchView, SessionView};

use super::resume_banner::render_banner;
use super::session_row::shorten_model_name;
use crate::content::markdown::safe_url;
use crate::text::clean;
use crate::text::error::{error_message, hint};
use crate::text::figures::{count_noun, format_branch_count, format_duration, format_size};
use crate::text::session::{git_branch_label, restore_command, scope_label};
use crate::text::time::Clock;

/// The content of the header of a session page.
pub(crate) struct SessionHeader<'a> {
    /// The session.
    pub(crate) view: &'a SessionView,
    /// The branch that is shown.
    pub(crate) branch: &'a BranchView,
    /// The title of the session.
    pub(crate) title: &'a str,
    /// The address of the page, without the query.
    pub(crate) base: &'a str,
    /// The key of the session that a subagent belongs to. `None` for a session.
    pub(crate) parent_key: Option<&'a str>,
    /// The row of the session in the list of all sessions. `None` for a subagent and in an export.
    pub(crate) row: Option<&'a SessionRow>,
    /// The predicted outcome of a resume by the client that wrote the newest line. `None` for a subagent and in an
    /// export.
    pub(crate) verdict: Option<&'a ClientVerdict>,
    /// States how many secrets the session contains. `None` if there are none, and in an export.
    pub(crate) secrets: Option<&'a str>,
    /// Selects the turns that are shown.
    pub(crate) selector: &'a BranchSelector,
    /// The shell command that resumes the session.
    pub(crate) resume_command: String,
    /// The user's time zone.
    pub(crate) clock: &'a Clock,
    /// Replaces the home directory in a path by `~`.
    pub(crate) format_path: &'a dyn Fn(&str) -> String,
    /// Returns the title of another session by its key or id. Returns `None` if the session is unknown.
    pub(crate) title_of: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the address of another session by its key or id.
    pub(crate) address_of: &'a dyn Fn(&str) -> String,
}

/// Renders the header of a session page: title, facts, related sessions, actions, and notes about problems.
pub(crate) fn render_header(header: &SessionHeader<'_>) -> Markup {
    let info = &header.view.session.info;
    let folder = (header.format_path)(info.cwd.as_deref().unwrap_or_default());
    let branch = git_branch_label(info.git_branch.as_deref());
    html! {
        header class="session-header" {
            p class="session-location muted ellipsis" {
                @if let Some(parent) = header.parent_key {
                    @let title = (header.title_of)(parent).filter(|title| !title.is_empty());
                    a href=((header.address_of)(parent)) { (title.as_deref().unwrap_or("the session")) } " › subagent"
                }
                @else { (folder) @if let Some(branch) = branch { " · " (branch) } }
            }
            h1 title=(header.title) { @if header.title.is_empty() { "(no messages)" } @else { (header.title) } }
            p class="session-facts muted num" { (format_session_facts(header).join(" · ")) }
            (render_related(header))
            @if header.parent_key.is_none() {
                (render_actions(header))
                @if let Some(banner) = header.verdict.and_then(|verdict| render_banner(header.base, verdict, &header.view.session)) { (banner) }
            }
            (render_archive_note(header))
            (render_damage(header))
            @if let Some(secrets) = header.secrets { p class="session-note session-secrets" {
                "Contains " (secrets) ". "
                a class="no-print" href={ (header.base) "/export/preview" } { "Exports replace them" } "."
            } }
            (render_branch_note(header))
        }
    }
}

/// Renders a note about a session that only the archive has. Returns empty markup for any other session.
fn render_archive_note(header: &SessionHeader<'_>) -> Markup {
    if !header.view.session.archived {
        return Markup::default();
    }
    html! {
        p class="session-note" {
            "Only the archive has this session: its file was deleted. "
            span class="no-print" { code { (restore_command(&clean::line(&header.view.session.id))) } " brings it back." }
        }
    }
}

/// Renders a note about damage that can be repaired, with its diagnostics and a button to repair it. Returns empty markup
/// if there is none.
fn render_damage(header: &SessionHeader<'_>) -> Markup {
    if !header.row.is_some_and(|row| row.damaged) {
        return Markup::default();
    }
    let info = &header.view.session.info;
    let lines = (info.damage_count > 0)
        .then(|| format!("{} in its lines", count_noun(info.damage_count as u64, "defect")));
    let orphans = (info.orphans > 0)
        .then(|| format!("{} with a missing parent", count_noun(info.orphans as u64, "part")));
    let damage: Vec<String> = lines.into_iter().chain(orphans).collect();
    html! {
        p class="session-note session-damage" {
            "The file is damaged: " (damage.join(", ")) ". "
            span class="no-print" {
                a href={ (header.base) "/doctor" } { "Diagnostics" } " "
                button type="button" class="button" data-action="repair" { "Repair…" }
            }
        }
    }
}

/// Formats the key facts of a session: time, turns, compactions, size, client, models. For a sidechain only time and
/// turns.
pub(crate) fn format_session_facts(header: &SessionHeader<'_>) -> Vec<String> {
    let session = &header.view.session;
    let info = &session.info;
    let count =
        |number: usize, min: usize, noun: &str| (number >= min).then(|| count_noun(number as u64, noun));
    if matches!(header.selector, BranchSelector::Sidechain(_)) {
        // The file contains the whole session, not only the sidechain.
        let (from, to) = (
            header.branch.turns.iter().filter_map(|turn| turn.started_at),
            header.branch.turns.iter().filter_map(|turn| turn.ended_at),
        );
        let facts =
            [format_span(from.min(), to.max(), header.clock), count(header.branch.turn_count(), 0, "turn")];
        return facts.into_iter().flatten().collect();
    }
    let models: Vec<String> = info.models.iter().map(|model| shorten_model_name(model)).collect();
    let facts = [
        format_session_span(info, header.clock),
        count(info.turns, 0, "turn"),
        count(info.compactions, 1, "compaction"),
        Some(format_size(session.total_bytes())),
        info.versions.last().map(|version| format!("client {}", clean::line(version))),
        (!models.is_empty()).then(|| models.join(", ")),
    ];
    facts.into_iter().flatten().collect()
}

/// Formats the first and last time of a session and the duration between. Returns `None` if the session has no times.
pub(crate) fn format_session_span(info: &SessionInfo, clock: &Clock) -> Option<String> {
    format_span(info.first_time, info.last_time, clock)
}

/// Formats a time range and its duration. Returns `None` if one of the times is missing.
fn format_span(first: Option<Timestamp>, last: Option<Timestamp>, clock: &Clock) -> Option<String> {
    let (first, last) = first.zip(last)?;
    let duration = format_duration(last.0.saturating_sub(first.0).unsigned_abs());
    Some(format!("{} ({duration})", clock.format_range(first, last)))
}

/// Returns the display name of a subagent: its kind, and at most 120 characters of its description or prompt.
pub(crate) fn format_agent_title(row: &AgentRow) -> String {
    let text = [&row.description, &row.prompt]
        .into_iter()
        .map(|text| clean::line(text))
        .find(|text| !text.is_empty());
    let text: String = text.unwrap_or_else(|| "subagent".to_owned()).chars().take(120).collect();
    let kind = clean::line(&row.kind);
    if kind.is_empty() { text } else { format!("{kind}: {text}") }
}

/// Renders links to related sessions that are listed, and to pull requests.
fn render_related(header: &SessionHeader<'_>) -> Markup {
    let Some(row) = header.row else { return Markup::default() };
    let links = &row.links;
    // A session with several relations is listed once.
    let listed = RefCell::new(HashSet::new());
    let relation = |name: &str, id: &Option<String>| {
        let id = id.as_ref().filter(|id| listed.borrow_mut().insert((*id).clone()))?;
        let title = (header.title_of)(id)?;
        Some(
            html! { li { span class="badge badge-accent" { (name) } " " a href=((header.address_of)(id)) { (title) } } },
        )
    };
    let related: Vec<Markup> = [
        relation("planned in", &links.plan),
        relation("implemented in", &links.implementation),
        relation("forked from", &links.forked_from),
        relation("continued from", &links.continued_from),
    ]
    .into_iter()
    .flatten()
    .chain(links.copies.iter().take(4).filter_map(|id| relation("shares history with", &Some(id.clone()))))
    .collect();
    let requests = row.pull_requests();
    if related.is_empty() && requests.is_empty() {
        return Markup::default();
    }
    html! {
        ul class="related-sessions" {
            @for item in &related { (item) }
            @for request in requests {
                li {
                    span class="badge badge-accent" { "pull request" } " "
                    @let name = format!("{} #{}", clean::line(&request.repository), clean::line(&request.number));
                    @if let Some(url) = safe_url(&request.url) {
                        a href=(url) rel="noopener noreferrer" target="_blank" { (name) }
                    } @else { (name) }
                }
            }
        }
    }
}

/// Renders the buttons and menus of a session: resume, find, present, branches, subagents, export, change.
fn render_actions(header: &SessionHeader<'_>) -> Markup {
    let branches = &header.view.branches;
    let agents = header.row.map_or(0, |row| row.agents);
    let is_archived = header.view.session.archived;
    html! {
        div class="session-actions no-print" {
            @if is_archived {
                button type="button" class="button button-primary" data-command="copy-text" data-text=(restore_command(&header.view.session.id))
                    data-message="Command copied. Paste it in a terminal" { "Restore in terminal" }
            } @else {
                button type="button" class="button button-primary" data-command="copy-text" data-text=(header.resume_command)
                    data-message="Command copied. Paste it in a terminal" { "Resume in terminal" }
            }
            button type="button" class="button" data-command="find" { "Find" }
            button type="button" class="button" data-command="present" { "Present" }
            @if branches.list.len() > 1 {
                a class="button" href={ (header.base) "/branches" } {
                    (format_branch_count(branches.count_connected(), branches.count_orphaned()))
                }
            }
            @if agents > 0 { button type="button" class="button" data-command="agents" { (count_noun(agents as u64, "subagent")) } }
            details class="menu menu-left" {
                summary class="button" { "Export" }
                div class="menu-list" {
                    (render_export_form(header))
                    hr;
                    button type="button" data-command="print" { "Print…" }
                }
            }
            details class="menu menu-left" {
                summary class="button" { "Change…" }
                div class="menu-list" {
                    @if !is_archived { button type="button" data-action="rename" { "Rename…" } }
                    button type="button" data-action="clone" { "Clone with less context…" }
                    @if !is_archived { button type="button" data-action="repair" { "Repair…" } }
                    hr;
                    a href={ (header.base) "/doctor" } { "Diagnostics" }
                }
            }
        }
        div id="agents" hidden {}
    }
}

/// Renders the form that exports the selected branch: a switch for typed text, and a button for each format.
fn render_export_form(header: &SessionHeader<'_>) -> Markup {
    html! {
        form class="export-form" action={ (header.base) "/export" } {
            @match header.selector {
                BranchSelector::Through(tip) => { input type="hidden" name="tip" value=(tip); }
                BranchSelector::AllTurns => { input type="hidden" name="view" value="all"; }
                BranchSelector::Active | BranchSelector::Sidechain(_) => {}
            }
            @for (format, name) in [("html", "As one page"), ("md", "As markdown"), ("text", "As text"), ("json", "As JSON Lines")] {
                button name="format" value=(format) { (name) }
            }
            label title="Leave out outputs, notifications and other texts in the user's name that no user typed" {
                input type="checkbox" name="texts" value="typed"; " only typed"
            }
            label title="Keep passwords, keys and tokens instead of replacing them" {
                input type="checkbox" name="secrets" value="keep"; " with secrets"
            }
            a href={ (header.base) "/export/preview" } { "What is replaced" }
        }
    }
}

/// Renders a note about which turns are shown, with links to show others. Returns empty markup if the active branch
/// has all turns.
fn render_branch_note(header: &SessionHeader<'_>) -> Markup {
    let scope = &header.branch.scope;
    let label = scope_label(scope, header.selector);
    html! {
        @if !label.is_empty() && (*header.selector != BranchSelector::Active || scope.omitted() + scope.compacted > 0) {
            p class="session-note" {
                "Showing " (label) ". "
                @if *header.selector != BranchSelector::Active { a href=(header.base) { "Show the conversation that a resume continues" } " " }
                @if *header.selector != BranchSelector::AllTurns && scope.omitted() > 0 { a href={ (header.base) "?view=all" } { "Show all turns" } }
            }
        }
    }
}

/// Renders the find box, the switch for typed text, and the switch for following if `can_follow` is set.
pub(crate) fn render_controls(can_follow: bool) -> Markup {
    html! {
        form class="find no-print" id="find" role="search" hidden {
            input type="search" name="q" aria-label="Find in this session" placeholder="Find in this session" autocomplete="off" spellcheck="false";
            span class="find-position num muted" {}
            button type="button" class="bar-button" data-command="find-previous" aria-label="Previous match" { "↑" }
            button type="button" class="bar-button" data-command="find-next" aria-label="Next match" { "↓" }
            button type="button" class="bar-button" data-command="find-close" aria-label="Close" { "×" }
        }
        div class="follow no-print" {
            @if can_follow {
                button type="button" class="button" data-command="newest" hidden { "New turns ↓" }
                span class="follow-disconnected" role="status" hidden { "rethread does not respond" }
            }
            label title="Hide outputs, notifications and other texts in the user's name that no user typed" {
                input type="checkbox" name="only-typed"; " only typed"
            }
            @if can_follow { label { input type="checkbox" name="follow"; " follow" } }
        }
    }
}

/// Renders an error and its hint in place of the session.
pub(crate) fn render_error(error: &Error) -> Markup {
    html! {
        main id="main" class="error-page" { h1 { "The session could not be loaded" } p { (error_message(error)) } p class="muted" { (hint(error)) } }
    }
}
