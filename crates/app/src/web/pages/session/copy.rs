//! A turn in a form to copy.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{BranchParams, open_session};
use crate::export::{Detail, reduce_turn, write_markdown_turn, write_text_turn};
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Selects a turn and the format of the copy.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct CopyParams {
    /// The number of the turn.
    turn: u32,
    /// The format: `md` or `text`. Any other value means the raw lines.
    r#as: Option<String>,
}

/// Responds with a turn as plain text: prompt, answers and one line per call, or its raw lines.
pub(crate) async fn copy(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(copy): Query<CopyParams>,
    Query(params): Query<BranchParams>,
) -> Response {
    run_blocking(server, move |server| {
        let (_, view) = match open_session(server, &key) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        let turn = view.branch(&params.selector()).and_then(|branch| {
            // A turn may continue on several branches: copy the one that is shown.
            match branch.turns.iter().position(|turn| turn.number == Some(copy.turn)) {
                Some(idx) => view.view.read_turn(&branch, idx),
                None => Ok(None),
            }
        });
        let folder = view.view.session.info.cwd.clone().unwrap_or_default();
        let mut turn = match turn {
            Ok(Some(turn)) => turn,
            Ok(None) => return response::not_found("there is no such turn"),
            Err(error) => return response::error(&error),
        };
        let format = match copy.r#as.as_deref() {
            Some("md") => write_markdown_turn,
            Some("text") => write_text_turn,
            _ => {
                let lines: Vec<Vec<u8>> = turn.lines.into_iter().map(|line| line.bytes).collect();
                return response::build(StatusCode::OK, "text/plain; charset=utf-8", lines.join(&b'\n'));
            }
        };
        reduce_turn(&mut turn.turn, &mut turn.lines, Detail::Tools);
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = format(&turn, Detail::Tools, &folder, &mut text);
        response::build(StatusCode::OK, "text/plain; charset=utf-8", text.trim_ascii_start().to_owned())
    })
    .await
}
