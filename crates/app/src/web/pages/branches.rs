//! The branches of a session as a list and as a drawing.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops;
use rethread_engine::ops::explain::{ClientSelector, ExplainRequest};
use rethread_engine::ops::tree::TreeRequest;

use crate::html::frame::render_page;
use crate::html::resume_banner::render_warning;
use crate::html::{branches, tree};
use crate::text::session::display_title;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Responds with the list of branches, and a warning if a resume would lose entries.
pub(crate) async fn page(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| {
        let list = server.sessions.current(&server.context);
        let Some(row) = list.find(&key) else { return response::not_found("there is no such session") };
        let explain = ExplainRequest { path: row.path.clone(), client: ClientSelector::Newest };
        let result = ops::branches::list_branches(&row.path)
            .and_then(|branch_list| Ok((branch_list, ops::explain::explain_resume(&explain)?)));
        let (branch_list, explanation) = match result {
            Ok(lists) => lists,
            Err(error) => return response::error(&error),
        };
        let verdict = explanation.verdicts.first();
        let body = html! {
            @if let Some(warning) = verdict.and_then(|verdict| render_warning(&server.site().session(&key), verdict, &explanation.session)) { (warning) }
            @if branch_list.rows.is_empty() { p { "This session has no messages." } }
            @else { (branches::render_branch_list(&server.site().session(&key), &branch_list, &server.clock())) }
        };
        respond_with_subpage(server, &key, &branch_list.header.title.text, "branches", &body)
    })
    .await
}

/// Responds with the tree of the session as an SVG drawing.
pub(crate) async fn tree_page(State(server): State<Arc<Server>>, Path(key): Path<String>) -> Response {
    run_blocking(server, move |server| {
        let list = server.sessions.current(&server.context);
        let Some(row) = list.find(&key) else { return response::not_found("there is no such session") };
        let request = TreeRequest { path: row.path.clone(), all: false, around: None };
        let rendered = ops::tree::outline_tree(&request).and_then(|mut drawing| {
            let image = tree::render_fragment(&mut drawing, &server.site().session(&key))?;
            Ok((image, drawing.header.title.text))
        });
        match rendered {
            Ok((image, title)) => {
                let body = html! { div class="tree-scroll" tabindex="0" role="region" aria-label="The tree of this session" { (image) } };
                respond_with_subpage(server, &key, &title, "tree", &body)
            }
            Err(error) => response::error(&error),
        }
    })
    .await
}

/// Responds with a page about a session: links to its other pages, its title, and `body`. `section` is the name of
/// this page: `branches`, `tree`, `diff` or `diagnostics`.
pub(super) fn respond_with_subpage(
    server: &Server,
    key: &str,
    title: &str,
    section: &str,
    body: &Markup,
) -> Response {
    let title = display_title(title);
    let base = server.site().session(key);
    let aria_current = |name: &str| (name == section).then_some("page");
    let body = html! {
        main id="main" class="action-page action-wide" data-reload="" {
            nav class="action-nav" aria-label="This session" {
                a href=(base) { "Read" }
                a href={ (base) "/branches" } aria-current=[aria_current("branches")] { "Branches" }
                a href={ (base) "/tree" } aria-current=[aria_current("tree")] { "Tree" }
                a href={ (base) "/doctor" } aria-current=[aria_current("diagnostics")] { "Diagnostics" }
            }
            h1 class="action-session" { (title) }
            (body)
        }
    };
    let page_title = format!("{title} · {section}");
    response::ok(render_page(&server.frame(&page_title), &body))
}
