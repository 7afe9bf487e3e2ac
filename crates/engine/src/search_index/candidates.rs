//! Asks an index which entries a query could mean.
//!
//! ```text
//! segment ─▶ window ─ballot─▶ no, perhaps or yes for every entry ─▶ candidates, column by column
//! ```
//!
//! Perhaps is what only the text can tell, or what the index does not know. Nothing is held of all entries at once: a
//! candidate costs a few bytes, whoever is none costs nothing.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;
use rethread_core::query::{CompiledQuery, Scorer, Unresolved};
use rethread_core::tree::LineSpan;

use super::matcher::{FileLookup, MAYBE, NO, SegmentMatcher, WindowMatches, WordCondition, YES};
use super::postings_union::strength;
use super::segment::{DocInfo, Segment};
use super::store::IndexReader;
use crate::cache::paged_file::IndexError;

/// Entries that are asked about at once.
const WINDOW: u32 = 16 << 10;

/// What an index says to a query: its candidates by their numbers, those that are hits and those that could be.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// For each of the words by which hits are ranked, how many entries hold it.
    pub(crate) doc_freq: Vec<usize>,
    /// The number of the first candidate of each segment.
    first: Vec<usize>,
    /// Which entries of their segments the candidates are, and what is known of them.
    entries: Vec<u32>,
    briefs: Vec<DocInfo>,
    /// How strongly they hold each of the words: so many bytes for each of them.
    strengths: Vec<u8>,
    words: usize,
    /// What is open about them: which of the patterns, from 1; nothing is open about those behind its end.
    open: Vec<u32>,
    /// What the atoms came to, group by group, where that left something open.
    patterns: Vec<Vec<u8>>,
    by_pattern: HashMap<Vec<u8>, u32>,
    /// How many atoms each group has.
    groups: Vec<usize>,
}

impl IndexReader {
    /// Asks every segment; `row` knows the rows of files by their numbers. Entries of others are left out.
    pub(crate) fn search(
        &self,
        meaning: &CompiledQuery,
        row: &FileLookup<'_>,
    ) -> Result<Candidates, IndexError> {
        let sought = WordCondition::all(meaning);
        let mut answer = Candidates {
            doc_freq: vec![0; meaning.words().len()],
            words: meaning.words().len(),
            groups: meaning.groups().iter().map(Vec::len).collect(),
            ..Candidates::default()
        };
        for segment in &self.segments {
            answer.first.push(answer.entries.len());
            let mut ballot = SegmentMatcher::of(segment, meaning, &sought, row);
            for start in (0..segment.count).step_by(WINDOW as usize) {
                let end = start.saturating_add(WINDOW).min(segment.count);
                if let Some(vote) = ballot.match_window(start..end)? {
                    answer.count(start, &vote, &ballot);
                }
            }
        }
        Ok(answer)
    }

    /// Says which file the entry of a candidate stands in, by its number.
    pub(crate) fn file(&self, answer: &Candidates, candidate: u32) -> Option<u64> {
        let (segment, entry) = self.at(answer, candidate)?;
        segment.file_of(entry)
    }

    /// Says where the entry of a candidate stands.
    pub(crate) fn place(&self, answer: &Candidates, candidate: u32) -> Result<(u64, LineSpan), IndexError> {
        let (segment, entry) = self.at(answer, candidate).ok_or(IndexError::Changed)?;
        Ok((segment.file_of(entry).ok_or(IndexError::Changed)?, segment.place(entry)?))
    }

    fn at(&self, answer: &Candidates, candidate: u32) -> Option<(&Segment, u32)> {
        let no = answer.first.partition_point(|first| *first <= candidate as usize).checked_sub(1)?;
        Some((self.segments.get(no)?, *answer.entries.get(candidate as usize)?))
    }

    /// Reads the keys of all candidates.
    pub(crate) fn keys(&self, answer: &Candidates) -> Result<Vec<u64>, IndexError> {
        let mut keys = Vec::with_capacity(answer.entries.len());
        for (no, segment) in self.segments.iter().enumerate() {
            let end = answer.first.get(no + 1).copied().unwrap_or(answer.entries.len());
            let entries = answer.first.get(no).and_then(|first| answer.entries.get(*first..end));
            segment.keys(entries.unwrap_or_default().iter().copied(), |key| keys.push(key))?;
        }
        Ok(keys)
    }

