//! `rethread tools`: lists the tool calls of a session and its subagents.

use rethread_engine::ops;
use rethread_engine::ops::tools::{ToolFilter, ToolRow};

use super::AppContext;
use super::args;
use super::call::{count_calls, print_call_body, print_call_error, print_call_header};
use super::clean;
use super::error::{self, CliError, Exit};
use super::out::Out;
use super::style::{MARK, NAME, QUIET, paint};
use crate::json;

/// Runs `rethread tools`: prints the matching tool calls of a session and its subagents.
///
/// Returns [`Exit::Nothing`] if none matches.
pub(crate) fn run(args: &args::Tools, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(&args.session)?;
    let filter = ToolFilter { names: args.name.clone(), errors_only: args.errors };
    let tools = ops::tools::list_tool_calls(&path, &filter)?;
    error::print_warnings(&tools.failures, out);
    if out.is_json() {
        for row in &tools.rows {
            out.json(&json::build_tool(&tools.header.id, row))?;
        }
        return Ok(Exit::from_found(!tools.rows.is_empty()));
    }
    out.allow_pager();
    super::print_header(&tools.header, app, out)?;
    let number_width = tools.rows.iter().map(|row| row.call.line).max().unwrap_or(0).to_string().len();
    let mut previous_agent: Option<&Option<String>> = None;
    for row in &tools.rows {
        if previous_agent.is_some_and(|agent| *agent != row.agent)
            || (previous_agent.is_none() && row.agent.is_some())
        {
            let name = row.agent.as_deref().unwrap_or("the session");
            out.line("")?;
            out.line(&format!("{} {}", paint(QUIET, "agent"), paint(NAME, &clean::line(name))))?;
        }
        previous_agent = Some(&row.agent);
        print(row, &tools.header.folder, number_width, args.full, out)?;
    }
    let failed_count = tools.rows.iter().filter(|row| row.failure.is_some()).count();
    if tools.rows.is_empty() {
        out.note("no matching tool calls");
        return Ok(Exit::Nothing);
    }
    let mut summary = vec![count_calls(tools.rows.len())];
    summary.extend((failed_count > 0).then(|| format!("{failed_count} failed")));
    summary.extend((tools.unpaired > 0).then(|| paint(MARK, &format!("{} unpaired", tools.unpaired))));
    out.line("")?;
    out.line(&summary.join(", "))?;
    Ok(Exit::Done)
}

/// Prints a tool call, with its complete input and result if `full` is set. `number_width` aligns line numbers.
fn print(
    row: &ToolRow,
    folder: &str,
    number_width: usize,
    full: bool,
    out: &mut Out,
) -> Result<(), CliError> {
    let line = format!("L{}", row.call.line);
    let margin = format!("{line:<width$}  ", width = number_width + 1);
    print_call_header(&row.call, row.failure, folder, &margin, out)?;
    if !full {
        return print_call_error(&row.call, row.failure, margin.len(), out);
    }
    print_call_body(&row.call, &" ".repeat(margin.len() + 2), out.is_colored(), out)?;
    out.line("")
}
