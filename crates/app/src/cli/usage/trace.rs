//! `rethread usage --explain`: every line of a message, and which one counts.

use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, Trace};

use super::super::error::{self, CliError, Exit};
use super::super::figures::{count, things};
use super::super::out::Out;
use super::super::style::{GOOD, MARK, NAME, QUIET, STRONG, paint};
use super::super::table::{Align, Cell, Table, fit_end};
use super::super::{AppContext, clean};
use crate::json;
use crate::text::money::cost;

/// Prints where a message stands.
pub(super) fn run(
    message: &str,
    prices: &Prices,
    place: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let (traces, failures) = ops::trace_usage(&place.roots, message, prices);
    for trace in &traces {
        if out.is_json() {
            out.json(&json::usage_trace(message, trace))?;
        } else {
            draw(trace, place, out)?;
        }
    }
    if traces.is_empty() {
        out.note(&format!(
            "no response has the message id `{}`; ids stand in `show --raw` as message.id",
            clean::line(message)
        ));
    } else if traces.len() > 1 && !out.is_json() {
        let said = format!(
            "{} have this message id and are not copies of each other",
            things(traces.len() as u64, "response")
        );
        out.line(&paint(QUIET, &said))?;
    }
    error::warn(&failures, out);
    Ok(match traces.is_empty() {
        true if !failures.is_empty() => Exit::Failed,
        nothing => Exit::found(!nothing),
    })
}

fn draw(trace: &Trace, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let usage = &trace.sum.spent.usage;
    let model = paint(STRONG, &clean::line(&trace.model));
    let when = trace.time.map(|time| place.clock.stamp(time)).unwrap_or_else(|| "no date".to_owned());
    let session: String = trace.session.chars().take(8).collect();
    out.line(&format!(
        "{model}  {}  booked to {} on {when}",
        cost(&trace.sum),
        paint(NAME, &clean::line(&session))
    ))?;
    out.line(&format!(
        "input {}, output {}{}, cache written {} ({} for an hour), cache read {}",
        count(usage.input),
        if trace.sum.open > 0 { "≥ " } else { "" },
        count(usage.output),
        count(usage.cache_write),
        count(usage.cache_write_1h),
        count(usage.cache_read)
    ))?;
    // The end of a path says more than its beginning.
    let room = out.width().saturating_sub(74).max(24);
    let mut table = Table::new(2)
        .column("", Align::Left, 6)
        .column("output", Align::Right, 10)
        .column("line", Align::Right, 8)
        .column("request", Align::Left, 30)
        .column("", Align::Left, 24)
        .column("file", Align::Left, 300);
    for line in &trace.lines {
        let mut marks = Vec::new();
        marks.extend(line.side.then_some("subagent"));
        marks.extend((!line.stopped).then_some("no end"));
        table.row(vec![
            if line.counts { Cell::new(GOOD, "counts") } else { "".into() },
            count(line.usage.output).into(),
            Cell::new(QUIET, line.line.to_string()),
            Cell::new(QUIET, line.request.as_deref().map(clean::line).unwrap_or_else(|| "none".to_owned())),
            Cell::new(MARK, marks.join(", ")),
            fit_end(&place.tilde(&line.path.display().to_string()), room).into(),
        ]);
    }
    table.print(out)?;
    out.line("")
}
