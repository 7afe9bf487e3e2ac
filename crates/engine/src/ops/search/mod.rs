//! Entries of all sessions that a query means, best first.
//!
//! ```text
//! files ─┬─ indexed ──ask──▶ sure, or perhaps ─┐
//!        └─ the rest ─scan─▶ loose ────────────┴─▶ ranking ──best first──▶ settled on text and tree ──▶ hit
//! ```
//!
//! The index only shortens the way (**index-is-a-shortcut**): what it is not sure of is asked of the text, by the same
//! meaning that a scan goes by.

mod build_hit;
mod candidate_heap;
mod hit;
mod label_cache;
mod labels;
mod limit;
mod ranking;
mod scan;
mod snapshot;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use rethread_core::query::{CompiledQuery, EntryContext, Query, SearchDoc, SearchDocBuilder, idf};
use rethread_core::tree::LineSpan;

use self::candidate_heap::{Candidate, CandidateSource};

use self::label_cache::LabelCache;
use self::labels::label;
use self::limit::Deadline;
use self::ranking::Ranking;
use self::scan::{UnindexedRange, scan};
use self::snapshot::{AT_ONCE, SnapshotParts};
use crate::Error;
use crate::cache::{CacheDir, CacheWarning, IndexError};
use crate::disk::{DirCache, FileOwner, FileRole, LineReader, Roots, SessionFile, find_all, read_text};
use crate::search_index::{Candidates, IndexReader, IndexedFile, Refreshed, SearchIndex};
use crate::session::match_context::read_at;

pub use hit::{DuplicateHit, SearchHit, SessionHits};
pub use limit::CancelToken;

pub use snapshot::{SearchSnapshot, stacks};

/// So many files are kept open between one look and the next.
const OPEN: usize = 256;

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// Where.
    pub roots: Roots,
    /// What.
    pub query: Query,
    /// Also through what stands beside the conversation.
    pub all: bool,
    /// How long to look; what is not found by then is not told.
    pub budget: Option<Duration>,
    /// Stops it before: what is not found by then is not told either.
    pub halt: CancelToken,
}

/// How many hits there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// So many, told or not.
    pub hits: usize,
    /// Whether it is just as many: else there may be fewer.
    pub exact: bool,
}

/// What was found: hits, best first.
pub struct Search {
    /// What is wrong with the index, or its folder.
    pub notices: Vec<CacheWarning>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Bytes that were read because no index holds them.
    pub scanned: u64,
    /// How many files there are.
    pub files: usize,
    meaning: CompiledQuery,
    request: SearchRequest,
    /// What must be read.
    parts: Vec<UnindexedRange>,
    found: Arc<Vec<SessionFile>>,
    snapshot: Arc<IndexReader>,
    /// Where the index is kept, if it was asked, and whether it turned out to be damaged on the way.
    shelf: Option<SearchIndex>,
    damaged: Cell<bool>,
    by_id: ById,
    ranking: Ranking,
    standings: LabelCache,
    /// Files that were read from, by their numbers.
    open: RefCell<HashMap<usize, LineReader>>,
    told: usize,
    limit: Deadline,
    cut: bool,
}

/// Which file a number of the index means: numbers in order, each with that of the file.
#[derive(Debug, Default)]
struct ById(Vec<(u64, usize)>);

impl ById {
    /// Takes the rows of the index that tell what is there now.
    fn of(rows: &[Option<&IndexedFile>]) -> ById {
        let mut known: Vec<(u64, usize)> =
            rows.iter().zip(0..).filter_map(|(row, no)| Some((row.as_ref()?.id, no))).collect();
        known.sort_unstable();
        ById(known)
    }

    fn get(&self, id: u64) -> Option<usize> {
        self.0.binary_search_by_key(&id, |(known, _)| *known).ok().map(|at| self.0[at].1)
    }
}

/// Looks through everything under the roots; with an index, only through what it does not hold.
pub fn search(request: &SearchRequest, index: Option<&CacheDir>) -> Search {
    let limit = Deadline::of(request.budget, &request.halt);
    let shelf = index.and_then(|index| index.shelf(&request.roots));
    let looked = match &shelf {
        Some(shelf) => {
            let stock = shelf.refresh(&request.roots, AT_ONCE, &|_| {}).into();
            look_through(request, shelf, stock, &limit)
        }
        None => Ok(read(request, &limit)),
    };
    labelled(looked, request, &limit, index)
}

