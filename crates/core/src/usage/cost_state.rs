//! The cost of a session as the client recorded it.

use super::Money;
use crate::entry::{JsonStr, Timestamp, Usage, members};

/// The totals of a `cost-state` line.
///
/// They include requests that no other line records: compactions, titles and other requests without an
/// answer. They also include subagents, which have their own files. Resumed sessions continue the totals and
/// `--fork-session` copies them. If a file has several such lines, the last one counts. Missing or invalid numbers are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostState {
    /// The models used, in the order of the line.
    pub models: Vec<ModelCost>,
    /// The total cost by the client's prices. `None` if the line states no valid amount.
    pub total: Option<Money>,
    /// Whether the client had no price for a model, so that the total is too low.
    pub unpriced: bool,
    /// When the session began. A resume keeps it.
    pub start: Option<Timestamp>,
    /// How long the client ran, in milliseconds, over all runs.
    pub duration: u64,
    /// How long the client waited for the API, in milliseconds, including failed attempts.
    pub api_duration: u64,
    /// How long the client waited for the API, in milliseconds, without failed attempts.
    pub api_duration_without_retries: u64,
    /// How long tools ran, in milliseconds.
    pub tool_duration: u64,
    /// The number of added lines of code.
    pub lines_added: u64,
    /// The number of removed lines of code.
    pub lines_removed: u64,
}

/// The totals of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCost {
    /// The model, as the client names it: with `[1m]` if it has the long context.
    pub model: String,
    /// Its tokens.
    pub usage: Usage,
    /// Whether the line states how many cache tokens were written for one hour. Before 2.1.325, only the
    /// costs reflect it.
    pub has_cache_lifetimes: bool,
    /// The thinking tokens in the output, as far as the client counts them.
    pub thinking: u64,
    /// The cost by the client's prices.
    pub cost: Option<Money>,
}

impl CostState {
    /// Parses a line. Returns `None` if it is not a `cost-state` line.
    pub fn parse(line: &[u8]) -> Option<CostState> {
        let mut state = CostState::default();
        let mut is_cost_state = false;
        for (key, value) in members(line) {
            match key.decode().as_ref() {
                "type" => {
                    is_cost_state = JsonStr::from_value(value).is_some_and(|kind| kind.equals("cost-state"));
                }
                "modelUsage" => {
                    state.models = members(value).map(|(name, value)| parse_model(name, value)).collect();
                }
                "totalCostUSD" => state.total = parse_money(value),
                "hasUnknownModelCost" => state.unpriced = value == b"true",
                "startTime" => state.start = parse_number(value).and_then(Timestamp::from_number),
                "totalDuration" => state.duration = parse_count(value),
                "totalAPIDuration" => state.api_duration = parse_count(value),
                "totalAPIDurationWithoutRetries" => state.api_duration_without_retries = parse_count(value),
                "totalToolDuration" => state.tool_duration = parse_count(value),
                "totalLinesAdded" => state.lines_added = parse_count(value),
                "totalLinesRemoved" => state.lines_removed = parse_count(value),
                _ => {}
            }
        }
        is_cost_state.then_some(state)
    }
}

/// Parses the totals of one model, a member of `modelUsage`.
fn parse_model(name: JsonStr<'_>, totals: &[u8]) -> ModelCost {
    let mut model = ModelCost { model: name.decode().into_owned(), ..ModelCost::default() };
    for (key, value) in members(totals) {
        match key.decode().as_ref() {
            "inputTokens" => model.usage.input = parse_count(value),
            "outputTokens" => model.usage.output = parse_count(value),
            "thinkingTokens" => model.thinking = parse_count(value),
            "cacheReadInputTokens" => model.usage.cache_read = parse_count(value),
            "cacheCreationInputTokens" => model.usage.cache_write = parse_count(value),
            "cacheCreationEphemeral1hInputTokens" => {
                model.usage.cache_write_1h = parse_count(value);
                model.has_cache_lifetimes = true;
            }
            "webSearchRequests" => model.usage.web_searches = parse_count(value),
            "costUSD" => model.cost = parse_money(value),
            _ => {}
        }
    }
    model
}

fn parse_number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn parse_money(value: &[u8]) -> Option<Money> {
    parse_number(value).and_then(Money::from_dollars)
}

/// Parses a JSON value as a count. Truncates fractions. Returns 0 if the value is negative or not a number.
fn parse_count(value: &[u8]) -> u64 {
    let whole = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
    whole.or_else(|| parse_number(value).map(|number| number as u64)).unwrap_or_default()
}
