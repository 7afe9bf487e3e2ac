//! What the client itself says a session has cost.

use super::Money;
use crate::entry::{JsonStr, Timestamp, Usage, members};

/// The totals of a session as a `cost-state` line has them.
///
/// They hold what no other line does: compactions, titles and other requests that leave no answer; and subagents, which have files of
/// their own. They go on over resumes, `--fork-session` copies them, and the last line counts. Numbers that are missing or odd are
/// nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostState {
    /// Which models were used, in the order of the line.
    pub models: Vec<ModelCost>,
    /// What all of it cost by the client's prices.
    pub total: Option<Money>,
    /// Whether the client had no price for some model, so that the total is too low.
    pub unpriced: bool,
    /// When the session was begun; a resume keeps it.
    pub start: Option<Timestamp>,
    /// How long the client ran, in milliseconds, over all runs.
    pub duration: u64,
    /// How long it waited for the API, attempts that failed included.
    pub api_duration: u64,
    /// How long it waited for the API without those.
    pub api_duration_without_retries: u64,
    /// How long tools ran.
    pub tool_duration: u64,
    /// How many lines of code were added.
    pub lines_added: u64,
    /// How many lines of code were removed.
    pub lines_removed: u64,
}

/// What one model was used for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCost {
    /// The model, as the client calls it: with `[1m]`, where it has the long context.
    pub model: String,
    /// Its tokens.
    pub usage: Usage,
    /// Whether it is said how much was kept in the cache for an hour. Before 2.1.325 only the costs know.
    pub lifetimes: bool,
    /// How many of the tokens written were thinking, as far as the client counts them.
    pub thinking: u64,
    /// What it cost by the client's prices.
    pub cost: Option<Money>,
}

impl CostState {
    /// Reads a line; `None` where it is not of this type.
    pub fn read(line: &[u8]) -> Option<CostState> {
        let mut state = CostState::default();
        let mut is_one = false;
        for (key, value) in members(line) {
            match key.decode().as_ref() {
                "type" => is_one = JsonStr::of_value(value).is_some_and(|kind| kind.is("cost-state")),
                "modelUsage" => {
                    state.models = members(value).map(|(name, value)| model(name, value)).collect();
                }
                "totalCostUSD" => state.total = money(value),
                "hasUnknownModelCost" => state.unpriced = value == b"true",
                "startTime" => state.start = number(value).and_then(Timestamp::from_number),
                "totalDuration" => state.duration = count(value),
                "totalAPIDuration" => state.api_duration = count(value),
                "totalAPIDurationWithoutRetries" => state.api_duration_without_retries = count(value),
                "totalToolDuration" => state.tool_duration = count(value),
                "totalLinesAdded" => state.lines_added = count(value),
                "totalLinesRemoved" => state.lines_removed = count(value),
                _ => {}
            }
        }
        is_one.then_some(state)
    }
}

fn model(name: JsonStr<'_>, totals: &[u8]) -> ModelCost {
    let mut model = ModelCost { model: name.decode().into_owned(), ..ModelCost::default() };
    for (key, value) in members(totals) {
        match key.decode().as_ref() {
            "inputTokens" => model.usage.input = count(value),
            "outputTokens" => model.usage.output = count(value),
            "thinkingTokens" => model.thinking = count(value),
            "cacheReadInputTokens" => model.usage.cache_read = count(value),
            "cacheCreationInputTokens" => model.usage.cache_write = count(value),
            "cacheCreationEphemeral1hInputTokens" => {
                model.usage.cache_write_1h = count(value);
                model.lifetimes = true;
            }
            "webSearchRequests" => model.usage.web_searches = count(value),
            "costUSD" => model.cost = money(value),
            _ => {}
        }
    }
    model
}

fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn money(value: &[u8]) -> Option<Money> {
    number(value).and_then(Money::of_dollars)
}

/// Reads a count; a fraction is cut off, and what is below nothing is nothing.
fn count(value: &[u8]) -> u64 {
    let whole = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
    whole.or_else(|| number(value).map(|number| number as u64)).unwrap_or_default()
}
