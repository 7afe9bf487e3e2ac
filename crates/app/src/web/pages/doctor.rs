//! The diagnostics of a session.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use rethread_engine::ops;

use super::branches::respond_with_subpage;
use crate::html::diagnostics::render_diagnostics;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Responds with the problems of a session, each with the fix that is offered for it.
pub(crate) async fn page(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| {
        let list = server.sessions.current(&server.context);
        let Some(row) = list.find(&key) else { return response::not_found("there is no such session") };
        match ops::doctor::check_session(&row.path) {
            Ok(report) => {
                let body = render_diagnostics(&server.site().session(&key), &report);
                respond_with_subpage(server, &key, &report.header.title.text, "diagnostics", &body)
            }
            Err(error) => response::error(&error),
        }
    })
    .await
}
