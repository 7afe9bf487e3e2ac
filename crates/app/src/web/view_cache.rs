//! Sessions that are being read: opened once, and again when their file has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use rethread_engine::Error;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, Agents, BranchSelector, BranchView, SessionView};

/// How many sessions are kept open.
const KEPT: usize = 12;
/// How many bytes of drawn leaves are kept of a session.
const DRAWN: usize = 4 << 20;
/// How long subagents count without another look at their files.
const FRESH: Duration = Duration::from_secs(1);

/// The sessions that were asked for last.
#[derive(Default)]
pub(crate) struct SessionViewCache {
    /// The last one behind.
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// A place for one session: whoever opens it holds it, and others wait for them.
struct Slot {
    path: PathBuf,
    open: Mutex<Option<Arc<CachedView>>>,
}

/// A session as it was at one moment.
pub(crate) struct CachedView {
    /// What was read.
    pub(crate) reading: SessionView,
    ways: Mutex<HashMap<BranchSelector, Arc<BranchView>>>,
    drawn: Mutex<HashMap<(BranchSelector, usize), Bytes>>,
    /// When its subagents were looked at, what their files looked like, and what was found.
    agents: Mutex<Option<(Instant, u64, Arc<Agents>)>>,
}

impl SessionViewCache {
    /// Opens a session, or takes it as it was opened before if its file is the same.
    pub(crate) fn open(&self, path: &Path, prices: &Prices) -> Result<Arc<CachedView>, Error> {
        let slot = self.slot(path);
        let mut open = lock(&slot.open);
        if let Some(open) = open.as_ref().filter(|open| open.reading.is_current()) {
            return Ok(open.clone());
        }
        let reading = ops::open_view(path, prices)?;
        let opened = Arc::new(CachedView {
            reading,
            ways: Mutex::default(),
            drawn: Mutex::default(),
            agents: Mutex::default(),
        });
        *open = Some(opened.clone());
        Ok(opened)
    }

    fn slot(&self, path: &Path) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        let slot = match slots.iter().position(|slot| slot.path == path) {
            Some(at) => slots.remove(at),
            None => Arc::new(Slot { path: path.to_owned(), open: Mutex::default() }),
        };
        slots.push(slot.clone());
        if slots.len() > KEPT {
            slots.remove(0);
        }
        slot
    }
}

impl CachedView {
    /// Finds a way, or remembers it.
    pub(crate) fn way(&self, which: &BranchSelector) -> Result<Arc<BranchView>, Error> {
        if let Some(way) = lock(&self.ways).get(which) {
            return Ok(way.clone());
        }
        let way = Arc::new(self.reading.way(which)?);
        let mut ways = lock(&self.ways);
        // A reader goes few ways at a time; whoever asks for all of them must not fill the memory.
        if ways.len() >= 8 {
            ways.clear();
        }
        ways.insert(which.clone(), way.clone());
        Ok(way)
    }

    /// Returns the subagents as they were found before, or finds them. They are at work while the session itself stands still, so
    /// its file says nothing of theirs.
    pub(crate) fn agents(&self) -> Result<Arc<Agents>, Error> {
        let path = &self.reading.session.path;
        let mut last = lock(&self.agents);
        if let Some((.., agents)) = last.as_ref().filter(|(at, ..)| at.elapsed() < FRESH) {
            return Ok(agents.clone());
        }
        let (at, looks) = (Instant::now(), ops::agents_fingerprint(path));
        let found = match last.take().filter(|(_, known, _)| *known == looks) {
            Some((.., agents)) => agents,
            None => Arc::new(ops::agents(path)?),
        };
        *last = Some((at, looks, found.clone()));
        Ok(found)
    }

    /// Returns a leaf as it was drawn before, or draws it.
    pub(crate) fn drawn(
        &self,
        which: &BranchSelector,
        leaf: usize,
        draw: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Bytes, Error> {
        let key = (which.clone(), leaf);
        if let Some(bytes) = lock(&self.drawn).get(&key) {
            return Ok(bytes.clone());
        }
        let bytes = Bytes::from(draw()?);
        let mut drawn = lock(&self.drawn);
        if drawn.values().map(Bytes::len).sum::<usize>() + bytes.len() > DRAWN {
            drawn.clear();
        }
        drawn.insert(key, bytes.clone());
        Ok(bytes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
