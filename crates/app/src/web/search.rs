//! Runs a search for a page, within a time budget, and cancels it when the browser no longer waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rethread_engine::core::query::{Query, QueryError};
use rethread_engine::ops;
use rethread_engine::ops::search::{CancelToken, HitCount, SearchHit, SearchRequest};

use super::cached::lock;
use super::index_update;
use super::search_queue::SearchQueue;
use super::server::Server;
use super::snapshot_cache::{MAX_AGE, get_recent_snapshot};
use crate::text::error;

/// The parameters of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchParams {
    /// The query as typed.
    pub(crate) typed: String,
    /// Whether to search attachments, progress and lines of unknown types too.
    pub(crate) all: bool,
    /// The maximum number of hits to return.
    pub(crate) limit: usize,
    /// The time after which the search stops with the hits found so far.
    pub(crate) budget: Duration,
    /// Whether the user is still typing. The result may then miss the newest changes.
    pub(crate) typing: bool,
}

/// The results of a search.
pub(crate) struct SearchResults {
    /// The hits, best first.
    pub(crate) hits: Vec<SearchHit>,
    /// The number of all hits, which may be an upper bound.
    pub(crate) total: HitCount,
    /// Whether the time budget ended before everything was searched.
    pub(crate) is_incomplete: bool,
    /// The duration of the search.
    pub(crate) duration: Duration,
    /// The parsed query.
    pub(crate) query: Query,
    /// The number of files that could not be read.
    pub(crate) failure_count: usize,
    /// Warnings about the cache.
    pub(crate) warnings: Vec<String>,
}

/// The maximum age of cached results while many searches wait.
const MAX_AGE_WHEN_CROWDED: Duration = Duration::from_secs(10);

/// The maximum number of cached results.
const MAX_RESULTS: usize = 32;

/// The results of the last seconds, oldest first: users edit a query back and forth, and several pages may send the
/// same.
#[derive(Default)]
pub(crate) struct SearchCache(Mutex<VecDeque<(Instant, SearchParams, Arc<SearchResults>)>>);

impl SearchCache {
    /// Returns recent results for the same parameters. They may be up to 10 seconds old while many searches wait,
    /// otherwise 2. Returns `None` if there are none.
    pub(crate) fn find_recent(
        &self,
        params: &SearchParams,
        queue: &SearchQueue,
    ) -> Option<Arc<SearchResults>> {
        let max_age = if queue.is_crowded() { MAX_AGE_WHEN_CROWDED } else { MAX_AGE };
        let searches = lock(&self.0);
        let mut newest_first = searches.iter().rev();
        let recent = newest_first.find(|(began, known, _)| known == params && began.elapsed() < max_age);
        recent.map(|(.., results)| results.clone())
    }

    /// Drops all results after a change.
    pub(crate) fn invalidate(&self) {
        lock(&self.0).clear();
    }

    /// Stores results and removes those that are too old or too many.
    fn store(&self, params: &SearchParams, results: &Arc<SearchResults>) {
        let mut searches = lock(&self.0);
        searches.push_back((Instant::now(), params.clone(), results.clone()));
        let is_old = |at: &Instant| at.elapsed() > MAX_AGE_WHEN_CROWDED;
        while searches.len() > MAX_RESULTS || searches.front().is_some_and(|(at, ..)| is_old(at)) {
            searches.pop_front();
        }
    }
}

/// Cancels a search when the request is dropped.
#[derive(Debug, Default)]
pub(crate) struct CancelOnDrop(CancelToken);

impl CancelOnDrop {
    /// Returns the token that the search checks.
    pub(crate) fn token(&self) -> CancelToken {
        self.0.clone()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns recent results of the same search, or runs it and stores its results. A cancelled search returns the hits
/// found so far. Returns an error if the query cannot be parsed.
pub(crate) fn run_search(
    server: &Arc<Server>,
    params: &SearchParams,
    cancel: &CancelToken,
) -> Result<Arc<SearchResults>, QueryError> {
    // The same search may have finished while this one waited for its permit.
    if let Some(results) = server.searches.find_recent(params, &server.queue) {
        return Ok(results);
    }
    let results = Arc::new(search_uncached(server, params, cancel)?);
    if !cancel.is_cancelled() {
        server.searches.store(params, &results);
    }
    Ok(results)
}

/// Runs a search without the cached results. Starts an update of the index if it is stale.
fn search_uncached(
    server: &Arc<Server>,
    params: &SearchParams,
    cancel: &CancelToken,
) -> Result<SearchResults, QueryError> {
    let start = Instant::now();
    let clock = server.clock();
    let query = Query::parse_with_times(&params.typed, &|text| clock.parse_time(text))?;
    let mut results = SearchResults {
        hits: Vec::new(),
        total: HitCount { hits: 0, exact: false },
        is_incomplete: true,
        duration: Duration::ZERO,
        query,
        failure_count: 0,
        warnings: Vec::new(),
    };
    if cancel.is_cancelled() {
        return Ok(results);
    }
    let snapshot = get_recent_snapshot(server, params.typing);
    let cache = server.context.cache.as_ref();
    let request = SearchRequest {
        query: results.query.clone(),
        all: params.all,
        budget: Some(params.budget.saturating_sub(start.elapsed())),
        cancel: cancel.clone(),
        ..SearchRequest::default()
    };
    let mut search = match &snapshot {
        Some(snapshot) => ops::search::search_snapshot(&server.context.roots, &request, snapshot, cache),
        None => ops::search::search_sessions(&server.context.roots, &request, cache),
    };
    results.hits.extend(search.by_ref().take(params.limit));
    if snapshot.is_some() && !search.is_indexed() {
        server.snapshots.invalidate();
    }
    (results.total, results.is_incomplete) = (search.hit_count(), search.is_incomplete());
    let (failures, warnings) =
        snapshot.as_ref().map(|snapshot| (snapshot.failures(), snapshot.warnings())).unwrap_or_default();
    results.failure_count = search.failures.len() + failures.len();
    results.warnings = warnings.iter().chain(&search.warnings).map(error::cache_warning_text).collect();
    results.duration = start.elapsed();
    if search.is_index_stale() {
        index_update::update_in_background(server);
    }
    // Values that could not be cached are computed again.
    let _ = search.finish();
    Ok(results)
}
