//! Computes which nodes are loaded and which are lost. Several checks use it.

use super::run::CheckInput;
use crate::resume::{ResumeOutcome, SkipReason};
use crate::tree::NodeId;

/// The value for "no node".
const NONE: NodeId = NodeId::MAX;

/// The nodes of a session in relation to its active path.
pub(super) struct Reachability {
    /// By node: whether the session's client loads it.
    pub(super) loaded: Vec<bool>,
    /// By node: why neither the session's client nor the newest one loads it. `None` if the node is not lost.
    pub(super) lost: Vec<Option<SkipReason>>,
    /// Entries that the session's client does not load but the newest one does.
    pub(super) by_client: Vec<NodeId>,
    /// The root of each node's tree.
    pub(super) roots: Vec<NodeId>,
    /// By node: the nearest loaded node at or above it, or `NONE`.
    nearest_loaded: Vec<NodeId>,
}

impl Reachability {
    pub(super) fn from_input(input: &CheckInput<'_>) -> Reachability {
        let tree = input.tree;
        let count = tree.nodes().len();
        let mut loaded = vec![false; count];
        input.resume.chain.iter().for_each(|&id| loaded[id as usize] = true);
        let newest = collect_losses_by_node(input.newest, count);
        let mut lost = collect_losses_by_node(input.resume, count);
        let mut by_client = Vec::new();
        for id in 0..count {
            if lost[id].is_some() && newest[id].is_none() {
                lost[id] = None;
                by_client.push(id as NodeId);
            }
        }
        let mut roots = vec![NONE; count];
        let mut nearest_loaded = vec![NONE; count];
        for id in tree.topological_order() {
            let parent = tree.node(id).parent();
            let inherited = |list: &[NodeId]| parent.map_or(NONE, |parent| list[parent as usize]);
            roots[id as usize] = parent.map_or(id, |_| inherited(&roots));
            nearest_loaded[id as usize] = if loaded[id as usize] { id } else { inherited(&nearest_loaded) };
        }
        Reachability { loaded, lost, by_client, roots, nearest_loaded }
    }

    /// Returns the nearest loaded node at or above a node. Returns `None` if no ancestor is loaded.
    pub(super) fn nearest_loaded(&self, id: NodeId) -> Option<NodeId> {
        Some(self.nearest_loaded[id as usize]).filter(|&id| id != NONE)
    }

    /// Iterates over the lost entries with the reason, in file order.
    pub(super) fn losses(&self) -> impl Iterator<Item = (NodeId, SkipReason)> + '_ {
        let reason = |(id, reason): (usize, &Option<SkipReason>)| Some((id as NodeId, (*reason)?));
        self.lost.iter().enumerate().filter_map(reason)
    }
}

/// Returns for each of `count` nodes why it is lost. `None` if it is loaded or skipped without loss.
fn collect_losses_by_node(resume: &ResumeOutcome, count: usize) -> Vec<Option<SkipReason>> {
    let mut reasons = vec![None; count];
    for lost in resume.skipped.iter().filter(|lost| lost.reason.is_loss()) {
        if let Some(id) = lost.node {
            reasons[id as usize] = Some(lost.reason);
        }
    }
    reasons
}
