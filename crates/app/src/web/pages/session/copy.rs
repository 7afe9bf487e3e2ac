//! A turn to take along.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use rethread_engine::ops::{self, ShowRequest};

use crate::web::answer;
use crate::web::server::{Server, work};

/// Which turn, and how.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct CopyWanted {
    turn: u32,
}

/// Answers with a turn as its lines stand in the file.
pub(crate) async fn copy(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<CopyWanted>,
) -> Response {
    work(server, move |server| {
        let Some(row) = server.find(&key) else {
            return answer::missing("no session has this address any more");
        };
        let turns = Some((wanted.turn, wanted.turn));
        let request = ShowRequest { path: row.path, turns, ..ShowRequest::default() };
        let told = ops::show(&request).and_then(|mut show| show.next_turn().transpose());
        match told {
            Ok(Some(told)) => {
                let lines: Vec<Vec<u8>> = told.raw.into_iter().map(|(_, line)| line).collect();
                answer::typed(StatusCode::OK, "text/plain; charset=utf-8", lines.join(&b'\n'))
            }
            Ok(None) => answer::missing("there is no such turn"),
            Err(failure) => answer::failed(&failure),
        }
    })
    .await
}
