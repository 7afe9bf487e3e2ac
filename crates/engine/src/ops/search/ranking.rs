//! Everything that is or could be a hit, the best first.
//!
//! A common word has very many candidates, and few are ever told. So only copies, which must be known together, and what
//! was read from files are put on the pile at once; all others wait, counted by their scores, until those above are told.

use rethread_core::query::Scorer;

use super::candidate_heap::{Candidate, CandidateHeap, CandidateSource};
use super::scan::ScannedCandidate;
use crate::cache::IndexError;
use crate::search_index::{Candidates, IndexReader};

/// So many are taken from those that wait at first; then four times as many, and so on.
const FIRST: usize = 32;

/// What was found, in order.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub(super) answer: Candidates,
    pub(super) loose: Vec<ScannedCandidate>,
    pile: CandidateHeap,
    /// Of the candidates of the index: how good they are, their keys, and which of those others have too.
    scores: Vec<u32>,
    keys: Vec<u64>,
    shared: Vec<bool>,
    /// How many wait, by their scores; how many of them may be none.
    waiting: Vec<u32>,
    unsure: usize,
    /// Nobody waits who is as good as this.
    floor: u32,
    /// How many are taken next.
    more: usize,
}

impl Ranking {
    /// Puts what was found in order.
    pub(super) fn of(
        snapshot: &IndexReader,
        answer: Candidates,
        loose: Vec<ScannedCandidate>,
        weights: &[f32],
    ) -> Result<Ranking, IndexError> {
        let scale = Scorer::of(weights);
        let (scores, keys) = (answer.scores(&scale), snapshot.keys(&answer)?);
        let count = keys.len();
        let all = || keys.iter().copied().chain(loose.iter().map(|one| one.key));
        let shared = duplicate_keys(all);
        let mut ranking = Ranking { answer, scores, keys, shared, more: FIRST, ..Ranking::default() };
        let mut items = Vec::new();
        let copies: Vec<u32> = (0..count as u32).filter(|&no| ranking.is_shared(no)).collect();
        ranking.each_item(snapshot, &copies, |item| items.push(item))?;
        items.extend(loose.iter().zip(0..).map(|(one, no)| Candidate {
            score: one.score(&scale),
            time: one.time,
            key: one.key,
            sure: one.open.0.is_empty(),
            from: CandidateSource::Loose(no),
        }));
        ranking.pile = CandidateHeap::of(items);
        ranking.loose = loose;
        let mut waiting: Vec<u32> = Vec::new();
        let mut unsure = 0;
        for no in (0..count as u32).filter(|&no| !ranking.is_shared(no)) {
            let score = ranking.score(no) as usize;
            if score >= waiting.len() {
                waiting.resize(score + 1, 0);
            }
            waiting[score] += 1;
            unsure += usize::from(!ranking.answer.is_sure(no));
        }
        Ok(Ranking { floor: waiting.len() as u32, waiting, unsure, ..ranking })
    }

    /// Says how many hits are left at most, and whether it is just as many.
    pub(super) fn left(&self) -> (usize, bool) {
        let waiting: usize = self.waiting.iter().map(|&count| count as usize).sum();
        let (left, exact) = self.pile.left();
        (left + waiting, exact && self.unsure == 0)
    }

    /// Takes the best that is left: the items of one key, and whether all of them are hits.
    pub(super) fn take(
        &mut self,
        snapshot: &IndexReader,
    ) -> Result<Option<(Vec<Candidate>, bool)>, IndexError> {
        while self.floor > 0 && self.pile.best().is_none_or(|best| best < self.floor) {
            self.load_next_batch(snapshot)?;
        }
        Ok(self.pile.take())
    }

    /// Puts those back that turned out to be hits.
    pub(super) fn put_back(&mut self, items: &[Candidate]) {
        self.pile.put_back(items);
    }

    /// Takes the best of those that wait onto the pile.
    fn load_next_batch(&mut self, snapshot: &IndexReader) -> Result<(), IndexError> {
        let above = self.floor;
        let mut gained = 0;
        while let Some(count) = self.waiting.pop() {
            self.floor -= 1;
            gained += count as usize;
            if gained >= self.more {
                break;
            }
        }
        self.more *= 4;
        let range = self.floor..above;
        let all = 0..self.keys.len() as u32;
        let taken = all.filter(|&no| range.contains(&self.score(no)) && !self.is_shared(no));
        let taken: Vec<u32> = taken.collect();
        self.unsure -= taken.iter().filter(|&&no| !self.answer.is_sure(no)).count();
        let mut pile = std::mem::take(&mut self.pile);
        let read = self.each_item(snapshot, &taken, |item| pile.add(item));
        self.pile = pile;
        read
    }

    /// Shows some candidates of the index as items.
    fn each_item(
        &self,
        snapshot: &IndexReader,
        candidates: &[u32],
        mut each: impl FnMut(Candidate),
    ) -> Result<(), IndexError> {
        let times = snapshot.times(&self.answer, candidates)?;
        for (&no, time) in candidates.iter().zip(times) {
            let (score, key, sure) = (self.score(no), self.keys[no as usize], self.answer.is_sure(no));
            each(Candidate { score, time, key, sure, from: CandidateSource::Index(no) });
        }
        Ok(())
    }

    fn is_shared(&self, candidate: u32) -> bool {
        self.shared.get(candidate as usize).is_some_and(|shared| *shared)
    }

    fn score(&self, candidate: u32) -> u32 {
        self.scores.get(candidate as usize).copied().unwrap_or_default()
    }
}

/// Says which of some keys occur more than once; nothing where none does.
///
/// Keys are hashes: a bit for each that was met and another for each that was met again pass over nearly all of those that
/// occur once, and only the rest is sorted.
fn duplicate_keys<I: Iterator<Item = u64>>(keys: impl Fn() -> I) -> Vec<bool> {
    let count = keys().count();
    let slots = (count * 16).next_power_of_two();
    // Two bits for each slot, side by side.
    let mut met = vec![0u64; slots.div_ceil(32)];
    let slot = |key: u64| {
        let slot = key as usize & (slots - 1);
        (slot / 32, slot % 32 * 2)
    };
    for key in keys() {
        let (word, bit) = slot(key);
        met[word] |= if met[word] >> bit & 1 == 0 { 1 << bit } else { 2 << bit };
    }
    let again = |key: u64| {
        let (word, bit) = slot(key);
        met[word] >> bit & 2 != 0
    };
    let mut suspects: Vec<(u64, u32)> = keys().zip(0..).filter(|&(key, _)| again(key)).collect();
    suspects.sort_unstable();
    let mut shared = Vec::new();
    for same in suspects.chunk_by(|one, next| one.0 == next.0).filter(|same| same.len() > 1) {
        shared.resize(count, false);
        same.iter().for_each(|&(_, no)| shared[no as usize] = true);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::duplicate_keys;

    #[test]
    fn keys_that_occur_again_are_known_wherever_they_fall() {
        for (keys, shared) in [
            (&[][..], &[][..]),
            (&[7][..], &[]),
            (&[1, 2, 3][..], &[]),
            (&[1, 2, 1][..], &[true, false, true]),
            // Those that fall into one slot are not the same.
            (&[5, 5 + (1 << 40), 5 + (2 << 40)][..], &[]),
            (&[5, 5 + (1 << 40), 9, 5 + (1 << 40)][..], &[false, true, false, true]),
            (&[0, 0, 0, u64::MAX][..], &[true, true, true, false]),
        ] {
            assert_eq!(duplicate_keys(|| keys.iter().copied()), shared, "{keys:?}");
        }
    }
}
