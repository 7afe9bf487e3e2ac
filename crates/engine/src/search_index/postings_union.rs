//! A union of posting lists, read one window of docs at a time: frequent terms need no more memory than rare ones.

use std::ops::Range;

use rethread_core::query::{MatchKind, TermMatch};

use super::postings_builder::for_each_posting;
use super::term_dictionary::TermDictionary;
use super::varint;
use crate::cache::IndexError;

/// With more posting lists than this, all lists are read at once instead of window by window.
const MAX_CURSORS: usize = 64;

/// A union of the posting lists of all terms matching one pattern, with the best match strength per doc.
#[derive(Debug, Default)]
pub(crate) struct PostingsUnion {
    /// The terms without loaded posting lists, by the first section of their dictionary: term numbers and match kinds.
    unread: Vec<(usize, Vec<(u32, MatchKind)>)>,
    /// The concatenated posting lists.
    lists: Vec<u8>,
    cursors: Vec<PostingCursor>,
    /// One strength per doc of the segment. Used instead of cursors if there are many lists.
    dense: Vec<u8>,
    /// The window the cursors are positioned at.
    window: Range<u32>,
}

/// A position in a posting list.
#[derive(Debug)]
struct PostingCursor {
    kind: MatchKind,
    /// The end of the list in `lists`.
    end: usize,
    /// The positions at the start and at the end of the window.
    window_start: PostingPos,
    window_end: PostingPos,
}

/// A posting: the doc, the term count in it, and the offset of the next posting.
#[derive(Debug, Clone, Copy)]
struct PostingPos {
    doc: u32,
    count: u8,
    next: usize,
}

/// The doc id at the end of a list. No segment has that many docs.
const TERMINATED: u32 = u32::MAX;

impl PostingsUnion {
    /// Adds terms of a dictionary, sorted by term number. `section` is the first section of the dictionary.
    pub(crate) fn add_terms(&mut self, section: usize, terms: Vec<(u32, MatchKind)>) {
        if !terms.is_empty() {
            self.unread.push((section, terms));
        }
    }

    /// Returns `true` if any doc of the segment matches.
    pub(crate) fn has_postings(&self) -> bool {
        !self.unread.is_empty() || !self.cursors.is_empty() || !self.dense.is_empty()
    }

    /// Removes and returns the terms without loaded posting lists: for each dictionary its first section, and the numbers
    /// and match kinds of its terms.
    pub(crate) fn take_unread(&mut self) -> Vec<(usize, Vec<(u32, MatchKind)>)> {
        std::mem::take(&mut self.unread)
    }

    /// Reads the posting lists of terms, given by number and match kind. `doc_count` is the number of docs in the segment.
    pub(crate) fn read_postings(
        &mut self,
        dictionary: &TermDictionary<'_>,
        terms: &[(u32, MatchKind)],
        doc_count: u32,
    ) -> Result<(), IndexError> {
        let numbers: Vec<u32> = terms.iter().map(|(number, _)| *number).collect();
        if self.dense.is_empty() && self.cursors.len() + terms.len() > MAX_CURSORS {
            self.dense = vec![0; doc_count as usize];
            for cursor in std::mem::take(&mut self.cursors) {
                let list = &self.lists[cursor.window_start.next..cursor.end];
                add_to_dense(list, cursor.kind, &mut self.dense)?;
            }
        }
        let mut result = Ok(());
        dictionary.read_postings(&numbers, |idx, list| {
            let kind = terms[idx].1;
            if !self.dense.is_empty() {
                if result.is_ok() {
                    result = add_to_dense(list, kind, &mut self.dense);
                }
                return;
            }
            let start = PostingPos { doc: 0, count: 0, next: self.lists.len() };
            self.lists.extend_from_slice(list);
            let end = self.lists.len();
            self.cursors.push(PostingCursor { kind, end, window_start: start, window_end: start });
        })?;
        result
    }

