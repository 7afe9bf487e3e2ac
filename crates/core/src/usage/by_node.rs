//! Where in a tree the tokens were spent.

use super::dedupe::{UniqueResponse, dedupe_responses};
use super::file_usage::UsageCollector;
use crate::entry::{Entry, Timestamp, Usage};
use crate::tree::NodeId;

/// Responses of one file and the nodes they stand at.
#[derive(Debug, Default)]
pub struct UsageByNode {
    booking: UsageCollector,
    /// The first node of each response; none until a line of it is in the tree.
    first: Vec<Option<NodeId>>,
    nodes: NodeId,
}

impl UsageByNode {
    /// Takes the next line of the file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let node = entry.uuid.map(|_| self.nodes);
        self.nodes += NodeId::from(node.is_some());
        if let Some(no) = self.booking.add(entry) {
            self.first.resize(self.first.len().max(no + 1), None);
            self.first[no] = self.first[no].or(node);
        }
    }

    /// Returns the tokens of each response once, at the first of its nodes.
    pub fn once(self) -> impl Iterator<Item = (NodeId, Usage)> {
        let bills = dedupe_responses(&[self.booking.finish()]);
        bills.into_iter().filter_map(move |bill| Some((self.first[bill.charge as usize]?, bill.usage)))
    }

    /// Shows the bill of each response once: the first of its nodes, its model, its moment.
    pub fn each(self, mut show: impl FnMut(NodeId, &str, Option<Timestamp>, &UniqueResponse)) {
        let sheets = [self.booking.finish()];
        for bill in dedupe_responses(&sheets) {
            let (sheet, charge) = bill.first(&sheets);
            if let Some(node) = self.first[bill.charge as usize] {
                show(node, sheet.model(charge), charge.time, &bill);
            }
        }
    }
}
