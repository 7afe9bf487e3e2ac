//! A turn to take along.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::{Wanted, open};
use crate::export::{Detail, markdown_turn, reduce, text_turn};
use crate::web::response;
use crate::web::server::{Server, work};

/// Which turn, and how: `md`, `text`, or as its lines stand in the file.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct CopyWanted {
    turn: u32,
    r#as: Option<String>,
}

/// Answers with a turn: prompt, answers and one line per call, or its lines.
pub(crate) async fn copy(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<CopyWanted>,
    Query(on): Query<Wanted>,
) -> Response {
    work(server, move |server| {
        let (_, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        let told = open.way(&on.which()).and_then(|way| {
            // A turn may go several ways: what is copied is what is read.
            match way.stops.iter().position(|stop| stop.no == Some(wanted.turn)) {
                Some(stop) => open.reading.turn(&way, stop),
                None => Ok(None),
            }
        });
        let folder = open.reading.session.sketch.cwd.clone().unwrap_or_default();
        let mut told = match told {
            Ok(Some(told)) => told,
            Ok(None) => return response::missing("there is no such turn"),
            Err(failure) => return response::failed(&failure),
        };
        let draw = match wanted.r#as.as_deref() {
            Some("md") => markdown_turn,
            Some("text") => text_turn,
            _ => {
                let lines: Vec<Vec<u8>> = told.raw.into_iter().map(|(_, line)| line).collect();
                return response::typed(StatusCode::OK, "text/plain; charset=utf-8", lines.join(&b'\n'));
            }
        };
        reduce(&mut told.turn, &mut told.raw, Detail::Tools);
        let drawn = draw(&told, Detail::Tools, &folder);
        response::typed(StatusCode::OK, "text/plain; charset=utf-8", drawn.trim_start().to_owned())
    })
    .await
}
