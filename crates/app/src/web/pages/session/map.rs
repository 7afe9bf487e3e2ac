//! The map of a session, which comes after its text: to say what every turn is about takes a look at each.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use rethread_engine::Error;
use rethread_engine::ops::BranchSelector;

use super::{Wanted, open};
use crate::html::map::{self, MAX_MAP_ENTRIES, Map};
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// Answers with the map of a way through a session.
pub(crate) async fn map(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    work(server, move |server| match open(server, &key) {
        Ok((_, open)) => drawn(&open, &format!("/s/{key}"), &wanted, true)
            .unwrap_or_else(|failure| response::failed(&failure)),
        Err(response) => *response,
    })
    .await
}

/// Draws the map of an open session that is found at `base`, and can be resumed or not.
pub(super) fn drawn(
    open: &CachedView,
    base: &str,
    wanted: &Wanted,
    resumes: bool,
) -> Result<Response, Error> {
    let which = wanted.which();
    let way = open.way(&which)?;
    let signs = open.reading.map(&way, MAX_MAP_ENTRIES)?;
    let folder = open.reading.session.sketch.cwd.as_deref().unwrap_or_default();
    let is_active = resumes && way.tip == open.reading.leaf;
    let turnoffs = which != BranchSelector::Everything;
    Ok(response::found(map::map(&Map { way: &way, signs: &signs, base, folder, turnoffs, is_active })))
}
