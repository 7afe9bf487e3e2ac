//! The list of sessions, further rows of it, and a preview of a session.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::core::session::TitleSource;
use rethread_engine::ops::list::{SessionList, SessionRow};

use crate::html::field::render_hidden_field;
use crate::html::frame::{Frame, render_page};
use crate::html::link::Site;
use crate::html::session_row::{self, COLUMNS, ListRow};
use crate::text::clean;
use crate::text::error::{self, error_message};
use crate::text::figures::{count_noun, format_size, group_digits};
use crate::text::session::git_branch_label;
use crate::text::session::{can_show_hidden, hidden_note};
use crate::text::time::Clock;
use crate::web::filter::{self, FilteredSessions, ORDERS, filter_sessions};
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// The number of sessions per page.
const PAGE_SIZE: usize = 100;

/// Responds with the page that lists the sessions.
pub(crate) async fn page(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    run_blocking(server, move |server| {
        let (list, clock) = (server.sessions.current(&server.context), server.clock());
        let filtered = filter_sessions(&list, &params, &clock);
        let body = html! {
            main id="main" class="sessions" {
                h1 { "Sessions" }
                (render_filter_form(&params, server))
                (render_failures(&list.listing))
                @for error in &filtered.errors { p class="query-error" role="alert" { (error) } }
                p class="totals muted" { (render_totals(&filtered, &params, server)) }
                @if filtered.rows.is_empty() {
                    (render_empty(list.listing.files == 0, server.site()))
                } @else {
                    @let (rows, more) = build_page_rows(&filtered, &params, server, &clock);
                    div class="list-box" data-list {
                        (session_row::render_table(&rows, "Sessions", more.as_ref()))
                        aside class="preview" id="preview" hidden aria-live="polite" {}
                    }
                }
            }
        };
        let frame = Frame { section: "sessions", ..server.frame("Sessions") };
        response::ok(render_page(&frame, &body))
    })
    .await
}

/// Responds with further rows of the list, as a fragment.
pub(crate) async fn rows(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    run_blocking(server, move |server| {
        let (list, clock) = (server.sessions.current(&server.context), server.clock());
        let filtered = filter_sessions(&list, &params, &clock);
        let (rows, more) = build_page_rows(&filtered, &params, server, &clock);
        response::ok(session_row::render_rows(&rows, more.as_ref()))
    })
    .await
}

/// Returns the [`PAGE_SIZE`] rows from the `from` parameter on, and a table row that links to the next page, if there
/// is one.
fn build_page_rows<'l>(
    filtered: &FilteredSessions<'l>,
    params: &QueryParams,
    server: &'l Server,
    clock: &Clock,
) -> (Vec<ListRow<'l>>, Option<Markup>) {
    let from = params.number("from", 0).min(filtered.rows.len());
    let to = from.saturating_add(PAGE_SIZE).min(filtered.rows.len());
    let rows =
        filtered.rows[from..to].iter().map(|(key, row)| filter::build_list_row(key, row, server, clock));
    let remaining = filtered.rows.len() - to;
    let more = (remaining > 0).then(|| {
        html! {
            tr class="list-more" { td colspan=(COLUMNS) {
                a class="button" data-more href=(params.address_with(&server.site().page("/sessions"), "from", Some(&to.to_string()))) {
                    (group_digits(remaining.min(PAGE_SIZE) as u64)) " more"
                }
                span class="muted" { (group_digits(remaining as u64)) " more in total" }
            } }
        }
    });
    (rows.collect(), more)
}

/// Renders the first read error with the number of others, and the warning about the cache.
pub(super) fn render_failures(listing: &SessionList) -> Markup {
    html! {
        @if let [first, rest @ ..] = &listing.failures[..] {
            p class="query-error" role="status" {
                (error_message(first)) @if !rest.is_empty() { "; " (count_noun(rest.len() as u64, "more file")) " could not be read" }
            }
        }
        @if let Some(warning) = &listing.warning { p class="muted" role="status" { (error::cache_warning_text(warning)) } }
    }
}

/// Renders the number and total size of the listed sessions, and the number of hidden ones.
fn render_totals(filtered: &FilteredSessions<'_>, params: &QueryParams, server: &Server) -> Markup {
    let bytes: u64 = filtered.rows.iter().map(|(_, row)| row.bytes).sum();
    let from = params.number("from", 0);
    html! {
        (count_noun(filtered.rows.len() as u64, "session")) ", " (format_size(bytes))
        @if from > 0 { ", from number " (group_digits(from as u64 + 1)) " on (" a href=(params.address_with(&server.site().page("/sessions"), "from", None)) { "from the first" } ")" }
        @if let Some(note) = hidden_note(&filtered.hidden).filter(|_| !params.has("all")) {
            " · " (note)
            @if can_show_hidden(&filtered.hidden) { " " a href=(params.address_with(&server.site().page("/sessions"), "all", Some("1"))) { "Show all" } }
        }
    }
}