/// Looks through what stood under the same roots just before, without asking again which files there are: for who searches
/// anew with every letter that is typed. What was written meanwhile is not found, and what went wrong at that look is not told.
pub fn search_snapshot(request: &SearchRequest, stacks: &SearchSnapshot, index: Option<&CacheDir>) -> Search {
    let limit = Deadline::of(request.budget, &request.halt);
    labelled(look_through(request, &stacks.shelf, stacks.stock(), &limit), request, &limit, index)
}

/// Reads everything where the index was of no use, and gives the search what it knows sessions by.
fn labelled(
    looked: Result<Search, CacheWarning>,
    request: &SearchRequest,
    limit: &Deadline,
    index: Option<&CacheDir>,
) -> Search {
    let mut search = looked.unwrap_or_else(|notice| {
        let mut search = read(request, limit);
        search.notices.push(notice);
        search
    });
    search.standings = LabelCache::of(index, &request.roots);
    search
}

/// Reads all files.
fn read(request: &SearchRequest, limit: &Deadline) -> Search {
    let (files, failures) = find_all(&request.roots, &mut DirCache::default());
    let all = Refreshed { snapshot: IndexReader::default(), files, failures, notices: Vec::new() };
    let parts = parts(&all.snapshot, &all.files, &vec![None; all.files.len()]).unwrap_or_default();
    let mut search = Search::new(request, all.into(), parts, limit);
    // Nothing can be damaged where nothing is kept.
    let _ = search.rank(Candidates::default(), ById::default());
    search
}

/// Asks the index, and reads the rest; what is damaged is given up.
fn look_through(
    request: &SearchRequest,
    shelf: &SearchIndex,
    all: SnapshotParts,
    limit: &Deadline,
) -> Result<Search, CacheWarning> {
    let found = || -> Result<Search, IndexError> {
        let (by_id, answer, parts) = ask(&all, &CompiledQuery::of(&request.query, request.all))?;
        let mut search = Search::new(request, all, parts, limit);
        search.rank(answer, by_id)?;
        search.shelf = Some(shelf.clone());
        Ok(search)
    };
    found().map_err(|_| shelf.invalidate())
}

/// Asks the index, and returns with what it says what it does not know.
fn ask(
    all: &SnapshotParts,
    meaning: &CompiledQuery,
) -> Result<(ById, Candidates, Vec<UnindexedRange>), IndexError> {
    let rows = all.snapshot.rows(&all.files);
    let by_id = ById::of(&rows);
    let answer = all.snapshot.search(meaning, &|id| rows[by_id.get(id)?])?;
    Ok((by_id, answer, parts(&all.snapshot, &all.files, &rows)?))
}

/// Returns what must be read: files that the index does not know, and what stands behind the last whole line of others.
fn parts(
    snapshot: &IndexReader,
    found: &[SessionFile],
    rows: &[Option<&IndexedFile>],
) -> Result<Vec<UnindexedRange>, IndexError> {
    let mut parts = Vec::new();
    for ((no, file), row) in found.iter().enumerate().zip(rows) {
        match row {
            Some(row) if row.bytes >= file.len => {}
            Some(row) => parts.push(UnindexedRange {
                file: no,
                from: row.bytes,
                lines: row.lines,
                origin: row.origin.clone(),
                cards: snapshot.calls(row.id)?,
            }),
            None => parts.push(UnindexedRange {
                file: no,
                from: 0,
                lines: 0,
                origin: FileOwner::of(file),
                cards: SearchDocBuilder::default(),
            }),
        }
    }
    Ok(parts)
}

