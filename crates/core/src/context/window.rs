//! The content of the context window: every block of the loaded path with its tokens.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::attribution::{Attribution, AttributionItem, ItemKind, RequestItems, attribute_tokens};
use super::block::{ContextBlock, ContextCause};
use super::collect::ContextCollector;
use super::history::ContextHistory;
use super::responses::ResponseTable;
use crate::entry::EntryRole;
use crate::id::Id;
use crate::tree::{NodeId, Tree};

/// A block in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowBlock {
    /// The entry that contains it.
    pub node: NodeId,
    /// Its index among the blocks of the entry.
    block_idx: u32,
    /// The kind of content.
    pub cause: ContextCause,
    /// Its tokens.
    pub tokens: u64,
    /// Whether the API counted them. Otherwise they were attributed by estimate.
    pub measured: bool,
}

/// The total of one cause in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseTotal {
    /// The cause.
    pub cause: ContextCause,
    /// The tool of results, the kind of attachments, else empty.
    pub name: String,
    /// The number of blocks.
    pub items: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The tokens that the API counted for single blocks.
    pub measured: u64,
}

/// A file that was read more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedRead {
    /// The file path as the calls state it.
    pub path: String,
    /// The number of reads of the file in the window.
    pub reads: usize,
    /// The number of reads that overlap the lines of an earlier read.
    pub repeats: usize,
    /// The tokens of the repeated reads.
    pub tokens: u64,
}

/// The content of the next request.
#[derive(Debug, Clone, Default)]
pub struct ContextWindow {
    /// Its blocks, in order.
    pub blocks: Vec<WindowBlock>,
    /// The tokens of the client's system prompt and tools.
    pub client: u64,
    /// The tokens that were sent but not recorded in the file.
    pub unrecorded: u64,
    /// The tokens of the last request that the API counted. `None` if it counted none.
    pub context: Option<u64>,
    /// The tokens of its response, and whether the API counted them.
    pub output: (u64, bool),
    /// The estimated tokens after that response, or of all blocks if no request was counted.
    pub since: u64,
    /// The number of responses since the last compaction.
    pub responses: usize,
}

impl ContextWindow {
    /// Computes the window of `path`, the entries that the client loads. `history` is that of the whole path to the leaf.
    pub fn new(
        tree: &Tree,
        collector: &ContextCollector,
        path: &[NodeId],
        history: &ContextHistory,
    ) -> ContextWindow {
        let responses = ResponseTable::new(tree, collector);
        let tokens_per_estimate = history.tokens_per_estimate;
        let mut builder = WindowBuilder {
            tree,
            collector,
            tokens_per_estimate,
            window: ContextWindow::default(),
            items: Vec::new(),
        };
        let (requests, since) = builder.split_requests(path, &responses);
        let attribution = attribute_tokens(&builder.items, &requests, &since, history.client);
        let mut window = builder.window;
        window.set_totals(&attribution, &requests, &since, &builder.items);
        window
    }

    /// Sets the tokens of the blocks and the totals of the window. `since` are the items after the last request.
    fn set_totals(
        &mut self,
        attribution: &Attribution,
        requests: &[RequestItems],
        since: &[usize],
        items: &[AttributionItem],
    ) {
        let sum_estimates = |idxs: &[usize]| idxs.iter().map(|&idx| items[idx].estimate).sum::<u64>();
        self.client = attribution.client;
        self.unrecorded = attribution.unrecorded;
        for (idx, block) in self.blocks.iter_mut().enumerate() {
            (block.tokens, block.measured) = (attribution.tokens[idx], attribution.measured[idx]);
        }
        self.responses = requests.len();
        let Some(last) = requests.iter().rposition(|request| request.context.is_some()) else {
            self.since = self.used_tokens() - self.client;
            return;
        };
        let request = &requests[last];
        self.context = request.context;
        self.output = (
            request.output.unwrap_or_else(|| sum_estimates(&request.response_items)),
            request.output.is_some(),
        );
        let later = requests[last + 1..].iter();
        let later = later.map(|request| {
            sum_estimates(&request.new_items)
                + request.output.unwrap_or_else(|| sum_estimates(&request.response_items))
        });
        self.since = later.sum::<u64>() + sum_estimates(since);
    }

    /// Returns the number of tokens in the window.
    pub fn used_tokens(&self) -> u64 {
        self.client + self.unrecorded + self.blocks.iter().map(|block| block.tokens).sum::<u64>()
    }

