//! What rows must say, reckoned from the truth with prices of its own.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use rethread_engine::core::entry::Usage;
use rethread_engine::core::usage::{CostTotals, SessionTotals};
use rethread_engine::ops::{GroupBy, GroupKey, GroupRow};
use rethread_testkit::spending::Spend;

/// Prices as the program reads them; `rates` says the same.
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

/// Returns what a token of each kind costs in millionths of a millionth of a dollar: input, output, written to the cache
/// for five minutes and for an hour, read from it; and a search.
fn rates(model: &str, time: Option<i64>, prompt: u64) -> Option<[u128; 6]> {
    let day = |text: &str| text.parse::<Timestamp>().expect("a moment").as_millisecond();
    let since = |text: &str| time.is_none_or(|time| time >= day(text));
    let plain =
        |input: u128, output: u128| [input, output, input * 5 / 4, input * 2, input / 10, 10_000_000_000];
    Some(match model {
        "claude-opus-4-5-20251101" if since("2026-02-10T00:00:00Z") => plain(4_000_000, 20_000_000),
        "claude-opus-4-5-20251101" => plain(5_000_000, 25_000_000),
        "claude-sonnet-4-5-20250929" if prompt > 200_000 => {
            [6_000_000, 22_500_000, 7_500_000, 12_000_000, 600_000, 12_000_000_000]
        }
        "claude-sonnet-4-5-20250929" => {
            [3_000_000, 15_000_000, 3_500_000, 7_000_000, 250_000, 12_000_000_000]
        }
        "claude-haiku-4-5-20251001" if since("2026-03-01T00:00:00Z") => plain(2_000_000, 10_000_000),
        "claude-haiku-4-5-20251001" => plain(1_000_000, 5_000_000),
        "local-model-7b" => return None,
        other => panic!("{other} is no model of the generator"),
    })
}

/// What some responses come to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) responses: usize,
    pub(crate) usage: Usage,
    /// In millionths of a millionth of a dollar.
    cost: u128,
    unpriced: usize,
    unpriced_usage: Usage,
    open: usize,
}

impl Figures {
    fn of(spend: &Spend) -> Figures {
        let usage = spend.usage;
        let prompt = usage.input + usage.cache_write + usage.cache_read;
        let counts = [
            usage.input,
            usage.output,
            usage.cache_write - usage.cache_write_1h,
            usage.cache_write_1h,
            usage.cache_read,
            usage.web_searches,
        ];
        let rates = rates(&spend.model, spend.time, prompt);
        let cost =
            rates.map(|rates| counts.iter().zip(rates).map(|(&count, rate)| u128::from(count) * rate).sum());
        Figures {
            responses: 1,
            usage,
            cost: cost.unwrap_or(0),
            unpriced: usize::from(cost.is_none()),
            unpriced_usage: if cost.is_none() { usage } else { Usage::default() },
            open: usize::from(spend.open),
        }
    }

    /// Reads what the program says.
    pub(crate) fn read(sum: &CostTotals) -> Figures {
        Figures {
            responses: sum.spent.responses,
            usage: sum.spent.usage,
            // Sums are far below the 9,000 dollars up to which a float holds every part of a dollar.
            cost: (sum.cost.dollars() * 1e12).round() as u128,
            unpriced: sum.unpriced.responses,
            unpriced_usage: sum.unpriced.usage,
            open: sum.open,
        }
    }

    fn add(&mut self, other: &Figures) {
        self.responses += other.responses;
        self.usage.add(&other.usage);
        self.cost += other.cost;
        self.unpriced += other.unpriced;
        self.unpriced_usage.add(&other.unpriced_usage);
        self.open += other.open;
    }

    /// Returns one of so many parts; the first ones get what is left over.
    fn part(&self, no: usize, of: usize) -> Figures {
        let big = |whole: u128| whole / of as u128 + u128::from((no as u128) < whole % of as u128);
        let small = |whole: u64| big(u128::from(whole)) as u64;
        let tokens = |usage: &Usage| Usage {
            input: small(usage.input),
            output: small(usage.output),
            cache_write: small(usage.cache_write - usage.cache_write_1h) + small(usage.cache_write_1h),
            cache_write_1h: small(usage.cache_write_1h),
            cache_read: small(usage.cache_read),
            web_searches: small(usage.web_searches),
        };
        Figures {
            responses: small(self.responses as u64) as usize,
            usage: tokens(&self.usage),
            cost: big(self.cost),
            unpriced: small(self.unpriced as u64) as usize,
            unpriced_usage: tokens(&self.unpriced_usage),
            open: small(self.open as u64) as usize,
        }
    }
}

