//! Updates the search index in the background: when the server starts, and when a search finds it stale.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rethread_engine::{Progress, ops};

use super::server::Server;
use super::single_flight::SingleFlight;
use super::snapshot_cache;

/// Whether the index is being updated, and how far.
#[derive(Debug, Default)]
pub(crate) struct IndexUpdate {
    running: SingleFlight,
    done: AtomicU64,
    total: AtomicU64,
}

/// The progress of an update of the index, in bytes of session files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexProgress {
    /// The number of indexed bytes.
    pub(crate) done: u64,
    /// The number of bytes to index.
    pub(crate) total: u64,
}

impl IndexUpdate {
    /// Returns the progress of the running update. Returns `None` if none runs, or it has nothing to read yet.
    pub(crate) fn progress(&self) -> Option<IndexProgress> {
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        (self.running.is_running() && total > 0).then_some(IndexProgress { done, total })
    }

    fn set_progress(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
}

/// Updates the index in the background, unless an update already runs. Does nothing without a cache.
pub(crate) fn update_in_background(server: &Arc<Server>) {
    if server.context.cache.is_none() {
        return;
    }
    let Some(guard) = server.indexing.running.begin() else { return };
    server.indexing.set_progress(0, 0);
    let server = server.clone();
    tokio::task::spawn_blocking(move || {
        update(&server);
        snapshot_cache::refresh(&server);
        drop(guard);
    });
}

/// Updates the index. If that fails, searches read the files.
fn update(server: &Server) {
    let Some(cache) = server.context.cache.as_ref() else { return };
    let on_progress = |progress: Progress| server.indexing.set_progress(progress.done, progress.total);
    // The engine indexes on half of the cores, so that pages can be served meanwhile.
    let _ = ops::index::refresh_index(&server.context.roots, cache, false, &on_progress);
}

#[cfg(test)]
mod tests {
    use super::{IndexProgress, IndexUpdate};

    #[test]
    fn progress_is_reported_only_while_an_update_reads_files() {
        let update = IndexUpdate::default();
        update.set_progress(3, 10);
        assert_eq!(update.progress(), None);
        let guard = update.running.begin();
        assert_eq!(update.progress(), Some(IndexProgress { done: 3, total: 10 }));
        update.set_progress(12, 10);
        assert_eq!(update.progress(), Some(IndexProgress { done: 10, total: 10 }));
        update.set_progress(0, 0);
        assert_eq!(update.progress(), None, "nothing must be read");
        update.set_progress(3, 10);
        drop(guard);
        assert_eq!(update.progress(), None);
    }
}
