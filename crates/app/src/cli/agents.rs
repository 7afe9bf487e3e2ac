//! `rethread agents`: draws the subagents of a session as a tree.

use rethread_engine::ops;
use rethread_engine::ops::agents::AgentRow;

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, format_duration, format_tokens};
use super::out::Out;
use super::style::{QUIET, TOOL, paint};
use super::table::truncate_to_width;
use crate::json;

/// Runs `rethread agents`: prints the subagents of a session as a tree. Warm-ups are hidden without `--all`.
///
/// Returns [`Exit::Nothing`] if no subagent is shown.
pub(crate) fn run(args: &args::Agents, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(&args.session)?;
    let ops::agents::AgentList { header, mut rows, failures } = ops::agents::list_agents(&path)?;
    error::print_warnings(&failures, out);
    let total = rows.len();
    if !args.all {
        rows.retain(|row| !row.warmup);
    }
    let hidden_count = total - rows.len();
    if out.is_json() {
        for row in &rows {
            out.json(&json::build_agent(&header.id, row))?;
        }
        return Ok(Exit::from_found(!rows.is_empty()));
    }
    if !rows.is_empty() {
        super::print_header(&header, app, out)?;
    }
    for (idx, row) in rows.iter().enumerate() {
        print_agent(row, &find_open_levels(&rows, idx), out)?;
    }
    if rows.is_empty() {
        out.note("this session has no subagents");
    }
    if hidden_count > 0 {
        out.note(&format!("hidden: {} (--all shows them)", count_noun(hidden_count as u64, "warm-up")));
    }
    Ok(Exit::from_found(!rows.is_empty()))
}

/// Returns one flag per level, from 1 to the depth of row `idx`: whether a later row continues that level.
fn find_open_levels(rows: &[AgentRow], idx: usize) -> Vec<bool> {
    let is_open = |level: usize| {
        let next = rows[idx + 1..].iter().find(|row| row.depth <= level);
        next.is_some_and(|row| row.depth == level)
    };
    (1..=rows[idx].depth).map(is_open).collect()
}

/// Prints two lines about a subagent: its kind and task, then its facts. `open_levels` is from [`find_open_levels`]: a line
/// is drawn in the margin for each open level.
fn print_agent(row: &AgentRow, open_levels: &[bool], out: &mut Out) -> Result<(), CliError> {
    let (is_open, outer_levels) = open_levels.split_last().unwrap_or((&false, &[]));
    let mut margin: String =
        outer_levels.iter().map(|is_open| if *is_open { "│  " } else { "   " }).collect();
    let connector = if *is_open { "├─ " } else { "└─ " };
    let kind = if row.kind.is_empty() { "agent" } else { &clean::line(&row.kind) };
    let task = if row.description.is_empty() { &row.prompt } else { &row.description };
    let task_width = out.width().saturating_sub(margin.chars().count() + 3 + kind.chars().count() + 2);
    let task = truncate_to_width(&clean::line(task), task_width);
    out.line(&format!("{}{}  {task}", paint(QUIET, &format!("{margin}{connector}")), paint(TOOL, kind)))?;
    margin.push_str(if *is_open { "│  " } else { "   " });
    let duration =
        row.started_at.zip(row.ended_at).and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
    let facts = [
        Some(clean::line(&row.id)),
        Some(count_noun(row.tools as u64, "tool call")),
        Some(format!("{} tokens", format_tokens(row.usage.total()))),
        duration.map(format_duration),
        row.call_line.map(|line| format!("from L{line}")),
        row.warmup.then(|| "warm-up".to_owned()),
        Some(count_noun(row.responses as u64, "response")),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    out.line(&paint(QUIET, &truncate_to_width(&format!("{margin}{facts}"), out.width())))
}
