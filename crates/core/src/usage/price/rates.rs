//! What one model costs, by day and by length.

use super::super::Money;
use crate::entry::{Timestamp, Usage};

/// Prices of one token of each kind, and of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// A token read without the cache.
    pub input: Money,
    /// A token written by the model.
    pub output: Money,
    /// A token put into the cache for five minutes.
    pub cache_write_5m: Money,
    /// A token put into the cache for an hour.
    pub cache_write_1h: Money,
    /// A token read from the cache.
    pub cache_read: Money,
    /// A web search.
    pub web_search: Money,
}

impl Rates {
    /// Returns what such tokens cost.
    pub fn cost(&self, usage: &Usage) -> Money {
        // A file may say that more was kept for an hour than was kept at all.
        let hour = usage.cache_write_1h.min(usage.cache_write);
        [
            self.input.times(usage.input),
            self.output.times(usage.output),
            self.cache_write_5m.times(usage.cache_write - hour),
            self.cache_write_1h.times(hour),
            self.cache_read.times(usage.cache_read),
            self.web_search.times(usage.web_searches),
        ]
        .into_iter()
        .sum()
    }
}

/// What holds instead for long prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongContextRates {
    /// A prompt of more tokens than this is long.
    pub above: u64,
    /// What every token of such a response costs.
    pub rates: Rates,
}

/// How a row came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// Who bills has published it.
    Published,
    /// Some of it follows from what is published.
    Derived,
    /// It is what the client reckons with.
    Client,
}

/// The prices of a model from a day on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Since when; `None`: since ever.
    pub from: Option<Timestamp>,
    /// What tokens cost.
    pub rates: Rates,
    /// What they cost in long prompts, where that differs.
    pub long: Option<LongContextRates>,
    /// How the row came to be, where it says so.
    pub basis: Option<PriceSource>,
    /// What else is to be known of it.
    pub note: String,
}

impl Row {
    /// Returns the prices that hold for a response; its whole prompt counts, cached or not, and all of it is billed alike.
    pub fn rates_for(&self, usage: &Usage) -> &Rates {
        let prompt = usage.input.saturating_add(usage.cache_write).saturating_add(usage.cache_read);
        self.long.as_ref().filter(|long| prompt > long.above).map_or(&self.rates, |long| &long.rates)
    }
}

/// The prices of one model, by day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPricing {
    /// The patterns of the names that mean the model.
    pub(super) models: Vec<String>,
    /// At least one, the oldest first.
    pub(super) rows: Vec<Row>,
    /// Which of the tables it is from.
    pub(super) origin: usize,
}

impl ModelPricing {
    /// Returns the patterns of the names that mean the model.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// Returns all rows, the oldest first.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the row that held at a moment: the newest without one, the oldest for what was before it.
    pub fn row(&self, at: Option<Timestamp>) -> &Row {
        let begun = at.map_or(self.rows.len(), |at| {
            self.rows.partition_point(|row| row.from.is_none_or(|from| from <= at))
        });
        &self.rows[begun.saturating_sub(1)]
    }

    /// Returns what one response cost.
    pub fn cost(&self, at: Option<Timestamp>, usage: &Usage) -> Money {
        self.row(at).rates_for(usage).cost(usage)
    }
}
