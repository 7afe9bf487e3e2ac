//! The page that lists all operations.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;
use rethread_engine::ops;

use crate::html::action;
use crate::html::frame::{Frame, render_page};
use crate::text::clean;
use crate::text::command::build_command;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// The maximum number of listed operations.
const MAX_OPS: usize = 200;

/// Responds with the last [`MAX_OPS`] operations, newest first.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Response {
    run_blocking(server, |server| {
        let log = match ops::log::log(&server.context.writer) {
            Ok(log) => log,
            Err(error) => return response::error(&error),
        };
        let mut rows = log.ops;
        rows.reverse();
        let is_truncated = rows.len() > MAX_OPS;
        rows.truncate(MAX_OPS);
        let list = server.sessions.current(&server.context);
        // Among sessions with the same id, the newest one is linked: it is inserted last.
        let keys_by_id: HashMap<&str, &str> =
            list.rows().rev().map(|(key, row)| (row.id.as_str(), key)).collect();
        let key_of = |id: &str| keys_by_id.get(id).copied();
        let body = html! {
            main id="main" class="action-page action-wide" data-reload="" {
                h1 { "Changes made by rethread" }
                @if let Some(damage) = &log.damage { p { (clean::line(&damage.to_string())) } }
                (action::render_journal(&rows, key_of, server.site(), server.auth.csrf_token(), &server.clock()))
                @if is_truncated { p class="muted" { "Older changes: " code { (build_command(&["log"])) } } }
            }
        };
        response::ok(render_page(&Frame { section: "log", ..server.frame("Changes") }, &body))
    })
    .await
}
