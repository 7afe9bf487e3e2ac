//! Answers the atoms of a query for a window of entries: for each a byte, no, perhaps, or yes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use rethread_core::entry::Timestamp;
use rethread_core::query::{
    CompiledQuery, ContextStatus, MatchKind, Predicate, Sources, SubwordSplit, TermCondition, TermPattern,
    TermPlan, has_part, is_tool,
};

use super::manifest::IndexedFile;
use super::postings_union::{PostingsUnion, weaker};
use super::segment::{DocInfoColumn, FIELDS, HEX_TERMS, SUBWORD_BOUNDARIES, Segment, WORDS, field};
use super::term_dictionary::TermDictionary;
use crate::cache::paged_file::IndexError;

pub(crate) const NO: u8 = 0;
pub(crate) const MAYBE: u8 = 1;
pub(crate) const YES: u8 = 2;

/// A segment with what was read of it so far, and the window of it that is asked about.
pub(crate) struct SegmentMatcher<'a, 'r> {
    segment: &'a Segment,
    meaning: &'a CompiledQuery,
    pub(crate) sought: &'a [WordCondition],
    row: &'a FileLookup<'r>,
    dictionaries: HashMap<usize, TermDictionary<'a>>,
    held: Vec<(Kind, TermPattern, PostingsUnion)>,
    window: Range<u32>,
    briefs: DocInfoColumn,
    /// Of each of the words and each of their clues, the cuts at which it may stand sewn together in any entry at all;
    /// nothing before that was asked.
    pub(crate) cuts: Vec<Vec<Vec<SubwordSplit>>>,
    /// Whether it is asked of the segment as a whole, as if that were a single entry that holds everything.
    whole: bool,
}

/// Finds the row of a file by its number.
pub(crate) type FileLookup<'r> = dyn Fn(u64) -> Option<&'r IndexedFile> + 'r;

/// What lists are of, which were looked up: terms, seams, or a field, whose part is its value.
pub(crate) type Kind = char;
const TERMS: Kind = 'T';
pub(crate) const SEWN: Kind = 'S';

/// Words that are looked for, or must not be there, and where a name that holds them may be cut.
pub(crate) struct WordCondition {
    /// The number of the atom, all groups taken together.
    atom: usize,
    not: bool,
    pub(crate) parts: TermPlan,
    /// For each clue.
    pub(crate) cuts: Vec<Vec<SubwordSplit>>,
}

impl WordCondition {
    /// Takes all words of a query.
    pub(crate) fn all(meaning: &CompiledQuery) -> Vec<WordCondition> {
        let atoms = meaning.groups().iter().flatten().enumerate();
        let sought = atoms.filter_map(|(no, atom)| match &atom.want {
            Predicate::Words(needle) => Some(WordCondition::of(no, atom.not, needle.text())),
            _ => None,
        });
        sought.collect()
    }

    fn of(atom: usize, not: bool, words: &str) -> WordCondition {
        let parts = TermPlan::of(words);
        let cuts = parts.clues.iter().map(|clue| match clue {
            TermCondition::Term(_) => Vec::new(),
            TermCondition::Name(part) => part.cuts(),
        });
        WordCondition { atom, not, cuts: cuts.collect(), parts }
    }
}

/// A byte for every entry of a window; `None` where all are zero.
type Column = Option<Vec<u8>>;

/// What a window says to a query.
pub(crate) struct WindowMatches {
    /// What each entry comes to.
    pub(crate) values: Vec<u8>,
    /// What each atom comes to, group by group.
    pub(crate) atoms: Vec<Column>,
    /// For each of the words: how strongly every entry holds it.
    pub(crate) strengths: Vec<Column>,
}

