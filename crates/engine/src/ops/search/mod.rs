//! Searches the entries of all sessions, best hit first.
//!
//! ```text
//! files ─┬─ indexed ──match──▶ candidates, certain or not ─┐
//!        └─ the rest ─scan───▶ scanned candidates ──────┴─▶ ranking ──best first──▶ verified on text and tree ──▶ hit
//! ```
//!
//! The index is only a shortcut (**index-is-a-shortcut**): candidates that it is not certain of are verified on their
//! text, by the same compiled query that a scan uses.

mod build_hit;
mod candidate_heap;
mod hit;
mod label_cache;
mod labels;
mod limit;
mod ranking;
mod scan;
mod snapshot;
mod suggest;
mod verify;

pub use hit::{DuplicateHit, SearchHit, SessionHits};
pub use limit::CancelToken;
pub use snapshot::{SearchSnapshot, open_snapshot};
pub use suggest::find_similar_words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use rethread_core::query::{CompiledQuery, Query, SearchDoc, SearchDocBuilder, idf};
use rethread_core::tree::LineSpan;

use self::candidate_heap::{Candidate, CandidateSource};
use self::label_cache::LabelCache;
use self::limit::Deadline;
use self::ranking::Ranking;
use self::scan::{UnindexedRange, scan_ranges};
use self::snapshot::MAX_REFRESH_BYTES;
use crate::Error;
use crate::cache::IndexError;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{
    DirCache, FileOwner, FileRole, LineReader, Roots, SessionFile, find_sessions_and_results,
    read_result_text,
};
use crate::search_index::{Candidates, IndexReader, IndexedFile, RefreshedIndex, SearchIndex};
use crate::session::match_context::parse_entries_at;

/// The maximum number of files that stay open between reads.
const MAX_OPEN_FILES: usize = 256;

/// Options of a search.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The query to evaluate.
    pub query: Query,
    /// Also search text outside the conversation, such as system events and attachments.
    pub all: bool,
    /// The maximum duration. Entries that are not found by then are missing from the result. `None` means no limit.
    pub budget: Option<Duration>,
    /// Cancels the search from another thread.
    pub cancel: CancelToken,
    /// Replace the secrets of an entry before its excerpt is cut out.
    pub masks_secrets: bool,
}

/// The number of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitCount {
    /// The number of hits, returned or not.
    pub hits: usize,
    /// Whether the number is exact. Otherwise it is an upper bound.
    pub exact: bool,
}

/// A running search: an iterator over hits, best first.
pub struct Search {
    /// Problems with the index or its folder.
    pub warnings: Vec<CacheWarning>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// Bytes that were read because they are not indexed.
    pub scanned_bytes: u64,
    /// The number of files that are searched, indexed or not.
    pub file_count: usize,
    query: CompiledQuery,
    scope: SearchScope,
    /// The files, and the open index.
    content: Arc<RefreshedIndex>,
    /// The index on disk. `None` if it is not used.
    index: Option<SearchIndex>,
    /// Whether the index turned out to be damaged.
    damaged: Cell<bool>,
    file_ids: FileIdMap,
    ranking: Ranking,
    labels: LabelCache,
    /// Open files, by their index in `content.files`.
    open_files: RefCell<HashMap<usize, LineReader>>,
    /// The number of further groups to verify with the next one.
    batch_size: usize,
    /// The number of hits that were returned.
    returned_count: usize,
    /// Whether the search ended before everything was searched: by timeout or cancellation.
    incomplete: bool,
}

/// The roots, the request and the deadline of a search.
#[derive(Debug, Clone)]
struct SearchScope {
    roots: Roots,
    request: SearchRequest,
    deadline: Deadline,
}

/// Maps file ids of the search index to indices in the list of files. Sorted by id.
#[derive(Debug, Default)]
struct FileIdMap(Vec<(u64, usize)>);

impl FileIdMap {
    /// Creates the map from the index rows of all files.
    fn new(rows: &[Option<&IndexedFile>]) -> FileIdMap {
        let mut pairs: Vec<(u64, usize)> =
            rows.iter().zip(0..).filter_map(|(row, idx)| Some((row.as_ref()?.id, idx))).collect();
        pairs.sort_unstable();
        FileIdMap(pairs)
    }

    /// Returns the index of a file in the list of files. Returns `None` if the id is unknown.
    fn get(&self, id: u64) -> Option<usize> {
        self.0.binary_search_by_key(&id, |(known_id, _)| *known_id).ok().map(|idx| self.0[idx].1)
    }
}

