//! Builds the tree of rows before any are hidden.

use super::row::{OutlineItem, OutlineOptions, OutlineRow};
use crate::entry::EntryRole;
use crate::tree::branch::{Branches, ForkPoint};
use crate::tree::builder::Tree;
use crate::tree::conversation::PathRelation;
use crate::tree::node::{NONE, NodeId, ParentLink};
use crate::tree::segments::{BranchSegments, SegmentOrigin};

/// All rows before any are hidden, parents before children.
#[derive(Debug, Default)]
pub(super) struct OutlineTree {
    pub(super) rows: Vec<OutlineRow>,
    /// The index of the parent of each row, or `NONE`.
    pub(super) parents: Vec<u32>,
    /// Children by row: those of row `i` are `children[starts[i]..starts[i + 1]]`.
    children: Vec<u32>,
    starts: Vec<u32>,
    /// The index of the row that shows each node, or `NONE`.
    pub(super) by_node: Vec<u32>,
    /// The index of the row of the requested entry. `None` if no entry was requested.
    pub(super) requested: Option<u32>,
    /// Whether each row is on the path to the leaf.
    pub(super) on_path: Vec<bool>,
}

impl OutlineTree {
    /// Returns the indices of the rows right below a row.
    pub(super) fn children(&self, row: u32) -> &[u32] {
        let row_idx = row as usize;
        &self.children[self.starts[row_idx] as usize..self.starts[row_idx + 1] as usize]
    }

    /// Computes `children` and `starts` from `parents`.
    fn link_children(&mut self) {
        let mut starts = vec![0u32; self.rows.len() + 2];
        for &parent in self.parents.iter().filter(|&&parent| parent != NONE) {
            starts[parent as usize + 2] += 1;
        }
        for idx in 1..starts.len() {
            starts[idx] += starts[idx - 1];
        }
        self.children = vec![0; starts[starts.len() - 1] as usize];
        for (row, &parent) in (0u32..).zip(&self.parents).filter(|(_, parent)| **parent != NONE) {
            let slot = &mut starts[parent as usize + 1];
            self.children[*slot as usize] = row;
            *slot += 1;
        }
        self.starts = starts;
    }
}

/// Builds all rows of an outline and links them, before any are hidden.
pub(super) fn build_layout(tree: &Tree, branches: &Branches, options: &OutlineOptions<'_>) -> OutlineTree {
    let segments = &branches.segments;
    let leading_entries = find_leading_entries(tree, segments);
    let relations = compute_path_relations(tree, options);
    let mut layout = OutlineTree { by_node: vec![NONE; tree.nodes().len()], ..OutlineTree::default() };
    // By segment: whether it has occurred, and its last row so far, or that of its parent segment.
    let mut last = vec![(false, NONE); segments.list.len()];
    let mut started = vec![false; segments.list.len()];
    for &id in &segments.order {
        let segment_idx = segments.by_node[id as usize] as usize;
        if !last[segment_idx].0 {
            last[segment_idx] =
                (true, find_parent_segment(segments, segment_idx).map_or(NONE, |above| last[above].1));
        }
        let requested = options.around == Some(id);
        if let Some(item) =
            choose_outline_item(tree, id, options.all || requested || leading_entries[segment_idx] == id)
        {
            let above = || tree.node(id).parent().or_else(|| segments.continuations.get(&id).copied());
            let parent = match options.all {
                true => above().map_or(NONE, |parent| layout.by_node[parent as usize]),
                false => last[segment_idx].1,
            };
            let (fork_point, broken_link) =
                if started[segment_idx] { (None, None) } else { find_segment_start(segments, segment_idx) };
            started[segment_idx] = true;
            last[segment_idx].1 = layout.rows.len() as u32;
            layout.requested = layout.requested.or(requested.then_some(last[segment_idx].1));
            layout.parents.push(parent);
            let relation = relations[id as usize];
            layout.rows.push(OutlineRow {
                fork_point,
                broken_link,
                requested,
                ..OutlineRow::new(item, relation)
            });
        }
        layout.by_node[id as usize] = last[segment_idx].1;
    }
    layout.on_path = vec![false; layout.rows.len()];
    let mut row = options.leaf.map_or(NONE, |leaf| layout.by_node[tree.resume_point(leaf) as usize]);
    while let Some(on_path) = layout.on_path.get_mut(row as usize) {
        *on_path = true;
        row = layout.parents[row as usize];
    }
    for (branch_idx, branch) in branches.list.iter().enumerate() {
        if let Some(row) = layout.rows.get_mut(layout.by_node[branch.tip as usize] as usize) {
            row.tip = Some(branch_idx);
        }
    }
    layout.link_children();
    layout
}