    /// Returns `false` if no doc of the window matches. `true` is not certain.
    pub(crate) fn may_reach(&self, window: &Range<u32>) -> bool {
        let dense = self.dense.get(window.start as usize..window.end as usize).unwrap_or_default();
        !self.unread.is_empty()
            || self.cursors.iter().any(|cursor| cursor.window_end.doc < window.end)
            || dense.iter().any(|strength| *strength != 0)
    }

    /// Returns the match strength of every doc of a window, 0 for no match. Returns `None` if no doc matches.
    ///
    /// All terms must have been read. Windows must be requested in order, but each may be requested more than once.
    pub(crate) fn read_strengths(
        &mut self,
        window: &Range<u32>,
        doc_count: u32,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        if !self.dense.is_empty() {
            let strengths = self.dense.get(window.start as usize..window.end as usize);
            let strengths = strengths.ok_or(IndexError::Corrupt)?;
            return Ok(strengths.iter().any(|strength| *strength != 0).then(|| strengths.to_vec()));
        }
        let is_new_window = self.window != *window;
        self.window = window.clone();
        let mut strengths = Vec::new();
        for cursor in &mut self.cursors {
            if is_new_window {
                cursor.window_start = cursor.window_end;
            }
            let mut pos = cursor.window_start;
            while pos.doc < window.end {
                // The count is 0 before the first posting is read. Docs before the window are skipped.
                if pos.count > 0 && pos.doc >= window.start {
                    strengths.resize(window.len(), 0);
                    let strength: &mut u8 = &mut strengths[(pos.doc - window.start) as usize];
                    *strength = add_posting(*strength, cursor.kind, pos.count);
                }
                pos = pos.advance(&self.lists[..cursor.end], doc_count)?;
            }
            cursor.window_end = pos;
        }
        Ok((!strengths.is_empty()).then_some(strengths))
    }
}

impl PostingPos {
    /// Returns the next posting of the list, which ends where `lists` ends. Its doc is `TERMINATED` at the end.
    #[inline]
    fn advance(self, lists: &[u8], doc_count: u32) -> Result<PostingPos, IndexError> {
        let mut rest = &lists[self.next..];
        if rest.is_empty() {
            return Ok(PostingPos { doc: TERMINATED, ..self });
        }
        let number = varint::read(&mut rest).ok_or(IndexError::Corrupt)?;
        let step = u32::try_from(number >> 2).map_err(|_| IndexError::Corrupt)?;
        let doc = self.doc.checked_add(step).filter(|doc| *doc < doc_count).ok_or(IndexError::Corrupt)?;
        Ok(PostingPos { doc, count: (number & 3) as u8 + 1, next: lists.len() - rest.len() })
    }
}

/// Adds a posting list to the strengths of all docs.
fn add_to_dense(list: &[u8], kind: MatchKind, dense: &mut [u8]) -> Result<(), IndexError> {
    let mut is_in_bounds = true;
    let result = for_each_posting(list, |doc, count| match dense.get_mut(doc as usize) {
        Some(strength) => *strength = add_posting(*strength, kind, count),
        None => is_in_bounds = false,
    });
    result.filter(|()| is_in_bounds).ok_or(IndexError::Corrupt)
}

// A match strength in one byte: the match kind in the upper bits, the count in the lower three, 0 for no match.

/// Returns a match strength after a further match in the same doc: the better kind, and the sum of the counts up to 4.
fn add_posting(strength: u8, kind: MatchKind, count: u8) -> u8 {
    let count = ((strength & 7) + count).min(TermMatch::MAX_COUNT);
    (strength >> 3).max(kind as u8) << 3 | count
}

/// Returns the smaller match kind with the smaller count of two strengths, or 0 if one of them is 0.
pub(crate) fn min_strength(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    (a >> 3).min(b >> 3) << 3 | (a & 7).min(b & 7)
}

/// Decodes a match strength. Returns `None` for no match.
#[inline]
pub(crate) fn decode_strength(strength: u8) -> Option<TermMatch> {
    let kind = match strength >> 3 {
        0 => MatchKind::Substring,
        1 => MatchKind::Prefix,
        _ => MatchKind::Exact,
    };
    (strength != 0).then_some(TermMatch { kind, count: strength & 7 })
}
