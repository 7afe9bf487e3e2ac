//! Subagents of a session: their list, and the conversation of each, as a page or unfolded in place.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::html;
use rethread_engine::ops::AgentRow;

use super::chunk::{LeafWanted, answered};
use super::find::{FindWanted, places};
use super::page::{PageInfo, inside, whole};
use super::part::{PieceWanted, body, shown};
use super::{Wanted, open};
use crate::html::link::encoded;
use crate::html::session::called;
use crate::text::error::error_message;
use crate::text::figures::{things, tokens};
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// Answers with the list of subagents.
pub(crate) async fn agents(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    work(server, move |server| {
        let (_, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        let found = match open.agents() {
            Ok(found) => found,
            Err(failure) => return response::failed(&failure),
        };
        response::found(html! {
            ul class="agents" {
                @for row in found.rows.iter().filter(|row| !row.warmup) {
                    li class={ "agent-" (row.depth.min(6)) } {
                        a href=(address(&key, row)) { (called(row)) }
                        span class="quiet num" { " " (things(row.entries as u64, "entry")) ", " (tokens(row.usage.total())) " tokens" }
                    }
                }
            }
            @for failure in &found.failures { p class="quiet" { (error_message(failure)) } }
        })
    })
    .await
}

/// Returns where a subagent of a session is read.
fn address(key: &str, row: &AgentRow) -> String {
    format!("/s/{key}/agent/{}", encoded(&row.id))
}

/// Which subagent is asked for.
enum Whose<'a> {
    /// The one that a call started.
    Call(&'a str),
    /// The one with this id; of one inside the session's file, any of its lines names it.
    Id(&'a str),
}

impl Whose<'_> {
    fn of<'r>(&self, rows: &'r [AgentRow], main: &CachedView) -> Option<&'r AgentRow> {
        let by_id = |id: &str| rows.iter().find(|row| row.id == id);
        match self {
            Whose::Call(call) => rows.iter().find(|row| row.tool_use.as_deref() == Some(call)),
            Whose::Id(id) => by_id(id).or_else(|| by_id(&main.reading.side_of(id)?)),
        }
    }
}

/// Opens a subagent and hands it on, with the way to read.
fn with(
    server: &Server,
    key: &str,
    whose: &Whose<'_>,
    wanted: Wanted,
    then: impl FnOnce(&AgentRow, &CachedView, &str, &Wanted) -> Response,
) -> Response {
    let (_, main) = match open(server, key) {
        Ok(found) => found,
        Err(response) => return *response,
    };
    let found = match main.agents() {
        Ok(found) => found,
        Err(failure) => return response::failed(&failure),
    };
    let Some(row) = whose.of(&found.rows, &main) else {
        let none = "no conversation of this subagent was kept";
        return match whose {
            // The call itself is there, and says so in its place.
            Whose::Call(_) => response::found(html! { p class="quiet" { (none) } }),
            Whose::Id(_) => response::missing(none),
        };
    };
    let base = address(key, row);
    let Some(path) = &row.path else {
        return then(row, &main, &base, &Wanted { side: Some(row.id.clone()), ..wanted });
    };
    match server.readings.open(path, &server.prices) {
        Ok(open) => then(row, &open, &base, &wanted),
        Err(failure) => response::failed(&failure),
    }
}

/// Which call started it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Started {
    call: String,
}

/// Answers with the conversation of the subagent that a call started, to be unfolded there.
pub(crate) async fn called_by(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(started): Query<Started>,
) -> Response {
    work(server, move |server| with(server, &key, &Whose::Call(&started.call), Wanted::default(), folded))
        .await
}

fn folded(row: &AgentRow, open: &CachedView, base: &str, wanted: &Wanted) -> Response {
    match inside(open, base, wanted, false) {
        Ok(leaves) => response::found(html! {
            section class="agent" aria-label={ "Subagent: " (called(row)) } {
                p class="agent-name" { a href=(base) { (called(row)) } }
                (leaves)
            }
        }),
        Err(failure) => response::failed(&failure),
    }
}

/// Answers with the page of a subagent.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), wanted, |row, open, base, wanted| {
            if headers.contains_key("x-rethread") {
                return folded(row, open, base, wanted);
            }
            let title = called(row);
            let sheet = PageInfo { title: &title, base, main: Some(&key), row: None, acts: false };
            whole(server, open, &sheet, wanted).unwrap_or_else(|failure| response::failed(&failure))
        })
    })
    .await
}

/// Answers with a leaf of a subagent.
pub(crate) async fn leaf(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<LeafWanted>,
    Query(way): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let asks = headers.contains_key("x-rethread");
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), way, |_, open, base, way| {
            answered(open, base, &wanted, way, (false, asks))
                .unwrap_or_else(|failure| response::failed(&failure))
        })
    })
    .await
}

/// Answers with the map of a subagent.
pub(crate) async fn map(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<Wanted>,
) -> Response {
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), wanted, |_, open, base, wanted| {
            super::map::drawn(open, base, wanted, false).unwrap_or_else(|failure| response::failed(&failure))
        })
    })
    .await
}

/// Answers with the lines of a subagent that hold words.
pub(crate) async fn find(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<FindWanted>,
    Query(on): Query<Wanted>,
) -> Response {
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), on, |_, open, _, on| {
            places(open, &wanted, on).unwrap_or_else(|failure| response::failed(&failure))
        })
    })
    .await
}

/// Answers with the body of a call of a subagent.
pub(crate) async fn part(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<PieceWanted>,
) -> Response {
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), Wanted::default(), |_, open, base, _| {
            body(open, base, &wanted, false)
        })
    })
    .await
}

/// Answers with a picture of a subagent.
pub(crate) async fn picture(
    State(server): State<Arc<Server>>,
    Path((key, agent)): Path<(String, String)>,
    Query(wanted): Query<PieceWanted>,
) -> Response {
    work(server, move |server| {
        with(server, &key, &Whose::Id(&agent), Wanted::default(), |_, open, _, _| shown(open, &wanted))
    })
    .await
}
