//! The list of sessions, cached for a second.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionList, SessionRow};

use super::cached::{Cached, MaxAge};
use crate::context::AppContext;

/// How old the list may be.
const MAX_AGE: MaxAge = MaxAge { fresh: Duration::from_secs(1), stale: Duration::from_secs(5) };

/// The last list of all sessions that was read.
pub(crate) struct SessionListCache(Cached<CachedSessionList>);

/// All sessions at one moment, also those that pages hide.
pub(crate) struct CachedSessionList {
    /// The sessions, newest first.
    pub(crate) listing: SessionList,
    /// The time at which reading the list began.
    read_at: Instant,
    /// The index in `listing.rows` of each key, and of each plain session id.
    by_key: HashMap<String, usize>,
    /// The key of each row, in the order of `listing.rows`.
    keys: Vec<String>,
}

impl SessionListCache {
    /// Creates a cache with a list that was read just now, if there is one.
    pub(crate) fn new(listing: Option<SessionList>) -> SessionListCache {
        let list = listing.map(|listing| CachedSessionList::new(listing, Instant::now()));
        SessionListCache(list.map(Cached::with_value).unwrap_or_default())
    }

    /// Returns the list of all sessions, read again if it is older than [`MAX_AGE`].
    pub(crate) fn current(&self, context: &AppContext) -> Arc<CachedSessionList> {
        self.0.get(MAX_AGE, || CachedSessionList::read(context))
    }

    /// Returns a list that has keys for these session files: the last one of any age, or a current one if a file is
    /// not in it.
    pub(crate) fn with_keys_for<'p>(
        &self,
        context: &AppContext,
        mut files: impl Iterator<Item = &'p Path>,
    ) -> Arc<CachedSessionList> {
        let last = self.last().filter(|list| files.all(|file| list.key_of(file).is_some()));
        last.unwrap_or_else(|| self.current(context))
    }

    /// Returns the last list, of any age. Returns `None` if none was read since the start or the last invalidation.
    pub(crate) fn last(&self) -> Option<Arc<CachedSessionList>> {
        self.0.last()
    }

    /// Finds a session by the key of its address, and reads the list again if its file has changed. Returns `None` if
    /// no session has this key.
    pub(crate) fn find(&self, context: &AppContext, key: &str) -> Option<SessionRow> {
        let find_unchanged =
            |list: Arc<CachedSessionList>| list.find(key).filter(|row| !list.is_older_than(row)).cloned();
        self.last().and_then(find_unchanged).or_else(|| self.current(context).find(key).cloned())
    }

    /// Drops the list after a change.
    pub(crate) fn invalidate(&self) {
        self.0.invalidate();
    }
}

impl CachedSessionList {
    /// Reads the list of all sessions, including headless and empty ones. Files that cannot be read are in its `failures`.
    fn read(context: &AppContext) -> CachedSessionList {
        let read_at = Instant::now();
        let filter = SessionFilter { all: true, ..SessionFilter::default() };
        CachedSessionList::new(
            ops::list::list_sessions(&context.roots, &filter, context.cache.as_ref()),
            read_at,
        )
    }

    /// Assigns a key to each session.
    fn new(listing: SessionList, read_at: Instant) -> CachedSessionList {
        let mut by_key = HashMap::with_capacity(listing.rows.len());
        // A file with its session id as name has that id as key; further files with the same id get a number. Other files have a
        // key with a hash of their path. So a key keeps its meaning when another file appears.
        let rows = &listing.rows;
        let order = |idx: usize| {
            let row: &SessionRow = &rows[idx];
            let is_named = row.path.file_stem().is_some_and(|stem| stem == row.id.as_str());
            (!is_named, row.path.as_os_str())
        };
        let mut by_path: Vec<usize> = (0..rows.len()).collect();
        by_path.sort_by(|&a, &b| order(a).cmp(&order(b)));
        let mut keys = vec![String::new(); rows.len()];
        for idx in by_path {
            let id = sanitize_id(&rows[idx].id);
            let mut key =
                if order(idx).0 { format!("{id}~{}", hash_path(&rows[idx].path)) } else { id.clone() };
            for copy in 2.. {
                if !by_key.contains_key(&key) {
                    break;
                }
                key = format!("{id}~{copy}");
            }
            by_key.insert(key.clone(), idx);
            // Links from other sessions use the plain id.
            by_key.entry(id).or_insert(idx);
            keys[idx] = key;
        }
        CachedSessionList { listing, read_at, by_key, keys }
    }

    /// Returns `true` if the file of a row was modified after this list was read, was deleted, or was restored.
    fn is_older_than(&self, row: &SessionRow) -> bool {
        match std::fs::metadata(&row.path).and_then(|meta| meta.modified()) {
            _ if row.archived => row.path.exists(),
            // A modification time in the future is not reliable.
            Ok(written) => written.elapsed().is_ok_and(|age| age <= self.read_at.elapsed()),
            Err(_) => true,
        }
    }

    /// Finds a session by its key or plain id. Returns `None` if there is none in this list.
    pub(crate) fn find(&self, key: &str) -> Option<&SessionRow> {
        self.by_key.get(key).map(|&idx| &self.listing.rows[idx])
    }

    /// Returns the key of the session in the file at `path`. Returns `None` if the file is not in this list.
    pub(crate) fn key_of(&self, path: &Path) -> Option<&str> {
        // Compared as strings: comparing components is slow for many paths.
        let row = self.rows().find(|(_, row)| row.path.as_os_str() == path.as_os_str());
        row.map(|(key, _)| key)
    }

    /// Returns all sessions, each with its key, newest first.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = (&str, &SessionRow)> {
        self.keys.iter().map(String::as_str).zip(&self.listing.rows)
    }
}

/// Returns a hash of a path as eight hexadecimal digits.
fn hash_path(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    path.as_os_str().hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

/// Makes an id safe for an address: every character except ASCII letters and digits becomes a dash.
fn sanitize_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