/// Searches all sessions under `roots`. With a cache, only files that are not indexed are read.
pub fn search_sessions(roots: &Roots, request: &SearchRequest, cache: Option<&CacheDir>) -> Search {
    let scope = SearchScope::new(roots, request);
    let search = match cache.and_then(|cache| cache.search_index(roots)) {
        Some(index) => {
            let mut content = index.refresh(roots, MAX_REFRESH_BYTES, &|_| {});
            let failures = std::mem::take(&mut content.failures);
            let warnings = std::mem::take(&mut content.warnings);
            search_index(&scope, &index, &Arc::new(content)).map(|mut search| {
                search.failures.splice(0..0, failures);
                search.warnings.extend(warnings);
                search
            })
        }
        None => Ok(search_files(&scope)),
    };
    scope.start_search(search, cache)
}

/// Searches a snapshot that was opened earlier, without listing the files again (search-as-you-type).
///
/// Changes made since the snapshot are not found, and errors from opening it are not repeated.
#[doc(hidden)] // Public only because the web server keeps a snapshot between requests.
pub fn search_snapshot(
    roots: &Roots,
    request: &SearchRequest,
    snapshot: &SearchSnapshot,
    cache: Option<&CacheDir>,
) -> Search {
    let scope = SearchScope::new(roots, request);
    let search = search_index(&scope, &snapshot.index, &snapshot.content);
    scope.start_search(search, cache)
}

impl SearchScope {
    fn new(roots: &Roots, request: &SearchRequest) -> SearchScope {
        let deadline = Deadline::new(request.budget, &request.cancel);
        SearchScope { roots: roots.clone(), request: request.clone(), deadline }
    }

    /// Attaches the label cache to a search. Starts a search that reads all files if `search` is an error.
    fn start_search(&self, search: Result<Search, CacheWarning>, cache: Option<&CacheDir>) -> Search {
        let mut search = search.unwrap_or_else(|warning| {
            let mut search = search_files(self);
            search.warnings.push(warning);
            search
        });
        search.labels = LabelCache::new(cache, &self.roots);
        search
    }

    fn compile_query(&self) -> CompiledQuery {
        CompiledQuery::new(&self.request.query, self.request.all)
    }
}

/// Searches by reading all files.
fn search_files(scope: &SearchScope) -> Search {
    let (files, failures) = find_sessions_and_results(&scope.roots, &mut DirCache::default());
    let reader = IndexReader::default();
    let unindexed = find_unindexed(&reader, &files, &vec![None; files.len()]).unwrap_or_default();
    let content = RefreshedIndex { reader, files, failures: Vec::new(), warnings: Vec::new() };
    let mut search = Search::new(scope, scope.compile_query(), Arc::new(content), &unindexed);
    search.failures = failures;
    // Ranking fails only if an index is damaged, and this one is empty.
    let _ = search.rank_candidates(Candidates::default(), FileIdMap::default(), unindexed);
    search
}

/// Searches the index, and reads the files that are not indexed. Invalidates a damaged index and returns a warning.
fn search_index(
    scope: &SearchScope,
    index: &SearchIndex,
    content: &Arc<RefreshedIndex>,
) -> Result<Search, CacheWarning> {
    let search = || -> Result<Search, IndexError> {
        let query = scope.compile_query();
        let rows = content.reader.find_current(&content.files);
        let file_ids = FileIdMap::new(&rows);
        let candidates = content.reader.search(&query, &|id| rows[file_ids.get(id)?])?;
        let unindexed = find_unindexed(&content.reader, &content.files, &rows)?;
        let mut search = Search::new(scope, query, Arc::clone(content), &unindexed);
        search.rank_candidates(candidates, file_ids, unindexed)?;
        search.index = Some(index.clone());
        Ok(search)
    };
    search().map_err(|_| index.invalidate())
}

/// Returns the ranges that must be read: unindexed files, and the lines after the indexed part of other files. `rows`
/// has the index row of each file, `None` if the file is not indexed.
fn find_unindexed(
    reader: &IndexReader,
    files: &[SessionFile],
    rows: &[Option<&IndexedFile>],
) -> Result<Vec<UnindexedRange>, IndexError> {
    let mut unindexed = Vec::new();
    for ((idx, file), row) in files.iter().enumerate().zip(rows) {
        match row {
            Some(row) if row.bytes >= file.len => {}
            Some(row) => unindexed.push(UnindexedRange {
                file_idx: idx,
                from: row.bytes,
                line_count: row.lines,
                owner: row.owner.clone(),
                builder: reader.read_calls(row.id)?,
            }),
            None => unindexed.push(UnindexedRange {
                file_idx: idx,
                from: 0,
                line_count: 0,
                owner: FileOwner::from_path(file),
                builder: SearchDocBuilder::default(),
            }),
        }
    }
    Ok(unindexed)
}

