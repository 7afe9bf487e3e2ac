//! JSON of `usage`: tokens and costs.

use std::collections::BTreeMap;

use rethread_engine::core::usage::{BurnRate, CostTotals, Money, PriceTable, TokenTotals};
use rethread_engine::ops::usage::{GroupBy, GroupKey, GroupRow, Trace, UsageCheck, UsageReport};
use serde::Serialize;

use super::object::{ObjectJson, UsageJson, build_object, format_time};

#[derive(Serialize)]
pub(super) struct AmountJson {
    responses: usize,
    usage: UsageJson,
    cache_creation_1h_input_tokens: u64,
    web_searches: u64,
    tokens: u64,
    cost_usd: Option<f64>,
    unpriced_responses: usize,
    unpriced_tokens: u64,
    lower_bound_responses: usize,
}

impl From<&CostTotals> for AmountJson {
    fn from(totals: &CostTotals) -> AmountJson {
        // The cost of responses without a price is unknown, not zero.
        let has_price = totals.unpriced.responses < totals.counts.responses || totals.counts.responses == 0;
        AmountJson {
            responses: totals.counts.responses,
            usage: (&totals.counts.usage).into(),
            cache_creation_1h_input_tokens: totals.counts.usage.cache_write_1h,
            web_searches: totals.counts.usage.web_searches,
            tokens: totals.counts.usage.total(),
            cost_usd: has_price.then(|| totals.cost.dollars()),
            unpriced_responses: totals.unpriced.responses,
            unpriced_tokens: totals.unpriced.usage.total(),
            lower_bound_responses: totals.lower_bounds,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct UsageRowJson<'a> {
    by: &'static str,
    key: Option<String>,
    title: Option<&'a str>,
    first: Option<String>,
    last: Option<String>,
    #[serde(flatten)]
    total: AmountJson,
    own: AmountJson,
    subagents: AmountJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<UsageRowJson<'a>>>,
}

/// Builds the `usage` object of one group of `usage`. `by` is its grouping, `then_by` that of the groups within it.
/// `name_key` names a group.
pub(crate) fn build_usage_row<'a>(
    row: &'a GroupRow,
    by: GroupBy,
    then_by: Option<GroupBy>,
    name_key: &dyn Fn(GroupBy, &GroupKey) -> Option<String>,
) -> ObjectJson<UsageRowJson<'a>> {
    build_object("usage", UsageRowJson::new(row, by, then_by, name_key))
}

impl<'a> UsageRowJson<'a> {
    fn new(
        row: &'a GroupRow,
        by: GroupBy,
        then_by: Option<GroupBy>,
        name_key: &dyn Fn(GroupBy, &GroupKey) -> Option<String>,
    ) -> UsageRowJson<'a> {
        let (first, last) = row.time_range.unzip();
        let build_parts =
            |by| row.parts.iter().map(|part| UsageRowJson::new(part, by, None, name_key)).collect();
        UsageRowJson {
            by: by.name(),
            key: name_key(by, &row.key),
            title: row.title.as_deref(),
            first: format_time(first),
            last: format_time(last),
            total: (&row.totals.total()).into(),
            own: (&row.totals.own).into(),
            subagents: (&row.totals.agents).into(),
            parts: then_by.map(build_parts),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct UsageTotalJson<'a> {
    #[serde(flatten)]
    total: AmountJson,
    own: AmountJson,
    subagents: AmountJson,
    by_status: Option<BTreeMap<&'static str, AmountJson>>,
    copied: Option<AmountJson>,
    unpriced: Vec<UnpricedJson<'a>>,
    block: Option<BlockRateJson>,
    prices: PriceSourceJson<'a>,
}

#[derive(Serialize)]
struct UnpricedJson<'a> {
    model: &'a str,
    responses: usize,
    tokens: u64,
}

#[derive(Serialize)]
struct PriceSourceJson<'a> {
    source: &'a str,
    date: &'a str,
}

#[derive(Serialize)]
struct BlockRateJson {
    end: Option<String>,
    remaining_ms: i64,
    tokens_per_minute: f64,
    usd_per_hour: f64,
    projected_tokens: f64,
    projected_usd: f64,
}

impl From<&BurnRate> for BlockRateJson {
    fn from(rate: &BurnRate) -> BlockRateJson {
        BlockRateJson {
            end: format_time(Some(rate.end)),
            remaining_ms: rate.remaining,
            tokens_per_minute: rate.tokens_per_minute,
            usd_per_hour: rate.dollars_per_hour,
            projected_tokens: rate.projected_tokens,
            projected_usd: rate.projected_dollars,
        }
    }
}

