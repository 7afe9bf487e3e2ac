//! The size of the context at every response, and its decreases.

use super::block::CompactionInfo;
use super::collect::ContextCollector;
use super::responses::{ResponseCounts, ResponseTable};
use crate::entry::EntryRole;
use crate::tree::{NodeId, Tree};

/// The context size at one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextSample {
    /// The first line of the response.
    pub node: NodeId,
    /// The tokens of the request, counted by the API or estimated.
    pub context: u64,
    /// Whether the API counted them.
    pub measured: bool,
    /// The tokens of the response, counted or estimated.
    pub output: u64,
}

/// A decrease of the context size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextDrop {
    /// The line that records it, or the response to the smaller request.
    pub node: NodeId,
    /// The number of samples before the decrease.
    pub sample_idx: usize,
    /// The reason.
    pub reason: DropReason,
    /// The tokens of the context before, if known.
    pub before: Option<u64>,
    /// The tokens of the context after, if known.
    pub after: Option<u64>,
}

/// The reason why the context became smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DropReason {
    /// A summary replaced the conversation. Holds the recorded trigger, which may be empty.
    Compacted(String),
    /// Old results were cleared, as a line records.
    Cleared,
    /// No line records a reason.
    Unexplained,
}

/// The context sizes along a path.
#[derive(Debug, Clone, Default)]
pub struct ContextHistory {
    /// One sample per response, in order.
    pub samples: Vec<ContextSample>,
    /// The decreases of the context size, in order.
    pub drops: Vec<ContextDrop>,
    /// The model of the last response. Empty if unknown.
    pub model: String,
    /// The tokens of the first counted request that no entry accounts for.
    pub(super) client: u64,
    /// The counted tokens per estimated token, in thousandths. It depends on the tokenizer of the model.
    pub(super) tokens_per_estimate: u64,
}

/// Drops of less than 1/50 of the context are ignored, because counts fluctuate.
const NOISE_FRACTION: u64 = 50;

/// Estimates of fewer tokens than this are too small to calibrate with: their markup dominates.
const MIN_ESTIMATE: u64 = 100;
/// The number of requests that are sufficient for a calibration.
const MIN_RATIOS: usize = 4;
/// The range of calibration factors of the measured models.
const MIN_RATIO: u64 = 700;
const MAX_RATIO: u64 = 1600;

impl ContextHistory {
    /// Computes the history of a path in conversation order.
    pub fn new(tree: &Tree, collector: &ContextCollector, path: &[NodeId]) -> ContextHistory {
        let mut builder = HistoryBuilder {
            tree,
            collector,
            responses: ResponseTable::new(tree, collector),
            is_visited: vec![false; tree.message_count()],
            history: ContextHistory::default(),
            size: 0,
            last_count: None,
            open_drop: None,
            first_count: None,
            pending_estimate: 0,
            last_response: None,
            ratios: Vec::new(),
        };
        path.iter().for_each(|&id| builder.add_entry(id));
        builder.finish()
    }

    /// Returns the largest context size in tokens, 0 without samples.
    pub fn peak(&self) -> u64 {
        self.samples.iter().map(|sample| sample.context).max().unwrap_or(0)
    }
}

/// Builds a history from the entries of a path, one by one.
struct HistoryBuilder<'a> {
    tree: &'a Tree,
    collector: &'a ContextCollector,
    responses: ResponseTable,
    /// Whether each response was visited.
    is_visited: Vec<bool>,
    history: ContextHistory,
    /// The current size: the last count and the estimates since.
    size: u64,
    /// The last count, unless a line recorded a drop since.
    last_count: Option<u64>,
    /// The index in `drops` of a compaction with an unknown resulting size.
    open_drop: Option<usize>,
    /// The first count, and the estimate of the entries before it.
    first_count: Option<(u64, u64)>,
    /// The estimate of the entries since the last response.
    pending_estimate: u64,
    /// The last response, if it was counted.
    last_response: Option<ResponseCounts>,
    /// The ratios of counted to estimated growth, in thousandths.
    ratios: Vec<u64>,
}

