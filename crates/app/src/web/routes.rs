//! The routes of the server.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::guard;
use super::pages::{action, assets, branches, diff, doctor, home, search, session, sessions, sql};
use super::response;
use super::server::Server;

/// Builds the router of all requests. [`guard::check_request`] removes the prefix of their paths first, so it runs before
/// the routes are matched.
pub(crate) fn build_router(server: Arc<Server>) -> Router {
    Router::new()
        .fallback_service(build_page_router(server.clone()))
        .layer(from_fn_with_state(server, guard::check_request))
}

/// Builds the router of all pages. Paths are below the prefix.
fn build_page_router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(home::page))
        .route("/home/figures", get(home::figures))
        .route("/sessions", get(sessions::page))
        .route("/sessions/rows", get(sessions::rows))
        .route("/s/{key}/preview", get(sessions::preview))
        .route("/search", get(search::page))
        .route("/search/hits", get(search::hits))
        .route("/search/index", get(search::index))
        .route("/s/{key}/action/{name}", get(action::show).post(action::submit))
        .route("/s/{key}/branches", get(branches::page))
        .route("/s/{key}/tree", get(branches::tree_page))
        .route("/s/{key}/diff", get(diff::page))
        .route("/s/{key}/doctor", get(doctor::page))
        .route("/sql", get(sql::page))
        .route("/sql/csv", get(sql::csv))
        .route("/undo", post(action::undo))
        .route("/log", get(action::log))
        .route("/assets/{name}", get(assets::file))
        .route("/s/{key}", get(session::page))
        .route("/s/{key}/chunk", get(session::chunk))
        .route("/s/{key}/map", get(session::map))
        .route("/s/{key}/part", get(session::part))
        .route("/s/{key}/image", get(session::image))
        .route("/s/{key}/raw", get(session::raw))
        .route("/s/{key}/result-file", get(session::result_file))
        .route("/s/{key}/find", get(session::find))
        .route("/s/{key}/copy", get(session::copy))
        .route("/s/{key}/export", get(session::export))
        .route("/s/{key}/export/preview", get(session::preview_export))
        .route("/s/{key}/events", get(session::events))
        .route("/s/{key}/agents", get(session::agents))
        .route("/s/{key}/call", get(session::agent::by_call))
        .route("/s/{key}/agent/{agent}", get(session::agent::page))
        .route("/s/{key}/agent/{agent}/chunk", get(session::agent::chunk))
        .route("/s/{key}/agent/{agent}/map", get(session::agent::map))
        .route("/s/{key}/agent/{agent}/find", get(session::agent::find))
        .route("/s/{key}/agent/{agent}/part", get(session::agent::part))
        .route("/s/{key}/agent/{agent}/image", get(session::agent::image))
        .fallback(|| async { response::not_found("there is no such page") })
        .with_state(server)
}
