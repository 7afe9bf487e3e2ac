//! Where in a tree the tokens were spent.

use super::response;
use crate::entry::{Entry, Usage};
use crate::id::{Id, IdMap, IdSet};
use crate::tree::NodeNo;

/// Responses of one file and the nodes they stand at; the rule is that of [`super::Ledger::once`].
#[derive(Debug, Default)]
pub struct Receipts {
    responses: Vec<Receipt>,
    /// Where each response stands, by message and request, or by message alone.
    places: IdMap<u32>,
    nodes: NodeNo,
}

#[derive(Debug)]
struct Receipt {
    message: Id,
    requested: bool,
    /// The first node; `None` until a line of it is in the tree.
    node: Option<NodeNo>,
    /// The best line.
    usage: Usage,
}

impl Receipts {
    /// Takes the next line of the file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let node = entry.uuid.map(|_| self.nodes);
        self.nodes += NodeNo::from(node.is_some());
        let Some((message, usage)) = response(entry) else { return };
        let key = entry.request.map_or(message, |request| message.with(request.id()));
        let new = self.responses.len() as u32;
        let place = *self.places.entry(key).or_insert(new);
        if place == new {
            self.responses.push(Receipt { message, requested: entry.request.is_some(), node, usage });
            return;
        }
        let best = &mut self.responses[place as usize];
        best.node = best.node.or(node);
        if usage.output >= best.usage.output {
            best.usage = usage;
        }
    }

    /// Returns the tokens of each response once, at the first of its nodes.
    pub fn once(&self) -> impl Iterator<Item = (NodeNo, Usage)> + '_ {
        let all_requested = self.responses.iter().all(|receipt| receipt.requested);
        // Only a response that lost its request can be a copy of another.
        let requested = self.responses.iter().filter(|receipt| receipt.requested && !all_requested);
        let requested: IdSet = requested.map(|receipt| receipt.message).collect();
        let counts = move |receipt: &&Receipt| receipt.requested || !requested.contains(&receipt.message);
        self.responses.iter().filter(counts).filter_map(|receipt| Some((receipt.node?, receipt.usage)))
    }
}
