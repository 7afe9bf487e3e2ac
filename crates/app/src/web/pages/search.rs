//! The search page, and the hits shown while typing.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::core::query::QueryError;
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops::search::SearchHit;

use super::guide::{render_query_error, render_query_help};
use super::hits::{HitsPage, MAX_HITS, render_title};
use crate::html::frame::{Frame, render_page};
use crate::html::hit::{LIST_CONTEXT, build_hit_address, render_excerpt, source_label};
use crate::html::link::{Site, build_address};
use crate::text::clean;
use crate::text::figures::{count_noun, format_percent, format_size};
use crate::text::session::context_status_label;
use crate::text::session::folder_name;
use crate::text::time::Clock;
use crate::web::index_update::IndexProgress;
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::search::{CancelOnDrop, SearchParams, SearchResults, run_search};
use crate::web::server::{Server, run_blocking};
use crate::web::session_list::CachedSessionList;
use crate::web::snapshot_cache::refresh_in_background;

/// The time budget of the page.
const PAGE_BUDGET: Duration = Duration::from_secs(3);
/// The time budget if the user chose to search longer.
const LONG_BUDGET: Duration = Duration::from_secs(60);
/// The time budget while the user is typing.
const TYPING_BUDGET: Duration = Duration::from_secs(1);

/// The maximum number of hits on the page at first.
const PAGE_HITS: usize = 50;
/// The maximum number of hits shown while typing, unless the request sets a limit.
const TYPING_HITS: usize = 8;

/// Responds with the search page.
pub(crate) async fn page(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    let cancel = CancelOnDrop::default();
    let (token, search_server) = (cancel.token(), server.clone());
    let is_long = params.has("longer");
    let search = SearchParams {
        typed: params.text("q").unwrap_or_default().to_owned(),
        all: params.has("all"),
        limit: params.number("n", PAGE_HITS).clamp(1, MAX_HITS),
        budget: if is_long { LONG_BUDGET } else { PAGE_BUDGET },
        typing: false,
    };
    let recent = server.searches.find_recent(&search, &server.queue);
    let must_search = recent.is_none() && !search.typed.is_empty();
    let long_guard = if must_search && is_long { Some(server.unlimited_search.lock().await) } else { None };
    let permit = if must_search { server.queue.acquire("").await } else { None };
    let response = run_blocking(server.clone(), move |server| {
        let results = match recent {
            Some(results) => Some(Ok(results)),
            None => must_search.then(|| run_search(&search_server, &search, &token)),
        };
        drop(permit);
        let (list, clock) = (get_list_with_keys(server, results.as_ref()), server.clock());
        let page = HitsPage { server, list: &list, clock: &clock, params: &params, search: &search };
        let body = html! {
            main id="main" class="search" {
                (page.render_form())
                (render_index_progress(server.indexing.progress(), server.site()))
                (page.render_filters(results.as_ref().and_then(|results| results.as_deref().ok())))
                @match &results {
                    None => (render_query_help(server.site())),
                    Some(Err(error)) => (render_query_error(&search.typed, error)),
                    Some(Ok(results)) => (page.render_results(results)),
                }
            }
        };
        let title = if search.typed.is_empty() { "Search".to_owned() } else { clean::line(&search.typed) };
        let frame = Frame { section: "search", ..server.frame(&title) };
        response::ok(render_page(&frame, &body))
    })
    .await;
    drop((cancel, long_guard));
    // The user may type in the search box next.
    refresh_in_background(&server);
    response
}

/// Responds with the progress of the index as a fragment, which is empty if the index is not being updated.
pub(crate) async fn index(State(server): State<Arc<Server>>) -> Response {
    response::ok(render_index_progress(server.indexing.progress(), server.site()))
}

/// Renders the progress of the index. The script requests it again until it is empty.
fn render_index_progress(progress: Option<IndexProgress>, site: &Site) -> Markup {
    let Some(IndexProgress { done, total }) = progress else { return html! {} };
    html! {
        p class="index-progress muted" role="status" data-poll=(site.page("/search/index")) {
            progress value=(done) max=(total) aria-label="Progress of the search index" {}
            " " (format_percent(done as f64, total as f64)) " of " (format_size(total)) " indexed. Searches read the files until then."
        }
    }
}

/// Returns a session list that contains the sessions of all hits, so that they can be linked.
fn get_list_with_keys(
    server: &Server,
    results: Option<&Result<Arc<SearchResults>, QueryError>>,
) -> Arc<CachedSessionList> {
    let hits = results
        .and_then(|results| results.as_ref().ok())
        .map(|results| &results.hits[..])
        .unwrap_or_default();
    server.sessions.with_keys_for(&server.context, hits.iter().map(|hit| hit.session_path.as_path()))
}

/// The minimum length of a query or word in bytes: shorter ones match nearly every entry. One Chinese character has
/// three bytes.
const MIN_LEN: usize = 3;

