//! Two branches of a session, beside each other.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use maud::html;
use rethread_engine::ops::{self, BranchName};

use super::branches::around;
use crate::html::diff::sides;
use crate::text::time::Clock;
use crate::web::response;
use crate::web::server::{Server, work};

/// Answers with the comparison of `a` and `b`, or of the two branches that were picked from the list.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Response {
    let pairs = query.map(|Query(pairs)| pairs).unwrap_or_default();
    work(server, move |server| {
        let look = server.shelf.look(&server.place);
        let Some(row) = look.find(&key) else { return response::missing("there is no such session") };
        let Some([a, b]) = chosen(&pairs) else {
            let body = html! {
                p { "Choose two branches of the list to compare them." }
                p { a class="button" href={ "/s/" (key) "/branches" } { "Back to the branches" } }
            };
            return around(server, &key, &row.title.text, "diff", &body);
        };
        let named = |entry: String| BranchName { path: row.path.clone(), entry: Some(entry) };
        match ops::diff(&named(a), &named(b)) {
            Ok(diff) => {
                let body = html! {
                    @if diff.is_same() { p { "Both are the same path: there is nothing to compare." } }
                    @else { (sides(&key, &diff, &Clock::look())) }
                };
                around(server, &key, &diff.branches[0].head.title.text, "diff", &body)
            }
            Err(failure) => response::failed(&failure),
        }
    })
    .await
}

/// Reads which two are meant.
fn chosen(pairs: &[(String, String)]) -> Option<[String; 2]> {
    let named = |name: &'static str| pairs.iter().filter(move |(known, _)| known == name);
    let mut picked = named("pick");
    let (_, a) = named("a").next().or_else(|| picked.next())?;
    let (_, b) = named("b").next().or_else(|| picked.next())?;
    Some([a.clone(), b.clone()])
}
