//! Asks an index which entries a query could mean.
//!
//! Every atom of a query is answered for all entries of a segment at once, by a byte each: no, perhaps, or yes. Perhaps is
//! what only the text can tell, or what the index does not know.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rethread_core::entry::Moment;
use rethread_core::query::{
    Clue, Cut, Fit, Label, Meaning, Open, Part, Parts, Strength, Want, has_part, is_tool, score,
};
use rethread_core::tree::Place;

use super::catalog::Row;
use super::dictionary::Dictionary;
use super::inverter::entries;
use super::pages::Damage;
use super::segment::{Brief, Briefs, FIELDS, FIGURES, SEAMS, Segment, WORDS, field};
use super::shelf::Snapshot;

const NO: u8 = 0;
const PERHAPS: u8 = 1;
const YES: u8 = 2;

/// What an index says to a query.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    segments: Vec<Ballot>,
    /// For each of the words by which hits are ranked, how many entries hold it.
    pub(crate) holding: Vec<usize>,
}

/// What one segment says.
#[derive(Debug)]
struct Ballot {
    values: Vec<u8>,
    /// What each atom of each group comes to.
    atoms: Vec<Vec<Vec<u8>>>,
    /// For each of the words: how strongly every entry holds it.
    strengths: Vec<Vec<u8>>,
    briefs: Briefs,
}

/// An entry that is a hit, or could be one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: u32,
    pub(crate) time: Option<Moment>,
    pub(crate) key: u64,
    /// Whether it says that it was copied.
    pub(crate) copied: bool,
    /// Whether it is a hit for sure.
    pub(crate) sure: bool,
    /// Which segment, and which entry in it.
    pub(crate) at: (u32, u32),
}

impl Snapshot {
    /// Asks every segment; entries of rows that are not `fresh` are left out.
    pub(crate) fn ask(&self, meaning: &Meaning, fresh: impl Fn(&Row) -> bool) -> Result<Answer, Damage> {
        let rows: HashMap<u64, &Row> =
            self.catalog.files.iter().filter(|row| fresh(row)).map(|row| (row.id, row)).collect();
        let mut holding = vec![0; meaning.words().len()];
        let ballots = self.segments.iter().map(|segment| {
            let ballot = Ballot::of(segment, meaning, &rows)?;
            for (count, strengths) in holding.iter_mut().zip(&ballot.strengths) {
                *count += strengths.iter().filter(|strength| **strength != 0).count();
            }
            Ok(ballot)
        });
        Ok(Answer { segments: ballots.collect::<Result<_, Damage>>()?, holding })
    }

    /// Says which file the entry of a candidate stands in, by its number.
    pub(crate) fn file(&self, candidate: &Candidate) -> Option<u64> {
        let (segment, entry) = candidate.at;
        self.segments.get(segment as usize)?.file_of(entry)
    }

    /// Says where the entry of a candidate stands.
    pub(crate) fn place(&self, candidate: &Candidate) -> Result<(u64, Place), Damage> {
        let (segment, entry) = candidate.at;
        let segment = self.segments.get(segment as usize).ok_or(Damage::Changed)?;
        Ok((segment.file_of(entry).ok_or(Damage::Changed)?, segment.place(entry)?))
    }
}

impl Snapshot {
    /// Returns every entry that is or could be a hit, with its score by the weights of the words.
    pub(crate) fn candidates(&self, answer: &Answer, weights: &[f32]) -> Result<Vec<Candidate>, Damage> {
        let mut candidates = Vec::new();
        for ((ballot, segment), no) in answer.segments.iter().zip(&self.segments).zip(0..) {
            let found = memchr::memchr2_iter(PERHAPS, YES, &ballot.values);
            let found: Vec<usize> = found.collect();
            if found.is_empty() {
                continue;
            }
            let numbers: Vec<u32> = found.iter().map(|&entry| entry as u32).collect();
            let (keys, times) = (segment.keys(&numbers)?, segment.times(&numbers)?);
            let mut strengths = vec![None; ballot.strengths.len()];
            candidates.extend(found.into_iter().zip(keys.into_iter().zip(times)).map(
                |(entry, (key, time))| {
                    for (strength, bytes) in strengths.iter_mut().zip(&ballot.strengths) {
                        *strength = read(bytes[entry]);
                    }
                    let brief = ballot.briefs.get(entry).unwrap_or_default();
                    Candidate {
                        score: score(&strengths, weights, brief.sources, brief.len),
                        time,
                        key,
                        copied: brief.copied,
                        sure: ballot.values[entry] == YES,
                        at: (no, entry as u32),
                    }
                },
            ));
        }
        Ok(candidates)
    }
}

