//! A search for a page: read, run within its time, and given up when nobody waits for it any more.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::core::query::{Query, QueryError};
use rethread_engine::ops::{self, CancelToken, SearchHit, SearchRequest, Total};

use super::search_queue::Queue;
use super::server::Server;
use super::snapshot_cache::{self, FRESH, stacks};
use crate::text::error;

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchParams {
    /// As it was typed.
    pub(crate) typed: String,
    /// Also through what stands beside the conversation.
    pub(crate) all: bool,
    /// So many hits are told.
    pub(crate) limit: usize,
    /// How long to look.
    pub(crate) budget: Duration,
    /// Whether somebody types it: then what is new may wait for the next letter.
    pub(crate) typing: bool,
}

/// What was found.
pub(crate) struct SearchResults {
    /// The hits, best first.
    pub(crate) hits: Vec<SearchHit>,
    /// How many there are, told or not.
    pub(crate) total: Total,
    /// Whether the time was over before everything was looked through.
    pub(crate) cut: bool,
    /// How long it took.
    pub(crate) took: Duration,
    /// What was looked for, as it was read.
    pub(crate) query: Query,
    /// How many files could not be read.
    pub(crate) failures: usize,
    /// What is wrong with the cache.
    pub(crate) notices: Vec<String>,
}

/// How old an answer may be while many wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many answers are remembered.
const REMEMBERED: usize = 32;

/// What was found a moment ago: who types goes back and forth, and several pages may ask the same.
#[derive(Default)]
pub(crate) struct SearchCache(Mutex<VecDeque<(Instant, SearchParams, Arc<SearchResults>)>>);

impl SearchCache {
    /// Returns what was found a moment ago; while many wait for their turn, a longer moment counts.
    pub(crate) fn recent(&self, wanted: &SearchParams, queue: &Queue) -> Option<Arc<SearchResults>> {
        let age = if queue.is_crowded() { PATIENCE } else { FRESH };
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.iter().rev().find(|(at, known, _)| known == wanted && at.elapsed() < age);
        known.map(|(.., found)| found.clone())
    }

    /// Forgets all: something was changed.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn keep(&self, wanted: &SearchParams, found: &Arc<SearchResults>) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((Instant::now(), wanted.clone(), found.clone()));
        while answers.len() > REMEMBERED || answers.front().is_some_and(|(at, ..)| at.elapsed() > PATIENCE) {
            answers.pop_front();
        }
    }
}

/// Stops a search that nobody waits for any more: it is dropped with the request.
#[derive(Debug, Default)]
pub(crate) struct CancelOnDrop(CancelToken);

impl CancelOnDrop {
    /// Returns what the search asks.
    pub(crate) fn halt(&self) -> CancelToken {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Searches, and brings the index up to date afterwards where it was far behind.
pub(crate) fn run_search(
    server: &Arc<Server>,
    wanted: &SearchParams,
    halt: &CancelToken,
) -> Result<Arc<SearchResults>, QueryError> {
    // While this one waited for its turn, another may have asked the same.
    if let Some(found) = server.answers.recent(wanted, &server.queue) {
        return Ok(found);
    }
    let found = Arc::new(look(server, wanted, halt)?);
    if !halt.is_stopped() {
        server.answers.keep(wanted, &found);
    }
    Ok(found)
}

fn look(
    server: &Arc<Server>,
    wanted: &SearchParams,
    halt: &CancelToken,
) -> Result<SearchResults, QueryError> {
    let start = Instant::now();
    let clock = server.clock();
    let query = Query::parse(&wanted.typed, &|text| clock.read(text))?;
    let mut found = SearchResults {
        hits: Vec::new(),
        total: Total { hits: 0, exact: false },
        cut: true,
        took: Duration::ZERO,
        query,
        failures: 0,
        notices: Vec::new(),
    };
    if halt.is_stopped() {
        return Ok(found);
    }
    let stacks = stacks(server, wanted.typing);
    let index = server.place.index.as_ref();
    let request = SearchRequest {
        roots: server.place.roots.clone(),
        query: found.query.clone(),
        all: wanted.all,
        budget: Some(wanted.budget.saturating_sub(start.elapsed())),
        halt: halt.clone(),
    };
    let mut search = match &stacks {
        Some(stacks) => ops::search_snapshot(&request, stacks, index),
        None => ops::search(&request, index),
    };
    while found.hits.len() < wanted.limit
        && let Some(hit) = search.next_hit()
    {
        found.hits.push(hit);
    }
    if stacks.is_some() && !search.is_indexed() {
        server.stacks.forget();
    }
    (found.total, found.cut) = (search.total(), search.timed_out());
    let (failures, notices) =
        stacks.as_ref().map(|seen| (seen.failures(), seen.notices())).unwrap_or_default();
    found.failures = search.failures.len() + failures.len();
    found.notices = notices.iter().chain(&search.notices).map(error::notice).collect();
    found.took = start.elapsed();
    if search.index_is_stale() {
        catch_up(server);
    }
    // What could not be kept is found out again.
    let _ = search.finish();
    Ok(found)
}

/// Brings the index up to date beside the answers, once at a time.
fn catch_up(server: &Arc<Server>) {
    let Some(busy) = server.indexing.begin() else { return };
    let server = server.clone();
    tokio::task::spawn_blocking(move || {
        if let Some(index) = server.place.index.as_ref() {
            // Where it fails, searches read what they need.
            let _ = ops::refresh_index(&server.place.roots, index, false, &|_| {});
            snapshot_cache::look(&server);
        }
        drop(busy);
    });
}