    /// Reads the times of some candidates, whose numbers are in order.
    pub(crate) fn times(
        &self,
        answer: &Candidates,
        candidates: &[u32],
    ) -> Result<Vec<Option<Timestamp>>, IndexError> {
        let mut times = Vec::with_capacity(candidates.len());
        let mut rest = candidates;
        for (no, segment) in self.segments.iter().enumerate() {
            let end = answer.first.get(no + 1).copied().unwrap_or(answer.entries.len());
            let (here, behind) = rest.split_at(rest.partition_point(|candidate| (*candidate as usize) < end));
            rest = behind;
            let entries =
                here.iter().filter_map(|candidate| answer.entries.get(*candidate as usize).copied());
            segment.times(entries, |time| times.push(time))?;
        }
        Ok(times)
    }
}

impl Candidates {
    /// Whether a candidate is a hit for sure.
    pub(crate) fn is_sure(&self, candidate: u32) -> bool {
        self.open.get(candidate as usize).is_none_or(|pattern| *pattern == 0)
    }

    /// Whether a candidate says that it was copied.
    pub(crate) fn is_copied(&self, candidate: u32) -> bool {
        self.briefs.get(candidate as usize).is_some_and(|brief| brief.copied)
    }

    /// Says how good every candidate is.
    pub(crate) fn scores(&self, scale: &Scorer) -> Vec<u32> {
        let part = |word: usize| (0..=u8::MAX).map(|byte| scale.part(word, strength(byte))).collect();
        let parts: Vec<Vec<f32>> = (0..self.words).map(part).collect();
        if parts.is_empty() {
            return vec![0; self.entries.len()];
        }
        let strengths = self.strengths.chunks_exact(self.words).zip(&self.briefs);
        let score = |(strengths, brief): (&[u8], &DocInfo)| {
            let parts = strengths.iter().zip(&parts).map(|(byte, part)| part[usize::from(*byte)]);
            scale.total(parts, brief.sources, brief.len)
        };
        strengths.map(score).collect()
    }

    /// Says what only the text or the tree can tell of a candidate.
    pub(crate) fn open(&self, candidate: u32) -> Unresolved {
        let pattern = self.open.get(candidate as usize).copied().unwrap_or_default() as usize;
        let pattern = pattern.checked_sub(1).and_then(|no| self.patterns.get(no));
        let mut rest = pattern.map(Vec::as_slice).unwrap_or_default();
        let mut open = Unresolved::default();
        for (group, count) in self.groups.iter().enumerate() {
            let (atoms, behind) = rest.split_at((*count).min(rest.len()));
            rest = behind;
            if !atoms.is_empty() && !atoms.contains(&YES) {
                let perhaps = (0..atoms.len()).filter(|&atom| atoms[atom] == MAYBE);
                open.0.push(perhaps.map(|atom| (group, atom)).collect());
            }
        }
        open
    }

    /// Takes the candidates of a window that begins at `start`.
    fn count(&mut self, start: u32, vote: &WindowMatches, ballot: &SegmentMatcher<'_, '_>) {
        for (count, strengths) in self.doc_freq.iter_mut().zip(&vote.strengths) {
            *count += strengths.iter().flatten().filter(|strength| **strength != 0).count();
        }
        let count = vote.values.iter().filter(|value| **value != NO).count();
        self.entries.reserve(count);
        self.briefs.reserve(count);
        self.strengths.reserve(count * self.words);
        let mut pattern = Vec::new();
        for (no, &value) in vote.values.iter().enumerate().filter(|(_, value)| **value != NO) {
            if value == MAYBE {
                pattern.clear();
                pattern.extend(vote.atoms.iter().map(|atom| atom.as_ref().map_or(NO, |atom| atom[no])));
                self.open.resize(self.entries.len(), 0);
                let known = self.pattern(&pattern);
                self.open.push(known);
            }
            self.entries.push(start + no as u32);
            self.briefs.push(ballot.briefs().get(no).unwrap_or_default());
            for strengths in &vote.strengths {
                self.strengths.push(strengths.as_ref().map_or(0, |strengths| strengths[no]));
            }
        }
    }

    /// Returns the number of a pattern, from 1.
    fn pattern(&mut self, pattern: &[u8]) -> u32 {
        if let Some(&last) = self.open.last()
            && last
                .checked_sub(1)
                .and_then(|no| self.patterns.get(no as usize))
                .is_some_and(|known| known == pattern)
        {
            return last;
        }
        if let Some(&known) = self.by_pattern.get(pattern) {
            return known;
        }
        self.patterns.push(pattern.to_vec());
        let no = self.patterns.len() as u32;
        self.by_pattern.insert(pattern.to_vec(), no);
        no
    }
}
