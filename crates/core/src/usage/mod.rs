//! Which lines count: a response once, whatever it was copied to.
//!
//! The key is `message.id` with `requestId` over the whole store, because forks and resumes copy lines between files.
//! Without a `requestId` it is `message.id` within the family, its copies included, and a line without one is a copy of
//! the response of that message that has one: clients up to 2.0.1 lose it when they copy. What a subagent replays of
//! its session counts once. Of the lines of a response the one with the most output counts, the last of equals; it is
//! booked where it appeared first. What the client itself wrote (`<synthetic>`) counts nothing.
//!
//! ```text
//! lines of a file ── Booking ──> Sheet of Charges ─┐
//!                                other Sheets ─────┴─ settle ──> Bills, each response once
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

pub use block::{BLOCK_MILLIS, BurnRate, block_of, blocks};
pub use by_node::UsageByNode;
pub use calendar::{Calendar, Day};
pub use cost_state::{CostState, ModelCost};
pub use dedupe::{
    ChargeNo, UniqueResponse, dedupe_responses, dedupe_responses_where, group_copies, total,
    total_by_request_id,
};
pub use file_usage::{FileUsage, FileUsageHeader, ResponseUsage, UsageCollector};
pub use money::Money;
pub use price::{ModelPricing, PriceProblem, Prices};
pub use totals::{CostTotals, SessionTotals};

/// How many responses, and their tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TokenTotals {
    /// How many responses.
    pub responses: usize,
    /// Their tokens.
    pub usage: Usage,
}

crate::pack_fields!(TokenTotals { responses, usage });

impl TokenTotals {
    /// Adds responses.
    pub fn add(&mut self, responses: usize, usage: &Usage) {
        self.responses += responses;
        self.usage.add(usage);
    }
}

/// Returns the message of a line that counts, and its tokens.
fn response(entry: &Entry<'_>) -> Option<(Id, Usage)> {
    let message = entry.message.as_ref().filter(|_| entry.kind == Kind::Assistant)?;
    let (id, usage) = message.id.zip(message.usage)?;
    (!entry.is(Flags::SYNTHETIC)).then(|| (id.id(), usage))
}

/// Of two lines of a response the one with more output counts, the later of equals.
fn better(best: &mut Usage, usage: Usage) {
    if usage.output >= best.output {
        *best = usage;
    }
}
