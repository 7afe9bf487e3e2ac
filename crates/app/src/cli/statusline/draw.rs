//! The line itself.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::CostTotals;
use rethread_engine::ops::{Block, ContextUsage, StatuslineUsage};

use super::super::clean;
use super::super::style::{MARK, PLAIN, QUIET, paint};
use super::super::table::truncate_to_width;
use crate::json::statusline_input::Input;
use crate::text::money::{cost, said};

/// How many columns the model may take.
const MODEL: usize = 40;
/// A context as full as this is worth a look.
const FULL: f64 = 80.0;

/// Draws the line; empty where nothing is known.
pub(super) fn line(input: &Input, meter: &StatuslineUsage, now: Timestamp) -> String {
    let model = input.model.as_ref().or(meter.model.as_ref());
    let model =
        model.map(|model| truncate_to_width(&clean::line(model), MODEL)).filter(|model| !model.is_empty());
    let session = match &meter.session {
        Some(sum) => Some(spent(sum)),
        None => input.cost.map(said),
    };
    let pieces = [
        model,
        session.map(|session| labelled(&session, "session")),
        Some(labelled(&spent(&meter.today), "today")),
        meter.block.as_ref().map(|block| self::block(block, input.limit, now)),
        meter.context.as_ref().map(context),
    ];
    let pieces: Vec<String> = pieces.into_iter().flatten().collect();
    pieces.join(&paint(QUIET, " · "))
}

fn labelled(amount: &str, what: &str) -> String {
    format!("{amount} {}", paint(QUIET, what))
}

/// Says what a sum costs; nothing is an amount too.
fn spent(sum: &CostTotals) -> String {
    let cost = cost(sum);
    if cost.is_empty() { said(0.0) } else { cost }
}

fn block(block: &Block, limit: Option<f64>, now: Timestamp) -> String {
    let minutes = block.end.0.saturating_sub(now.0).max(0) / 60_000;
    let left = match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes}m left"),
        (hours, minutes) => format!("{hours}h {minutes:02}m left"),
    };
    let limit = limit.map_or(String::new(), |limit| format!(", {} of the limit", percent(limit)));
    format!("{} {}{limit}, {left}", paint(QUIET, "block"), spent(&block.sum))
}

fn context(context: &ContextUsage) -> String {
    let about = if context.estimated { "~" } else { "" };
    let style = if context.percent >= FULL { MARK } else { PLAIN };
    format!("{} {}", paint(QUIET, "context"), paint(style, &format!("{about}{}", percent(context.percent))))
}

fn percent(percent: f64) -> String {
    format!("{:.0} %", percent.clamp(0.0, 999.0))
}
