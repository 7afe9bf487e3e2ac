//! All ways that a session went: as a list, and as a drawing.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops::{self, ClientSelector, ExplainRequest, TreeRequest};

use crate::html::frame::{Frame, page as framed};
use crate::html::resume_banner::warning;
use crate::html::{branches, tree};
use crate::text::session::display_title;
use crate::text::time::Clock;
use crate::web::response;
use crate::web::server::{Server, work};

/// Answers with the list of branches.
pub(crate) async fn page(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    work(server, move |server| {
        let look = server.shelf.look(&server.place);
        let Some(row) = look.find(&key) else { return response::missing("there is no such session") };
        let explain = ExplainRequest { path: row.path.clone(), reader: ClientSelector::Newest };
        let read = ops::branches(&row.path).and_then(|list| Ok((list, ops::explain(&explain)?)));
        let (list, explained) = match read {
            Ok(read) => read,
            Err(failure) => return response::failed(&failure),
        };
        let judged = explained.verdicts.first();
        let body = html! {
            @if let Some(warning) = judged.and_then(|verdict| warning(&key, verdict, &explained.session)) { (warning) }
            @if list.rows.is_empty() { p { "Nothing was said in this session." } }
            @else { (branches::list(&key, &list, &Clock::look())) }
        };
        around(server, &key, &list.head.title.text, "branches", &body)
    })
    .await
}

/// Answers with the tree as a drawing.
pub(crate) async fn drawing(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    work(server, move |server| {
        let look = server.shelf.look(&server.place);
        let Some(row) = look.find(&key) else { return response::missing("there is no such session") };
        let request = TreeRequest { path: row.path.clone(), all: false, around: None };
        let drawn = ops::tree(&request).and_then(|mut drawing| {
            let picture = tree::part(&mut drawing, &format!("/s/{key}"))?;
            Ok((picture, drawing.head.title.text))
        });
        match drawn {
            Ok((picture, title)) => {
                let body = html! { div class="tree-scroll" tabindex="0" role="region" aria-label="The tree of this session" { (picture) } };
                around(server, &key, &title, "tree", &body)
            }
            Err(failure) => response::failed(&failure),
        }
    })
    .await
}

/// Draws the page around what is shown of the branches of a session.
pub(super) fn around(server: &Server, key: &str, title: &str, here: &str, body: &Markup) -> Response {
    let title = display_title(title);
    let link = |name: &str| (name == here).then_some("page");
    let drawn = html! {
        main id="main" class="act-page act-wide" data-reload="" {
            nav class="act-nav" aria-label="This session" {
                a href={ "/s/" (key) } { "Read" }
                a href={ "/s/" (key) "/branches" } aria-current=[link("branches")] { "Branches" }
                a href={ "/s/" (key) "/tree" } aria-current=[link("tree")] { "Tree" }
            }
            h1 class="act-session" { (title) }
            (body)
        }
    };
    let framed_title = format!("{title} · {here}");
    response::found(framed(&Frame { title: &framed_title, demo: server.demo, ..Frame::default() }, &drawn))
}
