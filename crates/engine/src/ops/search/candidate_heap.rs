//! Candidates by what they are copies of, best first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use rethread_core::entry::Timestamp;

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateSource {
    /// The number of a candidate of the index.
    Index(u32),
    /// The number of a loose one.
    Loose(u32),
}

/// A candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: u32,
    pub(super) time: Option<Timestamp>,
    pub(super) key: u64,
    pub(super) sure: bool,
    pub(super) from: CandidateSource,
}

/// Candidates of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    rank: Rank,
    /// The last of its items; each names the one before.
    last: u32,
    /// Whether all its items are hits.
    settled: bool,
}

/// What comes first: the better one, then the newer; what is equal in both is kept in one order by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u32, Option<Timestamp>, Reverse<u64>);

impl Ord for Group {
    fn cmp(&self, other: &Group) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl PartialOrd for Group {
    fn partial_cmp(&self, other: &Group) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All candidates.
#[derive(Debug, Default)]
pub(super) struct CandidateHeap {
    items: Vec<Candidate>,
    before: Vec<u32>,
    heap: BinaryHeap<Group>,
}

const NONE: u32 = u32::MAX;

/// Keys are hashes already.
#[derive(Default)]
struct Plain(u64);

impl Hasher for Plain {
    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl CandidateHeap {
    pub(super) fn of(items: Vec<Candidate>) -> CandidateHeap {
        let mut known: HashMap<u64, u32, BuildHasherDefault<Plain>> =
            HashMap::with_capacity_and_hasher(items.len(), BuildHasherDefault::default());
        let mut before = vec![NONE; items.len()];
        let mut groups: Vec<Group> = Vec::with_capacity(items.len());
        for (item, no) in items.iter().zip(0..) {
            let rank = item.rank();
            match known.get(&item.key) {
                None => {
                    known.insert(item.key, groups.len() as u32);
                    groups.push(Group { rank, last: no, settled: item.sure });
                }
                Some(&group) => {
                    let group = &mut groups[group as usize];
                    before[no as usize] = group.last;
                    *group =
                        Group { rank: group.rank.max(rank), last: no, settled: group.settled && item.sure };
                }
            }
        }
        CandidateHeap { items, before, heap: BinaryHeap::from(groups) }
    }

    /// Adds a candidate whose key no other has.
    pub(super) fn add(&mut self, item: Candidate) {
        let no = self.items.len() as u32;
        self.items.push(item);
        self.before.push(NONE);
        self.heap.push(Group { rank: item.rank(), last: no, settled: item.sure });
    }

    /// Returns how many hits are left at most, and whether it is just as many.
    pub(super) fn left(&self) -> (usize, bool) {
        (self.heap.len(), self.heap.iter().all(|group| group.settled))
    }

    /// Returns the score of the best.
    pub(super) fn best(&self) -> Option<u32> {
        self.heap.peek().map(|group| group.rank.0)
    }

    /// Takes the best: the items of one key, and whether all of them are hits.
    pub(super) fn take(&mut self) -> Option<(Vec<Candidate>, bool)> {
        let group = self.heap.pop()?;
        let mut items = Vec::new();
        let mut at = group.last;
        while at != NONE {
            items.push(self.items[at as usize]);
            at = self.before[at as usize];
        }
        Some((items, group.settled))
    }

    /// Puts those back that turned out to be hits: what was taken with them may have been what made them so good.
    pub(super) fn put_back(&mut self, items: &[Candidate]) {
        let Some(rank) = items.iter().map(Candidate::rank).max() else { return };
        let mut last = NONE;
        for item in items {
            self.before.push(last);
            last = self.items.len() as u32;
            self.items.push(Candidate { sure: true, ..*item });
        }
        self.heap.push(Group { rank, last, settled: true });
    }
}

impl Candidate {
    fn rank(&self) -> Rank {
        Rank(self.score, self.time, Reverse(self.key))
    }
}
