//! Paths: from a root to a tip, with what belongs to it.

use std::collections::HashSet;

use super::builder::Tree;
use super::node::{NONE, Node, NodeId};
use crate::entry::EntryRole;

/// One node of a told path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathEntry {
    /// The node.
    pub node: NodeId,
    /// Whether the walk over parents passes it, or it was re-joined (a parallel call or result).
    pub is_ancestor: bool,
}

impl Tree {
    /// Returns the tip that an unprepared reader would take: the last line that speaks, outside subagents.
    ///
    /// Sits at the end of the file in nearly all of them. What each client version takes is for `resume` to say.
    pub fn newest_tip(&self) -> Option<NodeId> {
        let side_file = self.is_sidechain_file();
        let speaks = |node: &Node| {
            (side_file || !node.is_sidechain())
                && !matches!(
                    node.voice,
                    EntryRole::Structural | EntryRole::State | EntryRole::CompactBoundary
                )
        };
        let last = self.nodes().iter().rposition(speaks)?;
        // A result may stand behind the answer that builds on its siblings: go down to where the talk went on.
        let mut tip = last as NodeId;
        if let Some(turn) = self.turn_of(tip)
            && let Some(answer) = self.last_answer(turn, tip)
        {
            tip = answer;
        }
        Some(tip)
    }

    /// Finds the last answer of the turn that is not above `tip`, when `tip` is a childless result.
    fn last_answer(&self, turn: NodeId, tip: NodeId) -> Option<NodeId> {
        if self.node(tip).voice != EntryRole::Results || !self.children(tip).is_empty() {
            return None;
        }
        let above: HashSet<NodeId> = self.ancestors(tip).into_iter().collect();
        let candidates = (turn..self.nodes().len() as NodeId).rev();
        candidates.into_iter().find(|&no| {
            self.node(no).voice == EntryRole::Answer && self.turn_of(no) == Some(turn) && !above.contains(&no)
        })
    }

    /// Returns the tips: nodes that speak and below which nothing does, outside subagents, in file order.
    pub fn tips(&self) -> Vec<NodeId> {
        let side_file = self.is_sidechain_file();
        let mut spoken_below = vec![false; self.nodes().len()];
        for &no in self.topological_order().iter().rev() {
            let node = self.node(no);
            let speaks =
                spoken_below[no as usize] || !matches!(node.voice, EntryRole::Structural | EntryRole::State);
            if speaks && node.parent != NONE {
                spoken_below[node.parent as usize] = true;
            }
        }
        let is_tip = |&no: &NodeId| {
            let node = self.node(no);
            !spoken_below[no as usize]
                && (side_file || !node.is_sidechain())
                && !matches!(node.voice, EntryRole::Structural | EntryRole::State)
        };
        (0..self.nodes().len() as NodeId).filter(is_tip).collect()
    }

    /// Returns the first node of the subagent inside the file of a session that a node belongs to.
    pub fn sidechain_root(&self, no: NodeId) -> Option<NodeId> {
        let mut root = no;
        while let Some(parent) = self.node(root).parent() {
            root = parent;
        }
        (!self.is_main_chain(no) && !self.is_main_chain(root)).then_some(root)
    }

    /// Walks over parents from the root to `tip`.
    pub fn ancestors(&self, tip: NodeId) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut at = tip;
        while at != NONE {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// Walks from the first beginning to `tip`, also over compactions: past a boundary to what it followed, or, where
    /// that is not in the file, to the line that speaks before it.
    pub fn ancestors_across_compactions(&self, tip: NodeId) -> Vec<NodeId> {
        let mut parts = vec![self.ancestors(tip)];
        let mut earliest = NodeId::MAX;
        while let Some(&root) = parts[parts.len() - 1].first() {
            // Never go forward in the file: two boundaries could name each other.
            if root >= earliest
                || !matches!(self.node(root).voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            {
                break;
            }
            earliest = root;
            let before =
                self.logical_parent(root).filter(|&no| no < root).or_else(|| self.previous_message(root));
            match before {
                Some(before) => parts.push(self.ancestors(before)),
                None => break,
            }
        }
        // The newer part keeps what both hold.
        let mut seen = HashSet::new();
        for part in &mut parts {
            part.retain(|no| seen.insert(*no));
        }
        parts.reverse();
        parts.concat()
    }

    /// Returns the last line of the same conversation that speaks before a node.
    pub(crate) fn previous_message(&self, no: NodeId) -> Option<NodeId> {
        let side = self.node(no).is_sidechain();
        let speaks = |node: &Node| {
            node.is_sidechain() == side && !matches!(node.voice, EntryRole::Structural | EntryRole::State)
        };
        self.nodes()[..no as usize].iter().rposition(speaks).map(|k| k as NodeId)
    }

    /// Adds to a walk what belongs to it: the other lines of its responses and the results of their calls.
    pub fn with_parallel_calls(&self, walk: &[NodeId]) -> Vec<PathEntry> {
        let mut on_walk = vec![false; self.nodes().len()];
        let mut messages = vec![false; self.messages()];
        for &no in walk {
            on_walk[no as usize] = true;
            if let Some(message) = self.message_of(no) {
                messages[message as usize] = true;
            }
        }
        let mut steps = Vec::with_capacity(walk.len());
        let mut stack = Vec::new();
        for &no in walk {
            steps.push(PathEntry { node: no, is_ancestor: true });
            // Below a call: siblings that are parts of the response or results, and the same below them.
            stack.push(no);
            while let Some(top) = stack.pop() {
                if self.message_of(top).is_none_or(|message| !messages[message as usize]) {
                    continue;
                }
                for &child in self.children(top) {
                    if on_walk[child as usize] {
                        continue;
                    }
                    let joins = self.same_message(child, top) || self.node(child).voice == EntryRole::Results;
                    if joins {
                        on_walk[child as usize] = true;
                        steps.push(PathEntry { node: child, is_ancestor: false });
                        stack.push(child);
                    }
                }
            }
        }
        steps
    }
}
