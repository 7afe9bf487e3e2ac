//! One way through a session: its turns in order, and where it could have gone elsewhere.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use rethread_core::entry::Timestamp;
use rethread_core::tree::{ForkKind, NodeId, PathRelation};

/// Which way to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum BranchSelector {
    /// The one that the client goes on from.
    #[default]
    Active,
    /// The one that holds this entry.
    Through(String),
    /// All turns of the file, in the order in which they begin.
    Everything,
    /// The subagent inside the file that holds this entry, with all that it did.
    Side(String),
}

/// A way through a session.
#[derive(Debug)]
pub struct BranchView {
    /// Its last entry.
    pub tip: Option<NodeId>,
    /// Which of the branches it is, by place in the list of branches.
    pub branch: Option<usize>,
    /// Its turns, and what stands outside of turns.
    pub stops: Vec<TurnRef>,
    /// All nodes in the order of telling; stops and slices are parts of it.
    pub(super) nodes: Vec<NodeId>,
    /// Where it could have gone elsewhere, in the order of telling.
    pub(super) passes: Vec<ForkMark>,
    /// What is read at once: slices of stops.
    pub(super) leaves: Vec<Vec<Slice>>,
}

/// A turn on a way.
#[derive(Debug, Clone)]
pub struct TurnRef {
    /// Its number in the file; `None` for lines outside of turns.
    pub no: Option<u32>,
    /// Where it stands.
    pub standing: PathRelation,
    /// Its first line.
    pub line: u32,
    /// When it began.
    pub from: Option<Timestamp>,
    /// When its last line was written.
    pub to: Option<Timestamp>,
    /// The leaf on which it begins.
    pub leaf: usize,
    /// The node that starts it.
    pub(super) turn: Option<NodeId>,
    pub(super) nodes: Range<usize>,
}

/// Some of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) stop: usize,
    pub(super) nodes: Range<usize>,
}

/// Where a way crosses a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ForkMark {
    /// Where it is shown: before the first node behind the fork that speaks.
    pub(super) place: usize,
    /// The first node behind the fork.
    pub(super) first: NodeId,
}

/// A place where the conversation went several ways, and which of them this one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkSwitch {
    /// How that came.
    pub kind: ForkKind,
    /// Which way this is, from 1, in file order.
    pub way: usize,
    /// Of how many.
    pub ways: usize,
    /// The one before it.
    pub previous: Option<SiblingBranch>,
    /// The one behind it.
    pub next: Option<SiblingBranch>,
}

/// A way beside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiblingBranch {
    /// Its first line.
    pub line: u32,
    /// An entry that names the newest branch behind it.
    pub tip: String,
}

impl BranchView {
    /// Returns how many leaves it has.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Returns how many entries each leaf has: how long it will be, about.
    pub fn weights(&self) -> impl Iterator<Item = usize> + '_ {
        self.leaves.iter().map(|leaf| leaf.iter().map(|slice| slice.nodes.len()).sum())
    }

    /// Returns how many turns begin on it.
    pub fn turns(&self) -> usize {
        self.stops.iter().filter(|stop| stop.no.is_some()).count()
    }

    /// Returns the stops that begin on a leaf.
    pub fn stops_on(&self, leaf: usize) -> &[TurnRef] {
        let from = self.stops.partition_point(|stop| stop.leaf < leaf);
        let to = self.stops.partition_point(|stop| stop.leaf <= leaf);
        &self.stops[from..to]
    }

    /// Returns the passes in a part of it.
    pub(super) fn passes_in(&self, nodes: &Range<usize>) -> &[ForkMark] {
        let from = self.passes.partition_point(|pass| pass.place < nodes.start);
        let to = self.passes.partition_point(|pass| pass.place < nodes.end);
        &self.passes[from..to]
    }

    /// Returns the stop in which a pass is shown, by its place among the stops.
    pub(super) fn stop_of(&self, pass: &ForkMark) -> usize {
        self.stops.partition_point(|stop| stop.nodes.end <= pass.place)
    }

    /// Returns what tells the entries before a leaf from any others: where it is the same, the way there is the same.
    pub fn before(&self, leaf: usize) -> u64 {
        let start =
            self.leaves.get(leaf).and_then(|slices| slices.first()).map_or(0, |slice| slice.nodes.start);
        let mut hasher = DefaultHasher::new();
        self.nodes[..start].hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn leaf_of_place(&self, place: usize) -> Option<usize> {
        self.leaves.iter().position(|leaf| leaf.iter().any(|slice| slice.nodes.contains(&place)))
    }
}
