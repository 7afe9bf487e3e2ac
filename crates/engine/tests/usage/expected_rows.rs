//! Computes the expected rows from the generated responses, with its own implementation of prices.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use rethread_engine::core::entry::Usage;
use rethread_engine::core::usage::{CostTotals, SessionTotals};
use rethread_engine::ops::usage::{GroupBy, GroupKey, GroupRow};
use rethread_testkit::spending::ExpectedResponse;

/// The price table that the engine reads. `find_rates` implements the same prices.
pub(crate) const PRICES: &str = r#"
source = "made up"
date = 2026-04-01
[[price]]
models = ["claude-opus-4-5-20251101"]
input = 5
output = 25
[[price]]
models = ["claude-opus-4-5-20251101"]
from = 2026-02-10
input = 4
output = 20
[[price]]
models = ["claude-sonnet-*"]
input = 3
output = 15
cache_write_5m = 3.5
cache_write_1h = 7
cache_read = 0.25
web_search = 12
long.above = 200000
long.input = 6
long.output = 22.5
[[price]]
models = ["claude-haiku-4-5"]
from = 2026-02-01
input = 1
output = 5
[[price]]
models = ["claude-haiku-4-5"]
from = 2026-03-01
input = 2
output = 10
"#;

/// Returns the prices in 10⁻¹² dollars: input, output, cache write for five minutes and for an hour, cache read, search.
///
/// Returns `None` if the model has no price.
fn find_rates(model: &str, time: Option<i64>, prompt_tokens: u64) -> Option<[u128; 6]> {
    let millis = |text: &str| text.parse::<Timestamp>().expect("a timestamp").as_millisecond();
    let is_since = |text: &str| time.is_none_or(|time| time >= millis(text));
    let standard =
        |input: u128, output: u128| [input, output, input * 5 / 4, input * 2, input / 10, 10_000_000_000];
    Some(match model {
        "claude-opus-4-5-20251101" if is_since("2026-02-10T00:00:00Z") => standard(4_000_000, 20_000_000),
        "claude-opus-4-5-20251101" => standard(5_000_000, 25_000_000),
        "claude-sonnet-4-5-20250929" if prompt_tokens > 200_000 => {
            [6_000_000, 22_500_000, 7_500_000, 12_000_000, 600_000, 12_000_000_000]
        }
        "claude-sonnet-4-5-20250929" => {
            [3_000_000, 15_000_000, 3_500_000, 7_000_000, 250_000, 12_000_000_000]
        }
        "claude-haiku-4-5-20251001" if is_since("2026-03-01T00:00:00Z") => standard(2_000_000, 10_000_000),
        "claude-haiku-4-5-20251001" => standard(1_000_000, 5_000_000),
        "local-model-7b" => return None,
        other => panic!("the generator has no model {other}"),
    })
}

/// The totals of some responses.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpectedTotals {
    pub(crate) responses: usize,
    pub(crate) usage: Usage,
    /// In 10⁻¹² dollars.
    cost: u128,
    unpriced: usize,
    unpriced_usage: Usage,
    lower_bounds: usize,
}

impl ExpectedTotals {
    fn from_response(response: &ExpectedResponse) -> ExpectedTotals {
        let usage = response.usage;
        let prompt_tokens = usage.input + usage.cache_write + usage.cache_read;
        let counts = [
            usage.input,
            usage.output,
            usage.cache_write - usage.cache_write_1h,
            usage.cache_write_1h,
            usage.cache_read,
            usage.web_searches,
        ];
        let rates = find_rates(&response.model, response.time, prompt_tokens);
        let cost =
            rates.map(|rates| counts.iter().zip(rates).map(|(&count, rate)| u128::from(count) * rate).sum());
        ExpectedTotals {
            responses: 1,
            usage,
            cost: cost.unwrap_or(0),
            unpriced: usize::from(cost.is_none()),
            unpriced_usage: if cost.is_none() { usage } else { Usage::default() },
            lower_bounds: usize::from(response.is_lower_bound),
        }
    }

    /// Converts totals of the engine.
    pub(crate) fn from_engine(totals: &CostTotals) -> ExpectedTotals {
        ExpectedTotals {
            responses: totals.counts.responses,
            usage: totals.counts.usage,
            // A float is exact to 10⁻¹² dollars up to 9,000 dollars. The sums are far below that.
            cost: (totals.cost.dollars() * 1e12).round() as u128,
            unpriced: totals.unpriced.responses,
            unpriced_usage: totals.unpriced.usage,
            lower_bounds: totals.lower_bounds,
        }
    }

    fn add(&mut self, other: &ExpectedTotals) {
        self.responses += other.responses;
        self.usage.add(&other.usage);
        self.cost += other.cost;
        self.unpriced += other.unpriced;
        self.unpriced_usage.add(&other.unpriced_usage);
        self.lower_bounds += other.lower_bounds;
    }

    /// Returns the part `idx` of `count` equal parts. The first parts get the remainder.
    fn part(&self, idx: usize, count: usize) -> ExpectedTotals {
        let divide = |whole: u128| whole / count as u128 + u128::from((idx as u128) < whole % count as u128);
        let divide_u64 = |whole: u64| divide(u128::from(whole)) as u64;
        let divide_usage = |usage: &Usage| Usage {
            input: divide_u64(usage.input),
            output: divide_u64(usage.output),
            cache_write: divide_u64(usage.cache_write - usage.cache_write_1h)
                + divide_u64(usage.cache_write_1h),
            cache_write_1h: divide_u64(usage.cache_write_1h),
            cache_read: divide_u64(usage.cache_read),
            web_searches: divide_u64(usage.web_searches),
        };
        ExpectedTotals {
            responses: divide_u64(self.responses as u64) as usize,
            usage: divide_usage(&self.usage),
            cost: divide(self.cost),
            unpriced: divide_u64(self.unpriced as u64) as usize,
            unpriced_usage: divide_usage(&self.unpriced_usage),
            lower_bounds: divide_u64(self.lower_bounds as u64) as usize,
        }
    }
}

