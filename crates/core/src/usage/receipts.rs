//! Where in a tree the tokens were spent.

use super::response;
use crate::entry::{Entry, Usage};
use crate::id::{Id, IdMap, IdSet};
use crate::tree::NodeNo;

/// Responses of one file and the nodes they stand at; the rule is that of [`super::Ledger::once`].
#[derive(Debug, Default)]
pub struct Receipts {
    /// By message and request, or by message alone: the first node and the best line.
    responses: IdMap<Receipt>,
    /// Messages that have a request.
    requested: IdSet,
    nodes: NodeNo,
}

#[derive(Debug)]
struct Receipt {
    /// The message, where no request is known.
    bare: Option<Id>,
    /// `None` until a line of it is in the tree.
    node: Option<NodeNo>,
    usage: Usage,
}

impl Receipts {
    /// Takes the next line of the file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let node = entry.uuid.map(|_| self.nodes);
        self.nodes += NodeNo::from(node.is_some());
        let Some((message, usage)) = response(entry) else { return };
        let (key, bare) = match entry.request {
            Some(request) => {
                self.requested.insert(message);
                (message.with(request.id()), None)
            }
            None => (message, Some(message)),
        };
        let best = self.responses.entry(key).or_insert(Receipt { bare, node, usage });
        best.node = best.node.or(node);
        if usage.output >= best.usage.output {
            best.usage = usage;
        }
    }

    /// Returns the tokens of each response once, at the first of its nodes.
    pub fn once(&self) -> impl Iterator<Item = (NodeNo, Usage)> + '_ {
        let counts =
            |receipt: &&Receipt| receipt.bare.is_none_or(|message| !self.requested.contains(&message));
        self.responses.values().filter(counts).filter_map(|receipt| Some((receipt.node?, receipt.usage)))
    }
}
