//! Token usage and cost: each response counts once, even if its lines were copied.
//!
//! Responses are identified by `message.id` and `requestId` over the whole store, because forks and resumes
//! copy lines between files. Without a `requestId`, `message.id` identifies the response within the session
//! files and their copies, and a line without a `requestId` is a copy of the response of that message that
//! has one: clients up to 2.0.1 drop it when they copy. Replayed lines of a subagent count once. The line
//! with the most output represents its response, the last one if several are equal. The response is
//! attributed to the file in which it appeared first. Lines that the client itself wrote (`<synthetic>`) do
//! not count.
//!
//! ```text
//! lines of a file ── UsageCollector ──▶ FileUsage ─┐
//!                           other FileUsages ──────┴─ dedupe_responses ──▶ UniqueResponses
//! ```

mod block;
mod by_node;
mod calendar;
mod cost_state;
mod dedupe;
mod file_usage;
mod money;
pub mod price;
mod totals;

use crate::entry::{Entry, Flags, Kind, Usage};
use crate::id::Id;

pub use block::{BLOCK_MILLIS, BurnRate, find_block, find_block_starts, next_block_start};
pub use by_node::UsageByNode;
pub use calendar::{Calendar, Day};
pub use cost_state::{CostState, ModelCost};
pub use dedupe::{
    ResponseRef, UniqueResponse, dedupe_responses, dedupe_responses_where, group_copies, total_by_request_id,
    total_tokens,
};
pub use file_usage::{FileUsage, FileUsageHeader, ResponseUsage, UsageCollector};
pub use money::Money;
pub use price::{ModelPricing, PriceTable, PriceTableError, ReturnCost};
pub use totals::{CostTotals, SessionTotals};

/// A number of responses and their tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TokenTotals {
    /// The number of responses.
    pub responses: usize,
    /// Their tokens.
    pub usage: Usage,
}

crate::pack_fields!(TokenTotals { responses, usage });

impl TokenTotals {
    /// Adds a number of responses and the sum of their tokens.
    pub fn add(&mut self, responses: usize, usage: &Usage) {
        self.responses += responses;
        self.usage.add(usage);
    }
}

/// Returns the message id and the usage of a line that counts as a response.
///
/// Returns `None` if the line is not an answer, lacks either of them, or was written by the client itself.
fn find_counted_response(entry: &Entry<'_>) -> Option<(Id, Usage)> {
    let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Assistant)?;
    let (id, usage) = message.id.zip(message.usage)?;
    (!entry.has_flag(Flags::SYNTHETIC)).then(|| (id.to_id(), usage))
}

/// Replaces `best` if `usage` has at least as much output.
fn keep_better(best: &mut Usage, usage: Usage) {
    if usage.output >= best.output {
        *best = usage;
    }
}
