//! Paths from a root to a tip.

use std::collections::HashSet;

use super::builder::Tree;
use super::node::{NONE, Node, NodeId};
use crate::entry::EntryRole;

/// A node of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathEntry {
    /// The id of the node.
    pub node: NodeId,
    /// Whether it is an ancestor of the tip. `false` for parallel calls and results that were added.
    pub is_ancestor: bool,
}

impl Tree {
    /// Returns the last message of the main conversation in file order. If it is a late tool result, returns the last
    /// answer of its turn instead.
    ///
    /// Returns `None` if there is no message. The module `resume` determines the leaf that each client version uses.
    pub fn newest_tip(&self) -> Option<NodeId> {
        let is_sidechain_file = self.is_sidechain_file();
        let is_message = |&id: &NodeId| {
            let node = self.node(id);
            (is_sidechain_file || !node.is_sidechain())
                && !matches!(node.role, EntryRole::Structural | EntryRole::State | EntryRole::CompactBoundary)
                && !self.is_replayed(id)
        };
        // A result may follow an answer that builds on parallel results. Use the last answer then.
        let mut tip = (0..self.nodes().len() as NodeId).rfind(is_message)?;
        if let Some(turn) = self.turn_of(tip)
            && let Some(answer) = self.find_last_answer(turn, tip)
        {
            tip = answer;
        }
        Some(tip)
    }

    /// Finds the last answer of the turn that is not an ancestor of `tip`.
    ///
    /// Returns `None` if there is none, or unless `tip` is a result without children. `turn` is the node that starts it.
    fn find_last_answer(&self, turn: NodeId, tip: NodeId) -> Option<NodeId> {
        if self.node(tip).role != EntryRole::Results || !self.children(tip).is_empty() {
            return None;
        }
        let ancestors: HashSet<NodeId> = self.ancestors(tip).into_iter().collect();
        let mut candidates = (0..self.nodes().len() as NodeId).rev();
        candidates.find(|&id| {
            self.node(id).role == EntryRole::Answer
                && self.turn_of(id) == Some(turn)
                && !ancestors.contains(&id)
        })
    }

    /// Returns the last message of the turn that starts with `turn`: the last in file order without a message of the turn
    /// below it. A late tool result is replaced as in [`Tree::newest_tip`].
    ///
    /// An answer may precede its prompt in the file. Returns `turn` if the turn has no message.
    pub fn last_message_of_turn(&self, turn: NodeId) -> NodeId {
        let is_message = |id: NodeId| {
            self.turn_of(id) == Some(turn)
                && self.is_main_chain(id)
                && matches!(
                    self.node(id).role,
                    EntryRole::Answer | EntryRole::Results | EntryRole::Prompt | EntryRole::Interrupt
                )
        };
        let messages: Vec<NodeId> = (0..self.nodes().len() as NodeId).filter(|&id| is_message(id)).collect();
        // Structural entries may lie between two messages.
        let mut has_message_below = HashSet::new();
        for &id in &messages {
            let mut above = self.node(id).parent();
            while let Some(ancestor) = above.filter(|&above| self.turn_of(above) == Some(turn))
                && has_message_below.insert(ancestor)
            {
                above = self.node(ancestor).parent();
            }
        }
        let last = messages.into_iter().rev().find(|id| !has_message_below.contains(id));
        last.map_or(turn, |last| self.find_last_answer(turn, last).unwrap_or(last))
    }

    /// Returns the entries of the main conversation that are not structural and have only structural entries below them,
    /// in file order.
    pub fn tips(&self) -> Vec<NodeId> {
        let is_sidechain_file = self.is_sidechain_file();
        let mut has_message_below = vec![false; self.nodes().len()];
        for &id in self.topological_order().iter().rev() {
            let node = self.node(id);
            let is_message = has_message_below[id as usize]
                || !matches!(node.role, EntryRole::Structural | EntryRole::State);
            if is_message && node.parent != NONE {
                has_message_below[node.parent as usize] = true;
            }
        }
        let is_tip = |&id: &NodeId| {
            let node = self.node(id);
            !has_message_below[id as usize]
                && (is_sidechain_file || !node.is_sidechain())
                && !matches!(node.role, EntryRole::Structural | EntryRole::State)
        };
        (0..self.nodes().len() as NodeId).filter(is_tip).collect()
    }

    /// Returns the root of the subagent that a node of a session file belongs to.
    ///
    /// Returns `None` if the node or its root belongs to the main conversation, as all nodes of a subagent's file do.
    pub fn sidechain_root(&self, id: NodeId) -> Option<NodeId> {
        let mut root = id;
        while let Some(parent) = self.node(root).parent() {
            root = parent;
        }
        (!self.is_main_chain(id) && !self.is_main_chain(root)).then_some(root)
    }

