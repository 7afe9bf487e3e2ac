//! Lines that repeat an earlier line of the same file.
//!
//! Clients write entries again, with their uuids, when they copy a session after a partial compaction. rethread writes
//! the path to an entry again, with new uuids, if clients cannot reach the entry itself; a resume marker follows it.

use std::collections::HashMap;

use super::builder::Tree;
use super::node::{Node, NodeId, ParentLink};
use crate::entry::{EntryRole, Flags, Kind};

/// The length of `null` as the parent of a line.
const NULL_BYTES: u32 = 4;
/// The length of a uuid with quotes as the parent of a line.
const UUID_BYTES: u32 = 38;

impl Tree {
    /// Returns the first line with the content of a node: the node itself, unless it repeats an earlier line.
    pub fn original(&self, id: NodeId) -> NodeId {
        if self.originals.is_empty() { id } else { self.originals.get(&id).copied().unwrap_or(id) }
    }

    /// Returns the nodes that repeat an earlier line, in no particular order.
    pub fn copies(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.originals.keys().copied()
    }

    /// Returns `true` if a node repeats an earlier line under a new uuid. Only rethread writes such lines.
    pub fn is_replayed(&self, id: NodeId) -> bool {
        self.node(self.original(id)).uuid != self.node(id).uuid
    }

    /// Finds the lines that repeat an earlier one.
    pub(super) fn find_copies(&mut self) {
        let mut originals = HashMap::new();
        for &(id, previous, _) in &self.duplicates {
            if LineKey::new(self.node(previous)) == LineKey::new(self.node(id)) {
                let original = originals.get(&previous).copied().unwrap_or(previous);
                originals.insert(id, original);
            }
        }
        self.find_replayed_lines(&mut originals);
        self.originals = originals;
    }

    /// Finds the lines that rethread wrote again: a path to a resume marker that ends directly before the marker, and in which
    /// every line equals an earlier line but for its uuids.
    fn find_replayed_lines(&self, originals: &mut HashMap<NodeId, NodeId>) {
        let is_marker = |&id: &NodeId| self.node(id).has_flag(Flags::RESUME_MARKER);
        let markers: Vec<NodeId> = (0..self.nodes().len() as NodeId).filter(is_marker).collect();
        if markers.is_empty() {
            return;
        }
        let mut by_key: HashMap<LineKey, Vec<NodeId>> = HashMap::new();
        for (id, node) in (0..).zip(self.nodes()) {
            by_key.entry(LineKey::new(node)).or_default().push(id);
        }
        let mut from = 0;
        for marker in markers {
            if let Some(start) = self.find_replay_start(marker, from, &by_key) {
                originals.extend(self.match_replayed_lines(start..marker, &by_key).unwrap_or_default());
            }
            from = marker + 1;
        }
    }

    /// Returns the topmost ancestor of a resume marker that is reached through lines directly before it, from `from` on, which
    /// all equal earlier lines. Returns `None` if its parent is not one of them.
    fn find_replay_start(
        &self,
        marker: NodeId,
        from: NodeId,
        by_key: &HashMap<LineKey, Vec<NodeId>>,
    ) -> Option<NodeId> {
        let has_equal = |id: NodeId| {
            let first = by_key.get(&LineKey::new(self.node(id))).and_then(|equal| equal.first());
            first.is_some_and(|&first| first < id)
        };
        let mut start = marker;
        while start > from && has_equal(start - 1) {
            start -= 1;
        }
        let is_in_range = |&id: &NodeId| (start..marker).contains(&id);
        let mut top = self.node(marker).parent().filter(is_in_range)?;
        while let Some(parent) = self.node(top).parent().filter(is_in_range) {
            top = parent;
        }
        Some(top)
    }

    /// Pairs the lines of a range with equal lines before it, in their order. Returns `None` unless all of them have one.
    fn match_replayed_lines(
        &self,
        range: std::ops::Range<NodeId>,
        by_key: &HashMap<LineKey, Vec<NodeId>>,
    ) -> Option<Vec<(NodeId, NodeId)>> {
        let mut pairs = Vec::new();
        let mut from = 0;
        for id in range.clone() {
            let candidates = by_key.get(&LineKey::new(self.node(id)))?;
            let first = candidates.partition_point(|&candidate| candidate < from);
            let candidate = candidates.get(first).copied().filter(|&candidate| candidate < range.start)?;
            from = candidate + 1;
            pairs.push((id, candidate));
        }
        Some(pairs)
    }
}

/// The properties that a line shares with its copies.
#[derive(PartialEq, Eq, Hash)]
struct LineKey {
    time: i64,
    message: u32,
    /// The length without the value of `parentUuid`.
    len: u32,
    kind: Kind,
    role: EntryRole,
    is_sidechain: bool,
}

impl LineKey {
    fn new(node: &Node) -> LineKey {
        let parent_len = if node.link == ParentLink::Root { NULL_BYTES } else { UUID_BYTES };
        LineKey {
            time: node.time,
            message: node.message,
            len: node.span.len.wrapping_sub(parent_len),
            kind: node.kind,
            role: node.role,
            is_sidechain: node.is_sidechain(),
        }
    }
}