impl Search {
    fn new(
        scope: &SearchScope,
        query: CompiledQuery,
        content: Arc<RefreshedIndex>,
        unindexed: &[UnindexedRange],
    ) -> Search {
        Search {
            warnings: Vec::new(),
            failures: Vec::new(),
            scanned_bytes: unindexed.iter().map(|range| content.files[range.file_idx].len - range.from).sum(),
            file_count: content.files.len(),
            query,
            scope: scope.clone(),
            content,
            index: None,
            damaged: Cell::new(false),
            file_ids: FileIdMap::default(),
            ranking: Ranking::default(),
            labels: LabelCache::default(),
            open_files: RefCell::default(),
            batch_size: 0,
            returned_count: 0,
            incomplete: false,
        }
    }

    /// Reads the unindexed ranges, and ranks all candidates.
    fn rank_candidates(
        &mut self,
        candidates: Candidates,
        file_ids: FileIdMap,
        unindexed: Vec<UnindexedRange>,
    ) -> Result<(), IndexError> {
        let scan = scan_ranges(&self.query, &self.content.files, unindexed, &self.scope.deadline);
        self.file_ids = file_ids;
        self.failures.extend(scan.failures);
        self.incomplete |= scan.incomplete;
        let doc_freq = |idx: usize| {
            let count_of = |counts: &Vec<usize>| counts.get(idx).copied().unwrap_or_default();
            count_of(&candidates.doc_freq) + count_of(&scan.doc_freq)
        };
        // A term that the index cannot decide is taken as rare: users do not write such queries for common text.
        let terms = self.query.ranked_terms().iter().enumerate();
        let weights: Vec<f32> =
            terms.map(|(idx, term)| idf(if term.plan.is_conclusive { doc_freq(idx) } else { 0 })).collect();
        self.ranking = Ranking::new(&self.content.reader, candidates, scan.entries, &weights)?;
        Ok(())
    }

    /// Continues without the damaged index. Reading finds the same hits in the same order.
    fn restart_without_index(&mut self) {
        let mut search = search_files(&self.scope);
        for _ in 0..self.returned_count {
            search.next_candidates();
        }
        search.returned_count = self.returned_count;
        search.labels = std::mem::take(&mut self.labels).without_files();
        search.warnings = std::mem::take(&mut self.warnings);
        search.warnings.extend(self.index.take().map(|index| index.invalidate()));
        *self = search;
    }

    /// Returns the number of hits, returned or not. The number is an upper bound until all candidates are verified.
    pub fn hit_count(&self) -> HitCount {
        let (remaining, exact) = self.ranking.remaining();
        HitCount { hits: self.returned_count + remaining, exact: exact && !self.incomplete }
    }

    /// Returns `true` if the index is used, and no damage was found so far.
    pub fn is_indexed(&self) -> bool {
        self.index.is_some()
    }

    /// Returns `true` if so much had to be read that refreshing the index is worthwhile.
    pub fn is_index_stale(&self) -> bool {
        self.labels.is_persistent() && self.scanned_bytes > MAX_REFRESH_BYTES
    }

    /// Returns `true` if the search ended before everything was searched: by timeout or cancellation.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Writes the labels of the searched sessions to the cache. Returns a warning if that fails.
    pub fn finish(self) -> Option<CacheWarning> {
        self.labels.write(&self.content.files)
    }

    /// Counts the remaining hits by session, in the order of the best hit of each.
    pub fn group_by_session(&mut self) -> Vec<SessionHits> {
        let mut sessions: Vec<SessionHits> = Vec::new();
        // Maps indices of files to indices of `sessions`.
        let mut by_file: HashMap<usize, usize> = HashMap::new();
        while let Some(candidates) = self.next_candidates() {
            let newest = candidates.iter().filter_map(|candidate| candidate.time).max();
            let files = candidates
                .iter()
                .filter_map(|candidate| Some((self.is_copy(candidate), self.find_file(candidate.source)?)));
            // Originals are preferred to copies.
            let Some((_, file_idx)) = files.min() else { continue };
            let idx = match by_file.get(&file_idx) {
                Some(idx) => *idx,
                None => {
                    let Some(best) = self.build_hit(candidates) else { continue };
                    let is_same = |hits: &SessionHits| hits.best.session_path == best.session_path;
                    let idx = sessions.iter().position(is_same).unwrap_or(sessions.len());
                    if idx == sessions.len() {
                        sessions.push(SessionHits { best, hit_count: 0, last_hit_at: None });
                    }
                    by_file.insert(file_idx, idx);
                    idx
                }
            };
            sessions[idx].hit_count += 1;
            sessions[idx].last_hit_at = sessions[idx].last_hit_at.max(newest);
            self.returned_count += 1;
        }
        if self.damaged.get() {
            self.returned_count = 0;
            self.restart_without_index();
            return self.group_by_session();
        }
        sessions
    }

