//! Branches: all paths of the conversation from a root to a tip.
//!
//! The conversation has [`Tree::branch_count`] branches. Each orphaned part, after a missing parent or a cycle of
//! links, is a further branch. Entries before a compaction belong to the branch that continues after it.

use super::builder::Tree;
use super::fork::{Fork, ForkKind};
use super::node::{NONE, NodeId, ParentLink};
use super::segments::{BranchSegments, SegmentOrigin};
use crate::entry::{EntryRole, Timestamp};

/// A branch of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The last message of the branch, or its last entry if it has no message.
    pub tip: NodeId,
    /// The last fork on the branch, at which it separates from the other branches. `None` if it passes no fork.
    pub fork_point: Option<ForkPoint>,
    /// The first entry that is on no other branch.
    pub first: NodeId,
    /// The first entry that starts a turn and is on no other branch. `None` if there is none.
    pub prompt: Option<NodeId>,
    /// The number of turns that start on no other branch.
    pub own_turns: usize,
    /// The number of turns from the root to the tip, including those before a compaction.
    pub turns: usize,
    /// The number of entries that are on no other branch.
    pub entries: usize,
    /// The newest timestamp of the messages that are on no other branch. `None` if none has a timestamp.
    pub last_time: Option<Timestamp>,
    /// The broken link at the root of the branch: a missing parent or a cycle. `None` if it starts at a real root.
    pub broken_link: Option<ParentLink>,
    /// Whether the branch starts at a broken link and is not the main conversation of the file.
    pub orphaned: bool,
    /// The index of the segment of the entries that are on no other branch.
    segment: u32,
}

/// The fork at which a branch separates from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkPoint {
    /// The last entry shared with another branch. `None` if the file has several roots.
    pub at: Option<NodeId>,
    /// The cause of the fork.
    pub kind: ForkKind,
    /// The number of this branch among the branches of the fork, from 1, in file order.
    pub branch_number: usize,
    /// The number of branches at this fork.
    pub branch_count: usize,
}

/// The branches of a file, in the order in which they start.
#[derive(Debug)]
pub struct Branches {
    /// The branches, sorted by their first own entry.
    pub list: Vec<Branch>,
    pub(crate) segments: BranchSegments,
    /// The index in `list` of the branch of each segment, or `NONE` for subagents. A shared segment belongs to the branch
    /// that takes the oldest child at each fork.
    by_segment: Vec<u32>,
}

/// Counts of the entries of a segment, and its first and last ones. Node ids are `NONE` if there is no such entry.
#[derive(Debug, Clone, Copy)]
struct SegmentStats {
    turns: usize,
    entries: usize,
    last_time: Option<Timestamp>,
    last_message: NodeId,
    last_answer: NodeId,
    last_node: NodeId,
    first: NodeId,
    prompt: NodeId,
    /// The number of turns of this segment and of all segments above.
    all_turns: usize,
    broken_link: Option<ParentLink>,
}

impl Default for SegmentStats {
    fn default() -> SegmentStats {
        SegmentStats {
            turns: 0,
            entries: 0,
            last_time: None,
            last_message: NONE,
            last_answer: NONE,
            last_node: NONE,
            first: NONE,
            prompt: NONE,
            all_turns: 0,
            broken_link: None,
        }
    }
}

impl BranchSegments {
    /// Returns the fork point of the branch with index `branch` at the fork with index `fork`.
    pub(crate) fn fork_point(&self, fork: u32, branch: u32) -> ForkPoint {
        let fork = &self.forks[fork as usize];
        ForkPoint {
            at: fork.at,
            kind: fork.kind,
            branch_number: branch as usize + 1,
            branch_count: fork.branches.len(),
        }
    }
}

impl Branches {
    /// Finds the branches of a tree.
    pub fn from_tree(tree: &Tree) -> Branches {
        let segments = BranchSegments::from_tree(tree);
        let stats = collect_stats(tree, &segments);
        let (orphaned, mut by_segment) = assign_branches(&segments, &stats);
        let mut tips = find_tips(&segments, &stats, &by_segment, orphaned.len());
        if let (Some(first @ None), Some(tip)) =
            (tips.first_mut(), tree.newest_tip().or(segments.order.last().copied()))
        {
            *first = Some((tip, segments.by_node[tip as usize]));
        }
        let mut list = Vec::new();
        for (idx, tip) in tips.into_iter().enumerate() {
            let Some((tip, segment)) = tip else { continue };
            let branch = build_branch(tree, &segments, &stats, tip, segment, orphaned[idx]);
            list.push((idx as u32, branch));
        }
        list.sort_by_key(|(_, branch)| branch.first);
        let mut positions = vec![NONE; orphaned.len()];
        for (position, (idx, _)) in (0u32..).zip(&list) {
            positions[*idx as usize] = position;
        }
        for branch in by_segment.iter_mut().filter(|branch| **branch != NONE) {
            *branch = positions[*branch as usize];
        }
        Branches { list: list.into_iter().map(|(_, branch)| branch).collect(), segments, by_segment }
    }