impl Search {
    fn new(
        request: &SearchRequest,
        all: SnapshotParts,
        parts: Vec<UnindexedRange>,
        limit: &Deadline,
    ) -> Search {
        let SnapshotParts { snapshot, files: found, failures, notices } = all;
        Search {
            notices,
            failures,
            scanned: parts.iter().map(|part| found[part.file].len - part.from).sum(),
            files: found.len(),
            meaning: CompiledQuery::of(&request.query, request.all),
            request: request.clone(),
            parts,
            found,
            snapshot,
            shelf: None,
            damaged: Cell::new(false),
            by_id: ById::default(),
            ranking: Ranking::default(),
            standings: LabelCache::default(),
            open: RefCell::default(),
            told: 0,
            limit: limit.clone(),
            cut: false,
        }
    }

    /// Reads what must be read, and puts everything in order.
    fn rank(&mut self, answer: Candidates, by_id: ById) -> Result<(), IndexError> {
        let heap = scan(&self.meaning, &self.found, std::mem::take(&mut self.parts), &self.limit);
        self.by_id = by_id;
        self.failures.extend(heap.failures);
        self.cut |= heap.cut;
        let words = self.meaning.words().iter().enumerate();
        let held = |no: usize| {
            let of = |counts: &Vec<usize>| counts.get(no).copied().unwrap_or_default();
            of(&answer.doc_freq) + of(&heap.holding)
        };
        // What only the text can tell is seldom, or else it would not be looked for so.
        let weights: Vec<f32> =
            words.map(|(no, word)| idf(if word.parts.is_conclusive { held(no) } else { 0 })).collect();
        self.ranking = Ranking::of(&self.snapshot, answer, heap.entries, &weights)?;
        Ok(())
    }

    /// Goes on without the index, which turned out to be damaged: reading finds the same hits in the same order.
    fn restart_without_index(&mut self) {
        let mut search = read(&self.request, &self.limit);
        for _ in 0..self.told {
            search.next_items();
        }
        search.told = self.told;
        search.standings = std::mem::take(&mut self.standings).on_other_files();
        search.notices = std::mem::take(&mut self.notices);
        search.notices.extend(self.shelf.take().map(|shelf| shelf.invalidate()));
        *self = search;
    }

    /// Says how many hits there are, told or not.
    pub fn total(&self) -> Total {
        let (left, exact) = self.ranking.left();
        Total { hits: self.told + left, exact: exact && !self.cut }
    }

    /// Whether the index was asked, and sound as far as it was.
    pub fn is_indexed(&self) -> bool {
        self.shelf.is_some()
    }

    /// Whether more had to be read than an index brought up to date would leave.
    pub fn index_is_stale(&self) -> bool {
        self.standings.is_kept() && self.scanned > AT_ONCE
    }

    /// Whether the time was over before everything was looked through.
    pub fn timed_out(&self) -> bool {
        self.cut
    }

    /// Tells the next hit, the best that is left.
    pub fn next_hit(&mut self) -> Option<SearchHit> {
        loop {
            let items = self.next_items();
            // A file that changed meanwhile may not hold it any more: then it is no hit.
            let hit = items.map(|items| self.build_hit(items));
            if self.damaged.get() {
                self.restart_without_index();
                continue;
            }
            if let Some(hit) = hit? {
                self.told += 1;
                return Some(hit);
            }
        }
    }

    /// Keeps what was found out about sessions for the next search; says what went wrong.
    pub fn finish(self) -> Option<CacheWarning> {
        self.standings.keep(&self.found)
    }

    /// Counts what is left by session, in the order of the best hit of each.
    pub fn by_session(&mut self) -> Vec<SessionHits> {
        let mut sessions: Vec<SessionHits> = Vec::new();
        // By file: which of the sessions it belongs to.
        let mut known: HashMap<usize, usize> = HashMap::new();
        while let Some(items) = self.next_items() {
            let last = items.iter().filter_map(|item| item.time).max();
            let file =
                items.iter().filter_map(|item| Some((self.is_copied(item), self.file(item.from)?))).min();
            let Some((_, file)) = file else { continue };
            let no = match known.get(&file) {
                Some(no) => *no,
                None => {
                    let Some(best) = self.build_hit(items) else { continue };
                    let of = |one: &SessionHits| one.best.session_path == best.session_path;
                    let no = sessions.iter().position(of).unwrap_or(sessions.len());
                    if no == sessions.len() {
                        sessions.push(SessionHits { best, hits: 0, last: None });
                    }
                    known.insert(file, no);
                    no
                }
            };
            sessions[no].hits += 1;
            sessions[no].last = sessions[no].last.max(last);
            self.told += 1;
        }
        if self.damaged.get() {
            self.told = 0;
            self.restart_without_index();
            return self.by_session();
        }
        sessions
    }

