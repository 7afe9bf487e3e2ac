//! Totals of responses: tokens, cost, and how reliable they are.

use super::TokenTotals;
use super::dedupe::UniqueResponse;
use super::money::Money;
use crate::entry::Usage;

/// The totals of a set of responses.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CostTotals {
    /// All responses.
    pub counts: TokenTotals,
    /// The cost of the responses that have a price.
    pub cost: Money,
    /// The responses that have no price.
    pub unpriced: TokenTotals,
    /// The number of responses that have only a lower bound of their output.
    pub lower_bounds: usize,
}

impl CostTotals {
    /// Builds the totals of one response. `cost` is `None` if the response has no price.
    pub fn from_response(response: &UniqueResponse, cost: Option<Money>) -> CostTotals {
        let counts = TokenTotals { responses: 1, usage: response.usage };
        CostTotals {
            counts,
            cost: cost.unwrap_or_default(),
            unpriced: if cost.is_some() { TokenTotals::default() } else { counts },
            lower_bounds: usize::from(response.is_lower_bound),
        }
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &CostTotals) {
        self.counts.add(other.counts.responses, &other.counts.usage);
        self.cost.add(other.cost);
        self.unpriced.add(other.unpriced.responses, &other.unpriced.usage);
        self.lower_bounds += other.lower_bounds;
    }

    /// Returns share `idx` (from 0) of `share_count` equal shares. The first shares receive the remainder, and all
    /// shares add up to the total.
    pub fn share(&self, idx: usize, share_count: usize) -> CostTotals {
        let share_counts = |counts: &TokenTotals| TokenTotals {
            responses: share_number(counts.responses as u64, idx, share_count) as usize,
            usage: share_usage(&counts.usage, idx, share_count),
        };
        CostTotals {
            counts: share_counts(&self.counts),
            cost: self.cost.share(idx as u64, share_count as u64),
            unpriced: share_counts(&self.unpriced),
            lower_bounds: share_number(self.lower_bounds as u64, idx, share_count) as usize,
        }
    }
}

/// Returns share `idx` of `share_count` equal shares of a number. The first shares receive the remainder.
fn share_number(whole: u64, idx: usize, share_count: usize) -> u64 {
    let (idx, share_count) = (idx as u64, (share_count as u64).max(1));
    whole / share_count + u64::from(idx < whole % share_count)
}

fn share_usage(usage: &Usage, idx: usize, share_count: usize) -> Usage {
    let share = |whole: u64| share_number(whole, idx, share_count);
    let cache_write_1h = share(usage.cache_write_1h);
    Usage {
        input: share(usage.input),
        output: share(usage.output),
        // No share may have more one-hour cache writes than cache writes.
        cache_write: share(usage.cache_write.saturating_sub(usage.cache_write_1h)) + cache_write_1h,
        cache_write_1h,
        cache_read: share(usage.cache_read),
        web_searches: share(usage.web_searches),
    }
}

/// The totals of a session and of its subagents.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SessionTotals {
    /// The session's own responses.
    pub own: CostTotals,
    /// The responses of its subagents.
    pub agents: CostTotals,
}

impl SessionTotals {
    /// Adds totals to the subagents if `is_sidechain` is set, otherwise to the session.
    pub fn add_part(&mut self, is_sidechain: bool, totals: &CostTotals) {
        if is_sidechain { self.agents.add(totals) } else { self.own.add(totals) }
    }

    /// Adds other session totals.
    pub fn add(&mut self, other: &SessionTotals) {
        self.own.add(&other.own);
        self.agents.add(&other.agents);
    }

    /// Returns the totals of the session and its subagents together.
    pub fn total(&self) -> CostTotals {
        let mut total = self.own;
        total.add(&self.agents);
        total
    }
}
