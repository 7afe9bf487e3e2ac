//! Which address is answered by whom.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::answer;
use super::gate;
use super::pages::{act, assets, branches, diff, home};
use super::server::Server;

/// Puts the server together.
pub(crate) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(home::page))
        .route("/s/{key}/act/{what}", get(act::ask).post(act::send))
        .route("/s/{key}/branches", get(branches::page))
        .route("/s/{key}/tree", get(branches::drawing))
        .route("/s/{key}/diff", get(diff::page))
        .route("/undo", post(act::take_back))
        .route("/log", get(act::log))
        .route("/assets/{name}", get(assets::file))
        .fallback(|| async { answer::missing("there is no such page") })
        .layer(from_fn_with_state(server.clone(), gate::check))
        .with_state(server)
}
