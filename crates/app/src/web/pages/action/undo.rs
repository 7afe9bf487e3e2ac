//! Takes an op back.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::http::HeaderMap;
use axum::response::Response;
use rethread_engine::ops::{self, UndoRequest};

use super::Pairs;
use super::fields::Fields;
use super::responder::Reply;
use crate::html::action::{self, Done};
use crate::web::server::{Server, work};

/// Takes the op back that a form names; that can be taken back in turn.
pub(crate) async fn take_back(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    form: Result<Form<Pairs>, FormRejection>,
) -> Response {
    let fields = Fields(form.map(|Form(pairs)| pairs).unwrap_or_default());
    work(server, move |server| {
        let look = server.shelf.look(&server.place);
        let key = Some(fields.get("key")).filter(|key| look.find(key).is_some()).unwrap_or_default();
        let back = if key.is_empty() { "/log".to_owned() } else { format!("/s/{key}") };
        let reply = Reply::new(&headers, server.demo, back.clone());
        if !server.gate.is_sealed(fields.get("seal")) {
            return reply.unsealed();
        }
        let Some(op) = fields.number::<u64>("op") else { return reply.missing("there is no such op") };
        let request = UndoRequest { op: Some(op), ..UndoRequest::default() };
        match ops::undo(&server.place.pen, &request) {
            Ok(undo) => {
                server.forget();
                let sheet = action::undone(&undo, &server.place);
                let seal = server.gate.csrf_token();
                let after = Done { seal, key: key.to_owned(), back, again: true, ..Done::default() };
                reply.found("Undone", action::done(&sheet, &after))
            }
            Err(failure) => reply.failed(&failure),
        }
    })
    .await
}