    /// Takes the next group of candidates that are hits. All of them have the same key. Returns `None` at the end, after the
    /// deadline, or if the index is damaged.
    fn next_candidates(&mut self) -> Option<Vec<Candidate>> {
        loop {
            let popped = self.ranking.pop_group(&self.content.reader);
            self.damaged.set(self.damaged.get() || popped.is_err());
            let (candidates, is_verified) = popped.ok().flatten()?;
            self.incomplete |= self.scope.deadline.is_over();
            if self.incomplete {
                return None;
            }
            if is_verified {
                return Some(candidates);
            }
            self.verify_batch(candidates);
        }
    }

    /// Returns `true` if the entry names another session as its origin.
    fn is_copy(&self, candidate: &Candidate) -> bool {
        match candidate.source {
            CandidateSource::Scanned(idx) => {
                self.ranking.scanned.get(idx as usize).is_some_and(|scanned| scanned.is_copy)
            }
            CandidateSource::Index(idx) => self.ranking.indexed.is_copied(idx),
        }
    }

    /// Returns the index of the file of a candidate in `content.files`. Returns `None` if the file is unknown.
    fn find_file(&self, source: CandidateSource) -> Option<usize> {
        match source {
            CandidateSource::Scanned(idx) => {
                self.ranking.scanned.get(idx as usize).map(|scanned| scanned.file_idx)
            }
            CandidateSource::Index(idx) => {
                let id = self.content.reader.file_id(&self.ranking.indexed, idx)?;
                self.file_ids.get(id)
            }
        }
    }

    /// Returns the index of the file of a candidate, and the span of its line. Returns `None` if the file is unknown or the
    /// index is damaged.
    fn find_line(&self, source: CandidateSource) -> Option<(usize, LineSpan)> {
        match source {
            CandidateSource::Scanned(idx) => {
                self.ranking.scanned.get(idx as usize).map(|scanned| (scanned.file_idx, scanned.span))
            }
            CandidateSource::Index(idx) => {
                let line = self.content.reader.read_span(&self.ranking.indexed, idx);
                self.damaged.set(self.damaged.get() || line.is_err());
                let (id, span) = line.ok()?;
                Some((self.file_ids.get(id)?, span))
            }
        }
    }

    /// Reads the entry at a span, if its line passes `filter`. Calls `visit` with the document and its uuid. Does nothing if
    /// the line cannot be read.
    fn read_doc(
        &self,
        file_idx: usize,
        span: LineSpan,
        filter: impl FnOnce(&[u8]) -> bool,
        mut visit: impl FnMut(&Search, &SearchDoc<'_>, Option<String>),
    ) {
        let file = &self.content.files[file_idx];
        let mut open = self.open_files.borrow_mut();
        if open.len() >= MAX_OPEN_FILES {
            open.clear();
        }
        let lines = match (&file.role, open.entry(file_idx)) {
            (FileRole::Result { .. }, _) => None,
            (_, Entry::Occupied(slot)) => Some(slot.into_mut()),
            (_, Entry::Vacant(slot)) => LineReader::open(&file.path).ok().map(|lines| slot.insert(lines)),
        };
        visit_docs(file, lines, span, filter, |doc, uuid| visit(self, doc, uuid));
    }
}

/// Reads the entry at a span with `lines`, if its line passes `filter`. Calls `visit` with the document and its uuid. Does
/// nothing if the line cannot be read. A stored tool result needs no `lines`.
fn visit_docs(
    file: &SessionFile,
    lines: Option<&mut LineReader>,
    span: LineSpan,
    filter: impl FnOnce(&[u8]) -> bool,
    mut visit: impl FnMut(&SearchDoc<'_>, Option<String>),
) {
    if let FileRole::Result { .. } = file.role {
        let text = read_result_text(&file.path, u64::from(span.len)).unwrap_or_default();
        let time = file.fingerprint.modified_at();
        let doc = SearchDoc::from_tool_result(&text, time, &file.path.to_string_lossy());
        doc.iter().for_each(|doc| visit(doc, None));
        return;
    }
    let Some(Ok(bytes)) = lines.map(|lines| lines.read_span(span)) else { return };
    if !filter(&bytes) {
        return;
    }
    parse_entries_at(&bytes, span, |entry| {
        if let Some(doc) = SearchDocBuilder::default().build_doc(entry) {
            visit(&doc, entry.uuid.map(|uuid| uuid.decode().into_owned()));
        }
    });
}

impl Iterator for Search {
    type Item = SearchHit;

    fn next(&mut self) -> Option<SearchHit> {
        loop {
            let candidates = self.next_candidates();
            // The file may have changed and may no longer contain the entry. Then there is no hit.
            let hit = candidates.map(|candidates| self.build_hit(candidates));
            if self.damaged.get() {
                self.restart_without_index();
                continue;
            }
            if let Some(hit) = hit? {
                self.returned_count += 1;
                return Some(hit);
            }
        }
    }
}
