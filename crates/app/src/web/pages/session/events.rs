//! Notifies a page that its session has grown.
//!
//! The file is polled a few times per second while a page is open: that costs almost nothing, and works on every file
//! system.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::session_not_found;
use crate::web::response;
use crate::web::server::Server;

/// The interval between two checks of the file.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// The number of checks without a change after which a comment is sent, to detect a closed connection.
const KEEP_ALIVE_POLLS: u32 = 50;

/// Bytes of the event stream.
type EventChunk = Result<Bytes, std::convert::Infallible>;

/// The state of the page that subscribes.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ClientState {
    /// The size of the file when the page was rendered.
    bytes: Option<u64>,
}

/// Responds with a stream of server-sent events while the page is open.
pub(crate) async fn events(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(client): Query<ClientState>,
) -> Response {
    let row = tokio::task::spawn_blocking(move || server.find(&key)).await;
    let Some(row) = row.ok().flatten() else { return session_not_found() };
    let (sender, receiver) = channel::<EventChunk>(4);
    tokio::spawn(watch_file(row.path, client.bytes, sender));
    let mut response = response::build(
        StatusCode::OK,
        "text/event-stream",
        Body::from_stream(ReceiverStream::new(receiver)),
    );
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Sends an event with the new size for each change of the file, until the connection is closed. `client_bytes` is
/// the size that the page was rendered from.
async fn watch_file(path: PathBuf, client_bytes: Option<u64>, sender: Sender<EventChunk>) {
    let mut before = read_file_state(&path).await;
    // The file may have changed after the page was rendered and before it subscribed.
    if client_bytes.is_some() && client_bytes != before.map(|(bytes, _)| bytes) {
        before = None;
    }
    let mut idle_polls = 0;
    let mut event = "retry: 1000\n\n".to_owned();
    loop {
        if !event.is_empty() && sender.send(Ok(Bytes::from(std::mem::take(&mut event)))).await.is_err() {
            return;
        }
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        let now = read_file_state(&path).await;
        idle_polls += 1;
        if now != before {
            event = format!("event: grown\ndata: {}\n\n", now.map_or(0, |(bytes, _)| bytes));
            (before, idle_polls) = (now, 0);
        } else if idle_polls >= KEEP_ALIVE_POLLS {
            (event, idle_polls) = (": keep-alive\n\n".to_owned(), 0);
        }
    }
}

/// Returns the size in bytes and the modification time of a file. Returns `None` if they cannot be read.
async fn read_file_state(path: &std::path::Path) -> Option<(u64, SystemTime)> {
    let path = path.to_owned();
    let meta = tokio::task::spawn_blocking(move || std::fs::metadata(path).ok()).await.ok().flatten()?;
    Some((meta.len(), meta.modified().ok()?))
}
