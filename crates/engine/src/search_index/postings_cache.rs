//! The dictionaries and postings of one segment, opened on first use and read one window of docs at a time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use rethread_core::query::{MatchKind, TermPattern};

use super::postings_union::PostingsUnion;
use super::segment::{FIELDS, HEX_TERMS, SUBWORD_BOUNDARIES, Segment, WORDS};
use super::term_dictionary::TermDictionary;
use super::ternary::{Ternary, from_strengths};
use crate::cache::IndexError;

/// The kind of terms a pattern is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostingsKind {
    /// Words and hexadecimal numbers.
    Terms,
    /// The characters around the splits of identifiers.
    SubwordBoundaries,
    /// The values of the field with this prefix.
    Field(char),
}

/// The postings of all patterns of a query in one segment, with the window that is being matched.
pub(crate) struct PostingsCache<'a> {
    segment: &'a Segment,
    /// The opened dictionaries, by first section.
    dictionaries: HashMap<usize, TermDictionary<'a>>,
    /// The posting lists of each pattern matched so far.
    unions: Vec<(PostingsKind, TermPattern, PostingsUnion)>,
    window: Range<u32>,
    /// Whether the segment is matched as if it were a single doc that contains all of its terms. Set before the first
    /// window.
    whole_segment: bool,
}

impl<'a> PostingsCache<'a> {
    pub(crate) fn new(segment: &'a Segment) -> PostingsCache<'a> {
        PostingsCache {
            segment,
            dictionaries: HashMap::new(),
            unions: Vec::new(),
            window: 0..0,
            whole_segment: true,
        }
    }

    /// Sets the window of docs to match. Windows must be set in order.
    pub(crate) fn set_window(&mut self, window: Range<u32>) {
        self.window = window;
        self.whole_segment = false;
    }

    pub(crate) fn window(&self) -> &Range<u32> {
        &self.window
    }

    /// Returns a column with the same value for every doc of the window.
    pub(crate) fn fill_column<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; if self.whole_segment { 1 } else { self.window.len() }]
    }

    /// Returns the match strength of a pattern of words for every doc of the window. Returns `None` if none matches.
    pub(crate) fn match_terms(&mut self, pattern: &TermPattern) -> Result<Option<Vec<u8>>, IndexError> {
        self.match_pattern(PostingsKind::Terms, pattern)
    }

    /// Returns the match strength of a pattern for every doc of the window. Returns `None` if none matches.
    pub(crate) fn match_pattern(
        &mut self,
        kind: PostingsKind,
        pattern: &TermPattern,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        let idx = self.find_or_open(kind, pattern)?;
        if self.whole_segment {
            return Ok(self.unions[idx].2.has_postings().then(|| self.fill_column(u8::MAX)));
        }
        let PostingsCache { segment, dictionaries, unions, window, .. } = self;
        let union = &mut unions[idx].2;
        for (section, terms) in union.take_unread() {
            union.read_postings(open_dictionary(dictionaries, segment, section)?, &terms, segment.count)?;
        }
        union.read_strengths(window, segment.count)
    }

    /// Returns for each doc of the window whether a value of the field satisfies `holds(field_value, value)`: `Yes` or `No`.
    ///
    /// `prefix` identifies the field. It must always be used with the same `holds`, because results are cached.
    pub(crate) fn match_field(
        &mut self,
        prefix: char,
        value: &str,
        holds: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<Ternary>, IndexError> {
        let kind = PostingsKind::Field(prefix);
        let pattern = TermPattern { text: value.to_owned(), open_left: true, open_right: true };
        if self.find_union(kind, &pattern).is_none() {
            let holds = |term: &str| term.strip_prefix(prefix).is_some_and(|term| holds(term, value));
            let terms = open_dictionary(&mut self.dictionaries, self.segment, FIELDS)?.filter_terms(holds);
            let mut union = PostingsUnion::default();
            union.add_terms(FIELDS, terms.into_iter().map(|term| (term, MatchKind::Exact)).collect());
            self.unions.push((kind, pattern.clone(), union));
        }
        let strengths = self.match_pattern(kind, &pattern)?;
        Ok(strengths.map_or_else(|| self.fill_column(Ternary::No), from_strengths))
    }

    /// Returns `false` if no doc of the window matches a pattern. `true` is not certain.
    pub(crate) fn may_match(
        &mut self,
        kind: PostingsKind,
        pattern: &TermPattern,
    ) -> Result<bool, IndexError> {
        let idx = self.find_or_open(kind, pattern)?;
        Ok(self.unions[idx].2.may_reach(&self.window))
    }

    /// Returns the index in `unions` of a pattern. Returns `None` before its first use.
    fn find_union(&self, kind: PostingsKind, pattern: &TermPattern) -> Option<usize> {
        self.unions
            .iter()
            .position(|(union_kind, union_pattern, _)| *union_kind == kind && union_pattern == pattern)
    }

    /// Returns the index in `unions` of a pattern. Finds its terms in the dictionaries on first use.
    fn find_or_open(&mut self, kind: PostingsKind, pattern: &TermPattern) -> Result<usize, IndexError> {
        if let Some(idx) = self.find_union(kind, pattern) {
            return Ok(idx);
        }
        let sections: &[usize] = match kind {
            PostingsKind::SubwordBoundaries => &[SUBWORD_BOUNDARIES],
            _ if pattern.may_be_hex() => &[WORDS, HEX_TERMS],
            _ => &[WORDS],
        };
        let mut union = PostingsUnion::default();
        for &section in sections {
            let dictionary = open_dictionary(&mut self.dictionaries, self.segment, section)?;
            union.add_terms(section, dictionary.find_terms(pattern));
        }
        self.unions.push((kind, pattern.clone(), union));
        Ok(self.unions.len() - 1)
    }
}

/// Returns the dictionary that starts at `section`. Reads it on first use.
fn open_dictionary<'d, 'a>(
    dictionaries: &'d mut HashMap<usize, TermDictionary<'a>>,
    segment: &'a Segment,
    section: usize,
) -> Result<&'d TermDictionary<'a>, IndexError> {
    match dictionaries.entry(section) {
        Entry::Occupied(opened) => Ok(opened.into_mut()),
        Entry::Vacant(slot) => Ok(slot.insert(segment.open_dictionary(section)?)),
    }
}
