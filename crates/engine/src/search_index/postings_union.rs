//! Which entries hold something, read a window of entries at a time: what is common needs no more memory than what is rare.

use std::ops::Range;

use rethread_core::query::{MatchKind, TermMatch};

use super::term_dictionary::TermDictionary;
use super::varint;
use crate::cache::paged_file::IndexError;

/// More lists than this are not read side by side, but all at once.
const MANY: usize = 64;

/// How strongly the entries of a segment hold something, by the lists of the terms that fit.
#[derive(Debug, Default)]
pub(crate) struct PostingsUnion {
    /// The terms by the dictionaries they stand in, as long as nobody asked for their lists.
    terms: Vec<(usize, Vec<(u32, MatchKind)>)>,
    /// The lists, one behind the other, and how far each is read.
    lists: Vec<u8>,
    cursors: Vec<Cursor>,
    /// Where there are many lists: a byte for every entry of the segment instead.
    all: Vec<u8>,
    /// The window that the cursors stand at the beginning of.
    window: Range<u32>,
}

/// A list being read.
#[derive(Debug)]
struct Cursor {
    fit: MatchKind,
    /// Where in the bytes it ends.
    end: usize,
    /// Where it stands at the beginning of the window, and at its end.
    here: PostingPos,
    next: PostingPos,
}

/// The next entry of a list, how often it holds the term, and where the one behind it is.
#[derive(Debug, Clone, Copy)]
struct PostingPos {
    entry: u32,
    times: u8,
    at: usize,
}

/// The entry behind the last: no segment has so many.
const NONE: u32 = u32::MAX;

impl PostingsUnion {
    /// Takes terms of a dictionary, whose numbers are in order.
    pub(crate) fn add(&mut self, dictionary: usize, terms: Vec<(u32, MatchKind)>) {
        if !terms.is_empty() {
            self.terms.push((dictionary, terms));
        }
    }

    /// Whether any entry of the segment holds it.
    pub(crate) fn has_postings(&self) -> bool {
        !self.terms.is_empty() || !self.cursors.is_empty() || !self.all.is_empty()
    }

    /// Returns the terms whose lists are to be read before anything can be said of a window.
    pub(crate) fn unread(&mut self) -> Vec<(usize, Vec<(u32, MatchKind)>)> {
        std::mem::take(&mut self.terms)
    }

    /// Reads the lists of some terms; the segment has `count` entries.
    pub(crate) fn read(
        &mut self,
        dictionary: &TermDictionary<'_>,
        terms: &[(u32, MatchKind)],
        count: u32,
    ) -> Result<(), IndexError> {
        let numbers: Vec<u32> = terms.iter().map(|(no, _)| *no).collect();
        if self.all.is_empty() && self.cursors.len() + terms.len() > MANY {
            self.all = vec![0; count as usize];
            for cursor in std::mem::take(&mut self.cursors) {
                read_all(&self.lists[cursor.here.at..cursor.end], cursor.fit, &mut self.all)?;
            }
        }
        let mut sound = Ok(());
        dictionary.postings(&numbers, |no, list| {
            let fit = terms[no].1;
            if !self.all.is_empty() {
                sound =
                    std::mem::replace(&mut sound, Ok(())).and_then(|()| read_all(list, fit, &mut self.all));
                return;
            }
            let at = self.lists.len();
            self.lists.extend_from_slice(list);
            let here = PostingPos { entry: 0, times: 0, at };
            self.cursors.push(Cursor { fit, end: self.lists.len(), here, next: here });
        })?;
        sound
    }

    /// Whether an entry before the end of the window could hold it.
    pub(crate) fn reaches(&self, window: &Range<u32>) -> bool {
        let all = self.all.get(window.start as usize..window.end as usize).unwrap_or_default();
        !self.terms.is_empty()
            || self.cursors.iter().any(|cursor| cursor.next.entry < window.end)
            || all.iter().any(|held| *held != 0)
    }

    /// Says how strongly every entry of a window holds it; `None` where none does. Windows come in order, any of them more
    /// than once.
    pub(crate) fn strengths(
        &mut self,
        window: &Range<u32>,
        count: u32,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        if !self.all.is_empty() {
            let held = self.all.get(window.start as usize..window.end as usize).ok_or(IndexError::Changed)?;
            return Ok(held.iter().any(|held| *held != 0).then(|| held.to_vec()));
        }
        let moves = self.window != *window;
        self.window = window.clone();
        let mut strengths = Vec::new();
        for cursor in &mut self.cursors {
            if moves {
                cursor.here = cursor.next;
            }
            let mut spot = cursor.here;
            while spot.entry < window.end {
                // What was not read yet holds nothing, and neither does what stands before the window.
                if spot.times > 0 && spot.entry >= window.start {
                    strengths.resize(window.len(), 0);
                    let known: &mut u8 = &mut strengths[(spot.entry - window.start) as usize];
                    *known = stronger(*known, cursor.fit, spot.times);
                }
                spot = spot.advance(&self.lists[..cursor.end], count)?;
            }
            cursor.next = spot;
        }
        Ok((!strengths.is_empty()).then_some(strengths))
    }
}

impl PostingPos {
    /// Goes on to the entry behind it.
    #[inline]
    fn advance(self, lists: &[u8], count: u32) -> Result<PostingPos, IndexError> {
        let mut rest = &lists[self.at..];
        if rest.is_empty() {
            return Ok(PostingPos { entry: NONE, ..self });
        }
        let number = varint::take(&mut rest).ok_or(IndexError::Changed)?;
        let step = u32::try_from(number >> 2).map_err(|_| IndexError::Changed)?;
        let entry = self.entry.checked_add(step).filter(|entry| *entry < count).ok_or(IndexError::Changed)?;
        Ok(PostingPos { entry, times: (number & 3) as u8 + 1, at: lists.len() - rest.len() })
    }
}

/// Reads a list into what is known of every entry.
fn read_all(list: &[u8], fit: MatchKind, all: &mut [u8]) -> Result<(), IndexError> {
    let mut sound = true;
    let read = super::postings_builder::entries(list, |entry, times| match all.get_mut(entry as usize) {
        Some(known) => *known = stronger(*known, fit, times),
        None => sound = false,
    });
    read.filter(|()| sound).ok_or(IndexError::Changed)
}

// How strongly an entry holds some words, in a byte: the fit in the upper bits, the count in the lower, 0 for not at all.

fn stronger(known: u8, fit: MatchKind, times: u8) -> u8 {
    let count = ((known & 7) + times).min(TermMatch::MOST);
    (known >> 3).max(fit as u8) << 3 | count
}

/// Returns the weaker of two in each respect.
pub(crate) fn weaker(one: u8, other: u8) -> u8 {
    if one == 0 || other == 0 {
        return 0;
    }
    (one >> 3).min(other >> 3) << 3 | (one & 7).min(other & 7)
}

/// Reads such a byte.
#[inline]
pub(crate) fn strength(byte: u8) -> Option<TermMatch> {
    let fit = match byte >> 3 {
        0 => MatchKind::Inside,
        1 => MatchKind::Begin,
        _ => MatchKind::Whole,
    };
    (byte != 0).then_some(TermMatch { fit, count: byte & 7 })
}
