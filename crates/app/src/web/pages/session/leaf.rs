//! A leaf of a session: some of its turns.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use rethread_engine::Failure;

use super::{Wanted, draw, open};
use crate::web::answer;
use crate::web::readings::Open;
use crate::web::server::{Server, work};

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
) -> Response {
    work(server, move |server| {
        let (_, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        answered(&open, &format!("/s/{key}"), &wanted, &way, true)
            .unwrap_or_else(|failure| answer::failed(&failure))
    })
    .await
}

/// Draws the leaf that is wanted; its number and the number of all leaves stand in the head of the answer.
pub(super) fn answered(
    open: &Open,
    base: &str,
    wanted: &LeafWanted,
    on: &Wanted,
    acts: bool,
) -> Result<Response, Failure> {
    let which = on.which();
    let way = open.way(&which)?;
    let no = match (&wanted.at, wanted.no) {
        (Some(at), _) => open.reading.leaf_of(&way, at),
        (None, no) => no.filter(|&no| no < way.leaves()),
    };
    let Some(no) = no else { return Ok(answer::missing("there is no such part of the session")) };
    let drawn = drawn(open, base, on, no, acts)?;
    let mut response = answer::typed(StatusCode::OK, "text/html; charset=utf-8", Body::from(drawn));
    for (name, value) in [("x-leaf", no), ("x-leaves", way.leaves())] {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
    }
    Ok(response)
}

/// Draws a leaf, or takes it as it was drawn.
pub(super) fn drawn(
    open: &Open,
    base: &str,
    wanted: &Wanted,
    no: usize,
    acts: bool,
) -> Result<Bytes, Failure> {
    let which = wanted.which();
    let way = open.way(&which)?;
    open.drawn(&which, no, || Ok(draw(&open.reading.leaf(&way, no)?, &open.reading, base, acts)))
}
