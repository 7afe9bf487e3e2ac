//! The entries as a client loads them: by uuid. The last line with a uuid replaces the earlier ones.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::rules::{PreservedSupport, ProgressRule, Rules};
use crate::entry::{EntryRole, Flags, Kind};
use crate::id::Id;
use crate::tree::{Node, NodeId, ParentLink, Tree};

/// The value for "no entry".
pub(super) const NONE: NodeId = NodeId::MAX;

/// The entries and links that the client has in memory after reading the file.
pub(super) struct ClientGraph<'t> {
    pub(super) tree: &'t Tree,
    /// The loaded entries, in the order in which their uuids first occur.
    pub(super) order: Vec<NodeId>,
    /// The parent of each entry, as the client resolves it. `NONE` if it has none or is not loaded.
    pub(super) parent: Vec<NodeId>,
    /// Whether the client loaded the entry.
    pub(super) loaded: Vec<bool>,
    /// The entries whose parent was chosen by time. The client chooses the leaf without these links.
    pub(super) linked_by_time: HashSet<NodeId>,
    /// The anchor of the entries that a compaction preserved, and the last of these entries. `None` if no entries were
    /// inserted below an anchor.
    pub(super) spliced: Option<(NodeId, NodeId)>,
}

impl<'t> ClientGraph<'t> {
    /// Loads and links the entries as a client with these rules does, including links by time and preserved entries.
    pub(super) fn new(tree: &'t Tree, rules: &Rules) -> ClientGraph<'t> {
        let mut graph = ClientGraph::from_uuids(tree, rules);
        if rules.preserved != PreservedSupport::None {
            graph.apply_preserved(rules);
        }
        if rules.link_by_time {
            graph.link_by_time();
        }
        graph
    }

    /// Loads the entries and links them by their uuids alone, without links by time and preserved entries.
    pub(super) fn from_uuids(tree: &'t Tree, rules: &Rules) -> ClientGraph<'t> {
        let count = tree.nodes().len();
        let mut graph = ClientGraph {
            tree,
            order: Vec::with_capacity(count),
            parent: vec![NONE; count],
            loaded: vec![false; count],
            linked_by_time: HashSet::new(),
            spliced: None,
        };
        graph.load_entries(rules);
        graph.link_parents(rules);
        graph
    }

    /// Returns the last entry with the same uuid as `node_id`, which is the one that the client keeps.
    pub(super) fn last_with_uuid(&self, node_id: NodeId) -> NodeId {
        if self.tree.repeated_line_count() == 0 {
            return node_id;
        }
        self.tree.find_uuid(self.tree.node(node_id).uuid).unwrap_or(node_id)
    }

    /// Fills `order` and `loaded` with the entries of the kinds that the client loads.
    fn load_entries(&mut self, rules: &Rules) {
        for node_id in 0..self.tree.nodes().len() as NodeId {
            let last = self.last_with_uuid(node_id);
            let is_loaded = match self.tree.node(last).kind {
                _ if self.tree.node(last).has_flag(Flags::RECOVERED) => false,
                Kind::Progress => rules.progress == ProgressRule::Loaded,
                kind => kind.is_loaded_by_clients(),
            };
            if is_loaded && !self.loaded[last as usize] {
                self.loaded[last as usize] = true;
                self.order.push(last);
            }
        }
    }

    /// Fills `parent` for the loaded entries. Restores links that the tree cut at cycles, and drops links to entries that
    /// are not loaded.
    fn link_parents(&mut self, rules: &Rules) {
        let is_progress = |node_id: NodeId| self.tree.node(node_id).kind == Kind::Progress;
        // Resolve runs of progress lines once for all of them, as far as parents precede children.
        let mut resolved: Vec<Option<NodeId>> = self.tree.nodes().iter().map(Node::parent).collect();
        for node_id in 0..resolved.len() {
            if let Some(parent) =
                resolved[node_id].filter(|&parent| (parent as usize) < node_id && is_progress(parent))
            {
                resolved[node_id] = resolved[parent as usize];
            }
        }
        for &node_id in &self.order {
            let mut parent = self.tree.node(node_id).parent();
            // The links of the tree have no cycles.
            while let Some(ancestor) =
                parent.filter(|&ancestor| rules.progress == ProgressRule::Bridged && is_progress(ancestor))
            {
                parent = resolved[ancestor as usize];
            }
            self.parent[node_id as usize] = parent.map_or(NONE, |parent| self.last_with_uuid(parent));
        }
        for &(child, parent) in &self.tree.cut_links {
            if self.loaded[child as usize] {
                self.parent[child as usize] = self.last_with_uuid(parent);
            }
        }
        for &node_id in &self.order {
            let parent = self.parent[node_id as usize];
            if parent != NONE && !self.loaded[parent as usize] {
                self.parent[node_id as usize] = NONE;
            }
        }
    }

    /// Returns the parent by uuid, or `NONE` if the entry has none or was linked by time.
    pub(super) fn uuid_parent(&self, node_id: NodeId) -> NodeId {
        if self.linked_by_time.contains(&node_id) { NONE } else { self.parent[node_id as usize] }
    }

    /// Returns `true` if clients read the line, even if they drop it at a compaction later.
    pub(super) fn is_read(&self, node_id: NodeId) -> bool {
        let node = self.tree.node(node_id);
        !node.has_flag(Flags::RECOVERED) && node.kind.is_loaded_by_clients()
    }

    /// Returns `true` if the client read the line and dropped it at a compaction.
    fn is_dropped(&self, node_id: NodeId) -> bool {
        let last = self.last_with_uuid(node_id);
        self.is_read(last) && !self.loaded[last as usize]
    }

    /// Links each entry with a missing, damaged or dropped parent to the newest entry of the five seconds before it.
    ///
    /// The entry becomes a root if it has no timestamp or there is no such entry. Sidechains are linked among themselves.
    fn link_by_time(&mut self) {
        const WINDOW_MS: i64 = 5000;
        let is_orphan = |&node_id: &NodeId| {
            let node = self.tree.node(node_id);
            let is_unlinked = self.parent[node_id as usize] == NONE;
            let is_lost =
                |parent| self.tree.node(parent).has_flag(Flags::RECOVERED) || self.is_dropped(parent);
            is_unlinked && (node.link == ParentLink::MissingParent || node.parent().is_some_and(is_lost))
        };
        let orphans: Vec<NodeId> = self.order.iter().copied().filter(is_orphan).collect();
        if orphans.is_empty() {
            return;
        }
        let time = |node_id: NodeId| self.tree.node(node_id).time().map(|time| time.0);
        // Newest first, entries with the same time in file order. Sidechains have a list of their own.
        let mut by_time: [Vec<(i64, usize)>; 2] = Default::default();
        for (order_idx, &node_id) in self.order.iter().enumerate() {
            let list_idx = usize::from(self.tree.node(node_id).is_sidechain());
            by_time[list_idx].extend(time(node_id).map(|time| (time, order_idx)));
        }
        by_time
            .iter_mut()
            .for_each(|list| list.sort_unstable_by_key(|&(time, order_idx)| (Reverse(time), order_idx)));
        for node_id in orphans {
            let Some(now) = time(node_id) else {
                continue;
            };
            let by_time = &by_time[usize::from(self.tree.node(node_id).is_sidechain())];
            let from = by_time.partition_point(|&(time, _)| time > now);
            let recent =
                by_time[from..].iter().take_while(|&&(time, _)| now.saturating_sub(time) <= WINDOW_MS);
            let can_be_parent = |&other: &NodeId| other != node_id && self.parent[other as usize] != node_id;
            let newest = recent.map(|&(_, order_idx)| self.order[order_idx]).find(can_be_parent);
            if let Some(newest) = newest {
                self.parent[node_id as usize] = newest;
                self.linked_by_time.insert(node_id);
            }
        }
    }

    /// Drops the entries before the last compaction except the preserved ones.
    ///
    /// Does nothing if no compaction preserves entries, or if a preserved entry is missing.
    fn apply_preserved(&mut self, rules: &Rules) {
        let preserving: HashSet<NodeId> = self
            .tree
            .boundaries
            .iter()
            .filter(|(_, entries)| {
                entries.segment.is_some()
                    || rules.preserved == PreservedSupport::Messages && entries.messages.is_some()
            })
            .map(|(boundary, _)| *boundary)
            .collect();
        let is_boundary = |node_id: &NodeId| self.tree.node(*node_id).role == EntryRole::CompactBoundary;
        let Some(last_idx) = self.order.iter().rposition(is_boundary) else {
            return;
        };
        let preserving_boundary =
            self.order.iter().rev().find(|&node_id| is_boundary(node_id) && preserving.contains(node_id));
        let Some(&preserving_boundary) = preserving_boundary else {
            return;
        };
        let preserved = if preserving_boundary == self.order[last_idx] {
            self.find_preserved(preserving_boundary, rules)
        } else {
            Some((None, Vec::new()))
        };
        // If a preserved entry is missing, the client drops nothing.
        let Some((anchor, preserved)) = preserved else {
            return;
        };
        self.splice_preserved(anchor.unwrap_or(NONE), &preserved);
        self.drop_before(last_idx, &preserved, rules);
    }

    /// Finds the anchor and the entries that a boundary preserves, in order. The anchor is `None` if it is not loaded.
    ///
    /// Returns `None` if a preserved entry is not loaded, or if the parents of the segment's tail do not lead to its head.
    fn find_preserved(&self, boundary: NodeId, rules: &Rules) -> Option<(Option<NodeId>, Vec<NodeId>)> {
        let find = |id: Id| self.tree.find_uuid(id).filter(|&node_id| self.loaded[node_id as usize]);
        let (_, entries) = self.tree.boundaries.iter().find(|(node_id, _)| *node_id == boundary)?;
        if let Some((anchor, uuids)) =
            entries.messages.as_ref().filter(|_| rules.preserved == PreservedSupport::Messages)
        {
            let nodes: Option<Vec<NodeId>> = uuids.iter().map(|id| find(*id)).collect();
            return Some((find(*anchor), nodes?));
        }
        let (anchor, head, tail) = entries.segment?;
        let head = find(head)?;
        let mut segment = vec![find(tail)?];
        while segment[segment.len() - 1] != head {
            let parent = self.parent[segment[segment.len() - 1] as usize];
            if parent == NONE || segment.len() > self.order.len() {
                return None;
            }
            segment.push(parent);
        }
        segment.reverse();
        Some((find(anchor), segment))
    }

    /// Inserts the preserved entries, as a chain, between the anchor and its children. The chain gets no parent if the
    /// anchor is `NONE`.
    fn splice_preserved(&mut self, anchor: NodeId, preserved: &[NodeId]) {
        let (Some(&first), Some(&last)) = (preserved.first(), preserved.last()) else {
            return;
        };
        let mut parent = anchor;
        for &node_id in preserved {
            self.parent[node_id as usize] = parent;
            parent = node_id;
        }
        if anchor == NONE {
            return;
        }
        self.spliced = Some((anchor, last));
        for &node_id in &self.order {
            if self.parent[node_id as usize] == anchor && node_id != first {
                self.parent[node_id as usize] = last;
            }
        }
    }

    /// Drops the entries before `order[boundary_idx]`, except the preserved ones.
    ///
    /// Links the children of dropped entries to the last preserved entry, or makes them roots, as the rules demand.
    fn drop_before(&mut self, boundary_idx: usize, preserved: &[NodeId], rules: &Rules) {
        let is_preserved: HashSet<NodeId> = preserved.iter().copied().collect();
        for &node_id in &self.order[..boundary_idx] {
            self.loaded[node_id as usize] = is_preserved.contains(&node_id);
        }
        let loaded = std::mem::take(&mut self.loaded);
        self.order.retain(|&node_id| loaded[node_id as usize]);
        let new_parent = preserved.last().copied().filter(|_| rules.link_to_preserved).unwrap_or(NONE);
        for &node_id in &self.order {
            let parent = self.parent[node_id as usize];
            if parent != NONE && !loaded[parent as usize] {
                self.parent[node_id as usize] = new_parent;
            }
        }
        self.loaded = loaded;
    }
}
