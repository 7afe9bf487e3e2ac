//! Builds HTTP responses: pages, fragments and errors.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;

use super::server::Server;
use crate::html::frame::render_page;
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
    let hint = "see the list of sessions".to_owned();
    ErrorPage { title: "Not found", message: message.to_owned(), hint }.into_response(StatusCode::NOT_FOUND)
}

/// Builds a plain-text response with status 403.
pub(crate) fn forbidden(reason: &str) -> Response {
    build(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", format!("rethread: {reason}\n"))
}

/// Builds a page about an error of the engine, with the status that [`error_status`] returns.
pub(crate) fn error(error: &Error) -> Response {
    let page = ErrorPage { title: "Error", message: error_message(error), hint: hint(error) };
    page.into_response(error_status(error))
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

/// The content of an error page. Handlers attach it to an empty response, and [`render_error_page`] renders it.
#[derive(Debug, Clone)]
struct ErrorPage {
    title: &'static str,
    message: String,
    hint: String,
}

impl ErrorPage {
    fn into_response(self, status: StatusCode) -> Response {
        let mut response = build(status, "text/html; charset=utf-8", Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

/// Renders the error page that a handler attached to a response. Has no effect on other responses.
pub(crate) fn render_error_page(response: &mut Response, server: &Server) {
    let Some(page) = response.extensions_mut().remove::<ErrorPage>() else { return };
    let body = html! {
        main class="error-page" id="main" {
            h1 { (page.title) }
            p { (page.message) }
            @if !page.hint.is_empty() { p class="muted" { (page.hint) } }
            p { a href=(server.site().page("/")) { "Home" } }
        }
    };
    // The router has set the length of the empty body.
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(render_page(&server.frame(page.title), &body).into_string());
}
