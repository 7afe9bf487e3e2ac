//! The cached search snapshot: checking the fingerprints of all files takes longer than a search, and search-as-you-type
//! sends several queries a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rethread_engine::ops;
use rethread_engine::ops::search::SearchSnapshot;

use super::cached::Cached;
use super::server::Server;
use super::single_flight::SingleFlight;

/// The maximum age of a snapshot, and of cached results.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(2);
/// The maximum age of a snapshot for search-as-you-type. If it is older than `MAX_AGE`, a new one is taken in the
/// background for the next letter.
const MAX_AGE_WHILE_TYPING: Duration = Duration::from_secs(30);

/// The last search snapshot, and whether a new one is being taken.
#[derive(Debug, Default)]
pub(crate) struct SnapshotCache {
    snapshot: Cached<SearchSnapshot>,
    refreshing: SingleFlight,
}

impl SnapshotCache {
    /// Drops the snapshot after a change, or because the index is damaged.
    pub(crate) fn invalidate(&self) {
        self.snapshot.invalidate();
    }
}

/// Returns the cached snapshot, or takes a new one if the cached one is too old. Returns `None` if there is no usable
/// index. If `is_typing` is set, an older snapshot is returned and a new one is taken in the background.
pub(crate) fn get_recent_snapshot(server: &Arc<Server>, is_typing: bool) -> Option<Arc<SearchSnapshot>> {
    let max_age = if is_typing { MAX_AGE_WHILE_TYPING } else { MAX_AGE };
    match server.snapshots.snapshot.get_younger_than(max_age) {
        Some((age, snapshot)) => {
            if age >= MAX_AGE {
                refresh_in_background(server);
            }
            Some(snapshot)
        }
        None => refresh(server),
    }
}

/// Takes a new snapshot on another thread if the last one is older than [`MAX_AGE`] and none is being taken.
pub(crate) fn refresh_in_background(server: &Arc<Server>) {
    let is_needed =
        server.context.cache.is_some() && server.snapshots.snapshot.get_younger_than(MAX_AGE).is_none();
    let guard = is_needed.then(|| server.snapshots.refreshing.begin()).flatten();
    if let Some(guard) = guard {
        let server = server.clone();
        tokio::task::spawn_blocking(move || {
            refresh(&server);
            drop(guard);
        });
    }
}

/// Takes a new snapshot and caches it. Returns `None` if there is no usable index.
pub(crate) fn refresh(server: &Server) -> Option<Arc<SearchSnapshot>> {
    let began = Instant::now();
    let snapshot =
        Arc::new(ops::search::open_snapshot(&server.context.roots, server.context.cache.as_ref())?);
    server.snapshots.snapshot.store(began, &snapshot);
    Some(snapshot)
}
