//! Computes which nodes are loaded and which are lost. Several checks use it.

use super::run::CheckInput;
use crate::resume::{LossCause, ResumeOutcome, SkipReason, SkippedEntry};
use crate::tree::NodeId;

/// The value for "no node".
const NONE: NodeId = NodeId::MAX;

/// An entry that a client loses although the user did not leave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) reason: SkipReason,
    pub(super) cause: LossCause,
}

/// The nodes of a session in relation to what the session's client and the newest one load.
pub(super) struct Reachability {
    /// By node: whether the session's client loads it.
    pub(super) loaded: Vec<bool>,
    /// By node: the loss by the session's client, or else by the newest one. `None` if neither loses it.
    lost: Vec<Option<Loss>>,
    /// Entries that the session's client loses but the newest one does not.
    pub(super) by_client: Vec<NodeId>,
    /// Entries that the newest client loses but the session's client does not.
    pub(super) by_newest: Vec<NodeId>,
    /// Entries that the user left and neither client loses.
    pub(super) left: Vec<NodeId>,
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
        let (mut by_client, mut by_newest) = (Vec::new(), Vec::new());
        for id in 0..count {
            match (lost[id], newest[id]) {
                (Some(_), None) => by_client.push(id as NodeId),
                (None, Some(_)) => by_newest.push(id as NodeId),
                _ => {}
            }
            lost[id] = lost[id].or(newest[id]);
        }
        let is_left = |skipped: &&SkippedEntry| skipped.cause == Some(LossCause::User);
        let left = input.resume.skipped.iter().filter(is_left).filter_map(|skipped| skipped.node);
        let left = left.filter(|&id| lost[id as usize].is_none()).collect();
        let mut roots = vec![NONE; count];
        let mut nearest_loaded = vec![NONE; count];
        for id in tree.topological_order() {
            let parent = tree.node(id).parent();
            let inherited = |list: &[NodeId]| parent.map_or(NONE, |parent| list[parent as usize]);
            roots[id as usize] = parent.map_or(id, |_| inherited(&roots));
            nearest_loaded[id as usize] = if loaded[id as usize] { id } else { inherited(&nearest_loaded) };
        }
        Reachability { loaded, lost, by_client, by_newest, left, roots, nearest_loaded }
    }

    /// Returns the nearest loaded node at or above a node. Returns `None` if no ancestor is loaded.
    pub(super) fn nearest_loaded(&self, id: NodeId) -> Option<NodeId> {
        Some(self.nearest_loaded[id as usize]).filter(|&id| id != NONE)
    }

    /// Iterates over the entries that one of the clients loses, in file order.
    pub(super) fn losses(&self) -> impl Iterator<Item = (NodeId, Loss)> + '_ {
        let loss = |(id, loss): (usize, &Option<Loss>)| Some((id as NodeId, (*loss)?));
        self.lost.iter().enumerate().filter_map(loss)
    }
}

/// Returns for each of `count` nodes why it is lost. `None` if it is not, or if the user left it.
fn collect_losses_by_node(resume: &ResumeOutcome, count: usize) -> Vec<Option<Loss>> {
    let mut losses = vec![None; count];
    for skipped in resume.skipped.iter().filter(|skipped| skipped.is_unintended()) {
        if let (Some(id), Some(cause)) = (skipped.node, skipped.cause) {
            losses[id as usize] = Some(Loss { reason: skipped.reason, cause });
        }
    }
    losses
}
