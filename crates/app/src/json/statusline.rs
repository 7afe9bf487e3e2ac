//! JSON of `statusline`.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::usage::{PromptCacheUsage, StatuslineUsage, UsageBlock};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};
use super::statusline_input::StatuslineInput;
use super::usage::AmountJson;

#[derive(Serialize)]
pub(crate) struct StatuslineJson<'a> {
    session: Option<&'a str>,
    model: Option<&'a str>,
    session_total: Option<AmountJson>,
    client_cost_usd: Option<f64>,
    today: AmountJson,
    block: Option<BlockJson>,
    week: Option<BlockJson>,
    prompt_cache: Option<PromptCacheJson>,
    context: Option<ContextUsageJson>,
    others_read_at: Option<String>,
}

#[derive(Serialize)]
struct BlockJson {
    start: Option<String>,
    end: Option<String>,
    remaining_ms: i64,
    limit_percent: Option<f64>,
    #[serde(flatten)]
    total: AmountJson,
}

#[derive(Serialize)]
struct ContextUsageJson {
    percent: f64,
    estimated: bool,
}

#[derive(Serialize)]
struct PromptCacheJson {
    read_percent: Option<f64>,
    expires_at: Option<String>,
    estimated: bool,
    misses: Option<u64>,
}

impl From<&PromptCacheUsage> for PromptCacheJson {
    fn from(cache: &PromptCacheUsage) -> PromptCacheJson {
        PromptCacheJson {
            read_percent: cache.read_percent,
            expires_at: format_time(cache.expires_at),
            estimated: cache.estimated,
            misses: cache.misses,
        }
    }
}

/// Builds the `statusline` object of `statusline`. `input` is the data passed by the client on stdin.
pub(crate) fn build_statusline<'a>(
    input: &'a StatuslineInput,
    usage: &'a StatuslineUsage,
    now: Timestamp,
) -> ObjectJson<StatuslineJson<'a>> {
    let build_block = |block: &UsageBlock, limit_percent: Option<f64>| BlockJson {
        start: format_time(Some(block.start)),
        end: format_time(Some(block.end)),
        remaining_ms: block.end.0.saturating_sub(now.0),
        limit_percent,
        total: (&block.totals).into(),
    };
    build_object(
        "statusline",
        StatuslineJson {
            session: input.session.as_deref(),
            model: input.model.as_deref().or(usage.model.as_deref()),
            session_total: usage.session.as_ref().map(AmountJson::from),
            client_cost_usd: input.cost_usd,
            today: (&usage.today).into(),
            block: usage.block.as_ref().map(|block| build_block(block, input.limit_percent)),
            week: usage.week.as_ref().map(|week| build_block(week, input.week_limit_percent)),
            prompt_cache: usage.prompt_cache.as_ref().map(PromptCacheJson::from),
            context: usage
                .context
                .as_ref()
                .map(|context| ContextUsageJson { percent: context.percent, estimated: context.estimated }),
            others_read_at: format_time(Some(usage.others_read_at)),
        },
    )
}
