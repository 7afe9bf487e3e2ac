//! The search: a page of hits, and a few of them while somebody types.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::core::query::QueryError;
use rethread_engine::ops::{ContextStatus, SearchHit};

use super::guide::{help, wrong};
use super::hits::{HitsPage, MOST, title};
use crate::html::frame::{Frame, page as framed};
use crate::html::hit::{SKIMMED, excerpt, place, speaker};
use crate::html::link::address;
use crate::text::clean;
use crate::text::figures::things;
use crate::text::folder::base;
use crate::text::standing::context_status_label;
use crate::text::time::Clock;
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::search::{CancelOnDrop, SearchParams, SearchResults, run_search};
use crate::web::server::{Server, work};
use crate::web::session_list::CachedSessionList;
use crate::web::snapshot_cache::refresh_in_background;

/// How long a page may look, how long if somebody says that they can wait, and how long while somebody types.
const PAGE: Duration = Duration::from_secs(3);
const PATIENT: Duration = Duration::from_secs(60);
const TYPING: Duration = Duration::from_secs(1);

/// So many hits stand on a page at first, and so many are shown while typing.
const SHOWN: usize = 50;
const SKIM: usize = 8;

/// Answers with the page of a search.
pub(crate) async fn page(State(server): State<Arc<Server>>, asked: QueryParams) -> Response {
    let waits = CancelOnDrop::default();
    let (halt, own, searching) = (waits.halt(), server.clone(), server.clone());
    let is_patient = asked.has("patient");
    let wanted = SearchParams {
        typed: asked.text("q").unwrap_or_default().to_owned(),
        all: asked.has("all"),
        limit: asked.number("n", SHOWN).clamp(1, MOST),
        budget: if is_patient { PATIENT } else { PAGE },
        typing: false,
    };
    let known = server.answers.recent(&wanted, &server.queue);
    let must_look = known.is_none() && !wanted.typed.is_empty();
    let patient = if must_look && is_patient { Some(own.patient.lock().await) } else { None };
    let turn = if must_look { server.queue.turn("").await } else { None };
    let response = work(server, move |server| {
        let found = match known {
            Some(known) => Some(Ok(known)),
            None => must_look.then(|| run_search(&searching, &wanted, &halt)),
        };
        drop(turn);
        let (look, clock) = (addressing(server, found.as_ref()), server.clock());
        let paper = HitsPage { server, look: &look, clock: &clock, asked: &asked, wanted: &wanted };
        let body = html! {
            main id="main" class="search" {
                (paper.form())
                (paper.chips(found.as_ref().and_then(|found| found.as_deref().ok())))
                @match &found {
                    None => (help()),
                    Some(Err(bad)) => (wrong(&wanted.typed, bad)),
                    Some(Ok(found)) => (paper.results(found)),
                }
            }
        };
        let title = if wanted.typed.is_empty() { "Search".to_owned() } else { clean::line(&wanted.typed) };
        let frame = Frame { title: &title, here: "search", demo: server.demo, ..Frame::default() };
        response::found(framed(&frame, &body))
    })
    .await;
    drop((waits, patient));
    // Whoever reads this page types next.
    refresh_in_background(&own);
    response
}

/// Returns a look that knows how the sessions of hits are addressed.
fn addressing(
    server: &Server,
    found: Option<&Result<Arc<SearchResults>, QueryError>>,
) -> Arc<CachedSessionList> {
    let hits = found.and_then(|found| found.as_ref().ok()).map(|found| &found.hits[..]).unwrap_or_default();
    server.shelf.knowing(&server.place, hits.iter().map(|hit| hit.session_path.as_path()))
}

/// What is shorter stands nearly everywhere: to look for it takes long and tells nothing. A sign of Chinese has as many bytes.
const LEAST: usize = 3;