    /// Returns the index in `list` of the branch of a node.
    ///
    /// If several branches share the node, returns the one that takes the oldest child at each fork. Returns `None` for
    /// unknown nodes, entries of subagents in a session file, and orphaned parts without messages.
    pub fn branch_of(&self, id: NodeId) -> Option<usize> {
        let branch = self.by_segment[*self.segments.by_node.get(id as usize)? as usize];
        (branch != NONE).then_some(branch as usize)
    }

    /// Finds the real fork that has a branch starting with a node. Returns the fork and the index of that branch in it.
    ///
    /// Returns `None` if no branch starts with it. Several nodes may start one branch: results of parallel calls, lines of
    /// one response, copies of one line.
    pub fn fork_starting_at(&self, tree: &Tree, id: NodeId) -> Option<(&Fork, usize)> {
        let segment_of = |id: NodeId| self.segments.by_node.get(id as usize).copied();
        let segment = segment_of(id)?;
        let SegmentOrigin::ForkChild(fork, branch) = self.segments.list.get(segment as usize)?.origin else {
            return None;
        };
        let starts_branch = match tree.node(id).parent() {
            Some(parent) => segment_of(parent) != Some(segment),
            // The continuation after a compaction is a root, too.
            None => !self.segments.continuations.contains_key(&id),
        };
        starts_branch.then(|| (&self.segments.forks[fork as usize], branch as usize))
    }

    /// Marks the branch from which a client resumes and returns its index in `list`. `leaf` is the client's leaf.
    ///
    /// The [resume point](Tree::resume_point) becomes the tip of the branch, unless it and the current tip are on one path or
    /// other branches share it. Returns `None` if it belongs to no branch.
    pub fn set_active_leaf(&mut self, tree: &Tree, leaf: NodeId) -> Option<usize> {
        let resume_point = tree.resume_point(leaf);
        let active = self.branch_of(resume_point)?;
        let tip = self.list[active].tip;
        let is_elsewhere =
            !tree.ancestors(resume_point).contains(&tip) && !tree.ancestors(tip).contains(&resume_point);
        if is_elsewhere && self.is_exclusive_to(active, resume_point) {
            self.list[active].tip = resume_point;
        }
        Some(active)
    }

    /// Returns `true` if a node is on the branch with this index in `list` and on no other.
    pub fn is_exclusive_to(&self, branch: usize, id: NodeId) -> bool {
        self.list[branch].segment == self.segments.by_node[id as usize]
    }

    /// Returns the number of branches that are not orphaned.
    pub fn count_connected(&self) -> usize {
        self.list.len() - self.count_orphaned()
    }

    /// Returns the number of orphaned branches.
    pub fn count_orphaned(&self) -> usize {
        self.list.iter().filter(|branch| branch.orphaned).count()
    }

    /// Sums values of nodes by branch, with `add` as the addition.
    ///
    /// Returns two sums for each branch of `list`: over the nodes on no other branch, and over all nodes from the root to
    /// the tip.
    pub fn sum_by_branch<T: Clone + Default>(
        &self,
        values: impl IntoIterator<Item = (NodeId, T)>,
        add: impl Fn(&mut T, &T),
    ) -> Vec<(T, T)> {
        let mut own = vec![T::default(); self.segments.list.len()];
        for (id, value) in values {
            add(&mut own[self.segments.by_node[id as usize] as usize], &value);
        }
        let mut all = own.clone();
        for (segment_idx, segment) in self.segments.list.iter().enumerate() {
            if segment.parent != NONE {
                let above = all[segment.parent as usize].clone();
                add(&mut all[segment_idx], &above);
            }
        }
        let sum = |branch: &Branch| {
            let segment_idx = branch.segment as usize;
            (own[segment_idx].clone(), all[segment_idx].clone())
        };
        self.list.iter().map(sum).collect()
    }
}

/// Collects the statistics of each segment, in the order of `segments.list`. A segment inherits the broken link of the
/// segment above.
fn collect_stats(tree: &Tree, segments: &BranchSegments) -> Vec<SegmentStats> {
    let mut stats = vec![SegmentStats::default(); segments.list.len()];
    for &id in &segments.order {
        let node = tree.node(id);
        let segment_stats = &mut stats[segments.by_node[id as usize] as usize];
        let later = |last: NodeId| if last == NONE { id } else { last.max(id) };
        segment_stats.entries += 1;
        if !matches!(node.role, EntryRole::Structural | EntryRole::State) {
            segment_stats.last_time = segment_stats.last_time.max(node.time());
        }
        segment_stats.last_node = later(segment_stats.last_node);
        if !tree.is_main_chain(id) || tree.is_replayed(id) {
            continue;
        }
        if !matches!(node.role, EntryRole::Structural | EntryRole::State | EntryRole::CompactBoundary) {
            segment_stats.last_message = later(segment_stats.last_message);
        }
        if node.role == EntryRole::Answer {
            segment_stats.last_answer = later(segment_stats.last_answer);
        }
        if segment_stats.first == NONE {
            segment_stats.first = id;
        }
        if tree.turn_of(id) == Some(id) {
            segment_stats.turns += 1;
            if segment_stats.prompt == NONE {
                segment_stats.prompt = id;
            }
        }
    }
    for (segment_idx, segment) in segments.list.iter().enumerate() {
        let above = stats
            .get(segment.parent as usize)
            .map_or((0, None), |above| (above.all_turns, above.broken_link));
        stats[segment_idx].all_turns = stats[segment_idx].turns + above.0;
        stats[segment_idx].broken_link = match segment.origin {
            SegmentOrigin::Orphaned(link) => Some(link),
            _ => above.1,
        };
    }
    stats
}

