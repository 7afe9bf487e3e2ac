//! One branch of a session, divided into turns and pages.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use rethread_core::entry::Timestamp;
use rethread_core::tree::{ForkKind, NodeId, PathRelation};

use crate::ops::show::TurnScope;

/// Selects the branch to read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum BranchSelector {
    /// The branch from which the client resumes, up to the entry from which it resumes.
    #[default]
    Active,
    /// The newest branch with this entry.
    Through(String),
    /// All turns of the file, in the order of their start.
    AllTurns,
    /// The subagent inside the file to which this entry belongs.
    Sidechain(String),
}

/// A branch of a session, divided into turns and pages.
#[derive(Debug)]
pub struct BranchView {
    /// The last entry of the branch. `None` if the session has no entries.
    pub tip: Option<NodeId>,
    /// The index in `SessionView::branches`. `None` for all turns, for a subagent, or if the tip is on no branch.
    pub branch: Option<usize>,
    /// The number of turns of the file and of the view.
    pub scope: TurnScope,
    /// The turns, and the lines outside of turns.
    pub turns: Vec<TurnRef>,
    /// All nodes in reading order. Turns and slices are ranges of it.
    pub(super) nodes: Vec<NodeId>,
    /// The forks on the branch, in reading order.
    pub(super) fork_marks: Vec<ForkMark>,
    /// The pages: the slices of turns that are read at once.
    pub(super) pages: Vec<Vec<NodeSlice>>,
}

/// A turn of a branch view.
#[derive(Debug, Clone)]
pub struct TurnRef {
    /// The number in the file, from 1. `None` for lines outside of turns.
    pub number: Option<u32>,
    /// The relation of the turn to the branch.
    pub relation: PathRelation,
    /// The line number of its first entry.
    pub line: u32,
    /// The time of its first line.
    pub started_at: Option<Timestamp>,
    /// The time of its last line.
    pub ended_at: Option<Timestamp>,
    /// The index of the page on which it starts.
    pub page: usize,
    /// The node that starts it.
    pub(super) start_node: Option<NodeId>,
    /// The range of its nodes in [`BranchView::nodes`].
    pub(super) nodes: Range<usize>,
}

/// A part of a turn that is read at once: the index of the turn, and a range of [`BranchView::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeSlice {
    pub(super) turn_idx: usize,
    pub(super) nodes: Range<usize>,
}

/// A fork on a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ForkMark {
    /// The index in [`BranchView::nodes`] of the first message after the fork, before which the fork is shown.
    pub(super) position: usize,
    /// The first node after the fork.
    pub(super) first: NodeId,
}

/// A fork as the reader sees it: this branch and its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkSwitch {
    /// The cause of the fork.
    pub kind: ForkKind,
    /// The number of this branch, from 1, in file order.
    pub position: usize,
    /// The number of branches.
    pub branch_count: usize,
    /// The branch before this one in file order. `None` if this is the first.
    pub previous: Option<SiblingBranch>,
    /// The branch after this one in file order. `None` if this is the last.
    pub next: Option<SiblingBranch>,
}

/// Another branch of a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiblingBranch {
    /// The line number of its first entry.
    pub line: u32,
    /// The name of the newest tip below it, as the user can type it.
    pub tip: String,
}

impl BranchView {
    /// Returns the number of pages.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number of entries of each page, as an estimate of its length.
    pub fn page_lengths(&self) -> impl Iterator<Item = usize> + '_ {
        self.pages.iter().map(|page| page.iter().map(|slice| slice.nodes.len()).sum())
    }

    /// Returns the number of turns, without the lines outside of turns.
    pub fn turn_count(&self) -> usize {
        self.turns.iter().filter(|turn| turn.number.is_some()).count()
    }

    /// Returns the turns that start on the page with an index.
    pub fn turns_on_page(&self, page: usize) -> &[TurnRef] {
        let from = self.turns.partition_point(|turn| turn.page < page);
        let to = self.turns.partition_point(|turn| turn.page <= page);
        &self.turns[from..to]
    }

    /// Returns the forks that are shown in a range of [`BranchView::nodes`].
    pub(super) fn fork_marks_in(&self, nodes: &Range<usize>) -> &[ForkMark] {
        let from = self.fork_marks.partition_point(|mark| mark.position < nodes.start);
        let to = self.fork_marks.partition_point(|mark| mark.position < nodes.end);
        &self.fork_marks[from..to]
    }

    /// Returns the index of the turn in which a fork is shown.
    pub(super) fn turn_index_of(&self, mark: &ForkMark) -> usize {
        self.turns.partition_point(|turn| turn.nodes.end <= mark.position)
    }

    /// Returns a hash of the ids of all entries before the page with an index. If it is unchanged, so are those entries.
    pub fn prefix_hash(&self, page: usize) -> u64 {
        let start =
            self.pages.get(page).and_then(|slices| slices.first()).map_or(0, |slice| slice.nodes.start);
        let mut hasher = DefaultHasher::new();
        self.nodes[..start].hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the index of the page that contains an index of [`BranchView::nodes`]. Returns `None` if it is out of range.
    pub(super) fn find_page_of_position(&self, position: usize) -> Option<usize> {
        self.pages.iter().position(|page| page.iter().any(|slice| slice.nodes.contains(&position)))
    }
}