/// Responds with the best hits for the search box while the user is typing. Responds with status 204 if the same page
/// has sent a newer request.
pub(crate) async fn hits(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    let Some(typed) = params.text("q").map(str::to_owned) else {
        // The search box got the focus.
        refresh_in_background(&server);
        return response::ok(html! {});
    };
    let (query, last_word) = split_last_word(&typed);
    if query.len() < MIN_LEN {
        return response::ok(html! { p class="hits-message" { "Keep typing, or press Enter" } });
    }
    let (query, last_word) = (query.to_owned(), last_word.to_owned());
    let cancel = CancelOnDrop::default();
    let (token, search_server) = (cancel.token(), server.clone());
    let limit = params.number("limit", TYPING_HITS).clamp(1, PAGE_HITS);
    let search = SearchParams { typed: query, all: false, limit, budget: TYPING_BUDGET, typing: true };
    let recent = server.searches.find_recent(&search, &server.queue);
    let permit = match &recent {
        Some(_) => None,
        None => match server.queue.acquire(params.text("client").unwrap_or_default()).await {
            Some(permit) => Some(permit),
            // The same page has sent a newer request.
            None => return response::build(StatusCode::NO_CONTENT, "text/plain; charset=utf-8", ""),
        },
    };
    let response = run_blocking(server, move |server| {
        let results = recent.map_or_else(|| run_search(&search_server, &search, &token), Ok);
        drop(permit);
        let list = get_list_with_keys(server, Some(&results));
        match results {
            Ok(results) => response::ok(render_choices(&results, (&typed, &last_word), &list, server)),
            Err(error) => response::ok(html! { p class="hits-message" { (clean::line(&error.message)) } }),
        }
    })
    .await;
    drop(cancel);
    response
}

/// Splits the typed text into the query to run and an incomplete last word, which is empty if all is searched: one or
/// two letters match nearly every entry.
fn split_last_word(typed: &str) -> (&str, &str) {
    let (before, last) = typed.rsplit_once(char::is_whitespace).unwrap_or(("", typed));
    let before = before.trim_end();
    let is_incomplete = last.len() < MIN_LEN && last.chars().all(char::is_alphanumeric);
    let is_complete =
        before.matches('"').count().is_multiple_of(2) && !before.ends_with(" OR") && !before.ends_with('|');
    if is_incomplete && is_complete && !before.is_empty() { (before, last) } else { (typed, "") }
}

/// Renders hits as the options of the search box. `typed` is the whole text in the box; its incomplete last word was
/// not searched yet.
fn render_choices(
    results: &SearchResults,
    (typed, last_word): (&str, &str),
    list: &CachedSessionList,
    server: &Server,
) -> Markup {
    let (site, clock) = (server.site(), server.clock());
    let all = build_address(&site.page("/search"), [("q", typed)]);
    // A hit without a session page links to all hits.
    let link = |hit: &SearchHit| {
        list.key_of(&hit.session_path).map_or(all.clone(), |key| build_hit_address(hit, &site.session(key)))
    };
    html! {
        @for hit in &results.hits {
            a class="hits-item" role="option" aria-selected="false" tabindex="-1" href=(link(hit)) {
                span class="hits-head" {
                    strong class="ellipsis" { (render_title(hit)) }
                    span class="muted ellipsis" { (format_hit_facts(hit, &clock)) }
                }
                span class="hits-text ellipsis" { (render_excerpt(&hit.excerpt, LIST_CONTEXT)) }
            }
        }
        @if results.hits.is_empty() {
            p class="hits-message" {
                @if results.is_incomplete { "Still searching: press Enter to search longer" } @else { "No matches" }
            }
        } @else {
            a class="hits-all" role="option" aria-selected="false" tabindex="-1" href=(all) {
                @if last_word.is_empty() { (format_all_hits_label(results)) } @else { "Keep typing, or press Enter to search for “" (clean::line(last_word)) "” too" }
            }
        }
    }
}

/// Formats the source, context status, folder and age of a hit.
fn format_hit_facts(hit: &SearchHit, clock: &Clock) -> String {
    let is_lost = matches!(
        hit.context_status,
        ContextStatus::Compacted | ContextStatus::OtherBranch | ContextStatus::Orphaned
    );
    let facts = [
        Some(source_label(hit)),
        (is_lost || hit.agent.is_some()).then(|| context_status_label(hit).to_owned()),
        Some(folder_name(&hit.project)),
        hit.time.map(|time| clock.format_age(Some(time))),
    ];
    facts.into_iter().flatten().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Returns the label of the link to all hits, with their number if it is exact.
fn format_all_hits_label(results: &SearchResults) -> String {
    match results.total.exact {
        true => format!("All {}", count_noun(results.total.hits as u64, "hit")),
        false => "All hits".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::split_last_word;

    #[test]
    fn a_short_last_word_is_not_searched() {
        for (typed, query) in [
            ("update t", "update"),
            ("update ta", "update"),
            ("update tab", "update tab"),
            ("update", "update"),
            ("up", "up"),
            ("\"off by", "\"off by"),
            ("a OR b", "a OR b"),
            ("a | b", "a | b"),
            ("update -t", "update -t"),
            ("update 漢", "update 漢"),
        ] {
            assert_eq!(split_last_word(typed).0, query, "{typed}");
        }
        assert_eq!(split_last_word("update  t"), ("update", "t"));
    }
}