    /// Returns the totals by cause and by tool of results or kind of attachments, the largest first. Omits empty ones.
    pub fn totals_by_cause(&self, collector: &ContextCollector) -> Vec<CauseTotal> {
        let mut totals: Vec<CauseTotal> = Vec::new();
        let mut total_idxs: HashMap<(ContextCause, &str), usize> = HashMap::new();
        for block in &self.blocks {
            let name = if block.cause == ContextCause::Call { "" } else { collector.block_name(block) };
            let total_idx = *total_idxs.entry((block.cause, name)).or_insert_with(|| {
                totals.push(CauseTotal::new(block.cause, name));
                totals.len() - 1
            });
            let total = &mut totals[total_idx];
            total.items += 1;
            total.tokens += block.tokens;
            total.measured += if block.measured { block.tokens } else { 0 };
        }
        for (cause, tokens) in
            [(ContextCause::Client, self.client), (ContextCause::Unrecorded, self.unrecorded)]
        {
            totals.push(CauseTotal { tokens, ..CauseTotal::new(cause, "") });
        }
        totals.retain(|total| total.tokens > 0);
        totals.sort_by(|a, b| (b.tokens, a.cause.name(), &a.name).cmp(&(a.tokens, b.cause.name(), &b.name)));
        totals
    }

    /// Returns at most `limit` blocks with the most tokens, the largest first. Omits blocks without tokens.
    pub fn largest_blocks(&self, limit: usize) -> Vec<WindowBlock> {
        let mut largest: Vec<WindowBlock> =
            self.blocks.iter().copied().filter(|block| block.tokens > 0).collect();
        largest.sort_by_key(|block| (std::cmp::Reverse(block.tokens), block.node, block.block_idx));
        largest.truncate(limit);
        largest
    }

    /// Returns the files of which the same lines were read again, the most tokens first.
    pub fn repeated_reads(&self, collector: &ContextCollector) -> Vec<RepeatedRead> {
        let mut repeated: Vec<RepeatedRead> = Vec::new();
        let mut reads: HashMap<&str, (usize, LineRanges)> = HashMap::new();
        for item in &self.blocks {
            let Some(file_read) = collector.block(item).and_then(|block| collector.file_read(block)) else {
                continue;
            };
            let (idx, ranges) = reads.entry(&file_read.path).or_insert_with(|| {
                repeated.push(RepeatedRead { path: file_read.path.clone(), reads: 0, repeats: 0, tokens: 0 });
                (repeated.len() - 1, LineRanges::default())
            });
            let is_repeat = ranges.insert(file_read.lines.clone());
            let repeated_read = &mut repeated[*idx];
            repeated_read.reads += 1;
            repeated_read.repeats += usize::from(is_repeat);
            repeated_read.tokens += if is_repeat { item.tokens } else { 0 };
        }
        repeated.retain(|repeated_read| repeated_read.tokens > 0);
        repeated.sort_by(|a, b| (b.tokens, &a.path).cmp(&(a.tokens, &b.path)));
        repeated
    }
}

/// The lines of a file that were read: disjoint ranges, as start and end.
#[derive(Default)]
struct LineRanges(BTreeMap<u64, u64>);

impl LineRanges {
    /// Adds a range. Returns `true` if it overlaps the lines that were added before.
    fn insert(&mut self, lines: Range<u64>) -> bool {
        let before_end = self.0.range(..lines.end).rev();
        let overlapping: Vec<(u64, u64)> =
            before_end.map(|(&start, &end)| (start, end)).take_while(|(_, end)| *end > lines.start).collect();
        let mut merged = lines;
        for &(start, end) in &overlapping {
            self.0.remove(&start);
            merged = merged.start.min(start)..merged.end.max(end);
        }
        if !merged.is_empty() {
            self.0.insert(merged.start, merged.end);
        }
        !overlapping.is_empty()
    }
}

impl CauseTotal {
    fn new(cause: ContextCause, name: &str) -> CauseTotal {
        CauseTotal { cause, name: name.to_owned(), items: 0, tokens: 0, measured: 0 }
    }
}

impl ContextCollector {
    fn block(&self, item: &WindowBlock) -> Option<&ContextBlock> {
        self.blocks_of(item.node).get(item.block_idx as usize)
    }

