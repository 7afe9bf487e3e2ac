//! Answers of actions: a piece for the dialog of the script, or a whole page.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::Error;

use crate::html::frame::{Frame, page};
use crate::text::error::{error_message, hint};
use crate::web::response;

/// How to answer.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// Whether the script asks, which shows a piece of a page in its dialog.
    piece: bool,
    demo: bool,
    /// Where to go back to.
    pub(super) back: String,
}

impl Reply {
    /// Reads from a request how to answer it.
    pub(super) fn new(headers: &HeaderMap, demo: bool, back: String) -> Reply {
        let piece = headers.get("x-rethread").is_some_and(|value| value.as_bytes() == b"piece");
        Reply { piece, demo, back }
    }

    /// Answers with what was asked for.
    pub(super) fn found(&self, title: &str, drawn: Markup) -> Response {
        self.with(StatusCode::OK, title, drawn)
    }

    /// Answers with what could not be done, and what to do about it.
    pub(super) fn failed(&self, failure: &Error) -> Response {
        let hint = match failure {
            // Others may write in spite of a live session; from a page nobody does.
            Error::Live { .. } => {
                "close it in the client first; a fork can be made meanwhile, it leaves the session alone"
                    .to_owned()
            }
            failure => hint(failure),
        };
        self.trouble(response::status(failure), &error_message(failure), &hint)
    }

    /// Answers to a form that none of our pages made.
    pub(super) fn unsealed(&self) -> Response {
        let hint = "nothing was changed; load the page again and repeat it";
        self.trouble(StatusCode::FORBIDDEN, "this form was not made by a page of this server", hint)
    }

    /// Answers that there is no such thing.
    pub(super) fn missing(&self, what: &str) -> Response {
        self.trouble(StatusCode::NOT_FOUND, what, "the list of sessions shows what there is")
    }

    fn trouble(&self, status: StatusCode, what: &str, hint: &str) -> Response {
        let drawn = html! {
            section class="act" {
                h2 class="act-title" { "That did not work" }
                p class="act-warning" role="alert" { (what) }
                @if !hint.is_empty() { p class="quiet" { (hint) } }
                p class="act-buttons" { a class="button" href=(self.back) data-do="leave" { "Close" } }
            }
        };
        self.with(status, "That did not work", drawn)
    }

    fn with(&self, status: StatusCode, title: &str, drawn: Markup) -> Response {
        if self.piece {
            return response::markup(status, drawn);
        }
        let body = html! { main id="main" class="act-page" { h1 class="unseen" { (title) } (drawn) } };
        let frame = Frame { title, demo: self.demo, ..Frame::default() };
        response::markup(status, page(&frame, &body))
    }
}
