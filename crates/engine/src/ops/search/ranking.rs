//! Ranks all candidates, best first.
//!
//! A common word has very many candidates, and few are ever returned. Only copies, which must be grouped, and scanned
//! candidates are put on the heap at once. All others wait, counted by score, until the better ones are returned.

use rethread_core::query::Scorer;

use super::candidate_heap::{Candidate, CandidateHeap, CandidateSource};
use super::scan::ScannedCandidate;
use crate::cache::IndexError;
use crate::search_index::{Candidates, IndexReader};

/// The number of waiting candidates in the first batch. Each further batch is four times as large.
const FIRST_BATCH_SIZE: usize = 32;

/// All candidates. They are returned best first.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub(super) indexed: Candidates,
    pub(super) scanned: Vec<ScannedCandidate>,
    heap: CandidateHeap,
    /// The scores of the indexed candidates.
    scores: Vec<u32>,
    /// The keys of the indexed candidates.
    keys: Vec<u64>,
    /// For each candidate, indexed ones first, whether another has the same key. Empty if all keys differ.
    shared: Vec<bool>,
    /// The number of waiting candidates by score.
    waiting_by_score: Vec<u32>,
    /// The number of waiting candidates that may not be hits.
    unverified_count: usize,
    /// All waiting candidates have a lower score.
    floor: u32,
    /// The size of the next batch.
    batch_size: usize,
}

impl Ranking {
    /// Ranks the candidates by the weights of the terms.
    pub(super) fn new(
        reader: &IndexReader,
        indexed: Candidates,
        scanned: Vec<ScannedCandidate>,
        weights: &[f32],
    ) -> Result<Ranking, IndexError> {
        let scorer = Scorer::new(weights);
        let (scores, keys) = (indexed.compute_scores(&scorer), reader.read_keys(&indexed)?);
        let count = keys.len();
        let all_keys = || keys.iter().copied().chain(scanned.iter().map(|candidate| candidate.key));
        let shared = find_duplicate_keys(all_keys);
        let mut ranking =
            Ranking { indexed, scores, keys, shared, batch_size: FIRST_BATCH_SIZE, ..Ranking::default() };
        let mut candidates = Vec::new();
        let shared_idxs: Vec<u32> = (0..count as u32).filter(|&idx| ranking.is_shared(idx)).collect();
        ranking.for_each_candidate(reader, &shared_idxs, |candidate| candidates.push(candidate))?;
        candidates.extend(scanned.iter().zip(0..).map(|(candidate, idx)| Candidate {
            score: candidate.score(&scorer),
            time: candidate.time,
            key: candidate.key,
            is_certain: candidate.unresolved.0.is_empty(),
            source: CandidateSource::Scanned(idx),
        }));
        ranking.heap = CandidateHeap::new(candidates);
        ranking.scanned = scanned;
        let mut waiting_by_score: Vec<u32> = Vec::new();
        let mut unverified_count = 0;
        for idx in (0..count as u32).filter(|&idx| !ranking.is_shared(idx)) {
            let score = ranking.score(idx) as usize;
            if score >= waiting_by_score.len() {
                waiting_by_score.resize(score + 1, 0);
            }
            waiting_by_score[score] += 1;
            unverified_count += usize::from(!ranking.indexed.is_match(idx));
        }
        Ok(Ranking { floor: waiting_by_score.len() as u32, waiting_by_score, unverified_count, ..ranking })
    }

    /// Returns the maximum number of remaining hits, and whether the number is exact.
    pub(super) fn remaining(&self) -> (usize, bool) {
        let waiting: usize = self.waiting_by_score.iter().map(|&count| count as usize).sum();
        let (remaining, exact) = self.heap.remaining();
        (remaining + waiting, exact && self.unverified_count == 0)
    }

    /// Takes the best remaining group: its candidates, and whether all of them are known to be hits. Returns `None` at the
    /// end.
    pub(super) fn pop_group(
        &mut self,
        reader: &IndexReader,
    ) -> Result<Option<(Vec<Candidate>, bool)>, IndexError> {
        while self.floor > 0 && self.heap.best_score().is_none_or(|best_score| best_score < self.floor) {
            self.load_next_batch(reader)?;
        }
        Ok(self.heap.pop_group())
    }

    /// Takes the best groups that are loaded and not verified, at most `max`, until the best one is verified.
    pub(super) fn pop_unverified(&mut self, max: usize) -> Vec<Vec<Candidate>> {
        let pop = || self.heap.pop_unverified();
        std::iter::from_fn(pop).take(max).collect()
    }

