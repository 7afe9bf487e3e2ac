//! Builds HTTP responses: pages, fragments and errors.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;

use crate::html::frame::{Frame, render_page};
use crate::text::error::{error_message, hint};

/// Builds an HTML response, which is a whole page or a fragment of one.
pub(crate) fn markup(status: StatusCode, markup: Markup) -> Response {
    build(status, "text/html; charset=utf-8", markup.into_string())
}

/// Builds an HTML response with status 200.
pub(crate) fn ok(body: Markup) -> Response {
    markup(StatusCode::OK, body)
}

/// Builds a response with a body of the given content type.
pub(crate) fn build(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Builds an error page with status 404. `message` states what does not exist.
pub(crate) fn not_found(message: &str) -> Response {
    error_page(StatusCode::NOT_FOUND, "Not found", message, "see the list of sessions")
}

/// Builds a plain-text response with status 403.
pub(crate) fn forbidden(reason: &str) -> Response {
    build(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", format!("rethread: {reason}\n"))
}

/// Builds a page about an error of the engine, with the status that [`error_status`] returns.
pub(crate) fn error(error: &Error) -> Response {
    error_page(error_status(error), "Error", &error_message(error), &hint(error))
}

/// Returns the HTTP status for an error of the engine: 404 if something does not exist, 409 for conflicts, otherwise
/// 422.
pub(crate) fn error_status(error: &Error) -> StatusCode {
    match error {
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

fn error_page(status: StatusCode, title: &str, message: &str, hint: &str) -> Response {
    let body = html! {
        main class="error-page" id="main" {
            h1 { (title) }
            p { (message) }
            @if !hint.is_empty() { p class="muted" { (hint) } }
            p { a href="/" { "Home" } }
        }
    };
    markup(status, render_page(&Frame { title, ..Frame::default() }, &body))
}