impl<'a, 'r> SegmentMatcher<'a, 'r> {
    pub(crate) fn of(
        segment: &'a Segment,
        meaning: &'a CompiledQuery,
        sought: &'a [WordCondition],
        row: &'a FileLookup<'r>,
    ) -> SegmentMatcher<'a, 'r> {
        let (dictionaries, held) = (HashMap::new(), Vec::new());
        let (window, briefs, cuts) = (0..0, DocInfoColumn::default(), Vec::new());
        SegmentMatcher {
            segment,
            meaning,
            sought,
            row,
            dictionaries,
            held,
            window,
            briefs,
            cuts,
            whole: false,
        }
    }

    /// Returns what is known of the entries of the window without their words.
    pub(crate) fn briefs(&self) -> &DocInfoColumn {
        &self.briefs
    }

    /// Asks about the next window; `None` where no entry of it holds any of the words that a hit must.
    pub(crate) fn match_window(&mut self, window: Range<u32>) -> Result<Option<WindowMatches>, IndexError> {
        if self.cuts.is_empty() {
            self.whole = true;
            self.cuts = self.possible_cuts()?;
            self.whole = false;
        }
        self.window = window;
        if self.can_skip_window()? {
            return Ok(None);
        }
        self.briefs = self.segment.briefs(&self.window)?;
        let base = self.searchable_mask();
        let mut values = base.clone();
        let (mut atoms, mut strengths) = (Vec::new(), Vec::new());
        for group in self.meaning.groups() {
            let mut any = vec![NO; values.len()];
            for atom in group {
                let (mut answer, strength) = self.atom(atoms.len(), &atom.want)?;
                if atom.not {
                    answer = Some(flip(answer.unwrap_or_else(|| self.all(NO))));
                } else if let Predicate::Words(_) = atom.want {
                    // What is not looked through does not count for how seldom a word is.
                    let looked = |base: u8| if base == NO { 0 } else { u8::MAX };
                    strengths.push(strength.map(|mut strength| {
                        strength
                            .iter_mut()
                            .zip(&base)
                            .for_each(|(strength, base)| *strength &= looked(*base));
                        strength
                    }));
                }
                answer.iter().for_each(|answer| or_assign(&mut any, answer));
                atoms.push(answer);
            }
            and_assign(&mut values, &any);
        }
        Ok(Some(WindowMatches { values, atoms, strengths }))
    }

