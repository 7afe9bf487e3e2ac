//! Actions: what a form asks for is previewed, done and taken back, by the same ops as on the command line.
//!
//! ```text
//! GET  /s/{key}/act/{what} ─▶ form or preview
//! POST /s/{key}/act/{what} ─▶ seal ─▶ preview (dry run) or do ─▶ sheet with "Undo"
//! POST /undo ─▶ seal ─▶ sheet
//! ```
//!
//! Nothing is done without the seal of a form of ours, and never while somebody is at work in the session.

mod actions;
mod fields;
mod log;
mod request;
mod responder;
mod trim_options;
mod undo;

use std::sync::Arc;

use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;

use self::fields::Fields;
use self::request::{ActionRequest, ActionStage, Target};
use self::responder::Reply;
use crate::web::server::{Server, work};

pub(crate) use log::page as log;

pub(crate) use undo::take_back;

/// Fields as they are read from an address or a form.
type Pairs = Vec<(String, String)>;

/// Actions by name.
const ACTIONS: [&str; 5] = ["goto", "fork", "clone", "rename", "repair"];

/// Answers with the first piece of a dialog: nothing is done.
pub(crate) async fn ask(
    State(server): State<Arc<Server>>,
    Path((key, what)): Path<(String, String)>,
    query: Result<Query<Pairs>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let fields = Fields(query.map(|Query(pairs)| pairs).unwrap_or_default());
    work(server, move |server| run(server, &key, &what, &fields, ActionStage::Ask, &headers)).await
}

/// Answers with a preview, or does what a form asks for.
pub(crate) async fn send(
    State(server): State<Arc<Server>>,
    Path((key, what)): Path<(String, String)>,
    headers: HeaderMap,
    form: Result<Form<Pairs>, FormRejection>,
) -> Response {
    let fields = Fields(form.map(|Form(pairs)| pairs).unwrap_or_default());
    work(server, move |server| {
        if !server.gate.is_sealed(fields.get("seal")) {
            return Reply::new(&headers, server.demo, "/".to_owned()).unsealed();
        }
        let go = if fields.get("go") == "do" { ActionStage::Do } else { ActionStage::Preview };
        run(server, &key, &what, &fields, go, &headers)
    })
    .await
}

fn run(
    server: &Server,
    key: &str,
    what: &str,
    fields: &Fields,
    go: ActionStage,
    headers: &HeaderMap,
) -> Response {
    let mut reply = Reply::new(headers, server.demo, "/".to_owned());
    let Some(target) = Target::find(server, key) else {
        return reply.missing("there is no such session");
    };
    reply.back = target.address();
    let Some(what) = ACTIONS.into_iter().find(|known| *known == what) else {
        return reply.missing("there is no such action");
    };
    // Nobody may do what they have not seen.
    let changed = go == ActionStage::Do && fields.words("mark").is_some_and(|mark| mark != target.mark);
    let go = if changed { ActionStage::Preview } else { go };
    let case = ActionRequest { server, target: &target, fields, what, go, changed };
    let drawn = match what {
        "goto" => actions::goto(&case),
        "fork" => actions::fork(&case),
        "clone" => trim_options::clone(&case),
        "rename" => actions::rename(&case),
        _ => actions::repair(&case),
    };
    match drawn {
        Ok(drawn) => reply.found(what, drawn),
        Err(failure) => reply.failed(&failure),
    }
}
