//! Which address is answered by whom.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::auth;
use super::pages::{action, assets, branches, diff, home, search, session, sessions};
use super::response;
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
        .route("/s/{key}/act/{what}", get(action::ask).post(action::send))
        .route("/s/{key}/branches", get(branches::page))
        .route("/s/{key}/tree", get(branches::drawing))
        .route("/s/{key}/diff", get(diff::page))
        .route("/undo", post(action::take_back))
        .route("/log", get(action::log))
        .route("/assets/{name}", get(assets::file))
        .route("/s/{key}", get(session::page))
        .route("/s/{key}/leaf", get(session::leaf))
        .route("/s/{key}/map", get(session::map))
        .route("/s/{key}/part", get(session::part))
        .route("/s/{key}/picture", get(session::picture))
        .route("/s/{key}/raw", get(session::raw))
        .route("/s/{key}/kept", get(session::kept))
        .route("/s/{key}/find", get(session::find))
        .route("/s/{key}/copy", get(session::copy))
        .route("/s/{key}/export", get(session::export))
        .route("/s/{key}/events", get(session::events))
        .route("/s/{key}/agents", get(session::agents))
        .route("/s/{key}/call", get(session::agent::called_by))
        .route("/s/{key}/agent/{agent}", get(session::agent::page))
        .route("/s/{key}/agent/{agent}/leaf", get(session::agent::leaf))
        .route("/s/{key}/agent/{agent}/map", get(session::agent::map))
        .route("/s/{key}/agent/{agent}/find", get(session::agent::find))
        .route("/s/{key}/agent/{agent}/part", get(session::agent::part))
        .route("/s/{key}/agent/{agent}/picture", get(session::agent::picture))
        .fallback(|| async { response::missing("there is no such page") })
        .layer(from_fn_with_state(server.clone(), auth::check))
        .with_state(server)
}