    /// Returns verified candidates to the heap.
    pub(super) fn put_back(&mut self, candidates: &[Candidate]) {
        self.heap.put_back(candidates);
    }

    /// Moves the best waiting candidates onto the heap: all with the highest scores, until the batch size is reached.
    fn load_next_batch(&mut self, reader: &IndexReader) -> Result<(), IndexError> {
        let old_floor = self.floor;
        let mut taken_count = 0;
        while let Some(count) = self.waiting_by_score.pop() {
            self.floor -= 1;
            taken_count += count as usize;
            if taken_count >= self.batch_size {
                break;
            }
        }
        self.batch_size *= 4;
        let range = self.floor..old_floor;
        let all = 0..self.keys.len() as u32;
        let batch = all.filter(|&idx| range.contains(&self.score(idx)) && !self.is_shared(idx));
        let batch: Vec<u32> = batch.collect();
        self.unverified_count -= batch.iter().filter(|&&idx| !self.indexed.is_match(idx)).count();
        let mut heap = std::mem::take(&mut self.heap);
        let result = self.for_each_candidate(reader, &batch, |candidate| heap.add(candidate));
        self.heap = heap;
        result
    }

    /// Calls `visit` with the indexed candidates at the indices `idxs`.
    fn for_each_candidate(
        &self,
        reader: &IndexReader,
        idxs: &[u32],
        mut visit: impl FnMut(Candidate),
    ) -> Result<(), IndexError> {
        let times = reader.read_times(&self.indexed, idxs)?;
        for (&idx, time) in idxs.iter().zip(times) {
            let (score, key, is_certain) =
                (self.score(idx), self.keys[idx as usize], self.indexed.is_match(idx));
            visit(Candidate { score, time, key, is_certain, source: CandidateSource::Index(idx) });
        }
        Ok(())
    }

    fn is_shared(&self, idx: u32) -> bool {
        self.shared.get(idx as usize).is_some_and(|shared| *shared)
    }

    fn score(&self, idx: u32) -> u32 {
        self.scores.get(idx as usize).copied().unwrap_or_default()
    }
}

/// Returns for each key whether it occurs more than once. Returns an empty list if no key does.
///
/// Keys are hashes: two bits per slot, one for "seen" and one for "seen again", filter out nearly all unique keys. Only
/// the rest is sorted.
fn find_duplicate_keys<I: Iterator<Item = u64>>(keys: impl Fn() -> I) -> Vec<bool> {
    let count = keys().count();
    let slot_count = (count * 16).next_power_of_two();
    // Two adjacent bits per slot.
    let mut seen = vec![0u64; slot_count.div_ceil(32)];
    let locate = |key: u64| {
        let slot = key as usize & (slot_count - 1);
        (slot / 32, slot % 32 * 2)
    };
    for key in keys() {
        let (word, bit) = locate(key);
        seen[word] |= if seen[word] >> bit & 1 == 0 { 1 << bit } else { 2 << bit };
    }
    let may_repeat = |key: u64| {
        let (word, bit) = locate(key);
        seen[word] >> bit & 2 != 0
    };
    let mut suspects: Vec<(u64, u32)> = keys().zip(0..).filter(|&(key, _)| may_repeat(key)).collect();
    suspects.sort_unstable();
    let mut shared = Vec::new();
    for equal_keys in suspects.chunk_by(|a, b| a.0 == b.0).filter(|equal_keys| equal_keys.len() > 1) {
        shared.resize(count, false);
        equal_keys.iter().for_each(|&(_, idx)| shared[idx as usize] = true);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::find_duplicate_keys;

    #[test]
    fn duplicate_keys_are_found_even_if_slots_collide() {
        for (keys, shared) in [
            (&[][..], &[][..]),
            (&[7][..], &[]),
            (&[1, 2, 3][..], &[]),
            (&[1, 2, 1][..], &[true, false, true]),
            // Different keys in one slot.
            (&[5, 5 + (1 << 40), 5 + (2 << 40)][..], &[]),
            (&[5, 5 + (1 << 40), 9, 5 + (1 << 40)][..], &[false, true, false, true]),
            (&[0, 0, 0, u64::MAX][..], &[true, true, true, false]),
        ] {
            assert_eq!(find_duplicate_keys(|| keys.iter().copied()), shared, "{keys:?}");
        }
    }
}
