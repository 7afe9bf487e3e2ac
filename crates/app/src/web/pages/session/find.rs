//! Words in a session, also in parts that are folded or not loaded yet.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use maud::html;
use rethread_engine::Error;
use rethread_engine::core::query::Needle;
use rethread_engine::ops::{self, FindRequest};

use super::{Wanted, open};
use crate::text::clean;
use crate::text::figures::things;
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// Most hits that are listed.
const MOST: usize = 500;

/// What to look for, and on which way it is read.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct FindWanted {
    #[serde(default)]
    q: String,
}

/// Answers with the lines that hold the words, each with its leaf on this way, or none where it is on another branch.
pub(crate) async fn find(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<FindWanted>,
    Query(on): Query<Wanted>,
) -> Response {
    work(server, move |server| match open(server, &key) {
        Ok((_, open)) => places(&open, &wanted, &on).unwrap_or_else(|failure| response::failed(&failure)),
        Err(response) => *response,
    })
    .await
}

/// Draws the lines of an open session that hold the words.
pub(super) fn places(open: &CachedView, wanted: &FindWanted, on: &Wanted) -> Result<Response, Error> {
    let way = open.way(&on.which())?;
    if wanted.q.trim().is_empty() {
        return Ok(response::found(html! {}));
    }
    let needle = Needle::smart(wanted.q.trim());
    let leaves = open.reading.leaves_by_line(&way);
    let path = open.reading.session.path.clone();
    let request = FindRequest { path, needle, sources: Vec::new(), all: false, ancestors: 0, children: 0 };
    let mut found = ops::find(&request)?;
    let (entries, mut hits) = (found.entries, Vec::new());
    while hits.len() < MOST
        && let Some(hit) = found.next_match().transpose()?
    {
        hits.push(hit);
    }
    Ok(response::found(html! {
        p class="find-count" data-count=(entries) { (things(entries as u64, "place")) }
        ol class="find-list" {
            @for hit in &hits {
                @let leaf = leaves.get(&hit.line);
                li data-line=(hit.line) data-leaf=[leaf] {
                    @if leaf.is_none() { span class="badge badge-warn" { "other branch" } " " }
                    @for words in hit.found.hits.iter().take(1) {
                        (clean::line(&words.before)) " " mark { (clean::line(&words.words)) } " " (clean::line(&words.after))
                    }
                }
            }
        }
    }))
}
