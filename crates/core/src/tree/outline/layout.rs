//! Which rows there could be, and which hangs below which.

use super::row::{OutlineItem, OutlineOptions, PathRelation, Row};
use crate::entry::EntryRole;
use crate::tree::branch::{Branches, ForkPoint};
use crate::tree::builder::Tree;
use crate::tree::node::{NONE, NodeId, ParentLink};
use crate::tree::segments::{BranchSegments, SegmentOrigin};

/// All rows before any is left out, parents before children.
#[derive(Debug, Default)]
pub(super) struct OutlineTree {
    pub(super) rows: Vec<Row>,
    /// The parent of each row.
    pub(super) parents: Vec<u32>,
    /// Children by row: those of row k are `children[starts[k]..starts[k + 1]]`.
    children: Vec<u32>,
    starts: Vec<u32>,
    /// The row of each node.
    pub(super) by_node: Vec<u32>,
    /// The row of the entry that was asked for.
    pub(super) named: Option<u32>,
    /// Whether a row is on the way to the tip that is loaded.
    pub(super) on_way: Vec<bool>,
}

impl OutlineTree {
    /// Returns the rows below a row.
    pub(super) fn children(&self, row: u32) -> &[u32] {
        let k = row as usize;
        &self.children[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    fn link(&mut self) {
        let mut starts = vec![0u32; self.rows.len() + 2];
        for &parent in self.parents.iter().filter(|&&parent| parent != NONE) {
            starts[parent as usize + 2] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
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

/// Plans the rows of a drawing.
pub(super) fn plan(tree: &Tree, branches: &Branches, sight: &OutlineOptions<'_>) -> OutlineTree {
    let stretches = &branches.stretches;
    let forced = openings(tree, stretches);
    let standings = standings(tree, sight);
    let mut plan = OutlineTree { by_node: vec![NONE; tree.nodes().len()], ..OutlineTree::default() };
    // By stretch: whether it was met, and its last row so far, or that of the one it forks from.
    let mut last = vec![(false, NONE); stretches.list.len()];
    let mut begun = vec![false; stretches.list.len()];
    for &no in &stretches.order {
        let k = stretches.of[no as usize] as usize;
        if !last[k].0 {
            last[k] = (true, row_above(stretches, k).map_or(NONE, |above| last[above].1));
        }
        let named = sight.around == Some(no);
        if let Some(what) = what(tree, no, sight.all || named || forced[k] == no) {
            let above = || tree.node(no).parent().or_else(|| stretches.joins.get(&no).copied());
            let parent = match sight.all {
                true => above().map_or(NONE, |parent| plan.by_node[parent as usize]),
                false => last[k].1,
            };
            let (from, cut) = if begun[k] { (None, None) } else { origin(stretches, k) };
            begun[k] = true;
            last[k].1 = plan.rows.len() as u32;
            plan.named = plan.named.or(named.then_some(last[k].1));
            plan.parents.push(parent);
            let standing = standings[no as usize];
            plan.rows.push(Row { from, cut, named, ..Row::new(what, standing) });
        }
        plan.by_node[no as usize] = last[k].1;
    }
    plan.on_way = vec![false; plan.rows.len()];
    let mut at = sight.leaf.map_or(NONE, |leaf| plan.by_node[leaf as usize]);
    while let Some(on_way) = plan.on_way.get_mut(at as usize) {
        *on_way = true;
        at = plan.parents[at as usize];
    }
    for (k, branch) in branches.list.iter().enumerate() {
        if let Some(row) = plan.rows.get_mut(plan.by_node[branch.tip as usize] as usize) {
            row.tip = Some(k);
        }
    }
    plan.link();
    plan
}

/// Says what a node is as a row; a node that need not be one is none.
fn what(tree: &Tree, no: NodeId, needed: bool) -> Option<OutlineItem> {
    let node = tree.node(no);
    let told = tree.is_main_chain(no) || needed;
    let below_boundary =
        || node.parent().is_some_and(|parent| tree.node(parent).voice == EntryRole::CompactBoundary);
    match node.voice {
        _ if tree.turn_of(no) == Some(no) && told => Some(OutlineItem::Turn(no)),
        EntryRole::CompactBoundary if told => Some(OutlineItem::Compaction(no)),
        EntryRole::CompactSummary if told && !below_boundary() => Some(OutlineItem::Compaction(no)),
        _ => needed.then_some(OutlineItem::Entry(no)),
    }
}

/// Finds for each stretch the entry that must have a row of its own: where somebody speaks before the first turn.
fn openings(tree: &Tree, stretches: &BranchSegments) -> Vec<NodeId> {
    let mut openings = vec![NONE; stretches.list.len()];
    let mut settled = vec![false; stretches.list.len()];
    for &no in stretches.order.iter().filter(|&&no| tree.is_main_chain(no)) {
        let k = stretches.of[no as usize] as usize;
        let voice = tree.node(no).voice;
        let speaks = matches!(
            voice,
            EntryRole::Answer | EntryRole::Results | EntryRole::ApiError | EntryRole::Interrupt
        );
        if settled[k] {
            continue;
        }
        if tree.turn_of(no) == Some(no)
            || matches!(voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        {
            settled[k] = true;
        } else if speaks {
            settled[k] = true;
            openings[k] = no;
        }
    }
    openings
}

/// Returns the stretch whose rows a stretch hangs below; none for the beginnings of the file.
fn row_above(stretches: &BranchSegments, stretch: usize) -> Option<usize> {
    let SegmentOrigin::Way(fork, _) = stretches.list[stretch].origin else { return None };
    stretches.forks[fork as usize].at.map(|_| stretches.list[stretch].parent as usize)
}

/// Says how a stretch begins.
fn origin(stretches: &BranchSegments, stretch: usize) -> (Option<ForkPoint>, Option<ParentLink>) {
    match stretches.list[stretch].origin {
        SegmentOrigin::Way(fork, way) => (Some(stretches.departure(fork, way)), None),
        SegmentOrigin::Island(link) => (None, Some(link)),
        SegmentOrigin::Trunk | SegmentOrigin::Aside => (None, None),
    }
}

/// Says how each node stands to the path that is loaded.
fn standings(tree: &Tree, sight: &OutlineOptions<'_>) -> Vec<PathRelation> {
    let mut standings = vec![PathRelation::Aside; tree.nodes().len()];
    if let Some(leaf) = sight.leaf {
        for no in tree.ancestors_across_compactions(leaf) {
            standings[no as usize] = PathRelation::Compacted;
        }
    }
    for &no in sight.loaded {
        standings[no as usize] = PathRelation::OnPath;
    }
    standings
}
