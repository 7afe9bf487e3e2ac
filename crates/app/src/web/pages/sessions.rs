//! The list of sessions, more of its rows, and what one of them is about.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::core::session::TitleSource;
use rethread_engine::ops::{SessionList, SessionRow};

use crate::html::frame::{Frame, page as framed};
use crate::html::session_row::{self, COLUMNS, Row};
use crate::text::clean;
use crate::text::error::{self, error_message};
use crate::text::figures::{count, size, things};
use crate::text::folder::git_branch;
use crate::text::hidden::{can_be_shown, hidden};
use crate::text::time::Clock;
use crate::web::filter::{self, ORDERS, Picked, filter_sessions};
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::server::{Server, work};

/// So many sessions stand on one page.
const PAGE: usize = 100;

/// Answers with the list.
pub(crate) async fn page(State(server): State<Arc<Server>>, asked: QueryParams) -> Response {
    work(server, move |server| {
        let (look, clock) = (server.shelf.look(&server.place), server.clock());
        let picked = filter_sessions(&look, &asked, &clock);
        let body = html! {
            main id="main" class="sessions" {
                h1 { "Sessions" }
                (form(&asked, server))
                (troubles(&look.listing))
                @for wrong in &picked.wrong { p class="wrong" role="alert" { (wrong) } }
                p class="sum quiet" { (sum(&picked, &asked)) }
                @if picked.rows.is_empty() {
                    (nothing(look.listing.files == 0))
                } @else {
                    @let (rows, more) = part(&picked, &asked, server, &clock);
                    div class="list-box" data-list {
                        (session_row::table(&rows, "Sessions", more.as_ref()))
                        aside class="preview" id="preview" hidden aria-live="polite" {}
                    }
                }
            }
        };
        let frame = Frame { title: "Sessions", here: "sessions", demo: server.demo, ..Frame::default() };
        response::found(framed(&frame, &body))
    })
    .await
}

/// Answers with more rows of the list.
pub(crate) async fn rows(State(server): State<Arc<Server>>, asked: QueryParams) -> Response {
    work(server, move |server| {
        let (look, clock) = (server.shelf.look(&server.place), server.clock());
        let picked = filter_sessions(&look, &asked, &clock);
        let (rows, more) = part(&picked, &asked, server, &clock);
        response::found(session_row::rows(&rows, more.as_ref()))
    })
    .await
}

/// Takes one page of what was picked, and the way to the next.
fn part<'l>(
    picked: &Picked<'l>,
    asked: &QueryParams,
    server: &Server,
    clock: &Clock,
) -> (Vec<Row<'l>>, Option<Markup>) {
    let from = asked.number("from", 0).min(picked.rows.len());
    let to = from.saturating_add(PAGE).min(picked.rows.len());
    let rows = picked.rows[from..to].iter().map(|(key, row)| filter::row(key, row, &server.place, clock));
    let left = picked.rows.len() - to;
    let more = (left > 0).then(|| {
        html! {
            tr class="list-more" { td colspan=(COLUMNS) {
                a class="button" data-more href=(asked.with("/sessions", "from", Some(&to.to_string()))) {
                    (count(left.min(PAGE) as u64)) " more"
                }
                span class="quiet" { (count(left as u64)) " left" }
            } }
        }
    });
    (rows.collect(), more)
}

/// Says what could not be read, and why the cache was of no help.
pub(super) fn troubles(listing: &SessionList) -> Markup {
    html! {
        @if let [first, rest @ ..] = &listing.failures[..] {
            p class="wrong" role="status" {
                (error_message(first)) @if !rest.is_empty() { ", and so " (things(rest.len() as u64, "more file")) }
            }
        }
        @if let Some(notice) = &listing.notice { p class="quiet" role="status" { (error::notice(notice)) } }
    }
}