/// Assigns segments to branches: the oldest child of a fork continues the branch, each other child starts a new one.
/// Returns for each branch whether it is orphaned, and for each segment the index of its branch or `NONE`.
fn assign_branches(segments: &BranchSegments, stats: &[SegmentStats]) -> (Vec<bool>, Vec<u32>) {
    let mut orphaned = vec![false];
    let mut by_segment = vec![NONE; segments.list.len()];
    let mut trunk_has_messages = false;
    for (segment_idx, segment) in segments.list.iter().enumerate() {
        by_segment[segment_idx] = match segment.origin {
            SegmentOrigin::Trunk => 0,
            SegmentOrigin::ForkChild(_, 0) => by_segment[segment.parent as usize],
            SegmentOrigin::ForkChild(..) | SegmentOrigin::Orphaned(_) => {
                orphaned.push(matches!(segment.origin, SegmentOrigin::Orphaned(_)));
                (orphaned.len() - 1) as u32
            }
            SegmentOrigin::Sidechain => NONE,
        };
        trunk_has_messages |= by_segment[segment_idx] == 0 && stats[segment_idx].last_message != NONE;
    }
    // If the start of the file is missing, the first orphaned part is the conversation.
    let has_orphaned_message = |segment_idx: &usize| {
        by_segment[*segment_idx] != NONE
            && stats[*segment_idx].last_message != NONE
            && orphaned[by_segment[*segment_idx] as usize]
    };
    let first =
        (0..by_segment.len()).filter(has_orphaned_message).map(|segment_idx| by_segment[segment_idx]).min();
    if let Some(first) = first.filter(|_| !trunk_has_messages) {
        by_segment.iter_mut().filter(|branch| **branch == first).for_each(|branch| *branch = 0);
    }
    (orphaned, by_segment)
}

/// Finds the tip of each branch and the index of its segment. `None` for a branch without messages.
fn find_tips(
    segments: &BranchSegments,
    stats: &[SegmentStats],
    by_segment: &[u32],
    branch_count: usize,
) -> Vec<Option<(NodeId, u32)>> {
    let mut tips: Vec<Option<(NodeId, u32)>> = vec![None; branch_count];
    for (segment_idx, segment) in segments.list.iter().enumerate() {
        if by_segment[segment_idx] == NONE || segment.has_fork && !segment.continues {
            continue;
        }
        let last_of_child =
            matches!(segment.origin, SegmentOrigin::ForkChild(..)).then_some(stats[segment_idx].last_node);
        let tip = Some(stats[segment_idx].last_message).filter(|&tip| tip != NONE).or(last_of_child);
        let newest = &mut tips[by_segment[segment_idx] as usize];
        *newest = (*newest).max(tip.map(|tip| (tip, segment_idx as u32)));
    }
    tips
}

/// Creates the branch that ends with `tip` in the segment with index `segment`.
fn build_branch(
    tree: &Tree,
    segments: &BranchSegments,
    stats: &[SegmentStats],
    tip: NodeId,
    segment: u32,
    orphaned: bool,
) -> Branch {
    let own = &stats[segment as usize];
    let fork_point = match segments.list[segment as usize].origin {
        SegmentOrigin::ForkChild(fork, branch) => Some(segments.fork_point(fork, branch)),
        _ => None,
    };
    let to_option = |id: NodeId| (id != NONE).then_some(id);
    Branch {
        tip: adjust_tip(tree, segments, tip, own.last_answer),
        fork_point,
        first: to_option(own.first).unwrap_or(tip),
        prompt: to_option(own.prompt),
        own_turns: own.turns,
        turns: own.all_turns,
        entries: own.entries,
        last_time: own.last_time,
        broken_link: own.broken_link,
        orphaned,
        segment,
    }
}

/// Returns the last answer of the tip's turn if the tip is a result without continuation that does not descend from
/// that answer. Returns the tip otherwise.
fn adjust_tip(tree: &Tree, segments: &BranchSegments, tip: NodeId, last_answer: NodeId) -> NodeId {
    let continues = |&child: &NodeId| tree.node(child).role != EntryRole::Structural;
    let is_late = tree.node(tip).role == EntryRole::Results && !tree.children(tip).iter().any(continues);
    if !is_late || last_answer == NONE || tree.turn_of(last_answer) != tree.turn_of(tip) {
        return tip;
    }
    let segment = segments.by_node[tip as usize];
    let mut node = tip;
    while let Some(parent) = tree.node(node).parent().filter(|&id| segments.by_node[id as usize] == segment) {
        if parent == last_answer {
            return tip;
        }
        node = parent;
    }
    last_answer
}
