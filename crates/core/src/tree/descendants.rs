//! What lies below nodes: where talk that passes them ended, and who speaks next.

use super::builder::Tree;
use super::node::{NONE, NodeId};
use crate::entry::EntryRole;

impl Tree {
    /// Returns for every node the newest one at or below it that speaks: the tip of the branch it is shown on.
    pub fn newest_descendants(&self) -> Vec<NodeId> {
        // Of a mere link nothing is known until something below it speaks.
        let mut spoken: Vec<Option<NodeId>> = (0..)
            .zip(self.nodes())
            .map(|(no, node)| (node.voice != EntryRole::Structural).then_some(no))
            .collect();
        for &no in self.topological_order().iter().rev() {
            let node = self.node(no);
            if node.parent != NONE {
                let below = spoken[no as usize];
                let above = &mut spoken[node.parent as usize];
                *above = below.max(*above);
            }
        }
        (0..).zip(spoken).map(|(no, spoken)| spoken.unwrap_or(no)).collect()
    }

    /// Returns the nodes right below one, links without words passed over, in file order.
    pub fn child_messages(&self, no: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut stack: Vec<NodeId> = self.children(no).to_vec();
        while let Some(child) = stack.pop() {
            if self.node(child).voice == EntryRole::Structural {
                stack.extend_from_slice(self.children(child));
            } else {
                found.push(child);
            }
        }
        found.sort_unstable();
        found
    }
}
