//! Sums of bills: tokens, money, and how far they can be trusted.

use super::TokenTotals;
use super::dedupe::UniqueResponse;
use super::money::Money;
use crate::entry::Usage;

/// What some responses come to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CostTotals {
    /// All of them.
    pub spent: TokenTotals,
    /// What those cost that have a price.
    pub cost: Money,
    /// Those that have none.
    pub unpriced: TokenTotals,
    /// How many have an output of which only a lower bound is known.
    pub open: usize,
}

impl CostTotals {
    /// Takes a bill and its price, if it has one.
    pub fn of(bill: &UniqueResponse, cost: Option<Money>) -> CostTotals {
        let spent = TokenTotals { responses: 1, usage: bill.usage };
        CostTotals {
            spent,
            cost: cost.unwrap_or_default(),
            unpriced: if cost.is_some() { TokenTotals::default() } else { spent },
            open: usize::from(bill.open),
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &CostTotals) {
        self.spent.add(other.spent.responses, &other.spent.usage);
        self.cost.add(other.cost);
        self.unpriced.add(other.unpriced.responses, &other.unpriced.usage);
        self.open += other.open;
    }

    /// Returns one of so many equal parts; what cannot be divided goes to the first of them. Together they are the whole.
    pub fn part(&self, no: usize, of: usize) -> CostTotals {
        let spent = |spent: &TokenTotals| TokenTotals {
            responses: share(spent.responses as u64, no, of) as usize,
            usage: divided(&spent.usage, no, of),
        };
        CostTotals {
            spent: spent(&self.spent),
            cost: self.cost.share(no as u64, of as u64),
            unpriced: spent(&self.unpriced),
            open: share(self.open as u64, no, of) as usize,
        }
    }
}

fn share(whole: u64, no: usize, of: usize) -> u64 {
    let (no, of) = (no as u64, (of as u64).max(1));
    whole / of + u64::from(no < whole % of)
}

fn divided(usage: &Usage, no: usize, of: usize) -> Usage {
    let share = |whole: u64| share(whole, no, of);
    let cache_write_1h = share(usage.cache_write_1h);
    Usage {
        input: share(usage.input),
        output: share(usage.output),
        // Of what is kept for an hour no part may be more than the part of all that is kept.
        cache_write: share(usage.cache_write.saturating_sub(usage.cache_write_1h)) + cache_write_1h,
        cache_write_1h,
        cache_read: share(usage.cache_read),
        web_searches: share(usage.web_searches),
    }
}

/// What a session itself and its subagents come to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SessionTotals {
    /// The sessions' own responses.
    pub own: CostTotals,
    /// Those of their subagents.
    pub agents: CostTotals,
}

impl SessionTotals {
    /// Adds a sum to one of the two.
    pub fn add_part(&mut self, side: bool, sum: &CostTotals) {
        if side { self.agents.add(sum) } else { self.own.add(sum) }
    }

    /// Adds another account.
    pub fn add(&mut self, other: &SessionTotals) {
        self.own.add(&other.own);
        self.agents.add(&other.agents);
    }

    /// Returns both together.
    pub fn total(&self) -> CostTotals {
        let mut total = self.own;
        total.add(&self.agents);
        total
    }
}
