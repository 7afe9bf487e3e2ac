//! Finds parts of names that stand in several terms: sewn together where the name was cut.
//!
//! A way leads from the beginning of the part to its end, from cut to cut. At each the seam must be there, and between them the
//! terms. First it is asked of the segment as a whole which cuts lie on any way; then of every window, through those only.

use rethread_core::query::{SubwordSplit, TermCondition, TermPattern};

use super::matcher::{MAYBE, NO, SEWN, SegmentMatcher, WordCondition, YES, and_assign, found, or_assign};
use crate::cache::paged_file::IndexError;

impl SegmentMatcher<'_, '_> {
    /// Says where each clue may be cut.
    pub(crate) fn possible_cuts(&mut self) -> Result<Vec<Vec<Vec<SubwordSplit>>>, IndexError> {
        let mut all = Vec::new();
        for WordCondition { parts, cuts, .. } in self.sought {
            let mut possible = Vec::new();
            for (clue, cuts) in parts.clues.iter().zip(cuts) {
                let (TermCondition::Term(part) | TermCondition::Name(part)) = clue;
                possible.push(self.feasible_splits(part, cuts)?);
            }
            all.push(possible);
        }
        Ok(all)
    }

    /// Returns the cuts through which a way leads from the beginning of a part to its end, by the terms and seams that there
    /// are; none, if none does through all at which every name is cut.
    fn feasible_splits(
        &mut self,
        part: &TermPattern,
        cuts: &[SubwordSplit],
    ) -> Result<Vec<SubwordSplit>, IndexError> {
        let before = self.before(part, cuts)?;
        // For every cut: whether everything behind it may stand so.
        let mut behind = vec![false; cuts.len()];
        for (no, cut) in cuts.iter().enumerate().rev() {
            let always = (no + 1..cuts.len()).find(|&next| cuts[next].always());
            let piece = part.piece(cut.start..part.text.len());
            behind[no] = always.is_none() && self.meet(&piece, cut.shown[1], &[YES])?.is_some();
            for next in no + 1..=always.unwrap_or(cuts.len().saturating_sub(1)) {
                let piece = part.piece(cut.start..cuts[next].end);
                behind[no] |= behind[next] && self.meet(&piece, false, &[YES])?.is_some();
            }
        }
        let leads = |no: usize| before[no].is_some() && behind[no];
        if (0..cuts.len()).any(|no| cuts[no].always() && !leads(no)) {
            return Ok(Vec::new());
        }
        Ok((0..cuts.len()).filter(|&no| leads(no)).map(|no| cuts[no].clone()).collect())
    }

    /// Whether the window reaches as many of the seams of a clue as a name must have.
    pub(crate) fn reaches_seams(&mut self, word: usize, clue: usize) -> Result<bool, IndexError> {
        let cuts = std::mem::take(&mut self.cuts[word][clue]);
        let always = cuts.iter().any(SubwordSplit::always);
        let mut reached = always;
        for cut in cuts.iter().filter(|cut| cut.always() == always) {
            let here = self.reaches(SEWN, &cut.seam)?;
            reached = if always { reached && here } else { reached || here };
        }
        self.cuts[word][clue] = cuts;
        Ok(reached)
    }

    /// Adds the entries that hold a part of a name in several terms that are sewn together.
    pub(crate) fn match_across_splits(
        &mut self,
        part: &TermPattern,
        cuts: &[SubwordSplit],
        values: &mut Option<Vec<u8>>,
    ) -> Result<(), IndexError> {
        let mut before = self.before(part, cuts)?;
        for (no, cut) in cuts.iter().enumerate() {
            let last = !cuts[no + 1..].iter().any(SubwordSplit::always);
            let Some(known) = before[no].take().filter(|_| last) else { continue };
            let piece = part.piece(cut.start..part.text.len());
            if let Some(whole) = self.meet(&piece, cut.shown[1], &known)? {
                or_assign(values.get_or_insert_with(|| self.all(NO)), &whole);
            }
        }
        Ok(())
    }

    /// Returns for every cut the entries in which everything before it may stand so.
    fn before(
        &mut self,
        part: &TermPattern,
        cuts: &[SubwordSplit],
    ) -> Result<Vec<Option<Vec<u8>>>, IndexError> {
        let mut before: Vec<Option<Vec<u8>>> = Vec::new();
        for (no, cut) in cuts.iter().enumerate() {
            let here = self.strengths(SEWN, &cut.seam)?.map(found);
            let reached = match here {
                Some(here) => self.reached(part, &cuts[..=no], &before, &here)?,
                None => None,
            };
            before.push(reached);
        }
        Ok(before)
    }

    /// Of the entries with the seam of the last cut, returns those in which everything before it may stand so.
    fn reached(
        &mut self,
        part: &TermPattern,
        cuts: &[SubwordSplit],
        before: &[Option<Vec<u8>>],
        here: &[u8],
    ) -> Result<Option<Vec<u8>>, IndexError> {
        let Some((cut, earlier)) = cuts.split_last() else { return Ok(None) };
        let mut all = self.all(NO);
        if !earlier.iter().any(SubwordSplit::always)
            && let Some(left) = self.meet(&part.piece(0..cut.end), cut.shown[0], here)?
        {
            or_assign(&mut all, &left);
        }
        for (from, known) in earlier.iter().zip(before).rev() {
            if let Some(known) = known {
                let mut both = here.to_vec();
                and_assign(&mut both, known);
                if let Some(left) = self.meet(&part.piece(from.start..cut.end), false, &both)? {
                    or_assign(&mut all, &left);
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
    fn meet(
        &mut self,
        piece: &TermPattern,
        shown: bool,
        known: &[u8],
    ) -> Result<Option<Vec<u8>>, IndexError> {
        if shown || piece.text.is_empty() {
            return Ok(Some(known.to_vec()));
        }
        let Some(mut values) = self.terms(piece)? else { return Ok(None) };
        values.iter_mut().zip(known).for_each(|(value, known)| {
            *value = if *value == 0 { NO } else { (*known).min(MAYBE) };
        });
        Ok(Some(values))
    }
}
