//! The first page: search, what is live, what was used last, projects, and a year in pictures.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops::{self, Repository};

use super::sessions::troubles;
use crate::html::frame::{Frame, page as framed};
use crate::html::link::address;
use crate::html::session_row::{self, Row};
use crate::text::figures::{count, size, things};
use crate::text::folder::base;
use crate::text::hidden::{can_be_shown, hidden};
use crate::text::time::Clock;
use crate::web::filter::{self, Picked, filter_sessions};
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::snapshot_cache::refresh_in_background;

/// So many sessions are recent, and so many projects are shown at once.
const RECENT: usize = 12;
const PROJECTS: usize = 12;

/// Answers with the first page.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Response {
    let own = server.clone();
    let response = work(server, |server| {
        let (look, clock) = (server.shelf.look(&server.place), server.clock());
        let picked = filter_sessions(&look, &QueryParams::default(), &clock);
        let rows = |live: bool, most: usize| -> Vec<Row<'_>> {
            let rows = picked.rows.iter().filter(|(_, row)| row.live || !live).take(most);
            rows.map(|(key, row)| filter::row(key, row, &server.place, &clock)).collect()
        };
        let live = rows(true, RECENT);
        let body = html! {
            main id="main" class="home" {
                h1 class="unseen" { "rethread" }
                (search_box())
                (troubles(&look.listing))
                @if !live.is_empty() {
                    section { h2 { "Live now" } (session_row::table(&live, "Live sessions", None)) }
                }
                @if picked.rows.is_empty() { (nothing(look.listing.files == 0)) } @else {
                    section { h2 { "Recent" } (session_row::table(&rows(false, RECENT), "Recent sessions", None)) (sum(&picked)) }
                    (projects(&picked, server, &clock))
                    (pictures())
                    p class="quiet" { a href="/log" { "What rethread changed" } ", and how to take it back" }
                }
            }
        };
        let frame = Frame { title: "rethread", here: "home", demo: server.demo, ..Frame::default() };
        response::found(framed(&frame, &body))
    })
    .await;
    // Whoever reads this page types next.
    refresh_in_background(&own);
    response
}

/// Answers with the pictures, which take longer than the rest where much was written since the last look.
pub(crate) async fn figures(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let is_piece = headers.contains_key("x-rethread");
    work(server, move |server| {
        let drawn = server.figures.recent(server);
        if is_piece {
            return response::found(drawn);
        }
        let frame = Frame { title: "Activity", demo: server.demo, ..Frame::default() };
        let body = html! { main id="main" class="home" { h1 { "Activity" } (drawn) } };
        response::found(framed(&frame, &body))
    })
    .await
}

fn search_box() -> Markup {
    html! {
        form class="home-search" action="/search" role="search" {
            input type="search" name="q" autofocus placeholder="Search everything that was said" aria-label="Search all sessions"
                autocomplete="off" spellcheck="false";
            p class="quiet home-help" {
                "Words, " code { "\"a phrase\"" } ", " code { "-not" } ", " code { "role:user" } ", " code { "tool:Bash" } ", "
                code { "is:abandoned" } ", " code { "since:7d" }
            }
        }
    }
}

/// Says how many there are, and what is left out.
fn sum(picked: &Picked<'_>) -> Markup {
    html! {
        p class="sum quiet" {
            a href="/sessions" { "All " (things(picked.rows.len() as u64, "session")) }
            @if let Some(said) = hidden(&picked.hidden) {
                " · " (said)
                @if can_be_shown(&picked.hidden) { " " a href="/sessions?all=1" { "Show all" } }
            }
        }
    }
}

fn projects(picked: &Picked<'_>, server: &Server, clock: &Clock) -> Markup {
    let all = ops::repositories(&ops::projects(picked.rows.iter().map(|(_, row)| *row)));
    let (first, rest) = all.split_at(all.len().min(PROJECTS));
    html! {
        section {
            h2 { "Projects" }
            ul class="projects" { @for one in first { (project(one, server, clock)) } }
            @if !rest.is_empty() {
                details class="more-projects" {
                    summary { (count(rest.len() as u64)) " more" }
                    ul class="projects" { @for one in rest { (project(one, server, clock)) } }
                }
            }
        }
    }
}

fn project(one: &Repository, server: &Server, clock: &Clock) -> Markup {
    let folder = server.place.tilde(&one.path);
    html! {
        li { a class="project" href=(address("/sessions", [("repo", one.path.as_str())])) {
            strong class="cut" { (base(&folder)) }
            span class="project-path cut mono" title=(folder) { (folder) }
            span class="quiet" {
                (things(one.sessions as u64, "session")) " · " (size(one.bytes)) " · " (clock.age(one.last))
                @if one.worktrees > 0 { " · " (things(one.worktrees as u64, "worktree")) }
            }
        } }
    }
}

/// The place of the pictures: the script puts them there after the first paint.
fn pictures() -> Markup {
    html! {
        section {
            h2 { "Activity" }
            div class="pictures" data-piece="/home/figures" {
                p class="quiet pictures-wait" { "Adding up…" }
                noscript { a href="/home/figures" { "Show the last year" } }
            }
        }
    }
}

fn nothing(is_bare: bool) -> Markup {
    html! {
        section class="nothing" {
            @if is_bare {
                p { strong { "There are no sessions here yet." } }
                p { "Start one with " code { "claude" } " in any folder: it shows up here at once." }
            } @else {
                p { strong { "All sessions here are hidden: they are empty, or a program ran them." } }
                p { a href="/sessions?all=1" { "Show all" } }
            }
        }
    }
}
