//! A search for a page: read, run within its time, and given up when nobody waits for it any more.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_engine::core::query::{BadQuery, Query};
use rethread_engine::ops::{self, SearchHit, SearchRequest, Stacks, Total};

use super::queue::Queue;
use super::server::Server;

/// How long what was looked through counts as what there is.
const FRESH: Duration = Duration::from_secs(2);

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// As it was typed.
    pub(crate) typed: String,
    /// Also through what stands beside the conversation.
    pub(crate) all: bool,
    /// So many hits are told.
    pub(crate) limit: usize,
    /// How long to look.
    pub(crate) budget: Duration,
}

/// What was found.
pub(crate) struct Found {
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
}

/// What the last search has looked through. To ask for the marks of all files takes longer than to answer, and who types asks
/// several times a second.
#[derive(Debug, Default)]
pub(crate) struct LastStacks(Mutex<Option<(Instant, Stacks)>>);

impl LastStacks {
    fn recent(&self) -> Option<Stacks> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, stacks)| stacks.clone())
    }

    fn keep(&self, stacks: Option<Stacks>) {
        let stacks = stacks.map(|stacks| (Instant::now(), stacks));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = stacks;
    }
}

/// How old an answer may be while many wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many answers are remembered.
const REMEMBERED: usize = 32;

/// What was found a moment ago: who types goes back and forth, and several pages may ask the same.
#[derive(Default)]
pub(crate) struct Answers(Mutex<VecDeque<(Instant, Wanted, Arc<Found>)>>);

impl Answers {
    /// Returns what was found a moment ago; while many wait for their turn, a longer moment counts.
    pub(crate) fn recent(&self, wanted: &Wanted, queue: &Queue) -> Option<Arc<Found>> {
        let age = if queue.is_crowded() { PATIENCE } else { FRESH };
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.iter().rev().find(|(at, known, _)| known == wanted && at.elapsed() < age);
        known.map(|(.., found)| found.clone())
    }

    fn keep(&self, wanted: &Wanted, found: &Arc<Found>) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push_back((Instant::now(), wanted.clone(), found.clone()));
        while answers.len() > REMEMBERED || answers.front().is_some_and(|(at, ..)| at.elapsed() > PATIENCE) {
            answers.pop_front();
        }
    }
}

/// Tells a search that nobody waits for it any more: it is dropped with the request.
#[derive(Debug, Default)]
pub(crate) struct Waits(Arc<AtomicBool>);

/// Asks whether somebody still waits.
#[derive(Debug, Clone)]
pub(crate) struct Asker(Arc<AtomicBool>);

impl Waits {
    /// Returns what the search asks.
    pub(crate) fn asker(&self) -> Asker {
        Asker(self.0.clone())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Asker {
    fn is_gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Searches, and brings the index up to date afterwards where it was far behind.
pub(crate) fn seek(server: &Arc<Server>, wanted: &Wanted, asker: &Asker) -> Result<Arc<Found>, BadQuery> {
    // While this one waited for its turn, another may have asked the same.
    if let Some(found) = server.answers.recent(wanted, &server.queue) {
        return Ok(found);
    }
    let found = Arc::new(look(server, wanted, asker)?);
    if !asker.is_gone() {
        server.answers.keep(wanted, &found);
    }
    Ok(found)
}

fn look(server: &Arc<Server>, wanted: &Wanted, asker: &Asker) -> Result<Found, BadQuery> {
    let start = Instant::now();
    let clock = server.clock();
    let query = Query::parse(&wanted.typed, &|text| clock.read(text))?;
    let (roots, index) = (server.place.roots.clone(), server.place.index.as_ref());
    let request = SearchRequest { roots, query: query.clone(), all: wanted.all, budget: Some(wanted.budget) };
    let mut found = Found {
        hits: Vec::new(),
        total: Total { hits: 0, exact: false },
        cut: true,
        took: Duration::ZERO,
        query,
        failures: 0,
    };
    if asker.is_gone() {
        return Ok(found);
    }
    let mut search = match server.stacks.recent() {
        Some(stacks) => ops::search_again(&request, &stacks, index),
        None => {
            let search = ops::search(&request, index);
            server.stacks.keep(search.stacks());
            search
        }
    };
    while found.hits.len() < wanted.limit
        && !asker.is_gone()
        && let Some(hit) = search.next_hit()
    {
        found.hits.push(hit);
    }
    (found.total, found.cut) = (search.total(), search.is_cut());
    (found.failures, found.took) = (search.failures.len(), start.elapsed());
    if search.is_behind() {
        catch_up(server.clone());
    }
    // What could not be kept is found out again.
    let _ = search.finish();
    Ok(found)
}

/// Brings the index up to date beside the answers, once at a time.
fn catch_up(server: Arc<Server>) {
    if server.indexing.swap(true, Ordering::AcqRel) {
        return;
    }
    tokio::task::spawn_blocking(move || {
        if let Some(index) = server.place.index.as_ref() {
            // Where it fails, searches read what they need.
            let _ = ops::refresh_index(&server.place.roots, index, false, &|_| {});
        }
        server.indexing.store(false, Ordering::Release);
    });
}
