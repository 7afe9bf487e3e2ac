//! The state of the server.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::list::SessionRow;

use super::auth::Auth;
use super::index_update::IndexUpdate;
use super::pages::figures::FigureCache;
use super::response;
use super::search::SearchCache;
use super::search_queue::SearchQueue;
use super::session_list::SessionListCache;
use super::snapshot_cache::SnapshotCache;
use super::view_cache::SessionViewCache;
use crate::context::AppContext;
use crate::html::frame::Frame;
use crate::html::link::Site;
use crate::text::time::Clock;

/// The state that all requests share.
pub(crate) struct Server {
    /// Roots, clock, writer and cache.
    pub(crate) context: AppContext,
    /// The price table.
    pub(crate) prices: PriceTable,
    /// Checks the key of requests.
    pub(crate) auth: Auth,
    /// The list of sessions.
    pub(crate) sessions: SessionListCache,
    /// The open sessions.
    pub(crate) views: SessionViewCache,
    /// The queue of searches.
    pub(crate) queue: Arc<SearchQueue>,
    /// Held by a search without a time limit: one at a time, so that a permit remains for search-as-you-type.
    pub(crate) unlimited_search: tokio::sync::Mutex<()>,
    /// The search snapshot.
    pub(crate) snapshots: SnapshotCache,
    /// The rendered charts of the home page.
    pub(crate) figures: FigureCache,
    /// Recent search results.
    pub(crate) searches: SearchCache,
    /// The update of the index that runs in the background.
    pub(crate) indexing: IndexUpdate,
    /// Limits the number of exports, so that threads remain for pages.
    pub(crate) exports: Arc<tokio::sync::Semaphore>,
    /// Held by an SQL query: one at a time, because each may use much memory.
    pub(crate) queries: tokio::sync::Mutex<()>,
    /// Whether the sessions are demo data.
    pub(crate) demo: bool,
    /// The theme of the pages, `light` or `dark`. `None` is that of the system.
    pub(crate) theme: Option<&'static str>,
    /// The theme of exported pages.
    pub(crate) export_theme: Option<&'static str>,
}

impl Server {
    /// Finds a session by the key of its address. The row may be out of date, but its file exists; an unknown key is
    /// searched in a current list. Returns `None` if no session has this key.
    pub(crate) fn find(&self, key: &str) -> Option<SessionRow> {
        let last = self.sessions.last().and_then(|list| list.find(key).cloned());
        last.filter(|row| row.path.exists() != row.archived)
            .or_else(|| self.sessions.current(&self.context).find(key).cloned())
    }

    /// Returns the addresses of the pages.
    pub(crate) fn site(&self) -> &Site {
        self.auth.site()
    }

    /// Returns the frame of a page with this title that belongs to no section.
    pub(crate) fn frame<'a>(&'a self, title: &'a str) -> Frame<'a> {
        Frame { site: self.site(), title, section: "", demo: self.demo, theme: self.theme }
    }

    /// Drops the cached session list, search snapshot and search results after a change.
    pub(crate) fn invalidate(&self) {
        self.sessions.invalidate();
        self.snapshots.invalidate();
        self.searches.invalidate();
    }

    /// Returns a clock with the current time: a server may run for days.
    pub(crate) fn clock(&self) -> Clock {
        self.context.clock.refresh()
    }
}

/// Runs `respond` on a thread that may block on the disk. Responds with status 500 if it panics.
pub(crate) async fn run_blocking(
    server: Arc<Server>,
    respond: impl FnOnce(&Server) -> Response + Send + 'static,
) -> Response {
    let response = tokio::task::spawn_blocking(move || respond(&server)).await;
    response.unwrap_or_else(|_| {
        response::build(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "rethread: stopped\n")
    })
}