impl Answer {
    /// Says what only the text or the tree can tell of a candidate.
    pub(crate) fn open(&self, candidate: &Candidate) -> Open {
        let (segment, entry) = candidate.at;
        let mut open = Open::default();
        let groups = self.segments.get(segment as usize).map(|ballot| &ballot.atoms[..]).unwrap_or_default();
        for (group, atoms) in groups.iter().enumerate() {
            let value = |atom: &Vec<u8>| atom[entry as usize];
            if !atoms.iter().any(|atom| value(atom) == YES) {
                let perhaps = (0..atoms.len()).filter(|&atom| value(&atoms[atom]) == PERHAPS);
                open.0.push(perhaps.map(|atom| (group, atom)).collect());
            }
        }
        open
    }
}

impl Ballot {
    fn of(segment: &Segment, meaning: &Meaning, rows: &HashMap<u64, &Row>) -> Result<Ballot, Damage> {
        let briefs = segment.briefs()?;
        let dictionaries = HashMap::new();
        let mut asked = Asked { segment, meaning, rows, briefs: &briefs, dictionaries };
        let base = asked.looked_through();
        let mut values = base.clone();
        let (mut atoms, mut strengths) = (Vec::new(), Vec::new());
        for group in meaning.groups() {
            let mut answers = Vec::new();
            let mut any = vec![NO; values.len()];
            for atom in group {
                let (mut answer, strength) = asked.atom(&atom.want)?;
                if atom.not {
                    answer.iter_mut().for_each(|value| *value = YES - *value);
                } else if let Some(mut strength) = strength {
                    // What is not looked through does not count for how seldom a word is.
                    let looked = |base: u8| if base == NO { 0 } else { u8::MAX };
                    strength.iter_mut().zip(&base).for_each(|(strength, base)| *strength &= looked(*base));
                    strengths.push(strength);
                }
                any.iter_mut().zip(&answer).for_each(|(any, value)| *any = (*any).max(*value));
                answers.push(answer);
            }
            atoms.push(answers);
            values.iter_mut().zip(&any).for_each(|(value, any)| *value = (*value).min(*any));
        }
        Ok(Ballot { values, atoms, strengths, briefs })
    }
}

/// A segment with what was read of it so far.
struct Asked<'a> {
    segment: &'a Segment,
    meaning: &'a Meaning,
    rows: &'a HashMap<u64, &'a Row>,
    briefs: &'a Briefs,
    dictionaries: HashMap<usize, Dictionary<'a>>,
}

impl<'a> Asked<'a> {
    /// Says of every entry whether it is looked through at all: its file is there, and somebody speaks who may.
    fn looked_through(&self) -> Vec<u8> {
        let mut values = self.by_file(|_| true);
        let sources = self.meaning.sources();
        for (value, brief) in values.iter_mut().zip(self.briefs.iter()) {
            *value *= u8::from(brief.sources.meets(sources));
        }
        values
    }

    fn by_file(&self, holds: impl Fn(&Row) -> bool) -> Vec<u8> {
        let mut values = vec![NO; self.segment.count as usize];
        for stretch in &self.segment.stretches {
            if self.rows.get(&stretch.file).is_some_and(|row| holds(row)) {
                let first = stretch.first as usize;
                values[first..first + stretch.count as usize].fill(YES);
            }
        }
        values
    }

    fn by_mark(&self, holds: impl Fn(&Brief) -> bool) -> Vec<u8> {
        self.briefs.iter().map(|brief| if holds(&brief) { YES } else { NO }).collect()
    }

    fn by_time(&self, holds: impl Fn(Moment) -> bool) -> Result<Vec<u8>, Damage> {
        let all: Vec<u32> = (0..self.segment.count).collect();
        let times = self.segment.times(&all)?;
        Ok(times.into_iter().map(|time| if time.is_some_and(&holds) { YES } else { NO }).collect())
    }

