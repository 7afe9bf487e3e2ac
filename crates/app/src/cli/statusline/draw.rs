//! Renders the status line.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::CostTotals;
use rethread_engine::ops::usage::{ContextUsage, StatuslineUsage, UsageBlock};

use crate::cli::clean;
use crate::cli::figures::format_percent;
use crate::cli::style::{MARK, PLAIN, QUIET, paint};
use crate::cli::table::truncate_to_width;
use crate::json::statusline_input::StatuslineInput;
use crate::text::money::{format_cost, format_dollars};

/// The maximum width of the model name.
const MAX_MODEL_WIDTH: usize = 40;
/// The percentage from which the context is highlighted.
const FULL_PERCENT: f64 = 80.0;

/// Renders the status line: model, costs of session, day and block, and context size. Unknown values are omitted.
pub(super) fn render_line(input: &StatuslineInput, usage: &StatuslineUsage, now: Timestamp) -> String {
    let model = input.model.as_ref().or(usage.model.as_ref());
    let model = model
        .map(|model| truncate_to_width(&clean::line(model), MAX_MODEL_WIDTH))
        .filter(|model| !model.is_empty());
    let session = match &usage.session {
        Some(totals) => Some(format_spent(totals)),
        None => input.cost_usd.map(format_dollars),
    };
    let parts = [
        model,
        session.map(|session| append_label(&session, "session")),
        Some(append_label(&format_spent(&usage.today), "today")),
        usage.block.as_ref().map(|block| format_block(block, input.limit_percent, now)),
        usage.context.as_ref().map(format_context),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(&paint(QUIET, " · "))
}

fn append_label(amount: &str, label: &str) -> String {
    format!("{amount} {}", paint(QUIET, label))
}

/// Formats a cost. No responses are shown as `$0.00`.
fn format_spent(totals: &CostTotals) -> String {
    let cost = format_cost(totals);
    if cost.is_empty() { format_dollars(0.0) } else { cost }
}

/// Formats the cost and remaining time of the five-hour block. `limit` is the used share of its limit in percent.
fn format_block(block: &UsageBlock, limit: Option<f64>, now: Timestamp) -> String {
    let minutes = block.end.0.saturating_sub(now.0).max(0) / 60_000;
    let remaining = match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}m left"),
        (hours, minutes) => format!("{hours}h {minutes:02}m left"),
    };
    let limit =
        limit.map_or(String::new(), |limit| format!(", {} of the limit", format_percent(limit, 100.0)));
    format!("{} {}{limit}, {remaining}", paint(QUIET, "block"), format_spent(&block.totals))
}

/// Formats the used share of the context window, highlighted from 80 % on, with `~` for an estimate.
fn format_context(context: &ContextUsage) -> String {
    let prefix = if context.estimated { "~" } else { "" };
    let style = if context.percent >= FULL_PERCENT { MARK } else { PLAIN };
    format!(
        "{} {}",
        paint(QUIET, "context"),
        paint(style, &format!("{prefix}{}", format_percent(context.percent, 100.0)))
    )
}
