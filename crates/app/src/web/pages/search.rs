//! The search: a page of hits, and a few of them while somebody types.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops::{SearchHit, Whereabouts};

use super::guide::{help, wrong};
use super::hits::{MOST, Paper, title};
use crate::html::frame::{Frame, page as framed};
use crate::html::hit::{SKIMMED, excerpt, place, speaker};
use crate::html::link::address;
use crate::web::answer;
use crate::web::asked::Asked;
use crate::web::seek::{Found, Waits, Wanted, seek};
use crate::web::server::{Server, work};
use crate::words::clean;
use crate::words::figures::things;
use crate::words::folder::base;
use crate::words::standing::standing;
use crate::words::when::Clock;

/// How long a page may look, how long if somebody says that they can wait, and how long while somebody types.
const PAGE: Duration = Duration::from_secs(3);
const PATIENT: Duration = Duration::from_secs(60);
const TYPING: Duration = Duration::from_secs(1);

/// So many hits stand on a page at first, and so many are shown while typing.
const SHOWN: usize = 50;
const SKIM: usize = 8;

/// Answers with the page of a search.
pub(crate) async fn page(State(server): State<Arc<Server>>, asked: Asked) -> Response {
    let waits = Waits::default();
    let (asker, own) = (waits.asker(), server.clone());
    let wanted = Wanted {
        typed: asked.text("q").unwrap_or_default().to_owned(),
        all: asked.has("all"),
        limit: asked.number("n", SHOWN).clamp(1, MOST),
        budget: if asked.has("patient") { PATIENT } else { PAGE },
    };
    let known = server.answers.recent(&wanted, &server.queue).is_some() || wanted.typed.is_empty();
    let turn = if known { None } else { server.queue.turn("").await };
    let response = work(server, move |server| {
        let found = (!wanted.typed.is_empty()).then(|| seek(&own, &wanted, &asker));
        drop(turn);
        let (look, clock) = (server.shelf.known(&server.place), server.clock());
        let paper = Paper { server, look: &look, clock: &clock, asked: &asked, wanted: &wanted };
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
        answer::found(framed(&frame, &body))
    })
    .await;
    drop(waits);
    response
}

/// What is shorter stands nearly everywhere: to look for it takes long and tells nothing. A sign of Chinese has as many bytes.
const LEAST: usize = 3;

/// Answers with the best few hits of what somebody is typing.
pub(crate) async fn hits(State(server): State<Arc<Server>>, asked: Asked) -> Response {
    let Some(typed) = asked.text("q").map(str::to_owned) else { return answer::found(html! {}) };
    if typed.len() < LEAST {
        return answer::found(html! { p class="hits-say" { "Go on typing, or press Enter" } });
    }
    let waits = Waits::default();
    let (asker, own) = (waits.asker(), server.clone());
    let limit = asked.number("limit", SKIM).clamp(1, SHOWN);
    let wanted = Wanted { typed, all: false, limit, budget: TYPING };
    let turn = match server.answers.recent(&wanted, &server.queue) {
        Some(_) => None,
        None => match server.queue.turn(asked.text("client").unwrap_or_default()).await {
            Some(turn) => Some(turn),
            // Nobody reads this: the same page has asked for something newer.
            None => return answer::typed(StatusCode::NO_CONTENT, "text/plain; charset=utf-8", ""),
        },
    };
    let response = work(server, move |server| {
        let found = seek(&own, &wanted, &asker);
        drop(turn);
        match found {
            Ok(found) => answer::found(skim(&found, &wanted, server)),
            Err(bad) => answer::found(html! { p class="hits-say" { (clean::line(&bad.what)) } }),
        }
    })
    .await;
    drop(waits);
    response
}

/// Draws hits as the choices of a box.
fn skim(found: &Found, wanted: &Wanted, server: &Server) -> Markup {
    let (look, clock) = (server.shelf.known(&server.place), server.clock());
    let hits = found.hits.iter().filter_map(|hit| Some((hit, look.key_of(&hit.session_path)?)));
    html! {
        @for (hit, key) in hits {
            a class="hits-one" role="option" aria-selected="false" tabindex="-1" href=(place(hit, key)) {
                span class="hits-head" {
                    strong class="cut" { (title(hit)) }
                    span class="quiet cut" { (facts(hit, &clock)) }
                }
                span class="hits-text cut" { (excerpt(&hit.excerpt, SKIMMED)) }
            }
        }
        @if found.hits.is_empty() {
            p class="hits-say" {
                @if found.cut { "Still reading: press Enter to look longer" } @else { "Nothing holds this" }
            }
        } @else {
            a class="hits-all" role="option" aria-selected="false" tabindex="-1"
                href=(address("/search", [("q", wanted.typed.as_str())])) { (all_of(found)) }
        }
    }
}

/// Says who speaks, where and when, and whether Claude has forgotten it.
fn facts(hit: &SearchHit, clock: &Clock) -> String {
    let lost = matches!(hit.standing, Whereabouts::Compacted | Whereabouts::Aside | Whereabouts::Island);
    let said = [
        Some(speaker(hit)),
        (lost || hit.agent.is_some()).then(|| standing(hit).to_owned()),
        Some(base(&hit.project)),
        hit.time.map(|time| clock.age(Some(time))),
    ];
    said.into_iter().flatten().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn all_of(found: &Found) -> String {
    match found.total.exact {
        true => format!("All {}", things(found.total.hits as u64, "hit")),
        false => "All hits".to_owned(),
    }
}
