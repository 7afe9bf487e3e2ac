//! Candidates by what they are copies of, best first.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use rethread_core::entry::Moment;

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The number of a candidate of the index.
    Index(u32),
    /// The number of a loose one.
    Loose(u32),
}

/// A candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) score: u32,
    pub(super) time: Option<Moment>,
    pub(super) key: u64,
    pub(super) sure: bool,
    pub(super) from: From,
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
struct Rank(u32, Option<Moment>, Reverse<u64>);

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
pub(super) struct Pile {
    items: Vec<Item>,
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

impl Pile {
    pub(super) fn of(items: Vec<Item>) -> Pile {
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
        Pile { items, before, heap: BinaryHeap::from(groups) }
    }

    /// Returns how many hits are left at most, and whether it is just as many.
    pub(super) fn left(&self) -> (usize, bool) {
        (self.heap.len(), self.heap.iter().all(|group| group.settled))
    }

    /// Takes the best hit: the items of one key that `holds` is true of.
    pub(super) fn next(&mut self, mut holds: impl FnMut(&Item) -> bool) -> Option<Vec<Item>> {
        loop {
            let group = self.heap.pop()?;
            let mut items = Vec::new();
            let mut at = group.last;
            while at != NONE {
                items.push(at);
                at = self.before[at as usize];
            }
            if group.settled {
                return Some(items.into_iter().map(|no| self.items[no as usize]).collect());
            }
            items.retain(|&no| self.items[no as usize].sure || holds(&self.items[no as usize]));
            let Some(rank) = items.iter().map(|&no| self.items[no as usize].rank()).max() else { continue };
            let mut last = NONE;
            for &no in &items {
                self.items[no as usize].sure = true;
                self.before[no as usize] = last;
                last = no;
            }
            // What does not hold may have been what made it so good.
            self.heap.push(Group { rank, last, settled: true });
        }
    }
}

impl Item {
    fn rank(&self) -> Rank {
        Rank(self.score, self.time, Reverse(self.key))
    }
}
