//! Answers: pages, pieces of pages, and what went wrong.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;

use crate::html::frame::{Frame, page};
use crate::text::error::{error_message, hint};

/// Answers with markup: a page or a piece of one.
pub(crate) fn markup(status: StatusCode, markup: Markup) -> Response {
    typed(status, "text/html; charset=utf-8", markup.into_string())
}

/// Answers with markup that was asked for and found.
pub(crate) fn found(drawn: Markup) -> Response {
    markup(StatusCode::OK, drawn)
}

/// Answers with bytes of a type.
pub(crate) fn typed(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Answers that there is no such page.
pub(crate) fn missing(what: &str) -> Response {
    trouble(StatusCode::NOT_FOUND, "Not found", what, "the list of sessions shows what there is")
}

/// Answers that somebody may not come in.
pub(crate) fn refused(why: &str) -> Response {
    typed(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", format!("rethread: {why}\n"))
}

/// Answers with what could not be done.
pub(crate) fn failed(failure: &Error) -> Response {
    trouble(status(failure), "That did not work", &error_message(failure), &hint(failure))
}

/// Returns the status of what could not be done.
pub(crate) fn status(failure: &Error) -> StatusCode {
    match failure {
        Error::UnknownSession { .. } | Error::UnknownEntry { .. } => StatusCode::NOT_FOUND,
        Error::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            StatusCode::NOT_FOUND
        }
        Error::Busy { .. } | Error::Stale { .. } | Error::Live { .. } | Error::ChangedSinceOp { .. } => {
            StatusCode::CONFLICT
        }
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

fn trouble(status: StatusCode, title: &str, what: &str, hint: &str) -> Response {
    let body = html! {
        main class="trouble" id="main" {
            h1 { (title) }
            p { (what) }
            @if !hint.is_empty() { p class="quiet" { (hint) } }
            p { a href="/" { "Home" } }
        }
    };
    markup(status, page(&Frame { title, ..Frame::default() }, &body))
}
