//! Responses to actions: a fragment for the dialog of the script, or a complete page.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;

use crate::html::frame::render_page;
use crate::text::error::{error_message, hint};
use crate::web::response;
use crate::web::server::Server;

/// The heading of an error.
const ERROR_TITLE: &str = "The action failed";

/// Creates the response to one request.
#[derive(Clone)]
pub(super) struct ActionResponder<'a> {
    /// `true` if the script sent the request: its dialog shows a fragment.
    is_fragment: bool,
    server: &'a Server,
    /// The address of the close link.
    pub(super) back: String,
}

impl<'a> ActionResponder<'a> {
    /// Creates a responder for a request with these headers.
    pub(super) fn new(headers: &HeaderMap, server: &'a Server, back: String) -> ActionResponder<'a> {
        let is_fragment = headers.get("x-rethread").is_some_and(|value| value.as_bytes() == b"fragment");
        ActionResponder { is_fragment, server, back }
    }

    /// Responds with status 200 and a form, a preview or a result. `title` is used only on a whole page.
    pub(super) fn ok(&self, title: &str, content: Markup) -> Response {
        self.respond(StatusCode::OK, title, content)
    }

    /// Responds with an error of the engine and a hint.
    pub(super) fn error(&self, error: &Error) -> Response {
        let hint = match error {
            // The usual hint names an option of the command line that writes anyway. Pages do not offer it.
            Error::Live { .. } => {
                "close it in the client first, or fork the session: a fork does not change it".to_owned()
            }
            error => hint(error),
        };
        self.respond_with_error(response::error_status(error), &error_message(error), &hint)
    }

    /// Responds to a form without the CSRF token of our own pages.
    pub(super) fn invalid_token(&self) -> Response {
        let hint = "nothing was changed; reload the page and try again";
        self.respond_with_error(
            StatusCode::FORBIDDEN,
            "this form was not made by a page of this server",
            hint,
        )
    }

    /// Responds with status 404. `message` states that a session, action or operation does not exist.
    pub(super) fn not_found(&self, message: &str) -> Response {
        self.respond_with_error(StatusCode::NOT_FOUND, message, "see the list of sessions")
    }

    fn respond_with_error(&self, status: StatusCode, message: &str, hint: &str) -> Response {
        let content = html! {
            section class="action" {
                h2 class="action-title" { (ERROR_TITLE) }
                p class="action-warning" role="alert" { (message) }
                @if !hint.is_empty() { p class="muted" { (hint) } }
                p class="action-buttons" { a class="button" href=(self.back) data-command="leave" { "Close" } }
            }
        };
        self.respond(status, ERROR_TITLE, content)
    }

    fn respond(&self, status: StatusCode, title: &str, content: Markup) -> Response {
        if self.is_fragment {
            return response::markup(status, content);
        }
        let body =
            html! { main id="main" class="action-page" { h1 class="visually-hidden" { (title) } (content) } };
        response::markup(status, render_page(&self.server.frame(title), &body))
    }
}