/// Returns what the row of a node shows. Returns `None` if the node needs no row of its own.
///
/// Turns and compactions of the main conversation have rows. Other nodes have one only if `is_needed` is set.
fn choose_outline_item(tree: &Tree, id: NodeId, is_needed: bool) -> Option<OutlineItem> {
    let node = tree.node(id);
    let is_candidate = tree.is_main_chain(id) || is_needed;
    let below_boundary =
        || node.parent().is_some_and(|parent| tree.node(parent).role == EntryRole::CompactBoundary);
    match node.role {
        _ if tree.turn_of(id) == Some(id) && is_candidate => Some(OutlineItem::Turn(id)),
        EntryRole::CompactBoundary if is_candidate => Some(OutlineItem::Compaction(id)),
        EntryRole::CompactSummary if is_candidate && !below_boundary() => Some(OutlineItem::Compaction(id)),
        _ => is_needed.then_some(OutlineItem::Entry(id)),
    }
}

/// Finds for each segment the message that needs a row of its own because it precedes the first turn and compaction.
///
/// The item is `NONE` if there is no such message.
fn find_leading_entries(tree: &Tree, segments: &BranchSegments) -> Vec<NodeId> {
    let mut leading_entries = vec![NONE; segments.list.len()];
    let mut done = vec![false; segments.list.len()];
    for &id in segments.order.iter().filter(|&&id| tree.is_main_chain(id)) {
        let segment_idx = segments.by_node[id as usize] as usize;
        let role = tree.node(id).role;
        let is_message = matches!(
            role,
            EntryRole::Answer | EntryRole::Results | EntryRole::ApiError | EntryRole::Interrupt
        );
        if done[segment_idx] {
            continue;
        }
        if tree.turn_of(id) == Some(id)
            || matches!(role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        {
            done[segment_idx] = true;
        } else if is_message {
            done[segment_idx] = true;
            leading_entries[segment_idx] = id;
        }
    }
    leading_entries
}

/// Returns the index of the segment above a segment.
///
/// Returns `None` unless the segment is the child of a fork, and for the fork of the file's roots.
fn find_parent_segment(segments: &BranchSegments, segment: usize) -> Option<usize> {
    let SegmentOrigin::ForkChild(fork, _) = segments.list[segment].origin else { return None };
    segments.forks[fork as usize].at.map(|_| segments.list[segment].parent as usize)
}

/// Returns how a segment starts: its fork point or its broken link. Both are `None` for the trunk and for subagents.
fn find_segment_start(segments: &BranchSegments, segment: usize) -> (Option<ForkPoint>, Option<ParentLink>) {
    match segments.list[segment].origin {
        SegmentOrigin::ForkChild(fork, branch) => (Some(segments.fork_point(fork, branch)), None),
        SegmentOrigin::Orphaned(link) => (None, Some(link)),
        SegmentOrigin::Trunk | SegmentOrigin::Sidechain => (None, None),
    }
}

/// Returns the relation of each node to the active path, by node id.
fn compute_path_relations(tree: &Tree, options: &OutlineOptions<'_>) -> Vec<PathRelation> {
    let conversation = options.leaf.map(|leaf| tree.conversation(leaf, options.loaded));
    conversation.unwrap_or_default().relations(tree)
}