/// Says how many there are, and what is left out.
fn sum(picked: &Picked<'_>, asked: &QueryParams) -> Markup {
    let bytes: u64 = picked.rows.iter().map(|(_, row)| row.bytes).sum();
    let from = asked.number("from", 0);
    html! {
        (things(picked.rows.len() as u64, "session")) ", " (size(bytes))
        @if from > 0 { ", from number " (count(from as u64 + 1)) " on (" a href=(asked.with("/sessions", "from", None)) { "from the first" } ")" }
        @if let Some(said) = hidden(&picked.hidden).filter(|_| !asked.has("all")) {
            " · " (said)
            @if can_be_shown(&picked.hidden) { " " a href=(asked.with("/sessions", "all", Some("1"))) { "Show all" } }
        }
    }
}

/// The filters, as a form that works without any script.
fn form(asked: &QueryParams, server: &Server) -> Markup {
    let text = |name: &str| asked.text(name).unwrap_or_default().to_owned();
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
    let order = asked.text("sort").unwrap_or("newest");
    html! {
        form class="filters" action="/sessions" data-filters {
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
                    label class="toggle" { input type="checkbox" name=(name) value="1" checked[asked.has(name)]; " " (label) }
                }
                @if let Some(repo) = asked.text("repo") {
                    input type="hidden" name="repo" value=(repo);
                    a class="chip chip-on" href=(asked.with("/sessions", "repo", None)) title="show sessions of all folders" {
                        "in " (server.place.tilde(repo)) " " span aria-hidden="true" { "×" }
                    }
                }
                span class="filters-do" {
                    button class="button button-main" { "Filter" }
                    a class="button" href="/sessions" { "Clear" }
                }
            }
        }
    }
}

/// Says why the list is empty, and what to do about it.
fn nothing(is_bare: bool) -> Markup {
    html! {
        div class="nothing" {
            @if is_bare {
                p { strong { "There are no sessions here yet." } }
                p { "Start one with " code { "claude" } " in any folder, or look elsewhere with "
                    code { "rethread --root PATH serve" } "." }
            } @else {
                p { strong { "No session matches." } }
                p { "Take a filter away, or " a href="/sessions" { "show all sessions" } ". To look for words inside of them, "
                    a href="/search" { "search" } "." }
            }
        }
    }
}

/// Answers with what a session is about, in short.
pub(crate) async fn preview(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    work(server, move |server| match server.find(&key) {
        Some(session) => response::found(about(&session, server, &server.clock())),
        None => response::missing("there is no such session"),
    })
    .await
}

fn about(session: &SessionRow, server: &Server, clock: &Clock) -> Markup {
    let sketch = &session.sketch;
    let prompt = sketch.first_prompt.as_deref().map(clean::text).unwrap_or_default();
    let span = sketch.first.zip(sketch.last).map(|(first, last)| clock.range(first, last));
    let versions = sketch.versions.iter().map(|version| clean::line(version));
    let versions: Vec<String> = versions.collect();
    let client = match &versions[..] {
        [] => None,
        [one] => Some(one.clone()),
        [first, .., last] => Some(format!("{first} to {last}")),
    };
    let models: Vec<String> = sketch.models.iter().map(|model| clean::line(model)).collect();
    let facts = [
        ("Folder", Some(server.place.tilde(&session.project()))),
        ("Git branch", git_branch(session.sketch.git_branch.as_deref())),
        ("When", span),
        ("Turns", Some(count(sketch.turns as u64))),
        ("Size", Some(size(session.bytes))),
        ("Models", Some(models.join(", ")).filter(|models| !models.is_empty())),
        ("Client", client),
    ];
    html! {
        // A title that is the first prompt would say the same twice.
        @if session.title.source != TitleSource::Prompt { p class="preview-title" { (session_row::title(session)) } }
        (session_row::badges(session))
        @if !prompt.trim().is_empty() { blockquote class="preview-prompt plain" { (prompt.trim()) } }
        dl class="facts" {
            @for (name, fact) in facts {
                @if let Some(fact) = fact { dt { (name) } dd { (fact) } }
            }
        }
    }
}