    /// Returns the tool of a call or result, or the kind of an attachment. Returns an empty string for other blocks.
    pub fn block_name(&self, item: &WindowBlock) -> &str {
        self.block(item).map_or("", |block| self.find_name(block))
    }

    /// Returns the entry that contains the call of a call or result block, and the id of the call.
    ///
    /// Returns `None` for other blocks, and if the call is not in the file.
    pub fn find_call(&self, item: &WindowBlock) -> Option<(NodeId, Id)> {
        self.call_of_block(self.block(item)?)
    }

    /// Returns the number of responses in the file outside of subagents.
    pub fn count_responses(&self, tree: &Tree) -> usize {
        ResponseTable::new(tree, self).count_main_chain(tree)
    }
}

/// Builds the blocks of a window and the input of their attribution.
struct WindowBuilder<'a> {
    tree: &'a Tree,
    collector: &'a ContextCollector,
    /// The factor of estimates, in thousandths.
    tokens_per_estimate: u64,
    window: ContextWindow,
    items: Vec<AttributionItem>,
}

impl WindowBuilder<'_> {
    /// Splits a path into requests with their responses. Returns them and the items after the last one.
    fn split_requests(
        &mut self,
        path: &[NodeId],
        responses: &ResponseTable,
    ) -> (Vec<RequestItems>, Vec<usize>) {
        let is_compaction = |node_id: &&NodeId| {
            matches!(self.tree.node(**node_id).role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        };
        let compaction = path.iter().filter(is_compaction).max().copied();
        let mut requests: Vec<RequestItems> = Vec::new();
        let mut request_idxs: HashMap<u32, usize> = HashMap::new();
        let mut pending = Vec::new();
        for &node_id in path {
            if matches!(self.tree.node(node_id).role, EntryRole::ApiError | EntryRole::SyntheticReply)
                || !self.tree.is_main_chain(node_id)
            {
                continue;
            }
            let items = self.add_blocks(node_id);
            // Entries that a compaction preserved were counted in another context.
            let message = self
                .tree
                .message_of(node_id)
                .filter(|_| compaction.is_none_or(|compaction| node_id > compaction));
            let Some((message, response)) =
                message.and_then(|message| Some((message, responses.response(message)?)))
            else {
                pending.extend(items);
                continue;
            };
            let request_idx = *request_idxs.entry(message).or_insert_with(|| {
                let new_items = std::mem::take(&mut pending);
                let request = RequestItems {
                    new_items,
                    context: response.context,
                    response_items: Vec::new(),
                    output: response.output,
                };
                requests.push(request);
                requests.len() - 1
            });
            // A response is one request even if lines of another response interrupt it.
            requests[request_idx].response_items.extend(items);
        }
        (requests, pending)
    }

    /// Adds the blocks of an entry to the window. Returns the range of their indices.
    fn add_blocks(&mut self, node_id: NodeId) -> std::ops::Range<usize> {
        let start = self.items.len();
        for (block_idx, block) in self.collector.blocks_of(node_id).iter().enumerate() {
            let kind = match block.cause {
                ContextCause::Thinking => ItemKind::Thinking,
                ContextCause::Result => ItemKind::Result,
                ContextCause::Prompt => ItemKind::Prompt,
                _ => ItemKind::Other,
            };
            self.items.push(AttributionItem {
                estimate: u64::from(block.tokens) * self.tokens_per_estimate / 1000,
                kind,
            });
            self.window.blocks.push(WindowBlock {
                node: node_id,
                block_idx: block_idx as u32,
                cause: block.cause,
                tokens: 0,
                measured: false,
            });
        }
        start..self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::LineRanges;

    #[test]
    fn overlapping_ranges_are_found() {
        let mut ranges = LineRanges::default();
        let overlaps = [0..10, 20..30, 10..20, 9..11, 40..50, 45..46, 0..100, 100..101]
            .map(|lines| ranges.insert(lines));
        assert_eq!(overlaps, [false, false, false, true, false, true, true, false]);
    }

    /// Comparing each range with all others would take 10^10 steps.
    #[test]
    fn many_ranges_are_compared() {
        let mut ranges = LineRanges::default();
        let repeats = (0..100_000).filter(|idx| ranges.insert(idx * 20..idx * 20 + 10)).count();
        assert_eq!((repeats, ranges.0.len()), (0, 100_000));
        assert!(ranges.insert(5..3_000_000));
        assert_eq!(ranges.0.len(), 1);
    }
}
