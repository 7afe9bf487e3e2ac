//! Lines that repeat an earlier line of the same file.
//!
//! Clients write entries again, with their uuids, when they copy a session after a partial compaction. rethread writes
//! the path to an entry again, with new uuids, if clients cannot reach the entry itself; a resume marker follows it.

use std::collections::HashMap;
use std::ops::Range;

use super::builder::Tree;
use super::node::{NONE, Node, NodeId, ParentLink};
use crate::entry::Flags;

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
        let candidates = self.find_replay_candidates();
        if candidates.is_empty() {
            return;
        }
        let lines = LinesByKey::from_nodes(self.nodes());
        for candidate in candidates {
            let marker = candidate.end;
            let starts = self.find_replay_starts(candidate, &lines);
            let pairs = starts.iter().find_map(|&start| self.match_replayed_lines(start..marker, &lines));
            originals.extend(pairs.unwrap_or_default());
        }
    }

    /// Returns the lines between each resume marker and the one before it, if the parent of the marker is one of them and the
    /// last of them equals an earlier line.
    ///
    /// Most markers follow no copies. Then only the lines directly before markers are compared with the others.
    fn find_replay_candidates(&self) -> Vec<Range<NodeId>> {
        let mut candidates = Vec::new();
        let mut from = 0;
        let markers = (0..).zip(self.nodes()).filter(|(_, node)| node.has_flag(Flags::RESUME_MARKER));
        for (marker, node) in markers {
            let lines = std::mem::replace(&mut from, marker + 1)..marker;
            if node.parent().is_some_and(|parent| lines.contains(&parent)) {
                candidates.push(lines);
            }
        }
        if candidates.is_empty() {
            return candidates;
        }
        let key_before = |lines: &Range<NodeId>| LineKey::new(self.node(lines.end - 1));
        let mut firsts: Vec<(LineKey, NodeId)> =
            candidates.iter().map(|lines| (key_before(lines), NONE)).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let find_first = |firsts: &[(LineKey, NodeId)], key: &LineKey| {
            firsts.binary_search_by(|(other, _)| other.cmp(key)).ok()
        };
        for (id, node) in (0..).zip(self.nodes()) {
            if let Some(idx) = find_first(&firsts, &LineKey::new(node)) {
                firsts[idx].1 = firsts[idx].1.min(id);
            }
        }
        candidates.retain(|lines| {
            let first = find_first(&firsts, &key_before(lines));
            first.is_some_and(|idx| firsts[idx].1 < lines.end - 1)
        });
        candidates
    }

    /// Returns the lines with which a replayed path may start, the most likely one first. All lines from there to the resume
    /// marker after `candidate` equal earlier ones.
    ///
    /// The second one is the first ancestor of the marker in file order. Entries that a compaction on the path preserves are
    /// no ancestors: they precede it, and their parents precede the path, if they have any. The result is empty if the parent
    /// of the marker is not one of these lines.
    fn find_replay_starts(&self, candidate: Range<NodeId>, lines: &LinesByKey) -> Vec<NodeId> {
        let has_equal =
            |id: NodeId| lines.find_equal(self.node(id)).first().is_some_and(|&(_, first)| first < id);
        let marker = candidate.end;
        let mut start = marker;
        while start > candidate.start && has_equal(start - 1) {
            start -= 1;
        }
        let is_in_range = |&id: &NodeId| (start..marker).contains(&id);
        let Some(parent) = self.node(marker).parent().filter(is_in_range) else { return Vec::new() };
        // An answer may precede its prompt in the file.
        let ancestors = std::iter::successors(Some(parent), |&id| self.node(id).parent().filter(is_in_range));
        let first = ancestors.min().unwrap_or(parent);
        vec![self.find_preserved_start(start..first), first]
    }

    /// Returns the first line of a range from which on all lines have new uuids and no parent before them.
    fn find_preserved_start(&self, range: Range<NodeId>) -> NodeId {
        let (mut first, mut lowest_parent) = (range.end, range.end);
        for id in range.rev() {
            let node = self.node(id);
            let is_duplicate = self.duplicates.binary_search_by_key(&id, |&(repeated, ..)| repeated).is_ok();
            if is_duplicate || node.link == ParentLink::MissingParent {
                break;
            }
            lowest_parent = lowest_parent.min(node.parent().unwrap_or(NONE));
            if lowest_parent >= id {
                first = id;
            }
        }
        first
    }

    /// Pairs the lines of a range with equal lines before it, in their order. Returns `None` unless all of them have one.
    fn match_replayed_lines(
        &self,
        range: Range<NodeId>,
        lines: &LinesByKey,
    ) -> Option<Vec<(NodeId, NodeId)>> {
        let mut pairs = Vec::new();
        let mut from = 0;
        for id in range.clone() {
            let equal = lines.find_equal(self.node(id));
            let first = equal.partition_point(|&(_, other)| other < from);
            let (_, other) = equal.get(first).filter(|(_, other)| *other < range.start)?;
            from = other + 1;
            pairs.push((id, *other));
        }
        Some(pairs)
    }
}

/// The lines of a file, sorted by key and then by position. Sorting takes less time than a map with a list for each key.
struct LinesByKey(Vec<(LineKey, NodeId)>);

impl LinesByKey {
    fn from_nodes(nodes: &[Node]) -> LinesByKey {
        let mut lines: Vec<(LineKey, NodeId)> = nodes.iter().map(LineKey::new).zip(0..).collect();
        lines.sort_unstable();
        LinesByKey(lines)
    }

    /// Returns the lines with the key of a node, in file order.
    fn find_equal(&self, node: &Node) -> &[(LineKey, NodeId)] {
        let key = LineKey::new(node);
        let start = self.0.partition_point(|(other, _)| *other < key);
        let count = self.0[start..].partition_point(|(other, _)| *other == key);
        &self.0[start..start + count]
    }
}

/// The properties that a line shares with its copies.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LineKey {
    time: i64,
    message: u32,
    /// The length without the value of `parentUuid`.
    len: u32,
    /// The kind and the role as numbers, whose order has no meaning.
    kind: u8,
    role: u8,
    is_sidechain: bool,
}

impl LineKey {
    fn new(node: &Node) -> LineKey {
        let parent_len = if node.link == ParentLink::Root { NULL_BYTES } else { UUID_BYTES };
        LineKey {
            time: node.time,
            message: node.message,
            len: node.span.len.wrapping_sub(parent_len),
            kind: node.kind as u8,
            role: node.role as u8,
            is_sidechain: node.is_sidechain(),
        }
    }
}