    /// Answers an atom; of words also how strongly each entry holds them.
    fn atom(&mut self, want: &Want) -> Result<(Vec<u8>, Option<Vec<u8>>), Damage> {
        let all = |value: u8| vec![value; self.segment.count as usize];
        let answer = match want {
            Want::Words(needle) => return self.words(&Parts::of(needle.text())),
            Want::Pattern(_) => all(PERHAPS),
            Want::Role(sources) => self.by_mark(|brief| brief.sources.meets(*sources)),
            Want::Tool(name) => self.field(field::TOOL, |tool| is_tool(tool, name))?,
            Want::File(part) => self.field(field::FILE, |file| has_part(file, part))?,
            Want::Model(part) => self.field(field::MODEL, |model| has_part(model, part))?,
            Want::Branch(part) => self.field(field::BRANCH, |branch| has_part(branch, part))?,
            Want::Error(true) => self.field(field::ERROR, |_| true)?,
            Want::Error(false) => flip(self.field(field::ERROR, |_| true)?),
            Want::Since(moment) => self.by_time(|time| time >= *moment)?,
            Want::Until(moment) => self.by_time(|time| time < *moment)?,
            Want::Session(id) => self.by_file(|row| row.origin.session.starts_with(id.as_str())),
            Want::Project(part) => {
                let folder =
                    |row: &Row| row.path.parent().map(|folder| folder.to_string_lossy().into_owned());
                self.by_file(|row| {
                    has_part(&row.origin.cwd, part)
                        || folder(row).is_some_and(|folder| has_part(&folder, part))
                })
            }
            Want::Is(label) => {
                let mut agents = self.by_file(|row| row.agent);
                let sides = self.field(field::SIDE, |_| true)?;
                agents.iter_mut().zip(&sides).for_each(|(agent, side)| *agent = (*agent).max(*side));
                // Of the others only the tree knows.
                let other = |agent: u8| if agent == YES { NO } else { PERHAPS };
                match label {
                    Label::Subagent => agents,
                    _ => agents.into_iter().map(other).collect(),
                }
            }
        };
        Ok((answer, None))
    }

    /// Answers for words: which entries hold all that must be there, and how strongly.
    fn words(&mut self, parts: &Parts) -> Result<(Vec<u8>, Option<Vec<u8>>), Damage> {
        let count = self.segment.count as usize;
        let mut strengths: Option<Vec<u8>> = None;
        for part in &parts.rank {
            let found = self.strengths(part)?.unwrap_or_else(|| vec![0; count]);
            strengths = Some(match strengths {
                None => found,
                Some(mut known) => {
                    known.iter_mut().zip(&found).for_each(|(one, other)| *one = weaker(*one, *other));
                    known
                }
            });
        }
        let strengths = strengths.unwrap_or_else(|| vec![0; count]);
        let mut values = vec![if parts.decide { YES } else { PERHAPS }; count];
        for clue in &parts.clues {
            let (Clue::Term(part) | Clue::Name(part)) = clue;
            let known = (parts.rank.len() == 1 && parts.rank[0] == *part).then(|| strengths.clone());
            let mut answer = match known {
                Some(known) => found(known),
                None => self.strengths(part)?.map_or_else(|| vec![NO; count], found),
            };
            if let Clue::Name(part) = clue {
                self.sewn(part, &mut answer)?;
            }
            values.iter_mut().zip(&answer).for_each(|(value, answer)| *value = (*value).min(*answer));
        }
        let sources = self.meaning.sources();
        for (value, brief) in values.iter_mut().zip(self.briefs.iter()) {
            // Where others speak too, the words may be theirs.
            if !brief.sources.is_within(sources) {
                *value = (*value).min(PERHAPS);
            }
        }
        Ok((values, Some(strengths)))
    }

    /// Says how strongly every entry holds the terms that fit a part; `None` where no term does.
    fn strengths(&mut self, part: &Part) -> Result<Option<Vec<u8>>, Damage> {
        let words = self.look_up(WORDS, part, None)?;
        if part.is_figure() { self.look_up(FIGURES, part, words) } else { Ok(words) }
    }

