//! The page of a session: what it is, which way is read, and its leaves; the first stand in the page, the others are
//! fetched when they come near.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use rethread_engine::Error;
use rethread_engine::ops::{BranchSelector, BranchView, SessionRow};
use tokio_stream::wrappers::ReceiverStream;

use super::chunk::drawn;
use super::{Wanted, open};
use crate::html::frame::{Frame, foot, head};
use crate::html::session::{self, Head};
use crate::text::session::display_title;
use crate::web::response;
use crate::web::server::{Server, work};
use crate::web::view_cache::CachedView;

/// Leaves that stand in the page from the beginning.
const FIRST: usize = 3;

/// What a page is about.
pub(super) struct PageInfo<'a> {
    /// Its title.
    pub(super) title: &'a str,
    /// The address of the session or subagent.
    pub(super) base: &'a str,
    /// The key of the session that a subagent belongs to.
    pub(super) main: Option<&'a str>,
    /// What the list knows of the session.
    pub(super) row: Option<&'a SessionRow>,
    /// Whether its turns can be gone on from.
    pub(super) acts: bool,
}

/// Answers with the page of a session, whose head is sent before the session is read; or with what stands above its turns,
/// where only a piece is asked for.
pub(crate) async fn page(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Response {
    let (shelf, wished) = (server.clone(), key.clone());
    let found = tokio::task::spawn_blocking(move || shelf.shelf.find(&shelf.place, &wished)).await;
    let Some(row) = found.ok().flatten() else {
        return response::missing("no session has this address any more");
    };
    if headers.contains_key("x-rethread") {
        return work(server, move |server| {
            let (title, base) = (display_title(&row.title.text), format!("/s/{key}"));
            let sheet = PageInfo { title: &title, base: &base, main: None, row: Some(&row), acts: true };
            let open = server.readings.open(&row.path, &server.prices);
            let top =
                open.and_then(|open| headed(server, &open, &sheet, &wanted, |head| Ok(session::top(head))));
            top.map_or_else(|failure| response::failed(&failure), response::found)
        })
        .await;
    }
    // An entry that is not there is told by the status: that needs the session.
    if wanted.tip.is_some() {
        let known = server.clone();
        let (wished, tip) = (key.clone(), wanted.which());
        let checked = tokio::task::spawn_blocking(move || match open(&known, &wished) {
            Ok((_, open)) => open.way(&tip).err().map(|failure| response::failed(&failure)),
            Err(response) => Some(*response),
        });
        if let Ok(Some(response)) = checked.await {
            return response;
        }
    }
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, Infallible>>(4);
    tokio::task::spawn_blocking(move || {
        let send = |markup: Markup| sender.blocking_send(Ok(Bytes::from(markup.into_string()))).is_ok();
        let title = display_title(&row.title.text);
        let frame = Frame { title: &title, demo: server.demo, ..Frame::default() };
        if !send(head(&frame)) {
            return;
        }
        let base = format!("/s/{key}");
        let body = match server.readings.open(&row.path, &server.prices) {
            Ok(open) => {
                let sheet = PageInfo { title: &title, base: &base, main: None, row: Some(&row), acts: true };
                body(&server, &open, &sheet, &wanted)
            }
            Err(failure) => Err(failure),
        };
        let drawn = body.unwrap_or_else(|failure| session::trouble(&failure));
        send(html! { (drawn) (foot()) });
    });
    response::typed(
        StatusCode::OK,
        "text/html; charset=utf-8",
        Body::from_stream(ReceiverStream::new(receiver)),
    )
}

/// Answers with a whole page at once.
pub(super) fn whole(
    server: &Server,
    open: &CachedView,
    sheet: &PageInfo<'_>,
    wanted: &Wanted,
) -> Result<Response, Error> {
    let frame = Frame { title: sheet.title, demo: server.demo, ..Frame::default() };
    let body = body(server, open, sheet, wanted)?;
    Ok(response::found(html! { (head(&frame)) (body) (foot()) }))
}

/// Gathers what stands around the turns and has it drawn.
fn headed(
    server: &Server,
    open: &CachedView,
    sheet: &PageInfo<'_>,
    wanted: &Wanted,
    draw: impl FnOnce(&Head<'_>) -> Result<Markup, Error>,
) -> Result<Markup, Error> {
    let which = wanted.which();
    let way = open.way(&which)?;
    let look = server.shelf.last();
    let session = &open.reading.session;
    draw(&Head {
        reading: &open.reading,
        way: &way,
        title: sheet.title,
        base: sheet.base,
        query: wanted.query(),
        key: sheet.main.unwrap_or_else(|| sheet.base.trim_start_matches("/s/")),
        main: sheet.main,
        row: sheet.row,
        everything: which == BranchSelector::Everything,
        side: matches!(which, BranchSelector::Side(_)),
        resume: server.place.resume_command(&session.id, session.sketch.cwd.as_deref().unwrap_or_default()),
        other_way: which != BranchSelector::Active,
        clock: &server.clock(),
        tilde: &|path| server.place.tilde(path),
        title_of: &|id| look.as_ref()?.find(id).map(|row| display_title(&row.title.text)),
    })
}

fn body(server: &Server, open: &CachedView, sheet: &PageInfo<'_>, wanted: &Wanted) -> Result<Markup, Error> {
    headed(server, open, sheet, wanted, |head| {
        let way = head.way;
        Ok(html! {
        (session::top(head))
        main id="main" class="session" data-base=(sheet.base) data-query=(wanted.query()) data-seal=(server.gate.csrf_token()) data-bytes=(open.reading.session.bytes)
            data-before=(way.before(way.leaves().saturating_sub(1))) data-key=[sheet.acts.then(|| sheet.base.trim_start_matches("/s/"))] {
            (leaves(open, way, sheet.base, wanted, sheet.acts)?)
            @if way.stops.is_empty() { p class="quiet empty" { "Nothing was said." } }
        }
        // It is filled when the text is there.
        nav class="map no-print" id="map" aria-label="Map of the session" hidden {}
        (session::tools(sheet.acts))
        })
    })
}

/// Draws the leaves of a session inside another page.
pub(super) fn inside(open: &CachedView, base: &str, wanted: &Wanted, acts: bool) -> Result<Markup, Error> {
    let way = open.way(&wanted.which())?;
    Ok(html! {
        div data-base=(base) data-query=(wanted.query()) { (leaves(open, &way, base, wanted, acts)?) }
    })
}

fn leaves(
    open: &CachedView,
    way: &BranchView,
    base: &str,
    wanted: &Wanted,
    acts: bool,
) -> Result<Markup, Error> {
    let query = wanted.query();
    let mut drawn_leaves = Vec::new();
    for no in 0..way.leaves().min(FIRST) {
        drawn_leaves.push(drawn(open, base, wanted, no, acts)?);
    }
    Ok(html! {
        @for (no, weight) in way.weights().enumerate() {
            @match drawn_leaves.get(no) {
                Some(bytes) => {
                    section class="leaf" data-leaf=(no) { (PreEscaped(String::from_utf8_lossy(bytes))) }
                }
                None => {
                    section class={ "leaf leaf-later leaf-" (size_class(weight)) } data-leaf=(no) data-later {
                        @for stop in way.stops_on(no) {
                            @if let Some(turn) = stop.no { span class="spot" id={ "t" (turn) } {} }
                        }
                        a class="quiet" href={ (base) "/leaf" (query) "no=" (no) } { "more" }
                    }
                }
            }
        }
    })
}

/// About how high a leaf will be: classes, because nothing inline may style.
fn size_class(entries: usize) -> usize {
    entries.div_ceil(10).clamp(1, 6)
}
