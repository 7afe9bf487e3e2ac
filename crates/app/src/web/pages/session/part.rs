//! Parts of a session that are loaded on demand: bodies of tool calls, rests of long texts, images, raw lines.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rethread_engine::Error;
use rethread_engine::core::entry;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::{self, TurnPart};
use rethread_engine::ops;
use rethread_engine::ops::read::{BranchSelector, TurnSlice};

use super::session_page::SessionPage;
use super::{BranchParams, open_session, session_not_found};
use crate::html::{
    MAX_RESULT_FILE_BYTES, SAFE_IMAGE_TYPES, render_rest, render_result_file, render_tool_body,
};
use crate::web::response;
use crate::web::server::{Server, run_blocking};
use crate::web::view_cache::CachedView;

/// Selects a part of a line: a tool call, a long text, or an image.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct PartParams {
    /// The line number.
    line: u32,
    /// The id of a tool call.
    call: Option<String>,
    /// The hash of a long text. It takes precedence over `call`.
    text: Option<String>,
    /// The index of an image in the prompt or in the result of the call, from 0.
    #[serde(default)]
    number: usize,
}

/// Responds with the body of a tool call, or the rest of a long text.
pub(crate) async fn part(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(part): Query<PartParams>,
) -> Response {
    run_blocking(server, move |server| match open_session(server, &key) {
        Ok((_, view)) => {
            let params = BranchParams::default();
            let page = SessionPage {
                view: &view,
                base: &server.site().session(&key),
                params: &params,
                actions: true,
                clock: &server.clock(),
            };
            respond_with_part(&page, &part)
        }
        Err(response) => *response,
    })
    .await
}

/// Responds with the body of a tool call, or the rest of a long text.
pub(super) fn respond_with_part(page: &SessionPage<'_>, params: &PartParams) -> Response {
    let slices = match read_chunk_of_line(page.view, params.line) {
        Ok(slices) => slices,
        Err(error) => return response::error(&error),
    };
    if let Some(hash) = &params.text {
        let rest = slices.iter().find_map(|slice| render_rest(&slice.turn, params.line, hash));
        return rest.map_or_else(|| response::not_found("there is no such text"), response::ok);
    }
    let id = params.call.as_deref().unwrap_or_default();
    let call = slices.iter().find_map(|slice| {
        slice.turn.parts.iter().find_map(|part| match &part.part {
            TurnPart::Tool(call) if call.id == id && call.line == params.line => Some((slice, call)),
            _ => None,
        })
    });
    let Some((slice, call)) = call else { return response::not_found("there is no such call") };
    response::ok(page.with_render_options(|options| render_tool_body(call, &slice.lines, options)))
}

/// Reads the turns of the chunk that contains a line, on any branch. Returns an empty list if no branch contains the
/// line.
fn read_chunk_of_line(view: &CachedView, line: u32) -> Result<Vec<TurnSlice>, Error> {
    let name = format!("L{line}");
    let sidechain = BranchSelector::Sidechain(name.clone());
    for selector in
        [BranchSelector::Active, BranchSelector::Through(name.clone()), BranchSelector::AllTurns, sidechain]
    {
        let Ok(branch) = view.branch(&selector) else { continue };
        if let Some(idx) = view.view.page_of_entry(&branch, &name) {
            return view.view.read_page(&branch, idx);
        }
    }
    Ok(Vec::new())
}

/// Responds with an image of the session.
pub(crate) async fn image(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<PartParams>,
) -> Response {
    run_blocking(server, move |server| match open_session(server, &key) {
        Ok((_, view)) => respond_with_image(&view, &params),
        Err(response) => *response,
    })
    .await
}

/// Responds with the bytes of an image. Responds with status 404 if it does not exist or its type could contain
/// scripts.
pub(super) fn respond_with_image(view: &CachedView, params: &PartParams) -> Response {
    let bytes = match view.view.read_line(params.line) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return response::not_found("there is no such line"),
        Err(error) => return response::error(&error),
    };
    let mut image = None;
    let line = Line { number: params.line, offset: 0, bytes: &bytes, unterminated: false };
    entry::read_line(&line, &mut Vec::new(), |entry, _| {
        let encoded = turn::find_image(&entry, params.call.as_deref(), params.number);
        image = encoded.and_then(|(media_type, data)| {
            let media_type = SAFE_IMAGE_TYPES.into_iter().find(|safe| *safe == media_type)?;
            Some((media_type, STANDARD.decode(data).ok()?))
        });
    });
    match image {
        Some((media_type, bytes)) => response::build(StatusCode::OK, media_type, bytes),
        None => response::not_found("there is no such image"),
    }
}

/// Responds with the raw bytes of a line.
pub(crate) async fn raw(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<PartParams>,
) -> Response {
    run_blocking(server, move |server| {
        let (_, view) = match open_session(server, &key) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        match view.view.read_line(params.line) {
            Ok(Some(bytes)) => response::build(StatusCode::OK, "text/plain; charset=utf-8", bytes),
            Ok(None) => response::not_found("there is no such line"),
            Err(error) => response::error(&error),
        }
    })
    .await
}

/// Selects a result file.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ResultFileParams {
    name: String,
}

/// Responds with a result that the client stored in a separate file, up to [`MAX_RESULT_FILE_BYTES`].
pub(crate) async fn result_file(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<ResultFileParams>,
) -> Response {
    run_blocking(server, move |server| {
        let Some(row) = server.find(&key) else { return session_not_found() };
        match ops::read_stored_result(&row.path, &params.name, MAX_RESULT_FILE_BYTES) {
            Ok(Some(result)) => response::ok(render_result_file(&result.bytes, result.truncated)),
            Ok(None) => response::not_found("this result was not stored"),
            Err(error) => response::error(&error),
        }
    })
    .await
}
