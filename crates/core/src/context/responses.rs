//! The responses of a file: their lines united, what was counted of each.

use super::block::ReportedUsage;
use super::collect::ContextCollector;
use crate::entry::Kind;
use crate::tree::{NodeId, Tree};

/// Counts above this are none.
const LARGEST: u64 = 1 << 40;

/// A response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Response {
    /// Its best line: the one with the most output, the last of equals.
    pub(super) counted: ReportedUsage,
    /// What was sent, where the API counted it.
    pub(super) context: Option<u64>,
    /// The response itself, where its count is more than a placeholder.
    pub(super) output: Option<u64>,
    /// What its blocks are judged to be.
    pub(super) estimate: u64,
}

/// Responses by the number that the tree gives their message.
#[derive(Debug)]
pub(super) struct Responses(Vec<Option<Response>>);

impl Responses {
    pub(super) fn of(tree: &Tree, weigher: &ContextCollector) -> Responses {
        let mut responses: Vec<Option<Response>> = vec![None; tree.messages()];
        for counted in &weigher.counted {
            let Some(message) = tree.message_of(counted.node) else { continue };
            let known = &mut responses[message as usize];
            if known.is_none_or(|best| counted.usage.output >= best.counted.usage.output) {
                *known = Some(Response { counted: *counted, context: None, output: None, estimate: 0 });
            }
        }
        for (no, node) in (0..).zip(tree.nodes()) {
            if let Some(response) =
                tree.message_of(no).and_then(|message| responses[message as usize].as_mut())
                && node.kind == Kind::Assistant
            {
                response.estimate += weigher.weight(no);
            }
        }
        responses.iter_mut().flatten().for_each(Response::judge);
        Responses(responses)
    }

    pub(super) fn of_message(&self, message: u32) -> Option<Response> {
        self.0.get(message as usize).copied().flatten()
    }

    /// Returns how many there are outside subagents.
    pub(super) fn told(&self, tree: &Tree) -> usize {
        self.0.iter().flatten().filter(|response| tree.is_main_chain(response.counted.node)).count()
    }
}

impl Response {
    fn judge(&mut self) {
        let usage = &self.counted.usage;
        let context = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        self.context = Some(context).filter(|context| (1..LARGEST).contains(context));
        // Many clients write what the stream began with, a few tokens, and never the end.
        let whole = self.counted.ended || usage.output >= self.estimate / 2;
        self.output = Some(usage.output).filter(|output| whole && (1..LARGEST).contains(output));
    }
}

impl ContextCollector {
    /// Returns what an entry is judged to weigh.
    pub(super) fn weight(&self, no: NodeId) -> u64 {
        self.pieces(no).iter().map(|piece| u64::from(piece.tokens)).sum()
    }
}
