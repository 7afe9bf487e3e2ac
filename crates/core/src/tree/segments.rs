//! Segments: the parts of a tree between its real forks.
//!
//! ```text
//! trunk ──┬── child 1 of a fork ──┬── child 1 …        each node is in one segment
//!         └── child 2             └── child 2 …        orphaned parts and subagents have segments of their own
//! ```
//!
//! Recording artifacts (progress, attachments, parallel calls) and compactions do not start a new segment.

use std::collections::HashMap;

use super::builder::Tree;
use super::fork::Fork;
use super::node::{NONE, NodeId, ParentLink};
use crate::entry::EntryRole;

/// How a segment starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentOrigin {
    /// At the start of the file.
    Trunk,
    /// As a child of a real fork: the index of the fork, and of its branch.
    ForkChild(u32, u32),
    /// As an orphaned part: its parent is missing, or its link was cut from a cycle.
    Orphaned(ParentLink),
    /// As a subagent inside the file.
    Sidechain,
}

/// A part of the tree that no real fork divides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchSegment {
    pub(crate) origin: SegmentOrigin,
    /// The index of the segment that it forks from, which is always smaller. `NONE` unless it is the child of a fork.
    pub(crate) parent: u32,
    /// Whether it contains a real fork.
    pub(crate) has_fork: bool,
    /// Whether it continues after its forks, following a compaction.
    pub(crate) continues: bool,
}

/// The segments of a tree.
#[derive(Debug, Default)]
pub(crate) struct BranchSegments {
    /// The real forks.
    pub(crate) forks: Vec<Fork>,
    /// The segments, parents before children. The first is the trunk.
    pub(crate) list: Vec<BranchSegment>,
    /// The index in `list` of the segment of each node.
    pub(crate) by_node: Vec<u32>,
    /// The nodes in depth-first order, roots in file order.
    pub(crate) order: Vec<NodeId>,
    /// For each root that continues after a compaction, the node that it follows.
    pub(crate) continuations: HashMap<NodeId, NodeId>,
    /// The segment of each fork child so far, by fork and branch index.
    by_fork_child: HashMap<(u32, u32), u32>,
}

impl BranchSegments {
    /// Divides a tree into segments.
    pub(crate) fn from_tree(tree: &Tree) -> BranchSegments {
        let forks: Vec<Fork> = tree.find_forks().into_iter().filter(|fork| fork.kind.is_real()).collect();
        let starts = find_branch_starts(tree, &forks);
        let mut segments =
            BranchSegments { forks, by_node: vec![NONE; tree.nodes().len()], ..BranchSegments::default() };
        segments.add_segment(SegmentOrigin::Trunk, NONE);
        let first_summary = tree.first_compact_summary();
        let mut stack = Vec::new();
        for root in tree.roots() {
            segments.by_node[root as usize] = match starts.get(&root) {
                Some(&start) => segments.get_or_add_child_segment(start, 0),
                None => segments.get_or_add_root_segment(tree, root, first_summary),
            };
            stack.push(root);
            while let Some(id) = stack.pop() {
                segments.order.push(id);
                let parent = segments.by_node[id as usize];
                for child in tree.children(id) {
                    segments.by_node[*child as usize] = starts
                        .get(child)
                        .map_or(parent, |&start| segments.get_or_add_child_segment(start, parent));
                }
                stack.extend(tree.children(id).iter().rev());
            }
        }
        segments
    }

    fn add_segment(&mut self, origin: SegmentOrigin, parent: u32) -> u32 {
        self.list.push(BranchSegment { origin, parent, has_fork: false, continues: false });
        (self.list.len() - 1) as u32
    }

    /// Returns the index of the segment of a fork child. Creates it below the segment `parent` if it does not exist.
    ///
    /// The child is given as the index of the fork and the index of its branch.
    fn get_or_add_child_segment(&mut self, (fork, branch): (u32, u32), parent: u32) -> u32 {
        if let Some(&existing) = self.by_fork_child.get(&(fork, branch)) {
            return existing;
        }
        self.list[parent as usize].has_fork = true;
        let new = self.add_segment(SegmentOrigin::ForkChild(fork, branch), parent);
        self.by_fork_child.insert((fork, branch), new);
        new
    }

    /// Returns the index of the segment of a root that is not a fork child.
    ///
    /// A root after a compaction continues the segment before it. Creates a segment for an orphaned or sidechain root.
    fn get_or_add_root_segment(&mut self, tree: &Tree, root: NodeId, first_summary: Option<NodeId>) -> u32 {
        let node = tree.node(root);
        let continues = matches!(node.role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            || node.link == ParentLink::Root && tree.continues_after_compaction(root, first_summary);
        // The node that it follows has a segment already: roots are in file order, so no root follows itself.
        let before = continues.then(|| tree.find_end_before(root)).flatten();
        if let Some(before) = before.filter(|&id| self.by_node[id as usize] != NONE) {
            let segment = self.by_node[before as usize];
            self.continuations.insert(root, before);
            let joined = &mut self.list[segment as usize];
            joined.continues |= joined.has_fork;
            return segment;
        }
        match node.link {
            _ if !tree.is_main_chain(root) => self.add_segment(SegmentOrigin::Sidechain, NONE),
            link @ (ParentLink::MissingParent | ParentLink::CycleBroken) => {
                self.add_segment(SegmentOrigin::Orphaned(link), NONE)
            }
            ParentLink::Root | ParentLink::Child => 0,
        }
    }
}

/// Finds the nodes that start branches. Returns for each the index of the fork and the index of its branch.
///
/// Several nodes may start one branch: results of parallel calls, lines of one response, copies of one line.
fn find_branch_starts(tree: &Tree, forks: &[Fork]) -> HashMap<NodeId, (u32, u32)> {
    let mut starts = HashMap::new();
    let heads = if forks.is_empty() { Vec::new() } else { tree.find_subtree_heads() };
    for (fork_idx, fork) in (0u32..).zip(forks) {
        let mut messages = HashMap::new();
        let mut call_branch = None;
        for (branch_idx, &start) in (0u32..).zip(&fork.branches) {
            starts.insert(start, (fork_idx, branch_idx));
            let head = heads[start as usize];
            if let Some(message) = tree.message_of(head) {
                messages.entry(message).or_insert(branch_idx);
            }
            if fork.at.is_some_and(|at| tree.belongs_to_call(head, at)) {
                call_branch = Some(branch_idx);
            }
        }
        let Some(at) = fork.at else { continue };
        for &child in tree.children(at) {
            let head = heads[child as usize];
            let call = call_branch.filter(|_| tree.belongs_to_call(head, at));
            let response = || tree.message_of(head).and_then(|message| messages.get(&message).copied());
            let copy = || {
                let (start_fork, start_branch) = *starts.get(&tree.find_uuid(tree.node(child).uuid)?)?;
                (start_fork == fork_idx).then_some(start_branch)
            };
            if let Some(branch_idx) = call.or_else(response).or_else(copy)
                && !starts.contains_key(&child)
            {
                starts.insert(child, (fork_idx, branch_idx));
            }
        }
    }
    starts
}
