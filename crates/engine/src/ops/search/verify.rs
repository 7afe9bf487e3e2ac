//! Verifies candidates on their text and their context status, many at a time.
//!
//! A query that the index cannot decide, such as a regular expression, may have millions of candidates. They are verified in
//! batches that grow: the first hits appear at once, and large batches use all processors.

use rayon::prelude::*;
use rethread_core::query::{EntryContext, Unresolved};
use rethread_core::tree::LineSpan;

use super::candidate_heap::{Candidate, CandidateSource};
use super::labels::EntryLabel;
use super::{Search, visit_docs};
use crate::disk::LineReader;

/// The maximum number of groups in a batch.
const MAX_BATCH_SIZE: usize = 2048;
/// The same if candidates are in an archive. Each batch decompresses all frames that contain its candidates.
const MAX_ARCHIVED_BATCH_SIZE: usize = 16 << 10;
/// With fewer candidates, one thread is used: starting threads costs more.
const MIN_PARALLEL_ITEMS: usize = 64;
/// The maximum number of candidates of one file that a thread verifies at a time.
const MAX_JOB_ITEMS: usize = 32;
/// Longer lines are verified on one thread, so that only one of them is in memory.
const MAX_PARALLEL_LINE_BYTES: u32 = 1 << 20;

/// A candidate to verify.
struct VerifyItem {
    file_idx: usize,
    span: LineSpan,
    unresolved: Unresolved,
    /// The label of the entry, if the query depends on it.
    label: Option<EntryLabel>,
    /// The index of its group, and its index in the group.
    position: (usize, usize),
    is_hit: bool,
}

impl Search {
    /// Verifies the candidates of `first` and of further groups, and returns those that are hits to the heap.
    pub(super) fn verify_batch(&mut self, first: Vec<Candidate>) {
        let mut groups = vec![first];
        groups.extend(self.ranking.pop_unverified(self.batch_size));
        let mut items = self.build_items(&groups);
        let has_archived = items.iter().any(|item| self.content.files[item.file_idx].is_archived);
        let (factor, max) = if has_archived { (4, MAX_ARCHIVED_BATCH_SIZE) } else { (2, MAX_BATCH_SIZE) };
        self.batch_size = (self.batch_size * factor + 1).min(max);
        let is_parallel = |item: &VerifyItem| item.span.len <= MAX_PARALLEL_LINE_BYTES;
        items.sort_by_key(|item| (!is_parallel(item), item.file_idx, item.span.offset));
        let split = if items.len() < MIN_PARALLEL_ITEMS { 0 } else { items.partition_point(is_parallel) };
        let (short, long) = items.split_at_mut(split);
        self.verify_in_parallel(short);
        for item in long {
            self.verify_item(item);
        }
        for item in items.iter().filter(|item| item.is_hit) {
            groups[item.position.0][item.position.1].is_certain = true;
        }
        for mut group in groups {
            group.retain(|candidate| candidate.is_certain);
            self.ranking.put_back(&group);
        }
        self.failures.append(&mut self.labels.failures);
    }

    /// Lists the uncertain candidates of the groups. Skips those whose line is unknown.
    fn build_items(&mut self, groups: &[Vec<Candidate>]) -> Vec<VerifyItem> {
        let mut items = Vec::new();
        for (group_idx, group) in groups.iter().enumerate() {
            for (idx, candidate) in group.iter().enumerate().filter(|(_, candidate)| !candidate.is_certain) {
                let Some((file_idx, span)) = self.find_line(candidate.source) else { continue };
                let unresolved = self.unresolved(candidate.source);
                let needs_label = self.query.needs_session(&unresolved);
                let label = needs_label.then(|| self.labels.find_label(&self.content.files, file_idx, span));
                let position = (group_idx, idx);
                items.push(VerifyItem { file_idx, span, unresolved, label, position, is_hit: false });
            }
        }
        items
    }

    /// Returns what the index or the scan could not decide for a candidate.
    fn unresolved(&self, source: CandidateSource) -> Unresolved {
        match source {
            CandidateSource::Scanned(idx) => self
                .ranking
                .scanned
                .get(idx as usize)
                .map(|scanned| scanned.unresolved.clone())
                .unwrap_or_default(),
            CandidateSource::Index(idx) => self.ranking.indexed.unresolved(idx),
        }
    }

    /// Verifies candidates sorted by file on all processors. Stops at the deadline.
    fn verify_in_parallel(&self, items: &mut [VerifyItem]) {
        let (query, files, deadline) = (&self.query, &self.content.files, &self.scope.deadline);
        let same_file = items.chunk_by_mut(|a, b| a.file_idx == b.file_idx);
        let jobs: Vec<&mut [VerifyItem]> =
            same_file.flat_map(|items| items.chunks_mut(MAX_JOB_ITEMS)).collect();
        jobs.into_par_iter().for_each(|items| {
            let file = &files[items[0].file_idx];
            let mut lines = LineReader::open(&file.path).ok();
            for item in items {
                if deadline.is_over() {
                    return;
                }
                let VerifyItem { span, unresolved, label, is_hit, .. } = item;
                let context = context_from_label(*label);
                let filter = |line: &[u8]| query.may_resolve(unresolved, line);
                visit_docs(file, lines.as_mut(), *span, filter, |doc, _| {
                    *is_hit = query.resolve(unresolved, doc, &context);
                });
            }
        });
    }

    /// Verifies one candidate.
    fn verify_item(&self, item: &mut VerifyItem) {
        let VerifyItem { file_idx, span, unresolved, label, is_hit, .. } = item;
        let context = context_from_label(*label);
        let filter = |line: &[u8]| self.query.may_resolve(unresolved, line);
        self.read_doc(*file_idx, *span, filter, |search, doc, _| {
            *is_hit = search.query.resolve(unresolved, doc, &context);
        });
    }
}

/// Builds the context of an entry for the conditions that the index and the scan leave open.
fn context_from_label(label: Option<EntryLabel>) -> EntryContext<'static> {
    EntryContext {
        status: label.map(|label| label.status),
        has_failed_call: label.map(|label| label.has_failed_call),
        ..EntryContext::default()
    }
}
