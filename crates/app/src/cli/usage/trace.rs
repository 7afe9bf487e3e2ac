//! `rethread usage --explain`: lists every line of a message, and which one counts.

use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::usage::Trace;

use crate::cli::error::{self, CliError, Exit};
use crate::cli::figures::{count_noun, group_digits};
use crate::cli::out::Out;
use crate::cli::style::{GOOD, MARK, NAME, QUIET, STRONG, paint};
use crate::cli::table::{Align, Cell, Table, truncate_start};
use crate::cli::{AppContext, clean};
use crate::json;
use crate::text::money::format_cost;

/// Prints every line of the responses with the id `message`, and which line counts.
///
/// Returns [`Exit::Nothing`] if no response has this id, [`Exit::Failed`] if in addition files could not be read.
pub(super) fn run(
    message: &str,
    prices: &PriceTable,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let (traces, failures) = ops::usage::trace_usage(&app.roots, message, prices);
    for trace in &traces {
        if out.is_json() {
            out.json(&json::build_usage_trace(message, trace))?;
        } else {
            print_trace(trace, app, out)?;
        }
    }
    if traces.is_empty() {
        out.note(&format!(
            "no response has the message id `{}`; `show --raw` prints ids as message.id",
            clean::line(message)
        ));
    } else if traces.len() > 1 && !out.is_json() {
        let note = format!(
            "{} have this message id and are not copies of each other",
            count_noun(traces.len() as u64, "response")
        );
        out.line(&paint(QUIET, &note))?;
    }
    error::print_warnings(&failures, out);
    Ok(match traces.is_empty() {
        true if !failures.is_empty() => Exit::Failed,
        is_empty => Exit::from_found(!is_empty),
    })
}

/// Prints a response with its cost and tokens, and a table of its lines.
fn print_trace(trace: &Trace, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let usage = &trace.totals.counts.usage;
    let model = paint(STRONG, &clean::line(&trace.model));
    let date = trace.time.map(|time| app.clock.format_minute(time)).unwrap_or_else(|| "no date".to_owned());
    let session: String = trace.session.chars().take(8).collect();
    out.line(&format!(
        "{model}  {}  counted for {} on {date}",
        format_cost(&trace.totals),
        paint(NAME, &clean::line(&session))
    ))?;
    out.line(&format!(
        "input {}, output {}{}, cache written {} ({} for an hour), cache read {}",
        group_digits(usage.input),
        if trace.totals.lower_bounds > 0 { "≥ " } else { "" },
        group_digits(usage.output),
        group_digits(usage.cache_write),
        group_digits(usage.cache_write_1h),
        group_digits(usage.cache_read)
    ))?;
    // The end of a path is more informative than its start.
    let path_width = out.width().saturating_sub(74).max(24);
    let mut table = Table::new(2)
        .column("", Align::Left, 6)
        .column("output", Align::Right, 10)
        .column("line", Align::Right, 8)
        .column("request", Align::Left, 30)
        .column("", Align::Left, 24)
        .column("file", Align::Left, 300);
    for line in &trace.lines {
        let mut marks = Vec::new();
        marks.extend(line.is_subagent.then_some("subagent"));
        marks.extend((!line.has_stop_reason).then_some("incomplete"));
        table.row(vec![
            if line.is_counted { Cell::new(GOOD, "counts") } else { "".into() },
            group_digits(line.usage.output).into(),
            Cell::new(QUIET, line.line.to_string()),
            Cell::new(QUIET, line.request.as_deref().map(clean::line).unwrap_or_else(|| "none".to_owned())),
            Cell::new(MARK, marks.join(", ")),
            truncate_start(&app.format_path(&line.path.display().to_string()), path_width).into(),
        ]);
    }
    table.print(out)?;
    out.line("")
}
