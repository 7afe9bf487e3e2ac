//! The five-hour blocks by which subscriptions are metered.
//!
//! A block starts at the full hour of the first response after the end of the previous block.

use super::totals::CostTotals;
use crate::entry::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;
/// The length of a block in milliseconds.
pub const BLOCK_MILLIS: i64 = 5 * HOUR_MILLIS;

/// Returns the starts of the blocks that contain the given times, in ascending order. The times must be ascending.
pub fn find_block_starts(times: impl IntoIterator<Item = Timestamp>) -> Vec<Timestamp> {
    let mut starts: Vec<Timestamp> = Vec::new();
    for time in times {
        let start = next_block_start(starts.last().copied(), time);
        if starts.last() != Some(&start) {
            starts.push(start);
        }
    }
    starts
}

/// Returns the start of the block of a response. `last` is that of the response before it, or `None` for the first one.
pub fn next_block_start(last: Option<Timestamp>, time: Timestamp) -> Timestamp {
    let is_inside = |start: &Timestamp| time.0.saturating_sub(start.0) < BLOCK_MILLIS;
    let full_hour = Timestamp(time.0.div_euclid(HOUR_MILLIS).saturating_mul(HOUR_MILLIS));
    last.filter(is_inside).unwrap_or(full_hour)
}

/// Returns the last of the ascending `starts` that is not after `time`: the start of the block of a response.
///
/// Does not check that the block lasts until `time`. Returns `None` if all blocks start later.
pub fn find_block(starts: &[Timestamp], time: Timestamp) -> Option<Timestamp> {
    let count = starts.partition_point(|start| *start <= time);
    count.checked_sub(1).map(|idx| starts[idx])
}

/// The consumption rate of the running block and its projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurnRate {
    /// The end of the block.
    pub end: Timestamp,
    /// The milliseconds until the end of the block.
    pub remaining: i64,
    /// Tokens per minute since its first response.
    pub tokens_per_minute: f64,
    /// Dollars per hour since its first response.
    pub dollars_per_hour: f64,
    /// The tokens at the end of the block at this rate.
    pub projected_tokens: f64,
    /// The dollars at the end of the block at this rate.
    pub projected_dollars: f64,
}

impl BurnRate {
    /// Computes the rate of a block from its start, the time of its first response, the current time and its totals.
    ///
    /// Returns `None` if the block has ended or `now` is not after the first response.
    pub fn from_totals(
        start: Timestamp,
        first: Timestamp,
        now: Timestamp,
        totals: &CostTotals,
    ) -> Option<BurnRate> {
        let end = Timestamp(start.0.saturating_add(BLOCK_MILLIS));
        let (remaining, elapsed) = (end.0.saturating_sub(now.0), now.0.saturating_sub(first.0));
        if remaining <= 0 || elapsed <= 0 {
            return None;
        }
        let (tokens, dollars) = (totals.counts.usage.total() as f64, totals.cost.dollars());
        // Less than a minute is too short to measure a rate.
        let elapsed = elapsed.max(60_000) as f64;
        let remaining_ratio = remaining as f64 / elapsed;
        Some(BurnRate {
            end,
            remaining,
            tokens_per_minute: tokens / elapsed * 60_000.0,
            dollars_per_hour: dollars / elapsed * HOUR_MILLIS as f64,
            projected_tokens: tokens * (1.0 + remaining_ratio),
            projected_dollars: dollars * (1.0 + remaining_ratio),
        })
    }
}
