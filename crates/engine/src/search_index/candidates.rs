//! Evaluates a query over all segments of the index and collects the candidates.
//!
//! ```text
//! segment ─▶ window ─▶ Ternary per doc ─▶ candidates, column by column
//! ```
//!
//! `Maybe` means that only the text or the tree decides, or that the index does not store the answer. Memory is
//! proportional to the number of candidates, not to the size of the index.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;
use rethread_core::query::{CompiledQuery, Scorer, Unresolved};
use rethread_core::tree::LineSpan;

use super::matcher::{FileLookup, SegmentMatcher, TermConditions, WindowMatches};
use super::postings_union::decode_strength;
use super::segment::{DocInfo, Segment};
use super::store::IndexReader;
use super::ternary::Ternary;
use crate::cache::IndexError;

/// The number of docs that are matched at a time.
const WINDOW_DOCS: u32 = 16 << 10;

/// The docs that match a query or may match it, addressed by candidate number.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// For each ranked text: the number of docs that contain it.
    pub(crate) doc_freq: Vec<usize>,
    /// The first candidate of each segment.
    segment_starts: Vec<usize>,
    /// The doc ids of the candidates in their segments.
    docs: Vec<u32>,
    doc_infos: Vec<DocInfo>,
    /// The match strengths of each candidate, one byte per ranked text.
    strengths: Vec<u8>,
    /// The number of ranked texts of the query.
    ranked_texts: usize,
    /// For each candidate: the index of its pattern plus one, or 0 if it is a match. Candidates past the end are matches.
    pattern_ids: Vec<u32>,
    /// The values of all literals, clause by clause, of the candidates that are `Maybe`. Each combination is stored once.
    patterns: Vec<Vec<Ternary>>,
    /// By pattern: its index in `patterns` plus one.
    by_pattern: HashMap<Vec<Ternary>, u32>,
    /// The number of literals in each clause.
    clause_lens: Vec<usize>,
}

impl IndexReader {
    /// Evaluates a query over all segments, oldest first. Docs of files that `file_lookup` does not find are skipped.
    ///
    /// Returns an error if the index is damaged or cannot be read.
    pub(crate) fn search(
        &self,
        query: &CompiledQuery,
        file_lookup: &FileLookup<'_>,
    ) -> Result<Candidates, IndexError> {
        let conditions = TermConditions::from_query(query);
        let mut candidates = Candidates {
            doc_freq: vec![0; query.ranked_terms().len()],
            ranked_texts: query.ranked_terms().len(),
            clause_lens: query.clauses().iter().map(Vec::len).collect(),
            ..Candidates::default()
        };
        for segment in &self.segments {
            candidates.segment_starts.push(candidates.docs.len());
            let mut matcher = SegmentMatcher::new(segment, query, &conditions, file_lookup);
            for start in (0..segment.count).step_by(WINDOW_DOCS as usize) {
                let end = start.saturating_add(WINDOW_DOCS).min(segment.count);
                if let Some(matches) = matcher.match_window(start..end)? {
                    candidates.add_window(start, &matches, &matcher);
                }
            }
        }
        Ok(candidates)
    }

    /// Returns the id of the file that contains a candidate. Returns `None` if the candidate does not exist.
    pub(crate) fn file_id(&self, candidates: &Candidates, candidate: u32) -> Option<u64> {
        let (segment, doc) = self.locate(candidates, candidate)?;
        segment.file_of(doc)
    }

    /// Returns the id of the file that contains a candidate, and the span of its line in that file.
    pub(crate) fn read_span(
        &self,
        candidates: &Candidates,
        candidate: u32,
    ) -> Result<(u64, LineSpan), IndexError> {
        let (segment, doc) = self.locate(candidates, candidate).ok_or(IndexError::Corrupt)?;
        Ok((segment.file_of(doc).ok_or(IndexError::Corrupt)?, segment.read_span(doc)?))
    }

    /// Returns the segment of a candidate and its doc id there. Returns `None` if the candidate does not exist.
    fn locate(&self, candidates: &Candidates, candidate: u32) -> Option<(&Segment, u32)> {
        let starts = &candidates.segment_starts;
        let idx = starts.partition_point(|start| *start <= candidate as usize).checked_sub(1)?;
        Some((self.segments.get(idx)?, *candidates.docs.get(candidate as usize)?))
    }

    /// Reads the deduplication keys of all candidates, in order.
    pub(crate) fn read_keys(&self, candidates: &Candidates) -> Result<Vec<u64>, IndexError> {
        let mut keys = Vec::with_capacity(candidates.docs.len());
        for (idx, segment) in self.segments.iter().enumerate() {
            let end = candidates.segment_end(idx);
            let docs = candidates.segment_starts.get(idx).and_then(|start| candidates.docs.get(*start..end));
            segment.read_keys(docs.unwrap_or_default().iter().copied(), |key| keys.push(key))?;
        }
        Ok(keys)
    }

