//! A heap of candidates, grouped by key: copies of one entry have one key.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use rethread_core::entry::Timestamp;

/// The source of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateSource {
    /// The index among the candidates of the search index.
    Index(u32),
    /// The index among the scanned candidates.
    Scanned(u32),
}

/// An entry that is or may be a hit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: u32,
    pub(super) time: Option<Timestamp>,
    /// The key of the entry. Copies of one entry have the same key.
    pub(super) key: u64,
    /// Whether it is known to be a hit without reading its text.
    pub(super) is_certain: bool,
    pub(super) source: CandidateSource,
}

/// The candidates with one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CandidateGroup {
    rank: CandidateRank,
    /// The last candidate of the group. Each one links to the previous one.
    last: u32,
    /// Whether all candidates are known to be hits.
    is_verified: bool,
}

/// The order of results: by score, then by time, newest first. The key makes the order total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CandidateRank(u32, Option<Timestamp>, Reverse<u64>);

impl Ord for CandidateGroup {
    fn cmp(&self, other: &CandidateGroup) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl PartialOrd for CandidateGroup {
    fn partial_cmp(&self, other: &CandidateGroup) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Candidates, best first.
#[derive(Debug, Default)]
pub(super) struct CandidateHeap {
    candidates: Vec<Candidate>,
    /// For each candidate, the previous one of its group.
    previous: Vec<u32>,
    heap: BinaryHeap<CandidateGroup>,
}

/// Marks the end of a linked list of candidates.
const END_OF_LIST: u32 = u32::MAX;

/// Uses keys as hash values, because they are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl CandidateHeap {
    /// Groups the candidates by key. The rank of a group is that of its best candidate.
    pub(super) fn new(candidates: Vec<Candidate>) -> CandidateHeap {
        let mut by_key: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>> =
            HashMap::with_capacity_and_hasher(candidates.len(), BuildHasherDefault::default());
        let mut previous = vec![END_OF_LIST; candidates.len()];
        let mut groups: Vec<CandidateGroup> = Vec::with_capacity(candidates.len());
        for (candidate, idx) in candidates.iter().zip(0..) {
            let rank = candidate.rank();
            match by_key.get(&candidate.key) {
                None => {
                    by_key.insert(candidate.key, groups.len() as u32);
                    groups.push(CandidateGroup { rank, last: idx, is_verified: candidate.is_certain });
                }
                Some(&group) => {
                    let group = &mut groups[group as usize];
                    previous[idx as usize] = group.last;
                    *group = CandidateGroup {
                        rank: group.rank.max(rank),
                        last: idx,
                        is_verified: group.is_verified && candidate.is_certain,
                    };
                }
            }
        }
        CandidateHeap { candidates, previous, heap: BinaryHeap::from(groups) }
    }

    /// Adds a candidate with a unique key.
    pub(super) fn add(&mut self, candidate: Candidate) {
        let idx = self.candidates.len() as u32;
        self.candidates.push(candidate);
        self.previous.push(END_OF_LIST);
        self.heap.push(CandidateGroup {
            rank: candidate.rank(),
            last: idx,
            is_verified: candidate.is_certain,
        });
    }

    /// Returns the maximum number of remaining hits, and whether the number is exact.
    pub(super) fn remaining(&self) -> (usize, bool) {
        (self.heap.len(), self.heap.iter().all(|group| group.is_verified))
    }

    /// Returns the score of the best candidate. Returns `None` if the heap is empty.
    pub(super) fn best_score(&self) -> Option<u32> {
        self.heap.peek().map(|group| group.rank.0)
    }

    /// Takes the best group: its candidates, and whether all of them are known to be hits. Returns `None` if the heap is
    /// empty.
    pub(super) fn pop_group(&mut self) -> Option<(Vec<Candidate>, bool)> {
        let group = self.heap.pop()?;
        let mut candidates = Vec::new();
        let mut idx = group.last;
        while idx != END_OF_LIST {
            candidates.push(self.candidates[idx as usize]);
            idx = self.previous[idx as usize];
        }
        Some((candidates, group.is_verified))
    }

    /// Takes the best group, unless it is verified.
    pub(super) fn pop_unverified(&mut self) -> Option<Vec<Candidate>> {
        let is_unverified = self.heap.peek().is_some_and(|group| !group.is_verified);
        is_unverified.then(|| self.pop_group()).flatten().map(|(candidates, _)| candidates)
    }

    /// Returns verified candidates to the heap. Their rank is computed again, because a removed candidate may have set it.
    pub(super) fn put_back(&mut self, candidates: &[Candidate]) {
        let Some(rank) = candidates.iter().map(Candidate::rank).max() else { return };
        let mut last = END_OF_LIST;
        for candidate in candidates {
            self.previous.push(last);
            last = self.candidates.len() as u32;
            self.candidates.push(Candidate { is_certain: true, ..*candidate });
        }
        self.heap.push(CandidateGroup { rank, last, is_verified: true });
    }
}

impl Candidate {
    fn rank(&self) -> CandidateRank {
        CandidateRank(self.score, self.time, Reverse(self.key))
    }
}
