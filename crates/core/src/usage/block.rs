//! Blocks of five hours, by which subscriptions are metered: one begins with the full hour of the first response after
//! the one before it is over.

use super::totals::CostTotals;
use crate::entry::Timestamp;

const HOUR: i64 = 3_600_000;
/// How long a block lasts.
pub const BLOCK_MILLIS: i64 = 5 * HOUR;

/// Finds when the blocks begin that hold some moments, which are in order.
pub fn blocks(moments: impl IntoIterator<Item = Timestamp>) -> Vec<Timestamp> {
    let mut begins: Vec<Timestamp> = Vec::new();
    for moment in moments {
        if begins.last().is_none_or(|begin| moment.0.saturating_sub(begin.0) >= BLOCK_MILLIS) {
            begins.push(Timestamp(moment.0.div_euclid(HOUR).saturating_mul(HOUR)));
        }
    }
    begins
}

/// Finds the block that holds a moment.
pub fn block_of(begins: &[Timestamp], moment: Timestamp) -> Option<Timestamp> {
    let behind = begins.partition_point(|begin| *begin <= moment);
    behind.checked_sub(1).map(|no| begins[no])
}

/// How fast the running block is used up, and where that leads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurnRate {
    /// When the block ends.
    pub end: Timestamp,
    /// Milliseconds that are left of it.
    pub left: i64,
    /// Tokens a minute since its first response.
    pub tokens: f64,
    /// Dollars an hour since its first response.
    pub dollars: f64,
    /// Tokens at its end, if it goes on so.
    pub projected_tokens: f64,
    /// Dollars at its end, if it goes on so.
    pub projected_dollars: f64,
}

impl BurnRate {
    /// Takes what a block has come to since its first response; none where it is over, or has only just begun.
    pub fn of(begin: Timestamp, first: Timestamp, now: Timestamp, sum: &CostTotals) -> Option<BurnRate> {
        let end = Timestamp(begin.0.saturating_add(BLOCK_MILLIS));
        let (left, gone) = (end.0.saturating_sub(now.0), now.0.saturating_sub(first.0));
        if left <= 0 || gone <= 0 {
            return None;
        }
        let (all, dollars) = (sum.spent.usage.total() as f64, sum.cost.dollars());
        // The first minute says nothing about a pace.
        let gone = gone.max(60_000) as f64;
        let ahead = left as f64 / gone;
        Some(BurnRate {
            end,
            left,
            tokens: all / gone * 60_000.0,
            dollars: dollars / gone * HOUR as f64,
            projected_tokens: all * (1.0 + ahead),
            projected_dollars: dollars * (1.0 + ahead),
        })
    }
}
