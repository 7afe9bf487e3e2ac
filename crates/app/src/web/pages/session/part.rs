//! Pieces that are fetched when somebody opens them: bodies of calls, pictures, lines as they stand in the file.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rethread_engine::core::entry;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::{self, TurnPart};
use rethread_engine::ops::{self, BranchSelector, TurnSlice};

use super::{open, telling};
use crate::html::{self, KEPT_SHOWN, PICTURES, tool_body};
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// What is asked for.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct PieceWanted {
    line: u32,
    call: Option<String>,
    /// The words of the line that have this mark, instead of a call.
    words: Option<String>,
    #[serde(default)]
    no: usize,
}

/// Answers with the body of a call, or the rest of long words.
pub(crate) async fn part(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<PieceWanted>,
) -> Response {
    work(server, move |server| match open(server, &key) {
        Ok((_, open)) => body(&open, &format!("/s/{key}"), &wanted, true),
        Err(response) => *response,
    })
    .await
}

/// Draws the body of a call, or the rest of long words.
pub(super) fn body(open: &CachedView, base: &str, wanted: &PieceWanted, acts: bool) -> Response {
    let scenes = match around(open, wanted.line) {
        Ok(scenes) => scenes,
        Err(failure) => return response::failed(&failure),
    };
    if let Some(words) = &wanted.words {
        let rest = scenes.iter().find_map(|scene| html::rest(&scene.turn, wanted.line, words));
        return rest.map_or_else(|| response::missing("there are no such words"), response::found);
    }
    let call = wanted.call.as_deref().unwrap_or_default();
    let found = scenes.iter().find_map(|scene| {
        let mut parts = scene.turn.parts.iter();
        parts.find_map(|piece| match &piece.part {
            TurnPart::Tool(told) if told.id == call && told.line == wanted.line => Some((scene, told)),
            _ => None,
        })
    });
    let Some((scene, told)) = found else { return response::missing("there is no such call") };
    response::found(telling(&open.reading, base, acts, |telling| tool_body(told, &scene.raw, telling)))
}

/// Tells the leaf on which a line stands, on whatever branch.
fn around(open: &CachedView, line: u32) -> Result<Vec<TurnSlice>, rethread_engine::Error> {
    let name = format!("L{line}");
    let side = BranchSelector::Side(name.clone());
    for which in
        [BranchSelector::Active, BranchSelector::Through(name.clone()), BranchSelector::Everything, side]
    {
        let Ok(way) = open.way(&which) else { continue };
        if let Some(leaf) = open.reading.leaf_of(&way, &name) {
            return open.reading.page(&way, leaf);
        }
    }
    Ok(Vec::new())
}

/// Answers with a picture of the session.
pub(crate) async fn picture(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<PieceWanted>,
) -> Response {
    work(server, move |server| match open(server, &key) {
        Ok((_, open)) => shown(&open, &wanted),
        Err(response) => *response,
    })
    .await
}

/// Answers with the bytes of a picture, if it is one that cannot do anything.
pub(super) fn shown(open: &CachedView, wanted: &PieceWanted) -> Response {
    let bytes = match open.reading.line(wanted.line) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return response::missing("there is no such line"),
        Err(failure) => return response::failed(&failure),
    };
    let mut found = None;
    entry::read(
        &Line { no: wanted.line, offset: 0, bytes: &bytes, unterminated: false },
        &mut Vec::new(),
        |entry, _| {
            let picture = turn::picture(&entry, wanted.call.as_deref(), wanted.no);
            found = picture.and_then(|(kind, data)| Some((kind, STANDARD.decode(data).ok()?)));
        },
    );
    let known =
        found.and_then(|(kind, bytes)| Some((PICTURES.into_iter().find(|known| *known == kind)?, bytes)));
    match known {
        Some((kind, bytes)) => response::typed(StatusCode::OK, kind, bytes),
        None => response::missing("there is no such picture"),
    }
}

/// Answers with a line as it stands in the file.
pub(crate) async fn raw(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<PieceWanted>,
) -> Response {
    work(server, move |server| {
        let (_, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        match open.reading.line(wanted.line) {
            Ok(Some(bytes)) => response::typed(StatusCode::OK, "text/plain; charset=utf-8", bytes),
            Ok(None) => response::missing("there is no such line"),
            Err(failure) => response::failed(&failure),
        }
    })
    .await
}

/// Which file beside the session.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct KeptWanted {
    name: String,
}

/// Answers with a result that the client kept in a file of its own.
pub(crate) async fn kept(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<KeptWanted>,
) -> Response {
    work(server, move |server| {
        let Some(row) = server.find(&key) else {
            return response::missing("no session has this address any more");
        };
        match ops::read_stored_result(&row.path, &wanted.name, KEPT_SHOWN) {
            Ok(Some(found)) => response::found(html::kept(&found.bytes, found.more)),
            Ok(None) => response::missing("this result was not kept"),
            Err(failure) => response::failed(&failure),
        }
    })
    .await
}