    /// Returns the ancestors of `tip` and `tip` itself, root first.
    pub fn ancestors(&self, tip: NodeId) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut node = tip;
        while node != NONE {
            path.push(node);
            node = self.node(node).parent;
        }
        path.reverse();
        path
    }

    /// Returns the ancestors of `tip` and `tip` itself across compactions, oldest first, each once.
    ///
    /// The path continues from a compaction to the end of the conversation before it.
    pub fn ancestors_across_compactions(&self, tip: NodeId) -> Vec<NodeId> {
        let mut parts = vec![self.ancestors(tip)];
        let mut earliest = NodeId::MAX;
        while let Some(&root) = parts[parts.len() - 1].first() {
            // Never move forward in the file: two boundaries could name each other.
            if root >= earliest
                || !matches!(self.node(root).role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            {
                break;
            }
            earliest = root;
            match self.find_end_before(root) {
                Some(before) => parts.push(self.ancestors(before)),
                None => break,
            }
        }
        // Entries of several parts stay in the newest one.
        let mut is_seen = vec![false; self.nodes().len()];
        for part in &mut parts {
            part.retain(|&id| !std::mem::replace(&mut is_seen[id as usize], true));
        }
        parts.reverse();
        parts.concat()
    }

    /// Returns the end of the conversation before a compaction, given its boundary or its summary.
    ///
    /// It is the logical parent, or the message before the compaction if there is no logical parent. A compaction of one part
    /// of the conversation names the end of its first part as its logical parent. The second part was preserved, or it was
    /// summarized and ends with the message before the compaction.
    pub(crate) fn find_end_before(&self, root: NodeId) -> Option<NodeId> {
        let Some(logical) = self.logical_parent(root).filter(|&id| id < root) else {
            return self.find_previous_conversation(root);
        };
        let second_part = match self.boundaries.binary_search_by_key(&root, |(boundary, _)| *boundary) {
            Ok(idx) => match self.boundaries[idx].1.resolve(self) {
                Some((anchor, _)) if anchor == root => self.find_previous_message(root),
                Some((_, preserved)) => preserved.last().copied().filter(|&last| last < root),
                None => None,
            },
            Err(_) => None,
        };
        let mut ancestor = second_part;
        while let Some(id) = ancestor.filter(|&id| id != logical) {
            ancestor = self.node(id).parent();
        }
        ancestor.and(second_part).or(Some(logical))
    }

    /// Finds the last message before a compaction, in file order, that does not continue after it.
    ///
    /// In a damaged file, an entry of the conversation after a compaction may precede it.
    fn find_previous_conversation(&self, root: NodeId) -> Option<NodeId> {
        let mut messages =
            std::iter::successors(self.find_previous_message(root), |&id| self.find_previous_message(id));
        messages.find(|&id| self.ancestors(id).first() != Some(&root))
    }

    /// Finds the last entry before a node, in file order, that is not structural and is like it on a sidechain or not.
    ///
    /// Returns `None` if there is none.
    pub(crate) fn find_previous_message(&self, id: NodeId) -> Option<NodeId> {
        let is_sidechain = self.node(id).is_sidechain();
        let is_message = |node: &Node| {
            node.is_sidechain() == is_sidechain
                && !matches!(node.role, EntryRole::Structural | EntryRole::State)
        };
        self.nodes()[..id as usize].iter().rposition(is_message).map(|idx| idx as NodeId)
    }

    /// Returns the nodes of `path` with the other lines of its responses and the results of their calls inserted.
    ///
    /// The inserted nodes follow the path node that they descend from.
    pub fn with_parallel_calls(&self, path: &[NodeId]) -> Vec<PathEntry> {
        let mut on_path = vec![false; self.nodes().len()];
        let mut messages = vec![false; self.message_count()];
        for &id in path {
            on_path[id as usize] = true;
            if let Some(message) = self.message_of(id) {
                messages[message as usize] = true;
            }
        }
        let mut entries = Vec::with_capacity(path.len());
        let mut stack = Vec::new();
        for &id in path {
            entries.push(PathEntry { node: id, is_ancestor: true });
            // Below a call, add lines of the same response and results, then the same below these.
            stack.push(id);
            while let Some(top) = stack.pop() {
                if self.message_of(top).is_none_or(|message| !messages[message as usize]) {
                    continue;
                }
                for &child in self.children(top) {
                    if on_path[child as usize] {
                        continue;
                    }
                    let belongs =
                        self.is_same_message(child, top) || self.node(child).role == EntryRole::Results;
                    if belongs {
                        on_path[child as usize] = true;
                        entries.push(PathEntry { node: child, is_ancestor: false });
                        stack.push(child);
                    }
                }
            }
        }
        entries
    }
}
