//! A leaf of a session: some of its turns.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use rethread_engine::Error;

use super::{Wanted, draw, open};
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// Which leaf, and where it stands.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct LeafWanted {
    no: Option<usize>,
    at: Option<String>,
}

/// Answers with a leaf: by its number, or by an entry on it.
pub(crate) async fn leaf(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<LeafWanted>,
    Query(way): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let asks = headers.contains_key("x-rethread");
    work(server, move |server| {
        let (_, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        answered(&open, &format!("/s/{key}"), &wanted, &way, (true, asks))
            .unwrap_or_else(|failure| response::failed(&failure))
    })
    .await
}

/// Draws the leaf that is wanted. The head of the answer says its number, how many there are, and what stands before it and
/// before the last: a page that holds other leaves there is not of this way any more. Turns can be gone on from, or not; and it is
/// a page that asks, or somebody else.
pub(super) fn answered(
    open: &CachedView,
    base: &str,
    wanted: &LeafWanted,
    on: &Wanted,
    (acts, asks): (bool, bool),
) -> Result<Response, Error> {
    let which = on.which();
    let way = open.way(&which)?;
    let no = match (&wanted.at, wanted.no) {
        (Some(at), _) => open.reading.leaf_of(&way, at),
        (None, no) => no.filter(|&no| no < way.leaves()),
    };
    let mut response = match no {
        Some(no) => {
            let drawn = drawn(open, base, on, no, acts)?;
            response::typed(StatusCode::OK, "text/html; charset=utf-8", Body::from(drawn))
        }
        // A page that was there before a rewind asks for what is no more, and is told how much there is; browsers complain of
        // what is missing.
        None if asks => response::typed(StatusCode::NO_CONTENT, "text/html; charset=utf-8", Body::empty()),
        None => response::missing("there is no such part of the session"),
    };
    let mut say = |name: &'static str, value: u64| {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
    };
    say("x-leaves", way.leaves() as u64);
    if let Some(no) = no {
        say("x-leaf", no as u64);
        say("x-before", way.before(no));
        say("x-before-last", way.before(way.leaves() - 1));
    }
    Ok(response)
}

/// Draws a leaf, or takes it as it was drawn.
pub(super) fn drawn(
    open: &CachedView,
    base: &str,
    wanted: &Wanted,
    no: usize,
    acts: bool,
) -> Result<Bytes, Error> {
    let which = wanted.which();
    let way = open.way(&which)?;
    open.drawn(&which, no, || Ok(draw(&open.reading.page(&way, no)?, &open.reading, base, acts)))
}