/// Builds the `usage_total` object of `usage`. `prices` is the price table that was used.
pub(crate) fn build_usage_total<'a>(
    report: &'a UsageReport,
    prices: &'a PriceTable,
) -> ObjectJson<UsageTotalJson<'a>> {
    let by_status: BTreeMap<_, AmountJson> =
        report.by_context_status.iter().map(|(status, totals)| (status.name(), totals.into())).collect();
    let unpriced = report.unpriced.iter().map(|(model, totals)| UnpricedJson {
        model,
        responses: totals.responses,
        tokens: totals.usage.total(),
    });
    build_object(
        "usage_total",
        UsageTotalJson {
            total: (&report.total.total()).into(),
            own: (&report.total.own).into(),
            subagents: (&report.total.agents).into(),
            by_status: (!by_status.is_empty()).then_some(by_status),
            copied: (report.copied.counts.responses > 0).then(|| (&report.copied).into()),
            unpriced: unpriced.collect(),
            block: report.burn_rate.as_ref().map(BlockRateJson::from),
            prices: PriceSourceJson { source: prices.source(), date: prices.date() },
        },
    )
}

#[derive(Serialize)]
pub(crate) struct UsageCheckJson<'a> {
    is_consistent: bool,
    total: AmountJson,
    per_line: CountsJson,
    per_file: CountsJson,
    deduplicated: CountsJson,
    sum_checks: Vec<SumCheckJson>,
    client_costs: Vec<ClientCostJson<'a>>,
}

#[derive(Serialize)]
struct CountsJson {
    responses: usize,
    usage: UsageJson,
}

impl From<&TokenTotals> for CountsJson {
    fn from(totals: &TokenTotals) -> CountsJson {
        CountsJson { responses: totals.responses, usage: (&totals.usage).into() }
    }
}

#[derive(Serialize)]
struct SumCheckJson {
    group_kind: &'static str,
    groups: usize,
    is_equal: bool,
    #[serde(flatten)]
    sum: AmountJson,
}

#[derive(Serialize)]
struct ClientCostJson<'a> {
    session: &'a str,
    computed: AmountJson,
    reported: Vec<ModelCostJson<'a>>,
    reported_cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct ModelCostJson<'a> {
    model: &'a str,
    usage: UsageJson,
    cost_usd: Option<f64>,
}

/// Builds the `usage_check` object of `usage --check`.
pub(crate) fn build_usage_check(check: &UsageCheck) -> ObjectJson<UsageCheckJson<'_>> {
    let sum_checks = check.totals.iter().map(|total| SumCheckJson {
        group_kind: total.group_kind,
        groups: total.groups,
        is_equal: total.is_equal,
        sum: (&total.total).into(),
    });
    let client_costs = check.client_costs.iter().map(|cost| ClientCostJson {
        session: &cost.session,
        computed: (&cost.computed).into(),
        reported: cost
            .reported
            .models
            .iter()
            .map(|by_model| ModelCostJson {
                model: &by_model.model,
                usage: (&by_model.usage).into(),
                cost_usd: by_model.cost.map(Money::dollars),
            })
            .collect(),
        reported_cost_usd: cost.reported.total.map(Money::dollars),
    });
    build_object(
        "usage_check",
        UsageCheckJson {
            is_consistent: check.is_consistent(),
            total: (&check.total).into(),
            per_line: (&check.copies.lines).into(),
            per_file: (&check.copies.files).into(),
            deduplicated: (&check.copies.once).into(),
            sum_checks: sum_checks.collect(),
            client_costs: client_costs.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct UsageResponseJson<'a> {
    message: &'a str,
    model: &'a str,
    session: &'a str,
    time: Option<String>,
    #[serde(flatten)]
    sum: AmountJson,
    lines: Vec<UsageLineJson<'a>>,
}

#[derive(Serialize)]
struct UsageLineJson<'a> {
    path: String,
    line: u32,
    time: Option<String>,
    request: Option<&'a str>,
    usage: UsageJson,
    is_subagent: bool,
    has_stop_reason: bool,
    is_counted: bool,
}

/// Builds the `usage_response` object of `usage --explain`. `message` is the message id of the response.
pub(crate) fn build_usage_trace<'a>(message: &'a str, trace: &'a Trace) -> ObjectJson<UsageResponseJson<'a>> {
    let lines = trace.lines.iter().map(|line| UsageLineJson {
        path: line.path.display().to_string(),
        line: line.line,
        time: format_time(line.time),
        request: line.request.as_deref(),
        usage: (&line.usage).into(),
        is_subagent: line.is_subagent,
        has_stop_reason: line.has_stop_reason,
        is_counted: line.is_counted,
    });
    build_object(
        "usage_response",
        UsageResponseJson {
            message,
            model: &trace.model,
            session: &trace.session,
            time: format_time(trace.time),
            sum: (&trace.totals).into(),
            lines: lines.collect(),
        },
    )
}