    /// Takes the next items of one key that are hits.
    fn next_items(&mut self) -> Option<Vec<Candidate>> {
        loop {
            let taken = self.ranking.take(&self.snapshot);
            self.damaged.set(self.damaged.get() || taken.is_err());
            let (mut items, settled) = taken.ok().flatten()?;
            self.cut |= self.limit.is_over();
            if self.cut {
                return None;
            }
            if settled {
                return Some(items);
            }
            items.retain(|item| item.sure || self.holds(item));
            self.ranking.put_back(&items);
        }
    }

    fn is_copied(&self, item: &Candidate) -> bool {
        match item.from {
            CandidateSource::Loose(no) => self.ranking.loose.get(no as usize).is_some_and(|one| one.copied),
            CandidateSource::Index(no) => self.ranking.answer.is_copied(no),
        }
    }

    /// Says which file an item stands in.
    fn file(&self, from: CandidateSource) -> Option<usize> {
        match from {
            CandidateSource::Loose(no) => self.ranking.loose.get(no as usize).map(|one| one.file),
            CandidateSource::Index(no) => {
                let id = self.snapshot.file(&self.ranking.answer, no)?;
                self.by_id.get(id)
            }
        }
    }

    /// Says which file an item stands in, and where.
    fn place(&self, from: CandidateSource) -> Option<(usize, LineSpan)> {
        match from {
            CandidateSource::Loose(no) => {
                self.ranking.loose.get(no as usize).map(|one| (one.file, one.place))
            }
            CandidateSource::Index(no) => {
                let placed = self.snapshot.place(&self.ranking.answer, no);
                self.damaged.set(self.damaged.get() || placed.is_err());
                let (id, place) = placed.ok()?;
                Some((self.by_id.get(id)?, place))
            }
        }
    }

    /// Asks text and tree what the index left open.
    fn holds(&mut self, item: &Candidate) -> bool {
        let open = match item.from {
            CandidateSource::Loose(no) => {
                self.ranking.loose.get(no as usize).map(|one| one.open.clone()).unwrap_or_default()
            }
            CandidateSource::Index(no) => self.ranking.answer.open(no),
        };
        let Some((file, place)) = self.place(item.from) else { return false };
        let label =
            self.meaning.asks_label(&open).then(|| label(self.standings.at(&self.found, file, place).1));
        let mut holds = false;
        let setting = EntryContext { label, ..EntryContext::default() };
        let worth = |line: &[u8]| self.meaning.may_settle(&open, line);
        self.read(file, place, worth, |search, card, _| {
            holds = search.meaning.resolve(&open, card, &setting)
        });
        self.failures.append(&mut self.standings.failures);
        holds
    }

    /// Reads the entry at a place, if its line is worth it.
    fn read(
        &self,
        no: usize,
        place: LineSpan,
        worth: impl FnOnce(&[u8]) -> bool,
        mut each: impl FnMut(&Search, &SearchDoc<'_>, Option<String>),
    ) {
        let file = &self.found[no];
        if let FileRole::Result { .. } = file.role {
            let text = read_text(&file.path, u64::from(place.len)).unwrap_or_default();
            let card = SearchDoc::of_result(&text, file.mark.moment(), &file.path.to_string_lossy());
            card.iter().for_each(|card| each(self, card, None));
            return;
        }
        let mut open = self.open.borrow_mut();
        if open.len() >= OPEN {
            open.clear();
        }
        let lines = match open.entry(no) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(slot) => match LineReader::open(&file.path) {
                Ok(lines) => slot.insert(lines),
                Err(_) => return,
            },
        };
        let Ok(bytes) = lines.read(place) else { return };
        drop(open);
        if !worth(&bytes) {
            return;
        }
        read_at(&bytes, place, |entry| {
            if let Some(card) = SearchDocBuilder::default().card(entry) {
                each(self, &card, entry.uuid.map(|uuid| uuid.decode().into_owned()));
            }
        });
    }
}
