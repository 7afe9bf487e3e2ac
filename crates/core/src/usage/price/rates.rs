//! The prices of one model, by day and prompt length.

use crate::entry::{Timestamp, Usage};
use crate::usage::Money;

/// The prices of one token of each kind, and of one web search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenRates {
    /// An uncached input token.
    pub input: Money,
    /// An output token.
    pub output: Money,
    /// A token written to the cache for five minutes.
    pub cache_write_5m: Money,
    /// A token written to the cache for one hour.
    pub cache_write_1h: Money,
    /// A token read from the cache.
    pub cache_read: Money,
    /// A web search.
    pub web_search: Money,
}

impl TokenRates {
    /// Returns the cost of a response with these token counts.
    pub fn cost(&self, usage: &Usage) -> Money {
        // A file may state more one-hour cache writes than cache writes.
        let one_hour = usage.cache_write_1h.min(usage.cache_write);
        [
            self.input.times(usage.input),
            self.output.times(usage.output),
            self.cache_write_5m.times(usage.cache_write - one_hour),
            self.cache_write_1h.times(one_hour),
            self.cache_read.times(usage.cache_read),
            self.web_search.times(usage.web_searches),
        ]
        .into_iter()
        .sum()
    }
}

/// The costs of sending a context again, by the state of the prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnCost {
    /// The cache has the context: it is read.
    pub warm: Money,
    /// The cache entry has expired: the context is written again for five minutes.
    pub expired: Money,
    /// The cache entry has expired: the context is written again for one hour, as with a subscription.
    pub expired_1h: Money,
}

/// The prices of long prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongContextRates {
    /// Prompts of more tokens than this are long.
    pub above: u64,
    /// The price of every token of such a response.
    pub rates: TokenRates,
}

/// The source of a price row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// The provider published it.
    Published,
    /// Parts of it are derived from published prices.
    Derived,
    /// The client uses it.
    Client,
}

/// The prices of a model from a day on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// The first day. `None` if the row has no start.
    pub from: Option<Timestamp>,
    /// The prices.
    pub rates: TokenRates,
    /// The prices of long prompts, if they differ.
    pub long_context: Option<LongContextRates>,
    /// The source of the row, if stated.
    pub source: Option<PriceSource>,
    /// A remark.
    pub note: String,
}

impl PriceRow {
    /// Returns the prices that apply to a response: those of long prompts if its prompt, cached or not, exceeds the limit.
    pub fn rates_for(&self, usage: &Usage) -> &TokenRates {
        let prompt = usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read);
        self.long_context.as_ref().filter(|long| prompt > long.above).map_or(&self.rates, |long| &long.rates)
    }
}

/// The prices of one model, by day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPricing {
    /// The patterns of the model's names.
    pub(super) models: Vec<String>,
    /// The price rows, the oldest first. Never empty.
    pub(super) rows: Vec<PriceRow>,
    /// The index of its table in the origins of the [`super::PriceTable`].
    pub(super) origin: usize,
}

impl ModelPricing {
    /// Returns the patterns of the model's names.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Returns all rows, the oldest first.
    pub fn rows(&self) -> &[PriceRow] {
        &self.rows
    }

    /// Returns the row that was valid at a time: the newest if `at` is `None`, the oldest for times before all rows.
    pub fn row_at(&self, at: Option<Timestamp>) -> &PriceRow {
        let count = at.map_or(self.rows.len(), |at| {
            self.rows.partition_point(|row| row.from.is_none_or(|from| from <= at))
        });
        &self.rows[count.saturating_sub(1)]
    }

    /// Returns the costs of sending a context of `tokens` tokens again, by the newest prices.
    pub fn return_cost(&self, tokens: u64) -> ReturnCost {
        let cost = |usage: Usage| self.cost(None, &usage);
        ReturnCost {
            warm: cost(Usage { cache_read: tokens, ..Usage::default() }),
            expired: cost(Usage { cache_write: tokens, ..Usage::default() }),
            expired_1h: cost(Usage { cache_write: tokens, cache_write_1h: tokens, ..Usage::default() }),
        }
    }

    /// Returns the cost of one response with these token counts, by the prices at the time `at`. See [`Self::row_at`].
    pub fn cost(&self, at: Option<Timestamp>, usage: &Usage) -> Money {
        self.row_at(at).rates_for(usage).cost(usage)
    }
}
