//! What the server keeps while it runs.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::SessionRow;

use super::auth::Auth;
use super::pages::figures::FigureCache;
use super::response;
use super::search::SearchCache;
use super::search_queue::Queue;
use super::session_list::SessionListCache;
use super::single_flight::SingleFlight;
use super::snapshot_cache::SnapshotCache;
use super::view_cache::SessionViewCache;
use crate::context::AppContext;
use crate::text::time::Clock;

/// The server.
pub(crate) struct Server {
    /// Where sessions are, and what changes them.
    pub(crate) place: AppContext,
    /// What responses cost.
    pub(crate) prices: Prices,
    /// Who may come in.
    pub(crate) gate: Auth,
    /// Which sessions there are.
    pub(crate) shelf: SessionListCache,
    /// The sessions that are being read.
    pub(crate) readings: SessionViewCache,
    /// Who searches.
    pub(crate) queue: Arc<Queue>,
    /// Who searches for as long as it takes: one at a time, so that there is always a turn for those who type.
    pub(crate) patient: tokio::sync::Mutex<()>,
    /// What the last search has looked through.
    pub(crate) stacks: SnapshotCache,
    /// The pictures of the first page.
    pub(crate) figures: FigureCache,
    /// What was found a moment ago.
    pub(crate) answers: SearchCache,
    /// Whether the index is being brought up to date.
    pub(crate) indexing: SingleFlight,
    /// Who exports: few at a time, so that there is always a thread for those who read.
    pub(crate) exports: Arc<tokio::sync::Semaphore>,
    /// Whether the sessions are invented.
    pub(crate) demo: bool,
}

impl Server {
    /// Finds a session by the key of its address; what was seen before is good enough for that.
    pub(crate) fn find(&self, key: &str) -> Option<SessionRow> {
        let known = self.shelf.last().and_then(|look| look.find(key).cloned());
        known.filter(|row| row.path.exists()).or_else(|| self.shelf.look(&self.place).find(key).cloned())
    }

    /// Forgets what was seen and found: something was changed.
    pub(crate) fn forget(&self) {
        self.shelf.forget();
        self.stacks.forget();
        self.answers.forget();
    }

    /// Looks at the clock: a server runs for days, and the present of its start is not that of an answer.
    pub(crate) fn clock(&self) -> Clock {
        self.place.clock.again()
    }
}

/// Does the work of an answer on a thread that may wait for the disk.
pub(crate) async fn work(
    server: Arc<Server>,
    draw: impl FnOnce(&Server) -> Response + Send + 'static,
) -> Response {
    let done = tokio::task::spawn_blocking(move || draw(&server)).await;
    done.unwrap_or_else(|_| {
        response::typed(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "rethread: stopped\n")
    })
}