    /// Reads the times of the candidates in `wanted`, which must be sorted. A time is `None` if the entry has none.
    pub(crate) fn read_times(
        &self,
        candidates: &Candidates,
        wanted: &[u32],
    ) -> Result<Vec<Option<Timestamp>>, IndexError> {
        let mut times = Vec::with_capacity(wanted.len());
        let mut rest = wanted;
        for (idx, segment) in self.segments.iter().enumerate() {
            let end = candidates.segment_end(idx);
            let split = rest.partition_point(|candidate| (*candidate as usize) < end);
            let (in_segment, following) = rest.split_at(split);
            rest = following;
            let docs =
                in_segment.iter().filter_map(|candidate| candidates.docs.get(*candidate as usize).copied());
            segment.read_times(docs, |time| times.push(time))?;
        }
        Ok(times)
    }
}

impl Candidates {
    /// Returns the number of the first candidate after the segment with index `idx`.
    fn segment_end(&self, idx: usize) -> usize {
        self.segment_starts.get(idx + 1).copied().unwrap_or(self.docs.len())
    }

    /// Returns `true` if a candidate is a match, `false` if it may be one.
    pub(crate) fn is_match(&self, candidate: u32) -> bool {
        self.pattern_ids.get(candidate as usize).is_none_or(|id| *id == 0)
    }

    /// Returns `true` if the entry states that it was copied from another session.
    pub(crate) fn is_copied(&self, candidate: u32) -> bool {
        self.doc_infos.get(candidate as usize).is_some_and(|info| info.copied)
    }

    /// Computes the score of every candidate, in order. All are 0 if the query has no ranked texts.
    pub(crate) fn compute_scores(&self, scorer: &Scorer) -> Vec<u32> {
        let term_scores = |text: usize| {
            (0..=u8::MAX).map(|strength| scorer.term_score(text, decode_strength(strength))).collect()
        };
        let tables: Vec<Vec<f32>> = (0..self.ranked_texts).map(term_scores).collect();
        if tables.is_empty() {
            return vec![0; self.docs.len()];
        }
        let score = |(strengths, info): (&[u8], &DocInfo)| {
            let scores = strengths.iter().zip(&tables).map(|(strength, table)| table[usize::from(*strength)]);
            scorer.combine_scores(scores, info.sources, info.len)
        };
        self.strengths.chunks_exact(self.ranked_texts).zip(&self.doc_infos).map(score).collect()
    }

    /// Returns the clauses that the index could not decide for a candidate, with their undecided literals.
    pub(crate) fn unresolved(&self, candidate: u32) -> Unresolved {
        let id = self.pattern_ids.get(candidate as usize).copied().unwrap_or_default() as usize;
        let pattern = id.checked_sub(1).and_then(|idx| self.patterns.get(idx));
        let mut rest = pattern.map(Vec::as_slice).unwrap_or_default();
        let mut unresolved = Unresolved::default();
        for (clause, len) in self.clause_lens.iter().enumerate() {
            let (literals, following) = rest.split_at((*len).min(rest.len()));
            rest = following;
            if !literals.is_empty() && !literals.contains(&Ternary::Yes) {
                let undecided = (0..literals.len()).filter(|&idx| literals[idx] == Ternary::Maybe);
                unresolved.0.push(undecided.map(|idx| (clause, idx)).collect());
            }
        }
        unresolved
    }

    /// Adds the candidates and document frequencies of the window that starts at doc `start`.
    fn add_window(&mut self, start: u32, matches: &WindowMatches, matcher: &SegmentMatcher<'_, '_>) {
        for (count, strengths) in self.doc_freq.iter_mut().zip(&matches.strengths) {
            *count += strengths.iter().flatten().filter(|strength| **strength != 0).count();
        }
        let count = matches.values.iter().filter(|value| **value != Ternary::No).count();
        self.docs.reserve(count);
        self.doc_infos.reserve(count);
        self.strengths.reserve(count * self.ranked_texts);
        let mut pattern = Vec::new();
        for (idx, &value) in matches.values.iter().enumerate().filter(|(_, value)| **value != Ternary::No) {
            if value == Ternary::Maybe {
                let literals = matches.literals.iter();
                pattern.clear();
                pattern
                    .extend(literals.map(|values| values.as_ref().map_or(Ternary::No, |values| values[idx])));
                self.pattern_ids.resize(self.docs.len(), 0);
                let id = self.intern_pattern(&pattern);
                self.pattern_ids.push(id);
            }
            self.docs.push(start + idx as u32);
            self.doc_infos.push(matcher.doc_infos().get(idx).unwrap_or_default());
            for strengths in &matches.strengths {
                self.strengths.push(strengths.as_ref().map_or(0, |strengths| strengths[idx]));
            }
        }
    }

    /// Returns the index of a pattern plus one. Adds the pattern if it is new.
    fn intern_pattern(&mut self, pattern: &[Ternary]) -> u32 {
        if let Some(&last) = self.pattern_ids.last()
            && let Some(idx) = last.checked_sub(1)
            && self.patterns.get(idx as usize).is_some_and(|last_pattern| last_pattern == pattern)
        {
            return last;
        }
        if let Some(&id) = self.by_pattern.get(pattern) {
            return id;
        }
        self.patterns.push(pattern.to_vec());
        let id = self.patterns.len() as u32;
        self.by_pattern.insert(pattern.to_vec(), id);
        id
    }
}
