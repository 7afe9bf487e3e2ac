//! Scans the parts of files that are not indexed.

use std::io::ErrorKind;

use rayon::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::query::{
    CompiledQuery, EntryContext, Predicate, Scorer, SearchDocBuilder, SourceSet, TermMatch, Unresolved,
    length_class,
};
use rethread_core::tree::LineSpan;

use super::limit::Deadline;
use crate::Error;
use crate::disk::{FileOwner, ScanOptions, SessionFile, read_docs};

/// A part of a file that is not indexed.
#[derive(Debug, Clone)]
pub(super) struct UnindexedRange {
    /// The index of the file in the list of files.
    pub(super) file_idx: usize,
    /// The byte offset at which the range starts. It ends at the end of the file.
    pub(super) from: u64,
    /// The number of lines before the start offset.
    pub(super) line_count: u32,
    /// The owner of the file, as far as the indexed part names it.
    pub(super) owner: FileOwner,
    /// Contains the tool calls before the range.
    pub(super) builder: SearchDocBuilder,
}

/// An entry that is a hit if its unresolved conditions hold.
#[derive(Debug, Clone)]
pub(super) struct ScannedCandidate {
    pub(super) file_idx: usize,
    pub(super) span: LineSpan,
    pub(super) time: Option<Timestamp>,
    /// The key of the entry. Copies of one entry have the same key.
    pub(super) key: u64,
    /// Whether the entry names another session as its origin.
    pub(super) is_copy: bool,
    pub(super) sources: SourceSet,
    /// The length class of its text.
    pub(super) length_class: u8,
    /// For each ranked term, its match. `None` if the entry does not contain the term.
    pub(super) term_matches: Vec<Option<TermMatch>>,
    pub(super) unresolved: Unresolved,
}

impl ScannedCandidate {
    /// Computes the relevance score with the term weights of `scorer`.
    pub(super) fn score(&self, scorer: &Scorer) -> u32 {
        scorer.score(&self.term_matches, self.sources, self.length_class)
    }
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    pub(super) entries: Vec<ScannedCandidate>,
    /// For each ranked term, the number of entries that contain it.
    pub(super) doc_freq: Vec<usize>,
    pub(super) failures: Vec<Error>,
    /// Whether the scan ended before everything was read: by timeout or cancellation.
    pub(super) incomplete: bool,
}

/// Scans ranges of files for entries that match, in parallel if there are more than two. Stops at the deadline.
pub(super) fn scan_ranges(
    query: &CompiledQuery,
    files: &[SessionFile],
    ranges: Vec<UnindexedRange>,
    deadline: &Deadline,
) -> ScanResult {
    let scan_one = |range: UnindexedRange| match deadline.is_over() {
        true => ScanResult { incomplete: true, ..ScanResult::default() },
        false => scan_range(query, &files[range.file_idx], range, deadline),
    };
    let merge = |mut result: ScanResult, part: ScanResult| {
        result.entries.extend(part.entries);
        result.failures.extend(part.failures);
        result.incomplete |= part.incomplete;
        result.doc_freq.resize(query.ranked_terms().len(), 0);
        result.doc_freq.iter_mut().zip(part.doc_freq).for_each(|(total, count)| *total += count);
        result
    };
    if ranges.len() <= MAX_SEQUENTIAL_RANGES {
        return ranges.into_iter().map(scan_one).fold(ScanResult::default(), merge);
    }
    ranges.into_par_iter().map(scan_one).reduce(ScanResult::default, merge)
}

/// The maximum number of ranges that are scanned on one thread: starting threads costs more.
const MAX_SEQUENTIAL_RANGES: usize = 2;

/// Scans one range. Records a read error in the result.
fn scan_range(
    query: &CompiledQuery,
    file: &SessionFile,
    mut range: UnindexedRange,
    deadline: &Deadline,
) -> ScanResult {
    let is_over = || deadline.is_over();
    let mut result = ScanResult { doc_freq: vec![0; query.ranked_terms().len()], ..ScanResult::default() };
    let has_tool = query.has_predicate(|predicate| matches!(predicate, Predicate::Tool(_)));
    let has_project = query.has_predicate(|predicate| matches!(predicate, Predicate::Project(_)));
    let has_session = query.has_predicate(|predicate| matches!(predicate, Predicate::Session(_)));
    if has_project && range.owner.cwd.is_empty() || has_session && range.owner.session.is_empty() {
        read_owner(file, &mut range.owner, &is_over);
    }
    let call_finder = memchr::memmem::Finder::new("tool_use");
    let folder = file.path.parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
    let context = EntryContext {
        session: &range.owner.session,
        project: [&range.owner.cwd, &folder],
        is_agent_file: file.is_agent(),
        status: None,
        has_failed_call: None,
    };
    // Results do not name their tool, so every tool call must be read.
    let filter = |line: &[u8]| query.may_match(line) || has_tool && call_finder.find(line).is_some();
    let options = ScanOptions::exact_range(range.from..file.len, range.line_count);
    let options = options.with_filter(&filter).with_cancel(&is_over);
    let scanned = read_docs(file, &options, &mut range.builder, |doc, span| {
        if !query.has_searched_text(doc) {
            return;
        }
        let term_matches = query.match_terms(doc);
        for (count, term_match) in result.doc_freq.iter_mut().zip(&term_matches) {
            *count += usize::from(term_match.is_some());
        }
        let Some(unresolved) = query.evaluate(doc, &context) else { return };
        result.entries.push(ScannedCandidate {
            file_idx: range.file_idx,
            span,
            time: doc.time,
            key: doc.key,
            is_copy: doc.copied,
            sources: doc.sources,
            length_class: length_class(doc.len),
            term_matches,
            unresolved,
        });
    });
    match scanned {
        Err(error) if error.kind() == ErrorKind::TimedOut && deadline.is_over() => result.incomplete = true,
        Err(error) => result.failures.push(Error::reading(&file.path)(error)),
        Ok(_) => {}
    }
    result
}

/// Fills the missing fields of the owner from the entries of a file. Reads the whole file.
fn read_owner(file: &SessionFile, owner: &mut FileOwner, is_cancelled: &dyn Fn() -> bool) {
    let mut builder = SearchDocBuilder::default();
    // A read error is reported by the scan itself.
    let options = ScanOptions::exact_range(0..file.len, 0).with_cancel(is_cancelled);
    let _ = read_docs(file, &options, &mut builder, |doc, _| owner.fill_missing(doc));
}