    /// Whether neither a hit stands in the window, nor an entry that counts for how seldom a word is.
    fn can_skip_window(&mut self) -> Result<bool, IndexError> {
        if !self.meaning.needs_words() {
            return Ok(false);
        }
        for no in 0..self.sought.len() {
            if !self.sought[no].not && !self.cannot_match(no)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no entry of the window holds some words, or counts for them.
    fn cannot_match(&mut self, no: usize) -> Result<bool, IndexError> {
        let parts = &self.sought[no].parts;
        let mut ranked = !parts.rank.is_empty();
        for part in &parts.rank {
            ranked &= self.reaches(TERMS, part)?;
        }
        if ranked || parts.clues.is_empty() {
            return Ok(false);
        }
        for (k, clue) in parts.clues.iter().enumerate() {
            let (TermCondition::Term(part) | TermCondition::Name(part)) = clue;
            if !self.reaches(TERMS, part)? && !self.reaches_seams(no, k)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn all(&self, value: u8) -> Vec<u8> {
        vec![value; if self.whole { 1 } else { self.window.len() }]
    }

    /// Says of every entry whether it is looked through at all: its file is there, and somebody speaks who may.
    fn searchable_mask(&self) -> Vec<u8> {
        let mut values = self.by_file(|_| true);
        let sources = self.meaning.sources();
        for (value, speaking) in values.iter_mut().zip(self.briefs.sources()) {
            *value *= u8::from(speaking.meets(sources));
        }
        values
    }

    fn by_file(&self, holds: impl Fn(&IndexedFile) -> bool) -> Vec<u8> {
        let mut values = self.all(NO);
        for stretch in self.segment.stretches_in(&self.window) {
            if (self.row)(stretch.file).is_some_and(&holds) {
                let (first, end) = (stretch.first, stretch.first + stretch.count);
                let inside = |entry: u32| {
                    (entry.clamp(self.window.start, self.window.end) - self.window.start) as usize
                };
                values[inside(first)..inside(end)].fill(YES);
            }
        }
        values
    }

    fn by_source(&self, sources: Sources) -> Vec<u8> {
        self.briefs.sources().map(|speaking| if speaking.meets(sources) { YES } else { NO }).collect()
    }

    fn by_time(&self, holds: impl Fn(Timestamp) -> bool) -> Result<Vec<u8>, IndexError> {
        let mut values = Vec::with_capacity(self.window.len());
        let each = |time: Option<Timestamp>| values.push(if time.is_some_and(&holds) { YES } else { NO });
        self.segment.times(self.window.clone(), each)?;
        Ok(values)
    }

    /// Answers an atom; of words also how strongly each entry holds them.
    fn atom(&mut self, no: usize, want: &Predicate) -> Result<(Column, Column), IndexError> {
        let answer = match want {
            Predicate::Words(_) => match self.sought.iter().position(|sought| sought.atom == no) {
                Some(no) => return self.words(no),
                None => self.all(MAYBE),
            },
            Predicate::Pattern(_) => self.all(MAYBE),
            Predicate::Role(sources) => self.by_source(*sources),
            Predicate::Tool(name) => self.field(field::TOOL, name, is_tool)?,
            Predicate::File(part) => self.field(field::FILE, part, has_part)?,
            Predicate::Model(part) => self.field(field::MODEL, part, has_part)?,
            Predicate::Branch(part) => self.field(field::BRANCH, part, has_part)?,
            Predicate::Error(true) => self.field(field::ERROR, "", |_, _| true)?,
            Predicate::Error(false) => flip(self.field(field::ERROR, "", |_, _| true)?),
            Predicate::Since(moment) => self.by_time(|time| time >= *moment)?,
            Predicate::Until(moment) => self.by_time(|time| time < *moment)?,
            Predicate::Session(id) => self.by_file(|row| row.origin.session.starts_with(id.as_str())),
            Predicate::Project(part) => {
                let folder =
                    |row: &IndexedFile| row.path.parent().map(|folder| folder.to_string_lossy().into_owned());
                self.by_file(|row| {
                    has_part(&row.origin.cwd, part)
                        || folder(row).is_some_and(|folder| has_part(&folder, part))
                })
            }
            Predicate::Is(label) => {
                let mut agents = self.by_file(|row| row.agent);
                or_assign(&mut agents, &self.field(field::SIDE, "", |_, _| true)?);
                // Of the others only the tree knows.
                let other = |agent: u8| if agent == YES { NO } else { MAYBE };
                match label {
                    ContextStatus::Subagent => agents,
                    _ => agents.into_iter().map(other).collect(),
                }
            }
        };
        Ok((Some(answer), None))
    }

    /// Answers for words: which entries hold all that must be there, and how strongly.
    fn words(&mut self, no: usize) -> Result<(Column, Column), IndexError> {
        let parts = &self.sought[no].parts;
        let mut strengths: Option<Vec<u8>> = None;
        for (k, part) in parts.rank.iter().enumerate() {
            let found = self.terms(part)?;
            strengths = match (strengths, found) {
                (Some(mut known), Some(found)) => {
                    known.iter_mut().zip(&found).for_each(|(one, other)| *one = weaker(*one, *other));
                    Some(known)
                }
                (None, found) if k == 0 => found,
                _ => None,
            };
        }
        let mut values = self.all(if parts.is_conclusive { YES } else { MAYBE });
        for (k, clue) in parts.clues.iter().enumerate() {
            let (TermCondition::Term(part) | TermCondition::Name(part)) = clue;
            let mut answer = self.terms(part)?.map(found);
            let cuts = std::mem::take(&mut self.cuts[no][k]);
            self.match_across_splits(part, &cuts, &mut answer)?;
            self.cuts[no][k] = cuts;
            let Some(answer) = answer else { return Ok((None, strengths)) };
            and_assign(&mut values, &answer);
        }
        let sources = self.meaning.sources();
        for (value, speaking) in values.iter_mut().zip(self.briefs.sources()) {
            // Where others speak too, the words may be theirs.
            *value = (*value).min(if speaking.is_within(sources) { YES } else { MAYBE });
        }
        Ok((Some(values), strengths))
    }

    /// Answers for a field: which entries have a value of which something holds.
    fn field(
        &mut self,
        prefix: Kind,
        value: &str,
        holds: impl Fn(&str, &str) -> bool,
    ) -> Result<Vec<u8>, IndexError> {
        let part = TermPattern { text: value.to_owned(), open_left: true, open_right: true };
        if self.known(prefix, &part).is_none() {
            let is_it = |term: &str| term.strip_prefix(prefix).is_some_and(|known| holds(known, value));
            let terms = self.dictionary(FIELDS)?.select(is_it);
            let mut held = PostingsUnion::default();
            held.add(FIELDS, terms.into_iter().map(|no| (no, MatchKind::Whole)).collect());
            self.held.push((prefix, part.clone(), held));
        }
        Ok(self.strengths(prefix, &part)?.map_or_else(|| self.all(NO), found))
    }

    /// Says how strongly every entry of the window holds the terms that fit a part; `None` where none does.
    pub(crate) fn terms(&mut self, part: &TermPattern) -> Result<Option<Vec<u8>>, IndexError> {
        self.strengths(TERMS, part)
    }

    pub(crate) fn strengths(
        &mut self,
        kind: Kind,
        part: &TermPattern,
    ) -> Result<Option<Vec<u8>>, IndexError> {
        let no = self.look_up(kind, part)?;
        if self.whole {
            return Ok(self.held[no].2.has_postings().then(|| self.all(YES)));
        }
        let count = self.segment.count;
        for (first, terms) in self.held[no].2.unread() {
            let mut held = std::mem::take(&mut self.held[no].2);
            held.read(self.dictionary(first)?, &terms, count)?;
            self.held[no].2 = held;
        }
        self.held[no].2.strengths(&self.window, count)
    }

    pub(crate) fn reaches(&mut self, kind: Kind, part: &TermPattern) -> Result<bool, IndexError> {
        let no = self.look_up(kind, part)?;
        Ok(self.held[no].2.reaches(&self.window))
    }

    fn known(&self, kind: Kind, part: &TermPattern) -> Option<usize> {
        self.held.iter().position(|(known, of, _)| *known == kind && of == part)
    }

    /// Looks the lists of a part up, if that was not done yet; returns which they are.
    fn look_up(&mut self, kind: Kind, part: &TermPattern) -> Result<usize, IndexError> {
        if let Some(no) = self.known(kind, part) {
            return Ok(no);
        }
        let sections: &[usize] = match kind {
            SEWN => &[SUBWORD_BOUNDARIES],
            _ if part.is_figure() => &[WORDS, HEX_TERMS],
            _ => &[WORDS],
        };
        let mut held = PostingsUnion::default();
        for &first in sections {
            held.add(first, self.dictionary(first)?.find(part));
        }
        self.held.push((kind, part.clone(), held));
        Ok(self.held.len() - 1)
    }

    fn dictionary(&mut self, first: usize) -> Result<&TermDictionary<'a>, IndexError> {
        match self.dictionaries.entry(first) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(slot) => Ok(slot.insert(self.segment.dictionary(first)?)),
        }
    }
}

/// Turns strengths into answers.
pub(crate) fn found(mut strengths: Vec<u8>) -> Vec<u8> {
    strengths.iter_mut().for_each(|value| *value = if *value == 0 { NO } else { YES });
    strengths
}

pub(crate) fn or_assign(values: &mut [u8], other: &[u8]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value = (*value).max(*other));
}

pub(crate) fn and_assign(values: &mut [u8], other: &[u8]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value = (*value).min(*other));
}

fn flip(mut values: Vec<u8>) -> Vec<u8> {
    values.iter_mut().for_each(|value| *value = YES - *value);
    values
}
