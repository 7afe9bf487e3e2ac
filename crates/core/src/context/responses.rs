//! The responses of a file, with the counts of all their lines merged.

use super::block::ReportedUsage;
use super::collect::ContextCollector;
use crate::entry::Kind;
use crate::tree::{NodeId, Tree};

/// Larger counts are invalid.
const MAX_COUNT: u64 = 1 << 40;

/// A response and its token counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseCounts {
    /// The line with the most output, the last one if several are equal.
    pub(super) reported: ReportedUsage,
    /// The tokens of the request, if the API counted them.
    pub(super) context: Option<u64>,
    /// The tokens of the response, if the count is not a placeholder.
    pub(super) output: Option<u64>,
    /// The estimated tokens of its blocks.
    pub(super) estimate: u64,
}

/// Responses by the message index of the tree.
#[derive(Debug)]
pub(super) struct ResponseTable(Vec<Option<ResponseCounts>>);

impl ResponseTable {
    pub(super) fn new(tree: &Tree, collector: &ContextCollector) -> ResponseTable {
        let mut responses: Vec<Option<ResponseCounts>> = vec![None; tree.message_count()];
        for reported in &collector.reported_usages {
            let Some(message) = tree.message_of(reported.node) else { continue };
            let response = &mut responses[message as usize];
            if response.is_none_or(|best| reported.usage.output >= best.reported.usage.output) {
                *response =
                    Some(ResponseCounts { reported: *reported, context: None, output: None, estimate: 0 });
            }
        }
        for (id, node) in (0..).zip(tree.nodes()) {
            if let Some(response) =
                tree.message_of(id).and_then(|message| responses[message as usize].as_mut())
                && node.kind == Kind::Assistant
            {
                response.estimate += collector.estimate_entry(id);
            }
        }
        responses.iter_mut().flatten().for_each(ResponseCounts::set_counts);
        ResponseTable(responses)
    }

    /// Returns the response with this message index. Returns `None` if the message reports no usage.
    pub(super) fn response(&self, message: u32) -> Option<ResponseCounts> {
        self.0.get(message as usize).copied().flatten()
    }

    /// Returns the number of responses outside of subagents.
    pub(super) fn count_main_chain(&self, tree: &Tree) -> usize {
        self.0.iter().flatten().filter(|response| tree.is_main_chain(response.reported.node)).count()
    }
}

impl ResponseCounts {
    /// Sets `context` and `output` from the reported usage, unless the counts are invalid or placeholders.
    fn set_counts(&mut self) {
        let usage = &self.reported.usage;
        let context = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        self.context = Some(context).filter(|context| (1..MAX_COUNT).contains(context));
        // Many clients record only the count at the start of the stream, a few tokens.
        let is_final = self.reported.has_ended || usage.output >= self.estimate / 2;
        self.output = Some(usage.output).filter(|output| is_final && (1..MAX_COUNT).contains(output));
    }
}

impl ContextCollector {
    /// Returns the estimated tokens of all blocks of an entry.
    pub(super) fn estimate_entry(&self, id: NodeId) -> u64 {
        self.blocks_of(id).iter().map(|block| u64::from(block.tokens)).sum()
    }
}
