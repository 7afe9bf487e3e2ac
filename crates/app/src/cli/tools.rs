//! `rethread tools`: the tool calls of a session and its subagents.

use rethread_engine::ops::{self, ToolFilter, ToolRow};

use super::AppContext;
use super::args;
use super::call::{body, calls, complaint, head};
use super::clean;
use super::error::{self, CliError, Exit};
use super::out::Out;
use super::style::{MARK, NAME, QUIET, paint};
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Tools, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(&args.session)?;
    let filter = ToolFilter { names: args.name.clone(), errors: args.errors };
    let tools = ops::tools(&path, &filter)?;
    error::warn(&tools.failures, out);
    if out.is_json() {
        for row in &tools.rows {
            out.json(&json::tool(&tools.head.id, row))?;
        }
        return Ok(Exit::found(!tools.rows.is_empty()));
    }
    out.may_page();
    super::header(&tools.head, place, out)?;
    let widest = tools.rows.iter().map(|row| row.call.line).max().unwrap_or(0).to_string().len();
    let mut agent: Option<&Option<String>> = None;
    for row in &tools.rows {
        if agent.is_some_and(|agent| *agent != row.agent) || (agent.is_none() && row.agent.is_some()) {
            let name = row.agent.as_deref().unwrap_or("the session");
            out.line("")?;
            out.line(&format!("{} {}", paint(QUIET, "agent"), paint(NAME, &clean::line(name))))?;
        }
        agent = Some(&row.agent);
        print(row, &tools.head.folder, widest, args.full, out)?;
    }
    let failed = tools.rows.iter().filter(|row| row.failed.is_some()).count();
    if tools.rows.is_empty() {
        out.note("no tool call matches");
        return Ok(Exit::Nothing);
    }
    let mut sum = vec![calls(tools.rows.len())];
    sum.extend((failed > 0).then(|| format!("{failed} failed")));
    sum.extend((tools.unpaired > 0).then(|| paint(MARK, &format!("{} unpaired", tools.unpaired))));
    out.line("")?;
    out.line(&sum.join(", "))?;
    Ok(Exit::Done)
}

fn print(row: &ToolRow, folder: &str, widest: usize, full: bool, out: &mut Out) -> Result<(), CliError> {
    let line = format!("L{}", row.call.line);
    let margin = format!("{line:<width$}  ", width = widest + 1);
    head(&row.call, row.failed, folder, &margin, out)?;
    if !full {
        return complaint(&row.call, row.failed, margin.len(), out);
    }
    body(&row.call, &" ".repeat(margin.len() + 2), out)?;
    out.line("")
}
