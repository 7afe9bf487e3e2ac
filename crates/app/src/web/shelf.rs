//! Which sessions there are: looked at again when somebody asks and a second has gone by.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::ops::{self, Filter, Listing, SessionRow};

use crate::place::Place;

/// How long a look counts.
const FRESH: Duration = Duration::from_secs(1);
/// How old a look may be while somebody else is taking the next one.
const STALE: Duration = Duration::from_secs(5);

/// The last look at all sessions.
pub(crate) struct Shelf {
    last: Mutex<Option<Arc<Look>>>,
    looking: Mutex<()>,
}

/// All sessions at one moment, also those that a list leaves out.
pub(crate) struct Look {
    /// The sessions, newest first.
    pub(crate) listing: Listing,
    at: Instant,
    by_key: HashMap<String, usize>,
    keys: Vec<String>,
}

impl Shelf {
    /// Takes a look that somebody has just had.
    pub(crate) fn holding(listing: Option<Listing>) -> Shelf {
        let look = listing.map(|listing| Arc::new(Look::of(listing, Instant::now())));
        Shelf { last: Mutex::new(look), looking: Mutex::default() }
    }

    /// Looks at all sessions, or remembers the last look.
    pub(crate) fn look(&self, place: &Place) -> Arc<Look> {
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
            let look = Arc::new(Look::take(place));
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(look.clone());
            look
        });
        drop(looking);
        look
    }

    /// Returns the last look however old it is: enough to know how a session is addressed.
    pub(crate) fn known(&self, place: &Place) -> Arc<Look> {
        self.remembered(Duration::MAX).unwrap_or_else(|| self.look(place))
    }

    fn remembered(&self, age: Duration) -> Option<Arc<Look>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|look| look.at.elapsed() < age).cloned()
    }

    /// Returns the last look, however old.
    pub(crate) fn last(&self) -> Option<Arc<Look>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets the last look: something was changed.
    pub(crate) fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Look {
    fn take(place: &Place) -> Look {
        let at = Instant::now();
        let filter = Filter { all: true, ..Filter::default() };
        Look::of(ops::list(&place.roots, &filter, place.index.as_ref()), at)
    }

    fn of(listing: Listing, at: Instant) -> Look {
        let mut by_key = HashMap::with_capacity(listing.rows.len());
        let mut keys = Vec::with_capacity(listing.rows.len());
        for (no, row) in listing.rows.iter().enumerate() {
            // Two files may be called by the same id: the newer one has it, the others are numbered.
            let mut key = safe(&row.id);
            for copy in 2.. {
                if !by_key.contains_key(&key) {
                    break;
                }
                key = format!("{}~{copy}", safe(&row.id));
            }
            by_key.insert(key.clone(), no);
            keys.push(key);
        }
        Look { listing, at, by_key, keys }
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
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &SessionRow)> {
        self.keys.iter().map(String::as_str).zip(&self.listing.rows)
    }
}

/// Makes an id fit for an address: what is no letter or digit becomes a dash.
fn safe(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
