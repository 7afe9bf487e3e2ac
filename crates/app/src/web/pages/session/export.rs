//! A session to take along, as a file that the browser keeps.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use clap::ValueEnum;

use super::{Wanted, open};
use crate::export::{Around, Detail, Format, Order, Trouble, file_name, write};
use crate::web::answer;
use crate::web::server::{Server, work};

/// In which form, and how much of it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ExportWanted {
    format: Option<String>,
    detail: Option<String>,
}

/// Answers with a session as a file.
pub(crate) async fn export(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(wanted): Query<ExportWanted>,
    Query(on): Query<Wanted>,
) -> Response {
    let Ok(format) = wanted.format.as_deref().map_or(Ok(Format::Html), |name| Format::from_str(name, true))
    else {
        return answer::missing("a session is exported as html, md, json or text");
    };
    let Ok(detail) =
        wanted.detail.as_deref().map_or(Ok(format.detail()), |name| Detail::from_str(name, true))
    else {
        return answer::missing("an export tells prompts, answers, tools or everything");
    };
    work(server, move |server| {
        let (row, open) = match open(server, &key) {
            Ok(found) => found,
            Err(response) => return *response,
        };
        let order = Order { format, detail, which: on.which() };
        let around = Around { prices: &server.prices, tilde: &|path| server.place.tilde(path) };
        let mut bytes = Vec::new();
        match write(&open.reading, &order, &around, &mut bytes) {
            Ok(()) => kept(bytes, format, &file_name(&row.title.text, &row.id, format)),
            Err(Trouble::Failure(failure)) => answer::failed(&failure),
            Err(Trouble::Io(_)) => answer::missing("the session could not be exported"),
        }
    })
    .await
}

/// Answers with bytes that the browser keeps under a name, which holds only letters, digits, dashes and a dot.
fn kept(bytes: Vec<u8>, format: Format, name: &str) -> Response {
    let mut response = answer::typed(StatusCode::OK, format.media_type(), bytes);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}
