//! Queries about descendants: the newest one, and the nearest ones that are not structural.

use super::builder::Tree;
use super::node::{NONE, NodeId};
use crate::entry::EntryRole;

impl Tree {
    /// Returns, by node id, the last in file order of each node and its descendants, ignoring structural entries.
    ///
    /// It is the tip of the newest branch through the node. If the node and all its descendants are structural, it
    /// is the node itself.
    pub fn newest_descendants(&self) -> Vec<NodeId> {
        // A structural node has none until an entry below it is found that is not structural.
        let mut newest: Vec<Option<NodeId>> = (0..)
            .zip(self.nodes())
            .map(|(id, node)| (node.role != EntryRole::Structural).then_some(id))
            .collect();
        for &id in self.topological_order().iter().rev() {
            let node = self.node(id);
            if node.parent != NONE {
                let newest_below = newest[id as usize];
                let parent = &mut newest[node.parent as usize];
                *parent = newest_below.max(*parent);
            }
        }
        (0..).zip(newest).map(|(id, newest)| newest.unwrap_or(id)).collect()
    }

    /// Returns the nearest descendants that are not [`EntryRole::Structural`], in file order.
    pub fn non_structural_children(&self, id: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut stack: Vec<NodeId> = self.children(id).to_vec();
        while let Some(child) = stack.pop() {
            if self.node(child).role == EntryRole::Structural {
                stack.extend_from_slice(self.children(child));
            } else {
                found.push(child);
            }
        }
        found.sort_unstable();
        found
    }
}
