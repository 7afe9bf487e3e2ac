//! The open sessions: each is loaded once, and again after its file has changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use rethread_engine::Error;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::agents::AgentList;
use rethread_engine::ops::read::{BranchSelector, BranchView, SessionView};

use crate::text::secrets::count_secrets;

use super::cached::{Cached, MaxAge, lock};

/// The maximum number of sessions in the cache.
const MAX_SESSIONS: usize = 12;
/// The maximum number of branch views cached per session: a reader visits few, and a crawler must not fill the
/// memory.
const MAX_BRANCHES: usize = 8;
/// The maximum number of bytes of rendered chunks cached per session.
const MAX_RENDERED_BYTES: usize = 4 << 20;
/// How old the list of subagents may be.
const AGENTS_AGE: MaxAge = MaxAge { fresh: Duration::from_secs(1), stale: Duration::from_secs(1) };

/// The sessions that were requested last.
#[derive(Default)]
pub(crate) struct SessionViewCache {
    /// The most recently used slot is last.
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// The cache slot of one session. The thread that loads the session holds the lock, and other threads wait.
struct Slot {
    path: PathBuf,
    view: Mutex<Option<Arc<CachedView>>>,
}

/// A loaded session with its rendered parts.
pub(crate) struct CachedView {
    /// The loaded session.
    pub(crate) view: SessionView,
    /// The branch views by selector.
    branches: Mutex<HashMap<BranchSelector, Arc<BranchView>>>,
    /// The markup of the rendered chunks, by branch and chunk index.
    rendered: Mutex<HashMap<(BranchSelector, usize), Bytes>>,
    /// How many secrets the session contains, once a page has asked for it.
    secrets: OnceLock<Option<String>>,
    /// The fingerprint of the subagents' files when they were read, and the subagents.
    agents: Cached<(u64, Arc<AgentList>)>,
}

impl SessionViewCache {
    /// Returns the session in the file at `path`, loaded again if the file has changed. Returns an error if it cannot
    /// be read.
    pub(crate) fn open(&self, path: &Path, prices: &PriceTable) -> Result<Arc<CachedView>, Error> {
        let slot = self.slot(path);
        let mut cached = lock(&slot.view);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.view.is_current()) {
            return Ok(cached.clone());
        }
        let loaded = Arc::new(CachedView {
            view: ops::read::open_view(path, prices)?,
            branches: Mutex::default(),
            rendered: Mutex::default(),
            secrets: OnceLock::new(),
            agents: Cached::default(),
        });
        *cached = Some(loaded.clone());
        Ok(loaded)
    }

    /// Returns the slot of a session file and marks it as most recently used. Removes the least recently used slot if
    /// there are too many.
    fn slot(&self, path: &Path) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        let slot = match slots.iter().position(|slot| slot.path == path) {
            Some(idx) => slots.remove(idx),
            None => Arc::new(Slot { path: path.to_owned(), view: Mutex::default() }),
        };
        slots.push(slot.clone());
        if slots.len() > MAX_SESSIONS {
            slots.remove(0);
        }
        slot
    }
}

impl CachedView {
    /// Returns the view of a branch, building it if it is not cached. Returns an error if the selected entry does not
    /// exist.
    pub(crate) fn branch(&self, selector: &BranchSelector) -> Result<Arc<BranchView>, Error> {
        if let Some(branch) = lock(&self.branches).get(selector) {
            return Ok(branch.clone());
        }
        let branch = Arc::new(self.view.branch_view(selector)?);
        let mut branches = lock(&self.branches);
        if branches.len() >= MAX_BRANCHES {
            branches.clear();
        }
        branches.insert(selector.clone(), branch.clone());
        Ok(branch)
    }

    /// Describes how many secrets the session contains. Returns `None` if there are none.
    pub(crate) fn secrets(&self) -> Option<&str> {
        let count = || count_secrets(&ops::secrets::find_session_secrets(&self.view.session.path));
        self.secrets.get_or_init(count).as_deref()
    }

    /// Returns the subagents of the session. Loads them again if one of their files has changed, which is checked
    /// once per second.
    pub(crate) fn agents(&self) -> Result<Arc<AgentList>, Error> {
        let path = &self.view.session.path;
        let cached = self.agents.try_get(AGENTS_AGE, |old| {
            let fingerprint = ops::agents::agents_fingerprint(path);
            match old.filter(|old| old.0 == fingerprint) {
                Some(old) => Ok(old),
                None => Ok(Arc::new((fingerprint, Arc::new(ops::agents::list_agents(path)?)))),
            }
        });
        cached.map(|cached| cached.1.clone())
    }

    /// Returns the cached markup of a chunk of the branch `selector`. Calls `render` if it is not cached, and first empties
    /// a cache that would exceed `MAX_RENDERED_BYTES`.
    pub(crate) fn get_or_render_chunk(
        &self,
        selector: &BranchSelector,
        chunk_idx: usize,
        render: impl FnOnce() -> Result<String, Error>,
    ) -> Result<Bytes, Error> {
        let key = (selector.clone(), chunk_idx);
        if let Some(bytes) = lock(&self.rendered).get(&key) {
            return Ok(bytes.clone());
        }
        let bytes = Bytes::from(render()?);
        let mut rendered = lock(&self.rendered);
        if rendered.values().map(Bytes::len).sum::<usize>() + bytes.len() > MAX_RENDERED_BYTES {
            rendered.clear();
        }
        rendered.insert(key, bytes.clone());
        Ok(bytes)
    }
}
