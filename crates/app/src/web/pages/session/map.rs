//! The map of a session. It is loaded after the text, because it needs a preview of every turn.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use rethread_engine::Error;
use rethread_engine::ops::read::BranchSelector;

use super::session_page::SessionPage;
use super::{BranchParams, open_session};
use crate::html::map::{MAX_MAP_ENTRIES, SessionMap, render_map};
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Responds with the map of the selected branch.
pub(crate) async fn map(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<BranchParams>,
) -> Response {
    run_blocking(server, move |server| match open_session(server, &key) {
        Ok((_, view)) => {
            let page = SessionPage {
                view: &view,
                base: &server.site().session(&key),
                params: &params,
                actions: true,
                clock: &server.clock(),
            };
            respond_with_map(&page).unwrap_or_else(|error| response::error(&error))
        }
        Err(response) => *response,
    })
    .await
}

/// Responds with the map of the branch that a page shows. A subagent cannot be resumed, so it has no active branch.
pub(super) fn respond_with_map(page: &SessionPage<'_>) -> Result<Response, Error> {
    let branch = page.branch()?;
    let view = &page.view.view;
    let entries = view.build_map(&branch, MAX_MAP_ENTRIES)?;
    Ok(response::ok(render_map(&SessionMap {
        branch: &branch,
        entries: &entries,
        base: page.base,
        folder: view.session.info.cwd.as_deref().unwrap_or_default(),
        other_branches: page.params.selector() != BranchSelector::AllTurns,
        is_active: page.actions && branch.tip == view.leaf,
    })))
}
