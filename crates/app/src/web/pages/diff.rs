//! Two branches of a session, side by side.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use maud::html;
use rethread_engine::ops;
use rethread_engine::ops::diff::BranchSpec;

use super::branches::respond_with_subpage;
use crate::html::diff::render_diff;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Responds with the comparison of two branches: those through the entries `a` and `b`, or the two selected in the
/// list.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    let pairs = query.map(|Query(pairs)| pairs).unwrap_or_default();
    run_blocking(server, move |server| {
        let list = server.sessions.current(&server.context);
        let Some(row) = list.find(&key) else { return response::not_found("there is no such session") };
        let Some([a, b]) = find_selected_entries(&pairs) else {
            let body = html! {
                p { "Select two branches in the list to compare them." }
                p { a class="button" href={ (server.site().session(&key)) "/branches" } { "Back to the branches" } }
            };
            return respond_with_subpage(server, &key, &row.title.text, "diff", &body);
        };
        let spec = |entry: String| BranchSpec { path: row.path.clone(), entry: Some(entry) };
        match ops::diff::diff_branches(&spec(a), &spec(b)) {
            Ok(diff) => {
                let body = html! {
                    @if diff.is_same() { p { "Both are the same path; there is nothing to compare." } }
                    @else { (render_diff(&server.site().session(&key), &diff, &server.clock())) }
                };
                respond_with_subpage(server, &key, &diff.branches[0].header.title.text, "diff", &body)
            }
            Err(error) => response::error(&error),
        }
    })
    .await
}

/// Returns the names of the two entries whose branches are compared. Returns `None` if fewer than two are selected.
fn find_selected_entries(pairs: &[(String, String)]) -> Option<[String; 2]> {
    let pairs_named = |name: &'static str| pairs.iter().filter(move |(known, _)| known == name);
    let mut picked = pairs_named("pick");
    let (_, a) = pairs_named("a").next().or_else(|| picked.next())?;
    let (_, b) = pairs_named("b").next().or_else(|| picked.next())?;
    Some([a.clone(), b.clone()])
}
