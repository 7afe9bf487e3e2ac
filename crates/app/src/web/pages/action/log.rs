//! What rethread changed so far.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;
use rethread_engine::ops;

use crate::html::action;
use crate::html::frame::{Frame, page as framed};
use crate::web::response;
use crate::web::server::{Server, work};

/// Ops that are shown.
const SHOWN: usize = 200;

/// Answers with the log, newest first.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Response {
    work(server, |server| {
        let mut rows = match ops::log(&server.place.pen) {
            Ok(rows) => rows,
            Err(failure) => return response::failed(&failure),
        };
        rows.reverse();
        let more = rows.len().saturating_sub(SHOWN);
        rows.truncate(SHOWN);
        let look = server.shelf.look(&server.place);
        // Of several with one id, the one that was used last is meant.
        let keys: HashMap<&str, &str> = look.rows().rev().map(|(key, row)| (row.id.as_str(), key)).collect();
        let key = |id: &str| keys.get(id).copied();
        let body = html! {
            main id="main" class="act-page act-wide" data-reload="" {
                h1 { "What rethread changed" }
                (action::journal(&rows, key, server.gate.csrf_token(), &server.clock()))
                @if more > 0 { p class="quiet" { "Older ones: " code { "rethread log" } } }
            }
        };
        response::found(framed(
            &Frame { title: "Changes", here: "log", demo: server.demo, ..Frame::default() },
            &body,
        ))
    })
    .await
}
