//! A session to take along, as a file that the browser keeps.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use clap::ValueEnum;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::{Wanted, open};
use crate::export::{Detail, ExportContext, ExportError, ExportOptions, Format, file_name, write};
use crate::text::error::error_message;
use crate::web::response;
use crate::web::server::Server;

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
        return response::missing("a session is exported as html, md, json or text");
    };
    let Ok(detail) =
        wanted.detail.as_deref().map_or(Ok(format.detail()), |name| Detail::from_str(name, true))
    else {
        return response::missing("an export tells prompts, answers, tools or everything");
    };
    let order = ExportOptions { format, detail, which: on.which() };
    let Ok(permit) = server.exports.clone().acquire_owned().await else {
        return response::missing("the session could not be exported");
    };
    let (sender, mut pieces) = channel::<Piece>(4);
    let runtime = Handle::current();
    let whole = Arc::new(AtomicBool::new(false));
    let wholly = whole.clone();
    let (name, named) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let (row, open) = match open(&server, &key) {
            Ok(found) => found,
            // Whoever has gone need not be told.
            Err(response) => return drop(name.send(Err(response))),
        };
        let _ = name.send(Ok(file_name(&row.title.text, &row.id, format)));
        let around = ExportContext { prices: &server.prices, tilde: &|path| server.place.tilde(path) };
        let mut out = io::BufWriter::with_capacity(PIECE, Sending { to: Some(sender.clone()), runtime });
        let written = write(&open.reading, &order, &around, &mut out);
        let flushed = out.flush();
        let failed = match written {
            Err(ExportError::Failure(failure)) => error_message(&failure),
            Err(ExportError::Io(error)) => error.to_string(),
            Ok(()) => flushed.err().map(|error| error.to_string()).unwrap_or_default(),
        };
        wholly.store(failed.is_empty(), Ordering::Release);
        if !failed.is_empty() {
            // Where something was sent before, there may be no room for it.
            let _ = sender.try_send(Err(io::Error::other(failed)));
        }
        drop(permit);
    });
    let name = match named.await {
        Ok(Ok(name)) => name,
        Ok(Err(response)) => return *response,
        Err(_) => return response::missing("the session could not be exported"),
    };
    match pieces.recv().await {
        Some(Ok(first)) => {
            // What was given up breaks the transfer off, so that nobody takes it for whole.
            let is_cut = move || (!whole.load(Ordering::Acquire)).then(|| Err(io::Error::other("given up")));
            let end = tokio_stream::iter(std::iter::once_with(is_cut).flatten());
            let pieces = tokio_stream::once(Ok(first)).chain(ReceiverStream::new(pieces)).chain(end);
            kept(Body::from_stream(pieces), format, &name)
        }
        Some(Err(error)) => response::missing(&format!("the session could not be exported: {error}")),
        None => kept(Body::empty(), format, &name),
    }
}

/// Some of a file that is being written.
type Piece = io::Result<Bytes>;

/// Bytes of a piece.
const PIECE: usize = 64 << 10;

/// How long somebody may take for a piece.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends what is written; fails when nobody takes it any more, and so ends the work.
struct Sending {
    /// Nobody, once somebody did not take a piece in time.
    to: Option<Sender<Piece>>,
    runtime: Handle,
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let to = self.to.take().ok_or_else(gone)?;
        let sent = self.runtime.block_on(to.send_timeout(Ok(Bytes::copy_from_slice(bytes)), PATIENCE));
        sent.map_err(|_| gone())?;
        self.to = Some(to);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Answers with a file that the browser keeps under a name, which holds only letters, digits, dashes and a dot.
fn kept(body: Body, format: Format, name: &str) -> Response {
    let mut response = response::typed(StatusCode::OK, format.media_type(), body);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}