/// Answers with the best few hits of what somebody is typing.
pub(crate) async fn hits(State(server): State<Arc<Server>>, asked: QueryParams) -> Response {
    let Some(typed) = asked.text("q").map(str::to_owned) else {
        // Somebody is about to type.
        refresh_in_background(&server);
        return response::found(html! {});
    };
    let (sought, begun) = so_far(&typed);
    if sought.len() < LEAST {
        return response::found(html! { p class="hits-say" { "Go on typing, or press Enter" } });
    }
    let (sought, begun) = (sought.to_owned(), begun.to_owned());
    let waits = CancelOnDrop::default();
    let (halt, own) = (waits.halt(), server.clone());
    let limit = asked.number("limit", SKIM).clamp(1, SHOWN);
    let wanted = SearchParams { typed: sought, all: false, limit, budget: TYPING, typing: true };
    let known = server.answers.recent(&wanted, &server.queue);
    let turn = match &known {
        Some(_) => None,
        None => match server.queue.turn(asked.text("client").unwrap_or_default()).await {
            Some(turn) => Some(turn),
            // Nobody reads this: the same page has asked for something newer.
            None => return response::typed(StatusCode::NO_CONTENT, "text/plain; charset=utf-8", ""),
        },
    };
    let response = work(server, move |server| {
        let found = known.map_or_else(|| run_search(&own, &wanted, &halt), Ok);
        drop(turn);
        let look = addressing(server, Some(&found));
        match found {
            Ok(found) => response::found(skim(&found, (&typed, &begun), &look, &server.clock())),
            Err(bad) => response::found(html! { p class="hits-say" { (clean::line(&bad.what)) } }),
        }
    })
    .await;
    drop(waits);
    response
}

/// Parts what is typed into what can be looked for already and a last word that has only begun: one or two letters stand in nearly
/// every entry.
fn so_far(typed: &str) -> (&str, &str) {
    let (before, last) = typed.rsplit_once(char::is_whitespace).unwrap_or(("", typed));
    let before = before.trim_end();
    let begun = last.len() < LEAST && last.chars().all(char::is_alphanumeric);
    let is_whole =
        before.matches('"').count().is_multiple_of(2) && !before.ends_with(" OR") && !before.ends_with('|');
    if begun && is_whole && !before.is_empty() { (before, last) } else { (typed, "") }
}

/// Draws hits as the choices of a box, for what is typed and the last word of it that was not looked for yet.
fn skim(
    found: &SearchResults,
    (typed, begun): (&str, &str),
    look: &CachedSessionList,
    clock: &Clock,
) -> Markup {
    let all = address("/search", [("q", typed)]);
    // What has no page of its own stands on the page of all hits.
    let lead = |hit: &SearchHit| look.key_of(&hit.session_path).map_or(all.clone(), |key| place(hit, key));
    html! {
        @for hit in &found.hits {
            a class="hits-one" role="option" aria-selected="false" tabindex="-1" href=(lead(hit)) {
                span class="hits-head" {
                    strong class="cut" { (title(hit)) }
                    span class="quiet cut" { (facts(hit, clock)) }
                }
                span class="hits-text cut" { (excerpt(&hit.excerpt, SKIMMED)) }
            }
        }
        @if found.hits.is_empty() {
            p class="hits-say" {
                @if found.cut { "Still reading: press Enter to look longer" } @else { "Nothing holds this" }
            }
        } @else {
            a class="hits-all" role="option" aria-selected="false" tabindex="-1" href=(all) {
                @if begun.is_empty() { (all_of(found)) } @else { "Go on typing, or press Enter to look for “" (clean::line(begun)) "”, too" }
            }
        }
    }
}

/// Says who speaks, where and when, and whether Claude has forgotten it.
fn facts(hit: &SearchHit, clock: &Clock) -> String {
    let lost =
        matches!(hit.standing, ContextStatus::Compacted | ContextStatus::Aside | ContextStatus::Island);
    let said = [
        Some(speaker(hit)),
        (lost || hit.agent.is_some()).then(|| context_status_label(hit).to_owned()),
        Some(base(&hit.project)),
        hit.time.map(|time| clock.age(Some(time))),
    ];
    said.into_iter().flatten().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn all_of(found: &SearchResults) -> String {
    match found.total.exact {
        true => format!("All {}", things(found.total.hits as u64, "hit")),
        false => "All hits".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::so_far;

    #[test]
    fn a_last_word_is_looked_for_when_it_says_something() {
        for (typed, sought) in [
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
            assert_eq!(so_far(typed).0, sought, "{typed}");
        }
        assert_eq!(so_far("update  t"), ("update", "t"));
    }
}
