//! Which sessions there are: looked at again when somebody asks and a second has gone by.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::ops::{self, Filter, SessionList, SessionRow};

use crate::context::AppContext;

/// How long a look counts.
const FRESH: Duration = Duration::from_secs(1);
/// How old a look may be while somebody else is taking the next one.
const STALE: Duration = Duration::from_secs(5);

/// The last look at all sessions.
pub(crate) struct SessionListCache {
    last: Mutex<Option<Arc<CachedSessionList>>>,
    looking: Mutex<()>,
}

/// All sessions at one moment, also those that a list leaves out.
pub(crate) struct CachedSessionList {
    /// The sessions, newest first.
    pub(crate) listing: SessionList,
    at: Instant,
    by_key: HashMap<String, usize>,
    keys: Vec<String>,
}

impl SessionListCache {
    /// Takes a look that somebody has just had.
    pub(crate) fn holding(listing: Option<SessionList>) -> SessionListCache {
        let look = listing.map(|listing| Arc::new(CachedSessionList::of(listing, Instant::now())));
        SessionListCache { last: Mutex::new(look), looking: Mutex::default() }
    }

    /// Looks at all sessions, or remembers the last look.
    pub(crate) fn look(&self, place: &AppContext) -> Arc<CachedSessionList> {
        if let Some(look) = self.remembered(FRESH) {
            return look;
        }
        let looking = match self.looking.try_lock() {
            Ok(looking) => looking,
            Err(_) => match self.remembered(STALE) {
                Some(look) => return look,
                None => self.looking.lock().unwrap_or_else(PoisonError::into_inner),
            },
        };
        // While this one waited, another may have looked.
        let look = self.remembered(FRESH).unwrap_or_else(|| {
            let look = Arc::new(CachedSessionList::take(place));
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(look.clone());
            look
        });
        drop(looking);
        look
    }

    /// Returns a look that knows how these files are addressed: the last one, however old, unless one of them is new.
    pub(crate) fn knowing<'p>(
        &self,
        place: &AppContext,
        mut files: impl Iterator<Item = &'p Path>,
    ) -> Arc<CachedSessionList> {
        let known = self.last().filter(|look| files.all(|file| look.key_of(file).is_some()));
        known.unwrap_or_else(|| self.look(place))
    }

    fn remembered(&self, age: Duration) -> Option<Arc<CachedSessionList>> {
        self.last().filter(|look| look.at.elapsed() < age)
    }

    /// Returns the last look, however old.
    pub(crate) fn last(&self) -> Option<Arc<CachedSessionList>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finds a session as it is now, by the key of its address.
    pub(crate) fn find(&self, place: &AppContext, key: &str) -> Option<SessionRow> {
        let row =
            |look: Arc<CachedSessionList>| look.find(key).filter(|row| !look.is_before(&row.path)).cloned();
        self.last().and_then(row).or_else(|| self.look(place).find(key).cloned())
    }

    /// Forgets the last look: something was changed.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl CachedSessionList {
    fn take(place: &AppContext) -> CachedSessionList {
        let at = Instant::now();
        let filter = Filter { all: true, ..Filter::default() };
        CachedSessionList::of(ops::list(&place.roots, &filter, place.index.as_ref()), at)
    }

    fn of(listing: SessionList, at: Instant) -> CachedSessionList {
        let mut by_key = HashMap::with_capacity(listing.rows.len());
        // A file that is named by its id is addressed by it; of two such files the first by its path, and the others are numbered. Others
        // are addressed by their path, too: what an address means must not change because another file is new or at work.
        let rows = &listing.rows;
        let order = |no: usize| {
            let row: &SessionRow = &rows[no];
            let is_named = row.path.file_stem().is_some_and(|stem| stem == row.id.as_str());
            (!is_named, row.path.as_os_str())
        };
        let mut by_path: Vec<usize> = (0..rows.len()).collect();
        by_path.sort_by(|&a, &b| order(a).cmp(&order(b)));
        let mut keys = vec![String::new(); rows.len()];
        for no in by_path {
            let id = safe(&rows[no].id);
            let mut key = if order(no).0 { format!("{id}~{}", name_of(&rows[no].path)) } else { id.clone() };
            for copy in 2.. {
                if !by_key.contains_key(&key) {
                    break;
                }
                key = format!("{id}~{copy}");
            }
            by_key.insert(key.clone(), no);
            // Others know a session by nothing but its id.
            by_key.entry(id).or_insert(no);
            keys[no] = key;
        }
        CachedSessionList { listing, at, by_key, keys }
    }

    /// Whether a file was written after this look, as far as its time says, or is gone.
    fn is_before(&self, file: &Path) -> bool {
        match std::fs::metadata(file).and_then(|meta| meta.modified()) {
            // A time to come is no time at which it was written.
            Ok(written) => written.elapsed().is_ok_and(|age| age <= self.at.elapsed()),
            Err(_) => true,
        }
    }

    /// Finds a session by its key.
    pub(crate) fn find(&self, key: &str) -> Option<&SessionRow> {
        self.by_key.get(key).map(|&no| &self.listing.rows[no])
    }

    /// Returns the key of the session that a file holds.
    pub(crate) fn key_of(&self, path: &Path) -> Option<&str> {
        // Paths are compared as they are written: their parts would be taken asunder for each.
        let found = self.rows().find(|(_, row)| row.path.as_os_str() == path.as_os_str());
        found.map(|(key, _)| key)
    }

    /// Returns the key of the session at a place of the listing.
    pub(crate) fn key(&self, no: usize) -> &str {
        &self.keys[no]
    }

    /// Returns all sessions, each with its key, newest first.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = (&str, &SessionRow)> {
        self.keys.iter().map(String::as_str).zip(&self.listing.rows)
    }
}

/// Tells a file from all others, in a few letters.
fn name_of(path: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    path.as_os_str().hash(&mut hasher);
    format!("{:08x}", hasher.finish() as u32)
}

/// Makes an id fit for an address: what is no letter or digit becomes a dash.
fn safe(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
