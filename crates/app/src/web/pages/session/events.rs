//! Tells a page that its session has grown.
//!
//! The file is looked at a few times a second while somebody reads it: that costs nothing to speak of, and works on
//! every file system.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use crate::web::response;
use crate::web::server::Server;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How many looks without news until a word is sent to hear whether anybody still listens.
const QUIET: u32 = 50;

type Piece = Result<Bytes, std::convert::Infallible>;

/// What the page holds already.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct ClientState {
    bytes: Option<u64>,
}

/// Answers with events for as long as the page is open.
pub(crate) async fn events(
    State(server): State<Arc<Server>>,
    Path(key): Path<String>,
    Query(heard): Query<ClientState>,
) -> Response {
    let found = tokio::task::spawn_blocking(move || server.find(&key)).await;
    let Some(row) = found.ok().flatten() else {
        return response::missing("no session has this address any more");
    };
    let (sender, receiver) = channel::<Piece>(4);
    tokio::spawn(watch(row.path, heard.bytes, sender));
    let mut response = response::typed(
        StatusCode::OK,
        "text/event-stream",
        Body::from_stream(ReceiverStream::new(receiver)),
    );
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn watch(path: PathBuf, heard: Option<u64>, sender: Sender<Piece>) {
    let mut before = seen(&path).await;
    // What was written after the page was drawn and before it listened is news, too.
    if heard.is_some() && heard != before.map(|(bytes, _)| bytes) {
        before = None;
    }
    let mut quiet = 0;
    let mut word = "retry: 1000\n\n".to_owned();
    loop {
        if !word.is_empty() && sender.send(Ok(Bytes::from(std::mem::take(&mut word)))).await.is_err() {
            return;
        }
        tokio::select! {
            () = sender.closed() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = seen(&path).await;
        quiet += 1;
        if now != before {
            word = format!("event: grown\ndata: {}\n\n", now.map_or(0, |(bytes, _)| bytes));
            (before, quiet) = (now, 0);
        } else if quiet >= QUIET {
            (word, quiet) = (": still here\n\n".to_owned(), 0);
        }
    }
}

async fn seen(path: &std::path::Path) -> Option<(u64, SystemTime)> {
    let path = path.to_owned();
    let meta = tokio::task::spawn_blocking(move || std::fs::metadata(path).ok()).await.ok().flatten()?;
    Some((meta.len(), meta.modified().ok()?))
}
