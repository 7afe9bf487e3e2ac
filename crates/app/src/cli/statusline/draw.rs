//! Renders the status line.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::CostTotals;
use rethread_engine::ops::usage::{ContextUsage, PromptCacheUsage, StatuslineUsage, UsageBlock};

use crate::cli::clean;
use crate::cli::figures::{count_noun, format_percent};
use crate::cli::style::{MARK, PLAIN, QUIET, paint};
use crate::cli::table::truncate_to_width;
use crate::config::{Config, StatuslineField, StatuslinePart};
use crate::json::statusline_input::StatuslineInput;
use crate::text::money::{format_cost, format_dollars};
use crate::text::template::TemplatePart;

/// The maximum width of the model name.
const MAX_MODEL_WIDTH: usize = 40;
/// The percentage from which the context is highlighted.
const FULL_PERCENT: f64 = 80.0;

/// Renders the status line in the configured format. Parts whose values are all unknown are omitted.
pub(super) fn render_line(
    input: &StatuslineInput,
    usage: &StatuslineUsage,
    now: Timestamp,
    settings: &Config,
) -> String {
    let parts = settings.statusline_format.value.parts().iter();
    let parts: Vec<String> =
        parts.filter_map(|part| render_part(part, |field| render_field(field, input, usage, now))).collect();
    parts.join(&paint(QUIET, &settings.statusline_separator.value.0))
}

/// Renders a part. Returns `None` if it has values and all of them are unknown.
fn render_part(part: &StatuslinePart, render: impl Fn(StatuslineField) -> Option<String>) -> Option<String> {
    let mut rendered = String::new();
    let (mut has_fields, mut has_values, mut ends_with_space) = (false, false, true);
    for piece in part {
        match piece {
            TemplatePart::Literal(text) => {
                // An unknown value between two spaces leaves one.
                let text = if ends_with_space { text.trim_start() } else { text };
                ends_with_space = if text.is_empty() { ends_with_space } else { text.ends_with(' ') };
                rendered.push_str(&paint(QUIET, text));
            }
            TemplatePart::Value(field) => {
                has_fields = true;
                if let Some(value) = render(*field) {
                    (has_values, ends_with_space) = (true, false);
                    rendered.push_str(&value);
                }
            }
        }
    }
    (has_values || !has_fields).then_some(rendered)
}

/// Renders a value. Returns `None` if it is unknown.
fn render_field(
    field: StatuslineField,
    input: &StatuslineInput,
    usage: &StatuslineUsage,
    now: Timestamp,
) -> Option<String> {
    match field {
        StatuslineField::Model => {
            let model = input.model.as_ref().or(usage.model.as_ref())?;
            Some(truncate_to_width(&clean::line(model), MAX_MODEL_WIDTH)).filter(|model| !model.is_empty())
        }
        StatuslineField::Cost => match &usage.session {
            Some(totals) => Some(format_spent(totals)),
            None => input.cost_usd.map(format_dollars),
        },
        StatuslineField::Day => Some(format_spent(&usage.today)),
        StatuslineField::Block => {
            let block = usage.block.as_ref()?;
            Some(format_window(block, input.limit_percent, Some(block.end), now))
        }
        StatuslineField::Week => {
            let week = usage.week.as_ref()?;
            // Without a limit, the window moves with the clock and has no end.
            let end = input.week_resets_at.map(|_| week.end).filter(|end| end.0 > now.0 + 1);
            Some(format_window(week, input.week_limit_percent, end, now))
        }
        StatuslineField::Cache => usage.prompt_cache.as_ref().and_then(|cache| format_cache(cache, now)),
        StatuslineField::Context => usage.context.as_ref().map(format_context),
    }
}

/// Formats a cost. No responses are shown as `$0.00`.
fn format_spent(totals: &CostTotals) -> String {
    let cost = format_cost(totals);
    if cost.is_empty() { format_dollars(0.0) } else { cost }
}

/// Formats the cost of a window, the used share of its limit in percent, and its remaining time.
fn format_window(block: &UsageBlock, limit: Option<f64>, end: Option<Timestamp>, now: Timestamp) -> String {
    let mut text = format_spent(&block.totals);
    if let Some(limit) = limit {
        text.push_str(&format!(", {} of the limit", format_percent(limit, 100.0)));
    }
    if let Some(end) = end {
        text.push_str(&format!(", {} left", format_remaining(end.0.saturating_sub(now.0))));
    }
    text
}

/// Formats a remaining time: `3m`, `2h 05m` or `3d 4h`. `millis` may be negative.
fn format_remaining(millis: i64) -> String {
    let minutes = millis.max(0) / 60_000;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) => format!("{hours}h {minutes:02}m"),
        (days, hours, _) => format!("{days}d {hours}h"),
    }
}

/// Formats the share of the input that was read from the cache, when it expires, with `~` for an estimate, and misses.
fn format_cache(cache: &PromptCacheUsage, now: Timestamp) -> Option<String> {
    let prefix = if cache.estimated { "~" } else { "" };
    let expiry = cache.expires_at.map(|end| match end.0.saturating_sub(now.0) {
        ..=0 => paint(MARK, "expired"),
        millis => format!("{prefix}{} left", format_remaining(millis)),
    });
    let misses = cache.misses.filter(|misses| *misses > 0).map(|misses| count_noun(misses, "miss"));
    let share = cache.read_percent.map(|percent| format_percent(percent, 100.0));
    let parts: Vec<String> = [share, expiry, misses].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Formats the used share of the context window, highlighted from 80 % on, with `~` for an estimate.
fn format_context(context: &ContextUsage) -> String {
    let prefix = if context.estimated { "~" } else { "" };
    let role = if context.percent >= FULL_PERCENT { MARK } else { PLAIN };
    paint(role, &format!("{prefix}{}", format_percent(context.percent, 100.0)))
}
