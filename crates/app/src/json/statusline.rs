//! The line about a running session in `--json`.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::{Block, StatuslineUsage};
use serde::Serialize;

use super::statusline_input::Input;
use super::usage::Amount;
use super::{Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Statusline<'a> {
    session: Option<&'a str>,
    model: Option<&'a str>,
    session_total: Option<Amount>,
    client_cost_usd: Option<f64>,
    today: Amount,
    block: Option<RunningBlock>,
    context: Option<Context>,
    others_as_of: Option<String>,
}

#[derive(Serialize)]
struct RunningBlock {
    begin: Option<String>,
    end: Option<String>,
    left_ms: i64,
    limit_percent: Option<f64>,
    #[serde(flatten)]
    total: Amount,
}

#[derive(Serialize)]
struct Context {
    percent: f64,
    estimated: bool,
}

/// What `statusline` says.
pub(crate) fn statusline<'a>(
    input: &'a Input,
    meter: &'a StatuslineUsage,
    now: Timestamp,
) -> Wire<Statusline<'a>> {
    let block = |block: &Block| RunningBlock {
        begin: time(Some(block.begin)),
        end: time(Some(block.end)),
        left_ms: block.end.0.saturating_sub(now.0),
        limit_percent: input.limit,
        total: (&block.sum).into(),
    };
    wire(
        "statusline",
        Statusline {
            session: input.session.as_deref(),
            model: input.model.as_deref().or(meter.model.as_deref()),
            session_total: meter.session.as_ref().map(Amount::from),
            client_cost_usd: input.cost,
            today: (&meter.today).into(),
            block: meter.block.as_ref().map(block),
            context: meter
                .context
                .as_ref()
                .map(|context| Context { percent: context.percent, estimated: context.estimated }),
            others_as_of: time(Some(meter.others)),
        },
    )
}
