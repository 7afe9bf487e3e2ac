//! The home page: search, live and recent sessions, projects, and charts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops;
use rethread_engine::ops::repository::Repository;

use super::sessions::render_failures;
use crate::html::frame::{Frame, render_page};
use crate::html::link::{Site, build_address};
use crate::html::session_row::{self, ListRow};
use crate::text::figures::{count_noun, format_size, group_digits};
use crate::text::session::folder_name;
use crate::text::session::{can_show_hidden, hidden_note};
use crate::text::time::Clock;
use crate::web::filter::{self, FilteredSessions, filter_sessions};
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::server::{Server, run_blocking};
use crate::web::snapshot_cache::refresh_in_background;

/// The maximum number of live sessions, and of recent sessions.
const MAX_RECENT: usize = 12;
/// The number of projects shown before the list is expanded.
const FIRST_PROJECTS: usize = 12;

/// Responds with the home page.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Response {
    let response = run_blocking(server.clone(), |server| {
        let (list, clock) = (server.sessions.current(&server.context), server.clock());
        let filtered = filter_sessions(&list, &QueryParams::default(), &clock);
        let rows = |only_live: bool| -> Vec<ListRow<'_>> {
            let rows = filtered.rows.iter().filter(|(_, row)| row.live || !only_live).take(MAX_RECENT);
            rows.map(|(key, row)| filter::build_list_row(key, row, server, &clock)).collect()
        };
        let live = rows(true);
        let body = html! {
            main id="main" class="home" {
                h1 class="visually-hidden" { "rethread" }
                (render_search_box(server.site()))
                (render_failures(&list.listing))
                @if !live.is_empty() {
                    section { h2 { "Live now" } (session_row::render_table(&live, "Live sessions", None)) }
                }
                @if filtered.rows.is_empty() { (render_empty(list.listing.files == 0, server.site())) } @else {
                    section { h2 { "Recent" } (session_row::render_table(&rows(false), "Recent sessions", None)) (render_totals(&filtered, server.site())) }
                    (render_projects(&filtered, server, &clock))
                    (render_chart_placeholder(server.site()))
                    p class="muted" { a href=(server.site().page("/log")) { "Changes made by rethread" } ", and how to undo them" }
                }
            }
        };
        let frame = Frame { section: "home", ..server.frame("rethread") };
        response::ok(render_page(&frame, &body))
    })
    .await;
    // The user may type in the search box next.
    refresh_in_background(&server);
    response
}

/// Responds with the charts, as a fragment for the script or as a page. They are slower than the rest of the home
/// page if many files changed since the last request.
pub(crate) async fn figures(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let is_fragment = headers.contains_key("x-rethread");
    run_blocking(server, move |server| {
        let charts = server.figures.current(server);
        if is_fragment {
            return response::ok(charts);
        }
        let body = html! { main id="main" class="home" { h1 { "Activity" } (charts) } };
        response::ok(render_page(&server.frame("Activity"), &body))
    })
    .await
}

fn render_search_box(site: &Site) -> Markup {
    html! {
        form class="home-search" action=(site.page("/search")) role="search" {
            input type="search" name="q" autofocus placeholder="Search all messages" aria-label="Search all sessions"
                autocomplete="off" spellcheck="false";
            p class="muted home-help" {
                "Words, " code { "\"a phrase\"" } ", " code { "-not" } ", " code { "role:user" } ", " code { "tool:Bash" } ", "
                code { "is:abandoned" } ", " code { "since:7d" }
            }
        }
    }
}

/// Renders the number of listed sessions, and of hidden ones.
fn render_totals(filtered: &FilteredSessions<'_>, site: &Site) -> Markup {
    html! {
        p class="totals muted" {
            a href=(site.page("/sessions")) { "All " (count_noun(filtered.rows.len() as u64, "session")) }
            @if let Some(note) = hidden_note(&filtered.hidden) {
                " · " (note)
                @if can_show_hidden(&filtered.hidden) { " " a href=(site.page("/sessions?all=1")) { "Show all" } }
            }
        }
    }
}

/// Renders the projects by repository. Those after the first [`FIRST_PROJECTS`] are collapsed.
fn render_projects(filtered: &FilteredSessions<'_>, server: &Server, clock: &Clock) -> Markup {
    let all = ops::repository::group_by_repository(&ops::list::summarize_projects(
        filtered.rows.iter().map(|(_, row)| *row),
    ));
    let (first, rest) = all.split_at(all.len().min(FIRST_PROJECTS));
    html! {
        section {
            h2 { "Projects" }
            ul class="projects" { @for project in first { (render_project(project, server, clock)) } }
            @if !rest.is_empty() {
                details class="more-projects" {
                    summary { (group_digits(rest.len() as u64)) " more" }
                    ul class="projects" { @for project in rest { (render_project(project, server, clock)) } }
                }
            }
        }
    }
}

/// Renders a repository as a link to its sessions, with their number, size and age.
fn render_project(project: &Repository, server: &Server, clock: &Clock) -> Markup {
    let folder = server.context.format_path(&project.path);
    html! {
        li { a class="project" href=(build_address(&server.site().page("/sessions"), [("repo", project.path.as_str())])) {
            strong class="ellipsis" { (folder_name(&folder)) }
            span class="project-path ellipsis mono" title=(folder) { (folder) }
            span class="muted" {
                (count_noun(project.sessions as u64, "session")) " · " (format_size(project.bytes)) " · " (clock.format_age(project.last))
                @if project.worktrees > 0 { " · " (count_noun(project.worktrees as u64, "worktree")) }
            }
        } }
    }
}

/// Renders the placeholder of the charts, which the script loads after the first paint.
fn render_chart_placeholder(site: &Site) -> Markup {
    html! {
        section {
            h2 { "Activity" }
            div class="charts" data-fragment=(site.page("/home/figures")) {
                p class="muted charts-loading" { "Loading…" }
                noscript { a href=(site.page("/home/figures")) { "Show the last year" } }
            }
        }
    }
}

/// Renders why the list is empty: no session file exists, or all sessions are hidden.
fn render_empty(has_no_files: bool, site: &Site) -> Markup {
    html! {
        section class="empty-state" {
            @if has_no_files {
                p { strong { "There are no sessions here yet." } }
                p { "Start one with " code { "claude" } " in any folder; it appears here at once." }
            } @else {
                p { strong { "All sessions here are hidden: they are empty or were run by a program." } }
                p { a href=(site.page("/sessions?all=1")) { "Show all" } }
            }
        }
    }
}
