//! The first page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::html;

use crate::html::frame::{Frame, page as framed};
use crate::web::answer;
use crate::web::server::{Server, work};
use crate::words::clean;

/// Answers with the first page.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Response {
    work(server, |server| {
        let look = server.shelf.look(&server.place);
        let body = html! {
            main id="main" {
                h1 { "Sessions" }
                ul { @for (key, row) in look.rows().take(20) { li { a href={ "/s/" (key) } { (clean::line(&row.title.text)) } } } }
            }
        };
        answer::found(framed(&Frame { title: "rethread", demo: server.demo, ..Frame::default() }, &body))
    })
    .await
}