impl HistoryBuilder<'_> {
    /// Adds the next entry of the path: a drop, a sample at the first line of a response, or an estimate.
    fn add_entry(&mut self, id: NodeId) {
        let node = self.tree.node(id);
        let compaction = self.collector.compactions.get(&id);
        // The summary after a boundary belongs to the same compaction. Old clients wrote only the summary.
        let is_summary_alone = node.role == EntryRole::CompactSummary && self.open_drop.is_none();
        if let Some(compaction) = compaction {
            self.add_drop(id, compaction);
        } else if is_summary_alone {
            self.add_drop(id, &CompactionInfo::default());
        }
        let response = self.tree.message_of(id).filter(|&message| self.responses.response(message).is_some());
        match response {
            Some(message) if !std::mem::replace(&mut self.is_visited[message as usize], true) => {
                self.add_sample(id, message);
            }
            // The first line of a response accounts for all of it.
            Some(_) => {}
            None => {
                self.pending_estimate += self.collector.estimate_entry(id);
                self.size += self.collector.estimate_entry(id);
            }
        }
    }

    /// Adds the sample of a response at its first line `id`. Also adds an unexplained drop if the count decreased.
    fn add_sample(&mut self, id: NodeId, message: u32) {
        let Some(response) = self.responses.response(message) else { return };
        let context = response.context.unwrap_or(self.size);
        if let Some(count) = response.context {
            if self.first_count.is_none() {
                self.first_count = Some((count, self.size));
                self.history.client = count.saturating_sub(self.size);
            }
            self.calibrate(count);
            let unexplained = self.last_count.filter(|&before| count + before / NOISE_FRACTION < before);
            if let Some(before) = unexplained {
                let sample_idx = self.history.samples.len();
                let drop = ContextDrop {
                    node: id,
                    sample_idx,
                    reason: DropReason::Unexplained,
                    before: Some(before),
                    after: Some(count),
                };
                self.history.drops.push(drop);
            }
            self.last_count = Some(count);
        }
        if let Some(drop_idx) = self.open_drop.take() {
            let after = &mut self.history.drops[drop_idx].after;
            *after = after.or(response.context);
        }
        let output = response.output.unwrap_or(response.estimate);
        self.history.samples.push(ContextSample {
            node: id,
            context,
            measured: response.context.is_some(),
            output,
        });
        self.history.model = self.collector.model(&response.reported).to_owned();
        self.size = context + output;
        self.pending_estimate = 0;
        self.last_response = Some(response).filter(|response| response.context.is_some());
    }

    /// Records the ratio of the counted growth of a request to the estimate. `count` is the size of the request.
    fn calibrate(&mut self, count: u64) {
        let Some((before, last)) = self.last_count.zip(self.last_response) else { return };
        let growth = count.saturating_sub(before);
        let (growth, estimate) = match last.output {
            Some(output) => (growth.saturating_sub(output), self.pending_estimate),
            None => (growth, self.pending_estimate + last.estimate),
        };
        if estimate >= MIN_ESTIMATE && growth > 0 {
            self.ratios.push(growth * 1000 / estimate);
        }
    }

    /// Sets the calibration factor to the median ratio and computes the client's own part with it.
    fn finish(mut self) -> ContextHistory {
        self.ratios.sort_unstable();
        let median = self.ratios.get(self.ratios.len() / 2).filter(|_| self.ratios.len() >= MIN_RATIOS);
        self.history.tokens_per_estimate = median.map_or(1000, |&ratio| ratio.clamp(MIN_RATIO, MAX_RATIO));
        if let Some((counted, estimate)) = self.first_count {
            self.history.client = counted.saturating_sub(estimate * self.history.tokens_per_estimate / 1000);
        }
        self.history
    }

    /// Adds the drop that a compaction line or a summary records.
    fn add_drop(&mut self, id: NodeId, compaction: &CompactionInfo) {
        let sample_idx = self.history.samples.len();
        let reason = if compaction.is_micro {
            DropReason::Cleared
        } else {
            DropReason::Compacted(compaction.trigger.clone())
        };
        let before = compaction.before.or(self.last_count.map(|_| self.size));
        self.history.drops.push(ContextDrop {
            node: id,
            sample_idx,
            reason,
            before,
            after: compaction.after,
        });
        self.last_count = None;
        self.last_response = None;
        self.open_drop = Some(self.history.drops.len() - 1);
        if !compaction.is_micro {
            self.size = self.history.client;
        }
    }
}
