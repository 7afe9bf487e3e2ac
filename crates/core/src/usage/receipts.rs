//! Where in a tree the tokens were spent.

use super::bill::{Bill, settle};
use super::sheet::Booking;
use crate::entry::{Entry, Moment, Usage};
use crate::tree::NodeNo;

/// Responses of one file and the nodes they stand at.
#[derive(Debug, Default)]
pub struct Receipts {
    booking: Booking,
    /// The first node of each response; none until a line of it is in the tree.
    first: Vec<Option<NodeNo>>,
    nodes: NodeNo,
}

impl Receipts {
    /// Takes the next line of the file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let node = entry.uuid.map(|_| self.nodes);
        self.nodes += NodeNo::from(node.is_some());
        if let Some(no) = self.booking.add(entry) {
            self.first.resize(self.first.len().max(no + 1), None);
            self.first[no] = self.first[no].or(node);
        }
    }

    /// Returns the tokens of each response once, at the first of its nodes.
    pub fn once(self) -> impl Iterator<Item = (NodeNo, Usage)> {
        let bills = settle(&[self.booking.finish()]);
        bills.into_iter().filter_map(move |bill| Some((self.first[bill.charge as usize]?, bill.usage)))
    }

    /// Shows the bill of each response once: the first of its nodes, its model, its moment.
    pub fn each(self, mut show: impl FnMut(NodeNo, &str, Option<Moment>, &Bill)) {
        let sheets = [self.booking.finish()];
        for bill in settle(&sheets) {
            let (sheet, charge) = bill.first(&sheets);
            if let Some(node) = self.first[bill.charge as usize] {
                show(node, sheet.model(charge), charge.time, &bill);
            }
        }
    }
}
