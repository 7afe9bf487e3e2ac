//! Which address is answered by whom.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::answer;
use super::gate;
use super::pages::{assets, home, search, sessions};
use super::server::Server;

/// Puts the server together.
pub(crate) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(home::page))
        .route("/home/figures", get(home::figures))
        .route("/sessions", get(sessions::page))
        .route("/sessions/rows", get(sessions::rows))
        .route("/s/{key}/preview", get(sessions::preview))
        .route("/search", get(search::page))
        .route("/search/hits", get(search::hits))
        .route("/assets/{name}", get(assets::file))
        .fallback(|| async { answer::missing("there is no such page") })
        .layer(from_fn_with_state(server.clone(), gate::check))
        .with_state(server)
}
