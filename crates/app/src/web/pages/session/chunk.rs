//! A chunk of a session: some of its turns.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use rethread_engine::Error;

use super::session_page::SessionPage;
use super::{BranchParams, FRAGMENT_HEADER, open_session};
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Selects a chunk by its number, or by an entry in it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ChunkParams {
    /// The index of the chunk, from 0.
    number: Option<usize>,
    /// The name of an entry in the chunk. It takes precedence.
    at: Option<String>,
}

/// Responds with a chunk of a session.
pub(crate) async fn chunk(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(chunk): Query<ChunkParams>,
    Query(params): Query<BranchParams>,
    headers: HeaderMap,
) -> Response {
    let is_script = headers.contains_key(FRAGMENT_HEADER);
    run_blocking(server, move |server| {
        let (_, view) = match open_session(server, &key) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        let page = SessionPage {
            view: &view,
            base: &server.site().session(&key),
            params: &params,
            actions: true,
            clock: &server.clock(),
        };
        respond_with_chunk(&page, &chunk, is_script).unwrap_or_else(|error| response::error(&error))
    })
    .await
}

/// Responds with a chunk, or with status 204 or 404 if it does not exist. Headers give its index, the number of
/// chunks, and hashes of the entries before it and before the last chunk: a page with other hashes shows another
/// branch.
pub(super) fn respond_with_chunk(
    page: &SessionPage<'_>,
    params: &ChunkParams,
    is_script: bool,
) -> Result<Response, Error> {
    let branch = page.branch()?;
    let idx = match (&params.at, params.number) {
        (Some(at), _) => page.view.view.page_of_entry(&branch, at),
        (None, number) => number.filter(|&number| number < branch.page_count()),
    };
    let mut response = match idx {
        Some(idx) => {
            let chunk = page.render_chunk(idx)?;
            response::build(StatusCode::OK, "text/html; charset=utf-8", Body::from(chunk))
        }
        // A page from before a rewind requests a chunk that no longer exists. The headers contain the number of
        // chunks, and status 204 avoids an error in the browser's console.
        None if is_script => {
            response::build(StatusCode::NO_CONTENT, "text/html; charset=utf-8", Body::empty())
        }
        None => response::not_found("there is no such part of the session"),
    };
    let mut insert_header = |name: &'static str, value: u64| {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from(value));
    };
    insert_header("x-chunks", branch.page_count() as u64);
    if let Some(idx) = idx {
        insert_header("x-chunk", idx as u64);
        insert_header("x-prefix-hash", branch.prefix_hash(idx));
        insert_header("x-last-prefix-hash", branch.prefix_hash(branch.page_count() - 1));
    }
    Ok(response)
}
