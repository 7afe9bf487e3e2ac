//! Stretches: the parts of a tree between its real forks.
//!
//! ```text
//! trunk ──┬── way 1 of a fork ──┬── way 1 …        each node is in one stretch
//!         └── way 2             └── way 2 …        islands and subagents have stretches of their own
//! ```
//!
//! What only the recording parts (progress, attachments, parallel calls) stays in one stretch, and so does what goes on
//! after a compaction.

use std::collections::HashMap;

use super::builder::Tree;
use super::fork::Fork;
use super::node::{NONE, NodeId, ParentLink};
use crate::entry::EntryRole;

/// How a stretch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentOrigin {
    /// At the beginning of the file.
    Trunk,
    /// As a way of a real fork: which fork, which of its ways.
    Way(u32, u32),
    /// Cut off: its parent is missing, or it was cut from a cycle.
    Island(ParentLink),
    /// As a subagent inside the file.
    Aside,
}

/// A part of the tree that no real fork divides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchSegment {
    pub(crate) origin: SegmentOrigin,
    /// The stretch it forks from; always one with a smaller number.
    pub(crate) parent: u32,
    /// Whether a real fork stands in it.
    pub(crate) forked: bool,
    /// Whether it goes on behind its forks, after a compaction.
    pub(crate) goes_on: bool,
}

/// A tree, parted.
#[derive(Debug, Default)]
pub(crate) struct BranchSegments {
    /// The real forks.
    pub(crate) forks: Vec<Fork>,
    /// The stretches, parents before children; the first is the trunk.
    pub(crate) list: Vec<BranchSegment>,
    /// The stretch of each node.
    pub(crate) of: Vec<u32>,
    /// The nodes, each behind its parent and what is below it right behind it; roots in file order.
    pub(crate) order: Vec<NodeId>,
    /// What the roots that continue after a compaction follow.
    pub(crate) joins: HashMap<NodeId, NodeId>,
    /// The stretch of each way that was met.
    ways: HashMap<(u32, u32), u32>,
}

impl BranchSegments {
    /// Parts a tree.
    pub(crate) fn of(tree: &Tree) -> BranchSegments {
        let forks: Vec<Fork> = tree.forks().into_iter().filter(|fork| fork.kind.is_real()).collect();
        let begins = beginnings(tree, &forks);
        let mut parted =
            BranchSegments { forks, of: vec![NONE; tree.nodes().len()], ..BranchSegments::default() };
        parted.add(SegmentOrigin::Trunk, NONE);
        let recap = tree.first_recap();
        let mut stack = Vec::new();
        for root in tree.roots() {
            parted.of[root as usize] = match begins.get(&root) {
                Some(&way) => parted.way(way, 0),
                None => parted.home(tree, root, recap),
            };
            stack.push(root);
            while let Some(no) = stack.pop() {
                parted.order.push(no);
                let above = parted.of[no as usize];
                for child in tree.children(no) {
                    parted.of[*child as usize] =
                        begins.get(child).map_or(above, |&way| parted.way(way, above));
                }
                stack.extend(tree.children(no).iter().rev());
            }
        }
        parted
    }

    fn add(&mut self, origin: SegmentOrigin, parent: u32) -> u32 {
        self.list.push(BranchSegment { origin, parent, forked: false, goes_on: false });
        (self.list.len() - 1) as u32
    }

    /// Returns the stretch of a way, a new one where it was not met before.
    fn way(&mut self, (fork, way): (u32, u32), above: u32) -> u32 {
        if let Some(&known) = self.ways.get(&(fork, way)) {
            return known;
        }
        self.list[above as usize].forked = true;
        let new = self.add(SegmentOrigin::Way(fork, way), above);
        self.ways.insert((fork, way), new);
        new
    }

    /// Finds the stretch of a root that is no way of a fork.
    fn home(&mut self, tree: &Tree, root: NodeId, recap: Option<NodeId>) -> u32 {
        let node = tree.node(root);
        let goes_on = matches!(node.voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            || node.link == ParentLink::Root && tree.goes_on_from_compaction(root, recap);
        let before =
            || tree.logical_parent(root).filter(|&no| no < root).or_else(|| tree.previous_message(root));
        // What it follows was met before: the roots come in file order, so nothing follows itself.
        if let Some(before) = before().filter(|&no| goes_on && self.of[no as usize] != NONE) {
            let stretch = self.of[before as usize];
            self.joins.insert(root, before);
            let joined = &mut self.list[stretch as usize];
            joined.goes_on |= joined.forked;
            return stretch;
        }
        match node.link {
            _ if !tree.is_main_chain(root) => self.add(SegmentOrigin::Aside, NONE),
            link @ (ParentLink::Missing | ParentLink::Cut) => self.add(SegmentOrigin::Island(link), NONE),
            ParentLink::Root | ParentLink::Child => 0,
        }
    }
}

/// Finds the nodes with which ways begin: which fork, which way. Several may begin one way: results of parallel calls,
/// lines of one response, copies of one line.
fn beginnings(tree: &Tree, forks: &[Fork]) -> HashMap<NodeId, (u32, u32)> {
    let mut begins = HashMap::new();
    let heads = if forks.is_empty() { Vec::new() } else { tree.heads() };
    for (f, fork) in (0u32..).zip(forks) {
        let mut messages = HashMap::new();
        let mut of_call = None;
        for (w, &way) in (0u32..).zip(&fork.branches) {
            begins.insert(way, (f, w));
            let head = heads[way as usize];
            if let Some(message) = tree.message_of(head) {
                messages.entry(message).or_insert(w);
            }
            if fork.at.is_some_and(|at| tree.is_of_call(head, at)) {
                of_call = Some(w);
            }
        }
        let Some(at) = fork.at else { continue };
        for &child in tree.children(at) {
            let head = heads[child as usize];
            let call = of_call.filter(|_| tree.is_of_call(head, at));
            let response = || tree.message_of(head).and_then(|message| messages.get(&message).copied());
            let copy = || {
                let twin = begins.get(&tree.find(tree.node(child).id)?)?;
                (twin.0 == f).then_some(twin.1)
            };
            if let Some(w) = call.or_else(response).or_else(copy)
                && !begins.contains_key(&child)
            {
                begins.insert(child, (f, w));
            }
        }
    }
    begins
}