/// Renders the filters as a form that works without script.
fn render_filter_form(params: &QueryParams, server: &Server) -> Markup {
    let text = |name: &str| clean::line(params.text(name).unwrap_or_default());
    let fields = [
        ("title", "Title", "any words"),
        ("project", "Project", "part of its path"),
        ("branch", "Git branch", "main"),
        ("model", "Model", "opus"),
        ("since", "Since", "7d, yesterday"),
        ("until", "Until", "2026-01-31"),
    ];
    let toggles = [
        ("live", "Live"),
        ("damaged", "Damaged"),
        ("branches", "With branches"),
        ("all", "All, also hidden"),
    ];
    let order = params.text("sort").unwrap_or("newest");
    html! {
        form class="filters" action=(server.site().page("/sessions")) data-filters {
            @for (name, label, example) in fields {
                label class={ "filter filter-" (name) } {
                    span { (label) }
                    input type="text" name=(name) value=(text(name)) placeholder=(example) autocomplete="off" spellcheck="false";
                }
            }
            label class="filter filter-sort" {
                span { "Order" }
                select name="sort" {
                    @for (name, label) in ORDERS { option value=(name) selected[*name == order] { (label) } }
                }
            }
            div class="toggles" {
                @for (name, label) in toggles {
                    label class="toggle" { input type="checkbox" name=(name) value="1" checked[params.has(name)]; " " (label) }
                }
                @if let Some(repo) = params.text("repo") {
                    (render_hidden_field("repo", repo))
                    a class="chip chip-active" href=(params.address_with(&server.site().page("/sessions"), "repo", None)) title="show sessions of all folders" {
                        "in " (server.context.format_path(repo)) " " span aria-hidden="true" { "×" }
                    }
                }
                span class="filters-actions" {
                    button class="button button-primary" { "Filter" }
                    a class="button" href=(server.site().page("/sessions")) { "Clear" }
                }
            }
        }
    }
}

/// Renders why the list is empty, and what to do. `has_no_files` is `true` if there are no session files at all.
fn render_empty(has_no_files: bool, site: &Site) -> Markup {
    html! {
        div class="empty-state" {
            @if has_no_files {
                p { strong { "There are no sessions here yet." } }
                p { "Start one with " code { "claude" } " in any folder, or read another folder with "
                    code { "rethread --root PATH serve" } "." }
            } @else {
                p { strong { "No session matches." } }
                p { "Remove a filter, or " a href=(site.page("/sessions")) { "show all sessions" } ". To find text in sessions, use the "
                    a href=(site.page("/search")) { "search" } "." }
            }
        }
    }
}

/// Responds with the preview of a session, as a fragment.
pub(crate) async fn preview(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| match server.find(&key) {
        Some(session) => response::ok(render_preview(&session, &server.site().session(&key), server)),
        None => response::not_found("there is no such session"),
    })
    .await
}

/// Renders the title, badges, first prompt and facts of the session at the address `base`.
fn render_preview(session: &SessionRow, base: &str, server: &Server) -> Markup {
    let (info, clock) = (&session.info, server.clock());
    let prompt = info.first_prompt.as_deref().map(clean::text).unwrap_or_default();
    let span = info.first_time.zip(info.last_time).map(|(first, last)| clock.format_range(first, last));
    let versions = info.versions.iter().map(|version| clean::line(version));
    let versions: Vec<String> = versions.collect();
    let client = match &versions[..] {
        [] => None,
        [one] => Some(one.clone()),
        [first, .., last] => Some(format!("{first} to {last}")),
    };
    let models: Vec<String> = info.models.iter().map(|model| clean::line(model)).collect();
    let facts = [
        ("Folder", Some(server.context.format_path(&session.project()))),
        ("Git branch", git_branch_label(session.info.git_branch.as_deref())),
        ("When", span),
        ("Turns", Some(group_digits(info.turns as u64))),
        ("Size", Some(format_size(session.bytes))),
        ("Models", Some(models.join(", ")).filter(|models| !models.is_empty())),
        ("Client", client),
    ];
    html! {
        // A title taken from the first prompt would repeat it.
        @if session.title.source != TitleSource::Prompt { p class="preview-title" { (session_row::render_title(session)) } }
        (session_row::render_badges(session, base))
        @if !prompt.trim().is_empty() { blockquote class="preview-prompt plain" { (prompt.trim()) } }
        dl class="facts" {
            @for (name, fact) in facts {
                @if let Some(fact) = fact { dt { (name) } dd { (fact) } }
            }
        }
    }
}
