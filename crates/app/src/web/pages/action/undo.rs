//! Undoes an operation.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::response::Response;
use rethread_engine::ops;
use rethread_engine::ops::undo::UndoRequest;

use super::Pairs;
use super::fields::FormFields;
use super::responder::ActionResponder;
use crate::html::action::{self, DoneOptions};
use crate::web::server::{Server, run_blocking};

/// Undoes the operation that a form names. The undo is an operation too, and can be undone.
pub(crate) async fn undo(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    form: Result<Form<Pairs>, FormRejection>,
) -> Response {
    let fields = FormFields(form.map(|Form(pairs)| pairs).unwrap_or_default());
    run_blocking(server, move |server| {
        let list = server.sessions.current(&server.context);
        let key = Some(fields.get("key")).filter(|key| list.find(key).is_some()).unwrap_or_default();
        let site = server.site();
        let back = if key.is_empty() { site.page("/log") } else { site.session(key) };
        let responder = ActionResponder::new(&headers, server, back.clone());
        if !server.auth.is_csrf_token(fields.get("csrf")) {
            return responder.invalid_token();
        }
        let Some(op) = fields.number::<u64>("op") else {
            return responder.not_found("there is no such operation");
        };
        let request = UndoRequest { op: Some(op), ..UndoRequest::default() };
        match ops::undo::undo(&server.context.writer, &request) {
            Ok(outcome) => {
                server.invalidate();
                let summary = action::summarize_undo(&outcome, &server.context);
                let csrf_token = server.auth.csrf_token();
                let options = DoneOptions {
                    csrf_token,
                    key: key.to_owned(),
                    undo_address: site.page("/undo"),
                    back,
                    change: Some(outcome.change.clone()),
                    ..DoneOptions::default()
                };
                let title = if outcome.change.is_revert { "Undone" } else { "Redone" };
                responder.ok(title, action::render_done(&summary, &options))
            }
            Err(error) => responder.error(&error),
        }
    })
    .await
}
