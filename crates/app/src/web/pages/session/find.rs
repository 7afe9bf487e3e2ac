//! Finds text in a session, also in collapsed parts and in chunks that are not loaded.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use maud::html;
use rethread_engine::Error;
use rethread_engine::core::query::Needle;
use rethread_engine::ops;
use rethread_engine::ops::find::FindRequest;

use super::session_page::SessionPage;
use super::{BranchParams, open_session};
use crate::text::clean;
use crate::text::figures::count_noun;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// The maximum number of listed matches.
const MAX_MATCHES: usize = 500;

/// The text to find.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct FindParams {
    #[serde(default)]
    q: String,
}

/// Responds with the entries of a session that contain a text.
pub(crate) async fn find(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(find): Query<FindParams>,
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
            respond_with_matches(&page, &find).unwrap_or_else(|error| response::error(&error))
        }
        Err(response) => *response,
    })
    .await
}

/// Responds with the number of entries that contain a text, and the first [`MAX_MATCHES`] of them, each with its line
/// and chunk. Entries on other branches have no chunk.
pub(super) fn respond_with_matches(page: &SessionPage<'_>, params: &FindParams) -> Result<Response, Error> {
    let branch = page.branch()?;
    if params.q.trim().is_empty() {
        return Ok(response::ok(html! {}));
    }
    let chunks = page.view.view.pages_by_line(&branch);
    let path = page.view.view.session.path.clone();
    let needle = Needle::smart_case(params.q.trim());
    let request =
        FindRequest { path, needle, sources: Vec::new(), all: false, max_ancestors: 0, max_children: 0 };
    let mut search = ops::find::find_matches(&request)?;
    let entry_count = search.entry_count;
    let matches = search.by_ref().take(MAX_MATCHES).collect::<Result<Vec<_>, Error>>()?;
    Ok(response::ok(html! {
        p class="find-count" data-count=(entry_count) { (count_noun(entry_count as u64, "entry")) }
        ol class="find-list" {
            @for entry in &matches {
                @let chunk = chunks.get(&entry.line);
                li data-line=(entry.line) data-chunk=[chunk] {
                    @if chunk.is_none() { span class="badge badge-warn" { "other branch" } " " }
                    @for hit in entry.matches.hits.iter().take(1) {
                        (clean::line(&hit.before)) " " mark { (clean::line(&hit.matched)) } " " (clean::line(&hit.after))
                    }
                }
            }
        }
    }))
}