    /// Adds what a dictionary knows of the terms that fit a part to what is known.
    fn look_up(
        &mut self,
        first: usize,
        part: &Part,
        known: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Damage> {
        let count = self.segment.count as usize;
        let dictionary = self.dictionary(first)?;
        let found = dictionary.find(part);
        if found.is_empty() {
            return Ok(known);
        }
        let mut strengths = known.unwrap_or_else(|| vec![0; count]);
        let numbers: Vec<u32> = found.iter().map(|(no, _)| *no).collect();
        let mut sound = true;
        dictionary.lists(&numbers, |no, list| {
            let fit = found[no].1;
            let add = |entry: u32, times: u8| match strengths.get_mut(entry as usize) {
                Some(known) => *known = stronger(*known, fit, times),
                None => sound = false,
            };
            sound &= entries(list, add).is_some();
        })?;
        if sound { Ok(Some(strengths)) } else { Err(Damage::Changed) }
    }

    fn dictionary(&mut self, first: usize) -> Result<&Dictionary<'a>, Damage> {
        match self.dictionaries.entry(first) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(slot) => Ok(slot.insert(self.segment.dictionary(first)?)),
        }
    }

    /// Adds the entries that hold a part of a name in several terms that are sewn together.
    fn sewn(&mut self, part: &Part, values: &mut [u8]) -> Result<(), Damage> {
        let cuts = part.cuts();
        // For every cut: the entries in which everything before it may stand so.
        let mut before: Vec<Option<Vec<u8>>> = Vec::new();
        for (no, cut) in cuts.iter().enumerate() {
            let here = self.look_up(SEAMS, &cut.seam, None)?.map(found);
            let reached = match here {
                Some(here) => self.reached(part, &cuts[..=no], &before, &here)?,
                None => None,
            };
            before.push(reached);
        }
        for (no, cut) in cuts.iter().enumerate() {
            let last = !cuts[no + 1..].iter().any(Cut::always);
            let Some(known) = before[no].take().filter(|_| last) else { continue };
            let piece = part.piece(cut.start..part.text.len());
            if let Some(whole) = self.meet(&piece, cut.shown[1], &known)? {
                widen(values, &whole);
            }
        }
        Ok(())
    }

    /// Of the entries with the seam of the last cut, returns those in which everything before it may stand so.
    fn reached(
        &mut self,
        part: &Part,
        cuts: &[Cut],
        before: &[Option<Vec<u8>>],
        here: &[u8],
    ) -> Result<Option<Vec<u8>>, Damage> {
        let Some((cut, earlier)) = cuts.split_last() else { return Ok(None) };
        let mut all = vec![NO; here.len()];
        if !earlier.iter().any(Cut::always)
            && let Some(left) = self.meet(&part.piece(0..cut.end), cut.shown[0], here)?
        {
            widen(&mut all, &left);
        }
        for (from, known) in earlier.iter().zip(before).rev() {
            if let Some(known) = known {
                let mut both = here.to_vec();
                both.iter_mut().zip(known).for_each(|(value, known)| *value = (*value).min(*known));
                if let Some(left) = self.meet(&part.piece(from.start..cut.end), false, &both)? {
                    widen(&mut all, &left);
                }
            }
            if from.always() {
                break;
            }
        }
        Ok(Some(all).filter(|all| all.iter().any(|value| *value != NO)))
    }

    /// Of some entries, returns those that hold a piece between cuts: as sure as they are where the seam shows it, else
    /// perhaps there.
    fn meet(&mut self, piece: &Part, shown: bool, known: &[u8]) -> Result<Option<Vec<u8>>, Damage> {
        if shown || piece.text.is_empty() {
            return Ok(Some(known.to_vec()));
        }
        let Some(mut values) = self.strengths(piece)? else { return Ok(None) };
        values.iter_mut().zip(known).for_each(|(value, known)| {
            *value = if *value == 0 { NO } else { (*known).min(PERHAPS) };
        });
        Ok(Some(values))
    }

    /// Answers for a field: which entries have a value of which something holds.
    fn field(&mut self, prefix: char, holds: impl Fn(&str) -> bool) -> Result<Vec<u8>, Damage> {
        let count = self.segment.count as usize;
        let dictionary = self.dictionary(FIELDS)?;
        let found = dictionary.select(|term| term.strip_prefix(prefix).is_some_and(&holds));
        let mut values = vec![NO; count];
        let mut sound = true;
        dictionary.lists(&found, |_, list| {
            let add = |entry: u32, _| match values.get_mut(entry as usize) {
                Some(value) => *value = YES,
                None => sound = false,
            };
            sound &= entries(list, add).is_some();
        })?;
        if sound { Ok(values) } else { Err(Damage::Changed) }
    }
}

/// Turns strengths into answers.
fn found(mut strengths: Vec<u8>) -> Vec<u8> {
    strengths.iter_mut().for_each(|value| *value = if *value == 0 { NO } else { YES });
    strengths
}

fn widen(values: &mut [u8], other: &[u8]) {
    values.iter_mut().zip(other).for_each(|(value, other)| *value = (*value).max(*other));
}

fn flip(mut values: Vec<u8>) -> Vec<u8> {
    values.iter_mut().for_each(|value| *value = YES - *value);
    values
}

// How strongly an entry holds some words, in a byte: the fit in the upper bits, the count in the lower, 0 for not at all.

fn stronger(known: u8, fit: Fit, times: u8) -> u8 {
    let count = ((known & 7) + times).min(Strength::MOST);
    (known >> 3).max(fit as u8) << 3 | count
}

fn weaker(one: u8, other: u8) -> u8 {
    if one == 0 || other == 0 {
        return 0;
    }
    (one >> 3).min(other >> 3) << 3 | (one & 7).min(other & 7)
}

fn read(byte: u8) -> Option<Strength> {
    let fit = [Fit::Inside, Fit::Begin, Fit::Whole][usize::from(byte >> 3).min(2)];
    (byte != 0).then_some(Strength { fit, count: byte & 7 })
}