/// An expected row: the totals of sessions and of their subagents, and the time range in milliseconds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ExpectedRow {
    pub(crate) own: ExpectedTotals,
    pub(crate) agents: ExpectedTotals,
    time_range: Option<(i64, i64)>,
}

impl ExpectedRow {
    fn add(&mut self, response: &ExpectedResponse, totals: &ExpectedTotals) {
        let sum = if response.is_subagent { &mut self.agents } else { &mut self.own };
        sum.add(totals);
        if let Some(time) = response.time {
            let (first, last) = self.time_range.unwrap_or((time, time));
            self.time_range = Some((first.min(time), last.max(time)));
        }
    }

    /// Converts totals of the engine.
    pub(crate) fn from_engine(totals: &SessionTotals) -> ExpectedRow {
        let own = ExpectedTotals::from_engine(&totals.own);
        ExpectedRow { own, agents: ExpectedTotals::from_engine(&totals.agents), time_range: None }
    }
}

/// Returns the total row, without time range.
pub(crate) fn expected_total<'s>(responses: impl IntoIterator<Item = &'s ExpectedResponse>) -> ExpectedRow {
    let mut total = ExpectedRow::default();
    for response in responses {
        total.add(response, &ExpectedTotals::from_response(response));
    }
    ExpectedRow { time_range: None, ..total }
}

/// Returns the totals of sessions and subagents together.
pub(crate) fn sum_responses<'s>(responses: impl IntoIterator<Item = &'s ExpectedResponse>) -> ExpectedTotals {
    let ExpectedRow { mut own, agents, .. } = expected_total(responses);
    own.add(&agents);
    own
}

/// Converts rows of the engine.
pub(crate) fn rows_from_engine(rows: &[GroupRow]) -> BTreeMap<String, ExpectedRow> {
    let convert = |row: &GroupRow| {
        let time_range = row.time_range.map(|(first, last)| (first.0, last.0));
        (key_text(&row.key), ExpectedRow { time_range, ..ExpectedRow::from_engine(&row.totals) })
    };
    let by_key: BTreeMap<String, ExpectedRow> = rows.iter().map(convert).collect();
    assert_eq!(by_key.len(), rows.len(), "no two rows have the same key");
    by_key
}

const UNKNOWN_KEY: &str = "?";

fn key_text(key: &GroupKey) -> String {
    match key {
        GroupKey::Day(day) => day.date().to_string(),
        GroupKey::Block(start) => start.0.to_string(),
        GroupKey::Name(name) => name.clone(),
        GroupKey::ContextStatus(status) => format!("{status:?}"),
        GroupKey::Unknown => UNKNOWN_KEY.to_owned(),
    }
}

/// Groups the selected responses. The five-hour blocks follow from all responses.
pub(crate) fn expected_rows<'s>(
    selected: impl IntoIterator<Item = &'s ExpectedResponse>,
    all: &[ExpectedResponse],
    by: GroupBy,
    zone: &TimeZone,
) -> BTreeMap<String, ExpectedRow> {
    let block_starts = find_block_starts(all);
    let mut rows: BTreeMap<String, ExpectedRow> = BTreeMap::new();
    for response in selected {
        let totals = ExpectedTotals::from_response(response);
        if by == GroupBy::Tool && !response.tools.is_empty() {
            for (idx, tool) in response.tools.iter().enumerate() {
                let part = totals.part(idx, response.tools.len());
                rows.entry(tool.clone()).or_default().add(response, &part);
            }
            continue;
        }
        let non_empty = |name: &String| (!name.is_empty()).then(|| name.clone());
        let key = match by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month => {
                response.time.map(|time| first_date(time, by, zone))
            }
            GroupBy::Project => non_empty(&response.project),
            GroupBy::Session => non_empty(&response.session),
            GroupBy::Model => non_empty(&response.model),
            GroupBy::Branch => non_empty(&response.branch),
            GroupBy::Agent => response.agent_type.clone(),
            GroupBy::ContextStatus => Some(format!("{:?}", response.status)),
            GroupBy::Block => {
                let start_of = |time| block_starts.iter().rfind(|start| **start <= time);
                response.time.and_then(start_of).map(i64::to_string)
            }
            GroupBy::Tool => None,
        };
        rows.entry(key.unwrap_or_else(|| UNKNOWN_KEY.to_owned())).or_default().add(response, &totals);
    }
    rows
}

/// Returns the first date of the day, week or month in a time zone.
fn first_date(time: i64, by: GroupBy, zone: &TimeZone) -> String {
    let timestamp = Timestamp::from_millisecond(time).expect("a generated time");
    let date = timestamp.to_zoned(zone.clone()).date();
    match by {
        GroupBy::Week => date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days()),
        GroupBy::Month => date.first_of_month(),
        _ => date,
    }
    .to_string()
}

/// Returns the starts of the five-hour blocks: the full hour of the first response after the previous block.
fn find_block_starts(responses: &[ExpectedResponse]) -> Vec<i64> {
    const HOUR: i64 = 3_600_000;
    let mut times: Vec<i64> = responses.iter().filter_map(|response| response.time).collect();
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    for time in times {
        if starts.last().is_none_or(|start| time >= start + 5 * HOUR) {
            starts.push(time - time % HOUR);
        }
    }
    starts
}
