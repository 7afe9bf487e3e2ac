//! Actions: previews, carries out and undoes changes, with the same operations as the command line.
//!
//! ```text
//! GET  /s/{key}/action/{name} ─▶ form or preview
//! POST /s/{key}/action/{name} ─▶ CSRF token ─▶ preview (dry run) or do ─▶ summary with "Undo"
//! POST /undo ─▶ CSRF token ─▶ summary
//! ```
//!
//! A change requires the CSRF token of our own form, and is refused while a client has the session open.

mod actions;
mod fields;
mod log;
mod request;
mod responder;
mod trim_options;
mod undo;

pub(crate) use log::page as log;
pub(crate) use undo::undo;

use std::sync::Arc;

use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;

use self::fields::FormFields;
use self::request::{ActionRequest, ActionStage, ActionTarget};
use self::responder::ActionResponder;
use crate::web::server::{Server, run_blocking};

/// Names and values of a form or of a query string.
type Pairs = Vec<(String, String)>;

/// The names of the actions.
const ACTIONS: [&str; 5] = ["goto", "fork", "clone", "rename", "repair"];

/// Responds with the form of an action, or with its preview if it has no form.
pub(crate) async fn show(
    State(server): State<Arc<Server>>,
    Path((key, name)): Path<(String, String)>,
    query: Result<Query<Pairs>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let fields = FormFields(query.map(|Query(pairs)| pairs).unwrap_or_default());
    run_blocking(server, move |server| respond(server, &key, &name, &fields, ActionStage::Input, &headers))
        .await
}

/// Responds with the preview of an action, or carries it out.
pub(crate) async fn submit(
    State(server): State<Arc<Server>>,
    Path((key, name)): Path<(String, String)>,
    headers: HeaderMap,
    form: Result<Form<Pairs>, FormRejection>,
) -> Response {
    let fields = FormFields(form.map(|Form(pairs)| pairs).unwrap_or_default());
    run_blocking(server, move |server| {
        if !server.auth.is_csrf_token(fields.get("csrf")) {
            return ActionResponder::new(&headers, server, server.site().page("/")).invalid_token();
        }
        let stage = if fields.get("go") == "do" { ActionStage::Do } else { ActionStage::Preview };
        respond(server, &key, &name, &fields, stage, &headers)
    })
    .await
}

/// Carries out, previews or shows the form of the action `name`. If the session changed after its preview, the new
/// preview is shown instead of carrying the action out.
fn respond(
    server: &Server,
    key: &str,
    name: &str,
    fields: &FormFields,
    stage: ActionStage,
    headers: &HeaderMap,
) -> Response {
    let mut responder = ActionResponder::new(headers, server, server.site().page("/"));
    let Some(target) = ActionTarget::find(server, key) else {
        return responder.not_found("there is no such session");
    };
    responder.back = target.address.clone();
    let Some(name) = ACTIONS.into_iter().find(|known| *known == name) else {
        return responder.not_found("there is no such action");
    };
    // The user must see the current preview before the action is carried out.
    let changed = stage == ActionStage::Do
        && fields.text("fingerprint").is_some_and(|fingerprint| fingerprint != target.fingerprint);
    let stage = if changed { ActionStage::Preview } else { stage };
    let action_request = ActionRequest { server, target: &target, fields, name, stage, changed };
    let content = match name {
        "goto" => actions::goto(&action_request),
        "fork" => actions::fork(&action_request),
        "clone" => trim_options::clone(&action_request),
        "rename" => actions::rename(&action_request),
        _ => actions::repair(&action_request),
    };
    match content {
        Ok(content) => responder.ok(name, content),
        Err(error) => responder.error(&error),
    }
}
