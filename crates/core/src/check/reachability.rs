//! What is loaded and what is not, by node: the ground that several findings stand on.

use super::run::CheckInput;
use crate::resume::{ResumeOutcome, SkipReason};
use crate::tree::NodeId;

/// Stands for "no node".
const NONE: NodeId = NodeId::MAX;

/// The nodes of a session, seen from its active path.
pub(super) struct Reachability {
    pub(super) loaded: Vec<bool>,
    /// Entries out of reach of both the session's client and the newest one.
    pub(super) lost: Vec<Option<SkipReason>>,
    /// Entries out of reach of the session's client that the newest one loads.
    pub(super) by_client: Vec<NodeId>,
    /// The node above each at which its tree begins.
    pub(super) roots: Vec<NodeId>,
    /// The nearest loaded node at or above each.
    meets: Vec<NodeId>,
}

impl Reachability {
    pub(super) fn of(patient: &CheckInput<'_>) -> Reachability {
        let tree = patient.tree;
        let count = tree.nodes().len();
        let mut loaded = vec![false; count];
        patient.resume.chain.iter().for_each(|&no| loaded[no as usize] = true);
        let newest = losses(patient.newest, count);
        let mut lost = losses(patient.resume, count);
        let mut by_client = Vec::new();
        for no in 0..count {
            if lost[no].is_some() && newest[no].is_none() {
                lost[no] = None;
                by_client.push(no as NodeId);
            }
        }
        let mut roots = vec![NONE; count];
        let mut meets = vec![NONE; count];
        for no in tree.topological_order() {
            let parent = tree.node(no).parent();
            let above = |list: &[NodeId]| parent.map_or(NONE, |parent| list[parent as usize]);
            roots[no as usize] = parent.map_or(no, |_| above(&roots));
            meets[no as usize] = if loaded[no as usize] { no } else { above(&meets) };
        }
        Reachability { loaded, lost, by_client, roots, meets }
    }

    /// Returns the nearest loaded node at or above a node.
    pub(super) fn meets(&self, no: NodeId) -> Option<NodeId> {
        Some(self.meets[no as usize]).filter(|&no| no != NONE)
    }

    /// Returns the entries out of reach, with the reason.
    pub(super) fn losses(&self) -> impl Iterator<Item = (NodeId, SkipReason)> + '_ {
        let why = |(no, why): (usize, &Option<SkipReason>)| Some((no as NodeId, (*why)?));
        self.lost.iter().enumerate().filter_map(why)
    }
}

fn losses(resume: &ResumeOutcome, count: usize) -> Vec<Option<SkipReason>> {
    let mut whys = vec![None; count];
    for lost in resume.unreachable.iter().filter(|lost| lost.why.is_loss()) {
        if let Some(no) = lost.node {
            whys[no as usize] = Some(lost.why);
        }
    }
    whys
}
