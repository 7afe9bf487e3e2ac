//! The active path: what the client that wrote the newest line would load.
use rethread_core::tree::NodeNo;

use super::load::Session;

/// What a client loads of a session.
#[derive(Debug, Clone, Default)]
pub struct Active {
    /// The tip it goes on from.
    pub leaf: Option<NodeNo>,
    /// The entries it loads, in order.
    pub nodes: Vec<NodeNo>,
}

impl Session {
    /// Says what the client that wrote the newest line would load.
    pub fn active(&self) -> Active {
        let leaf = self.tree.newest_tip();
        let nodes = leaf.map(|leaf| {
            self.tree.rejoin(&self.tree.context(leaf)).into_iter().map(|step| step.node).collect()
        });
        Active { leaf, nodes: nodes.unwrap_or_default() }
    }
}
