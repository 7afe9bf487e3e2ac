//! Tokens and money in `--json`.

use std::collections::{BTreeMap, HashMap};

use rethread_engine::core::usage::{BurnRate, CostTotals, Money, Prices, TokenTotals};
use rethread_engine::ops::{Check, GroupRow, Trace, UsageReport};
use serde::Serialize;

use super::{Usage, Wire, time, wire};

#[derive(Serialize)]
pub(super) struct Amount {
    responses: usize,
    usage: Usage,
    cache_creation_1h_input_tokens: u64,
    web_searches: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    unpriced_responses: usize,
    unpriced_tokens: u64,
    lower_bound_responses: usize,
}

impl From<&CostTotals> for Amount {
    fn from(sum: &CostTotals) -> Amount {
        // What has no price costs nobody knows what, not nothing.
        let priced = sum.unpriced.responses < sum.spent.responses || sum.spent.responses == 0;
        Amount {
            responses: sum.spent.responses,
            usage: (&sum.spent.usage).into(),
            cache_creation_1h_input_tokens: sum.spent.usage.cache_write_1h,
            web_searches: sum.spent.usage.web_searches,
            tokens: sum.spent.usage.total(),
            cost_usd: priced.then(|| sum.cost.dollars()),
            unpriced_responses: sum.unpriced.responses,
            unpriced_tokens: sum.unpriced.usage.total(),
            lower_bound_responses: sum.open,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct UsageRow<'a> {
    by: &'static str,
    key: Option<String>,
    title: Option<&'a str>,
    first: Option<String>,
    last: Option<String>,
    #[serde(flatten)]
    total: Amount,
    own: Amount,
    subagents: Amount,
}

/// A row of `usage`.
pub(crate) fn usage_row<'a>(
    by: &'static str,
    key: Option<String>,
    titles: &'a HashMap<String, String>,
    row: &GroupRow,
) -> Wire<UsageRow<'a>> {
    let title = key.as_ref().and_then(|key| titles.get(key)).map(String::as_str);
    let (first, last) = row.span.unzip();
    wire(
        "usage",
        UsageRow {
            by,
            key,
            title,
            first: time(first),
            last: time(last),
            total: (&row.account.total()).into(),
            own: (&row.account.own).into(),
            subagents: (&row.account.agents).into(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct UsageTotal<'a> {
    #[serde(flatten)]
    total: Amount,
    own: Amount,
    subagents: Amount,
    reach: Option<BTreeMap<&'static str, Amount>>,
    copied: Option<Amount>,
    unpriced: Vec<Unpriced<'a>>,
    block: Option<Block>,
    prices: Source<'a>,
}

#[derive(Serialize)]
struct Unpriced<'a> {
    model: &'a str,
    responses: usize,
    tokens: u64,
}

#[derive(Serialize)]
struct Source<'a> {
    source: &'a str,
    date: &'a str,
}

#[derive(Serialize)]
struct Block {
    end: Option<String>,
    left_ms: i64,
    tokens_per_minute: f64,
    usd_per_hour: f64,
    projected_tokens: f64,
    projected_usd: f64,
}

impl From<&BurnRate> for Block {
    fn from(pace: &BurnRate) -> Block {
        Block {
            end: time(Some(pace.end)),
            left_ms: pace.left,
            tokens_per_minute: pace.tokens,
            usd_per_hour: pace.dollars,
            projected_tokens: pace.projected_tokens,
            projected_usd: pace.projected_dollars,
        }
    }
}

/// The sums of `usage`.
pub(crate) fn usage_total<'a>(spending: &'a UsageReport, prices: &'a Prices) -> Wire<UsageTotal<'a>> {
    let reach: BTreeMap<_, Amount> =
        spending.reach.iter().map(|(reach, sum)| (reach.name(), sum.into())).collect();
    let unpriced = spending.unpriced.iter().map(|(model, spent)| Unpriced {
        model,
        responses: spent.responses,
        tokens: spent.usage.total(),
    });
    wire(
        "usage_total",
        UsageTotal {
            total: (&spending.total.total()).into(),
            own: (&spending.total.own).into(),
            subagents: (&spending.total.agents).into(),
            reach: (!reach.is_empty()).then_some(reach),
            copied: (spending.copied.spent.responses > 0).then(|| (&spending.copied).into()),
            unpriced: unpriced.collect(),
            block: spending.pace.as_ref().map(Block::from),
            prices: Source { source: prices.source(), date: prices.date() },
        },
    )
}

#[derive(Serialize)]
pub(crate) struct UsageCheck<'a> {
    holds: bool,
    total: Amount,
    lines: Counted,
    files: Counted,
    once: Counted,
    proofs: Vec<Proved>,
    opinions: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct Counted {
    responses: usize,
    usage: Usage,
}

impl From<&TokenTotals> for Counted {
    fn from(spent: &TokenTotals) -> Counted {
        Counted { responses: spent.responses, usage: (&spent.usage).into() }
    }
}

#[derive(Serialize)]
struct Proved {
    of: &'static str,
    groups: usize,
    holds: bool,
    #[serde(flatten)]
    sum: Amount,
}

#[derive(Serialize)]
struct Said<'a> {
    session: &'a str,
    ours: Amount,
    client: Vec<Model<'a>>,
    client_cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct Model<'a> {
    model: &'a str,
    usage: Usage,
    cost_usd: Option<f64>,
}

/// What `usage --check` proves.
pub(crate) fn usage_check(check: &Check) -> Wire<UsageCheck<'_>> {
    let proofs = check.proofs.iter().map(|proof| Proved {
        of: proof.what,
        groups: proof.groups,
        holds: proof.holds,
        sum: (&proof.sum).into(),
    });
    let opinions = check.opinions.iter().map(|opinion| Said {
        session: &opinion.session,
        ours: (&opinion.ours).into(),
        client: opinion
            .theirs
            .models
            .iter()
            .map(|cost| Model {
                model: &cost.model,
                usage: (&cost.usage).into(),
                cost_usd: cost.cost.map(Money::dollars),
            })
            .collect(),
        client_cost_usd: opinion.theirs.total.map(Money::dollars),
    });
    wire(
        "usage_check",
        UsageCheck {
            holds: check.holds(),
            total: (&check.total).into(),
            lines: (&check.copies.lines).into(),
            files: (&check.copies.files).into(),
            once: (&check.copies.once).into(),
            proofs: proofs.collect(),
            opinions: opinions.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct UsageTrace<'a> {
    message: &'a str,
    model: &'a str,
    session: &'a str,
    time: Option<String>,
    #[serde(flatten)]
    sum: Amount,
    lines: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    path: String,
    line: u32,
    time: Option<String>,
    request: Option<&'a str>,
    usage: Usage,
    subagent: bool,
    ended: bool,
    counts: bool,
}

/// A response of `usage --explain`.
pub(crate) fn usage_trace<'a>(message: &'a str, trace: &'a Trace) -> Wire<UsageTrace<'a>> {
    let lines = trace.lines.iter().map(|line| Line {
        path: line.path.display().to_string(),
        line: line.line,
        time: time(line.time),
        request: line.request.as_deref(),
        usage: (&line.usage).into(),
        subagent: line.side,
        ended: line.stopped,
        counts: line.counts,
    });
    wire(
        "usage_response",
        UsageTrace {
            message,
            model: &trace.model,
            session: &trace.session,
            time: time(trace.time),
            sum: (&trace.sum).into(),
            lines: lines.collect(),
        },
    )
}