/// A row: what sessions themselves got, what their subagents got, and when.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) own: Figures,
    pub(crate) agents: Figures,
    span: Option<(i64, i64)>,
}

impl Expected {
    fn book(&mut self, spend: &Spend, figures: &Figures) {
        let sum = if spend.side { &mut self.agents } else { &mut self.own };
        sum.add(figures);
        if let Some(time) = spend.time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
    }

    /// Reads what the program says.
    pub(crate) fn read(account: &SessionTotals) -> Expected {
        Expected { own: Figures::read(&account.own), agents: Figures::read(&account.agents), span: None }
    }
}

/// Adds everything up.
pub(crate) fn total<'s>(spends: impl IntoIterator<Item = &'s Spend>) -> Expected {
    let mut total = Expected::default();
    spends.into_iter().for_each(|spend| total.book(spend, &Figures::of(spend)));
    Expected { span: None, ..total }
}

/// Returns both together.
pub(crate) fn sum<'s>(spends: impl IntoIterator<Item = &'s Spend>) -> Figures {
    let Expected { mut own, agents, .. } = total(spends);
    own.add(&agents);
    own
}

/// Reads the rows of the program.
pub(crate) fn said(rows: &[GroupRow]) -> BTreeMap<String, Expected> {
    let row = |row: &GroupRow| {
        let span = row.span.map(|(first, last)| (first.0, last.0));
        (name(&row.key), Expected { span, ..Expected::read(&row.account) })
    };
    let named: BTreeMap<String, Expected> = rows.iter().map(row).collect();
    assert_eq!(named.len(), rows.len(), "no two rows have the same key");
    named
}

const UNKNOWN: &str = "?";

fn name(key: &GroupKey) -> String {
    match key {
        GroupKey::Day(day) => day.date().to_string(),
        GroupKey::Block(begin) => begin.0.to_string(),
        GroupKey::Name(name) => name.clone(),
        GroupKey::Reach(reach) => format!("{reach:?}"),
        GroupKey::Unknown => UNKNOWN.to_owned(),
    }
}

/// Makes the rows of some of all responses.
pub(crate) fn rows<'s>(
    spends: impl IntoIterator<Item = &'s Spend>,
    all: &[Spend],
    by: GroupBy,
    zone: &TimeZone,
) -> BTreeMap<String, Expected> {
    let blocks = blocks(all);
    let mut rows: BTreeMap<String, Expected> = BTreeMap::new();
    for spend in spends {
        let figures = Figures::of(spend);
        if by == GroupBy::Tool && !spend.tools.is_empty() {
            for (no, tool) in spend.tools.iter().enumerate() {
                rows.entry(tool.clone()).or_default().book(spend, &figures.part(no, spend.tools.len()));
            }
            continue;
        }
        let known = |name: &String| (!name.is_empty()).then(|| name.clone());
        let key = match by {
            GroupBy::Day | GroupBy::Week | GroupBy::Month => spend.time.map(|time| date(time, by, zone)),
            GroupBy::Project => known(&spend.project),
            GroupBy::Session => known(&spend.session),
            GroupBy::Model => known(&spend.model),
            GroupBy::Branch => known(&spend.branch),
            GroupBy::Agent => spend.kind.clone(),
            GroupBy::Reach => Some(format!("{:?}", spend.reach)),
            GroupBy::Block => {
                spend.time.and_then(|time| blocks.iter().rfind(|begin| **begin <= time)).map(i64::to_string)
            }
            GroupBy::Tool => None,
        };
        rows.entry(key.unwrap_or_else(|| UNKNOWN.to_owned())).or_default().book(spend, &figures);
    }
    rows
}

/// Asks the zone itself what day it is.
fn date(time: i64, by: GroupBy, zone: &TimeZone) -> String {
    let moment = Timestamp::from_millisecond(time).expect("a moment of the generator");
    let date = moment.to_zoned(zone.clone()).date();
    match by {
        GroupBy::Week => date.saturating_sub(i64::from(date.weekday().to_monday_zero_offset()).days()),
        GroupBy::Month => date.first_of_month(),
        _ => date,
    }
    .to_string()
}

/// Returns when blocks of five hours begin: at the full hour of what comes first behind the one before.
fn blocks(all: &[Spend]) -> Vec<i64> {
    const HOUR: i64 = 3_600_000;
    let mut times: Vec<i64> = all.iter().filter_map(|spend| spend.time).collect();
    times.sort_unstable();
    let mut begins: Vec<i64> = Vec::new();
    for time in times {
        if begins.last().is_none_or(|begin| time >= begin + 5 * HOUR) {
            begins.push(time - time % HOUR);
        }
    }
    begins
}
