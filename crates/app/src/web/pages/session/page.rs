//! The page of a session. The first chunks are part of the page, the others are loaded on demand.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::ops::list::SessionRow;
use tokio_stream::wrappers::ReceiverStream;

use super::session_page::SessionPage;
use super::{BranchParams, FRAGMENT_HEADER, open_session, session_not_found};
use crate::html::frame::{render_end, render_start};
use crate::html::session::{SessionHeader, render_controls, render_error, render_header};
use crate::text::session::display_title;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// Values that the header of a page shows in addition to the loaded session.
pub(super) struct PageInfo<'a> {
    /// The title of the session or subagent.
    pub(super) title: &'a str,
    /// The key of the session that a subagent belongs to. `None` for a session.
    pub(super) parent_key: Option<&'a str>,
    /// The row of the session in the list of all sessions. `None` for a subagent.
    pub(super) row: Option<&'a SessionRow>,
}

/// Responds with the page of a session, or with its header if the script requests a fragment. The head of the page is sent
/// before the session is loaded.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(params): Query<BranchParams>,
    headers: HeaderMap,
) -> Response {
    let (finder, wanted_key) = (server.clone(), key.clone());
    let row = tokio::task::spawn_blocking(move || finder.sessions.find(&finder.context, &wanted_key)).await;
    let Some(row) = row.ok().flatten() else { return session_not_found() };
    if headers.contains_key(FRAGMENT_HEADER) {
        return run_blocking(server, move |server| {
            let header = render_session(server, &row, &key, &params, |server, page, info| {
                with_header(server, page, info, |header| Ok(render_header(header)))
            });
            header.map_or_else(|error| response::error(&error), response::ok)
        })
        .await;
    }
    // The status reports an unknown entry, so the session must be loaded before the head is sent.
    if params.tip.is_some() {
        let (opener, wanted_key, selector) = (server.clone(), key.clone(), params.selector());
        let check = tokio::task::spawn_blocking(move || match open_session(&opener, &wanted_key) {
            Ok((_, view)) => view.branch(&selector).err().map(|error| response::error(&error)),
            Err(response) => Some(*response),
        });
        if let Ok(Some(response)) = check.await {
            return response;
        }
    }
    stream_page(server, row, key, params)
}

/// Responds with a page in two parts: its head is sent before the session is loaded. An error then appears in the
/// body.
fn stream_page(server: Arc<Server>, row: SessionRow, key: String, params: BranchParams) -> Response {
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, Infallible>>(4);
    tokio::task::spawn_blocking(move || {
        let send = |markup: Markup| sender.blocking_send(Ok(Bytes::from(markup.into_string()))).is_ok();
        let title = display_title(&row.title.text);
        if !send(render_start(&server.frame(&title))) {
            return;
        }
        let body = render_session(&server, &row, &key, &params, render_body);
        let body = body.unwrap_or_else(|error| render_error(&error));
        send(html! { (body) (render_end()) });
    });
    response::build(
        StatusCode::OK,
        "text/html; charset=utf-8",
        Body::from_stream(ReceiverStream::new(receiver)),
    )
}

/// Opens a session and calls `render` with its page. `key` is the key of its address.
fn render_session(
    server: &Server,
    row: &SessionRow,
    key: &str,
    params: &BranchParams,
    render: impl FnOnce(&Server, &SessionPage<'_>, &PageInfo<'_>) -> Result<Markup, Error>,
) -> Result<Markup, Error> {
    let view = server.views.open(&row.path, &server.prices)?;
    let page = SessionPage {
        view: &view,
        base: &server.site().session(key),
        params,
        actions: true,
        clock: &server.clock(),
    };
    let title = display_title(&row.title.text);
    render(server, &page, &PageInfo { title: &title, parent_key: None, row: Some(row) })
}

/// Responds with a complete page. The session is already loaded.
pub(super) fn respond_with_page(
    server: &Server,
    page: &SessionPage<'_>,
    info: &PageInfo<'_>,
) -> Result<Response, Error> {
    let frame = server.frame(info.title);
    let body = render_body(server, page, info)?;
    Ok(response::ok(html! { (render_start(&frame)) (body) (render_end()) }))
}

/// Builds the data for the header of a page and calls `render` with it.
fn with_header(
    server: &Server,
    page: &SessionPage<'_>,
    info: &PageInfo<'_>,
    render: impl FnOnce(&SessionHeader<'_>) -> Result<Markup, Error>,
) -> Result<Markup, Error> {
    let selector = page.params.selector();
    let branch = page.branch()?;
    let sessions = server.sessions.last();
    let view = &page.view.view;
    let session = &view.session;
    // A subagent cannot be resumed.
    let verdict = info.parent_key.is_none().then(|| view.resume_verdict());
    render(&SessionHeader {
        view,
        branch: &branch,
        title: info.title,
        base: page.base,
        parent_key: info.parent_key,
        row: info.row,
        verdict: verdict.as_ref(),
        secrets: page.view.secrets(),
        selector: &selector,
        resume_command: server
            .context
            .resume_command(&session.id, session.info.cwd.as_deref().unwrap_or_default()),
        clock: &server.clock(),
        format_path: &|path| server.context.format_path(path),
        title_of: &|id| sessions.as_ref()?.find(id).map(|row| display_title(&row.title.text)),
        address_of: &|key| server.site().session(key),
    })
}

/// Renders the header, the chunks and the controls of a page.
fn render_body(server: &Server, page: &SessionPage<'_>, info: &PageInfo<'_>) -> Result<Markup, Error> {
    with_header(server, page, info, |header| {
        let branch = header.branch;
        let last_chunk = branch.page_count().saturating_sub(1);
        Ok(html! {
            (render_header(header))
            main id="main" class="session" data-base=(page.base) data-query=(page.params.query()) data-csrf=(server.auth.csrf_token()) data-bytes=(page.view.view.session.bytes)
                data-prefix-hash=(branch.prefix_hash(last_chunk)) data-actions=[page.actions.then_some(page.base)] {
                (page.render_chunks(branch)?)
                @if branch.turns.is_empty() { p class="muted empty" { "This session has no turns." } }
            }
            // The script loads the map after the text.
            nav class="map no-print" id="map" aria-label="Map of the session" hidden {}
            (render_controls(page.actions))
        })
    })
}
