//! `rethread agents`: the subagents of a session as a tree.

use rethread_engine::ops::{self, AgentRow};

use super::AppContext;
use super::args;
use super::clean;
use super::error::{self, CliError, Exit};
use super::figures::{duration, things, tokens};
use super::out::Out;
use super::style::{QUIET, TOOL, paint};
use super::table::truncate_to_width;
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Agents, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(&args.session)?;
    let ops::Agents { head, mut rows, failures } = ops::agents(&path)?;
    error::warn(&failures, out);
    let all = rows.len();
    if !args.all {
        rows.retain(|row| !row.warmup);
    }
    let warmups = all - rows.len();
    if out.is_json() {
        for row in &rows {
            out.json(&json::agent(&head.id, row))?;
        }
        return Ok(Exit::found(!rows.is_empty()));
    }
    if !rows.is_empty() {
        super::header(&head, place, out)?;
    }
    for (k, row) in rows.iter().enumerate() {
        print(row, &branches(&rows, k), out)?;
    }
    if rows.is_empty() {
        out.note("no subagent of the session is in its file or beside it");
    }
    if warmups > 0 {
        out.note(&format!("hidden: {} (--all shows them)", things(warmups as u64, "warm-up")));
    }
    Ok(Exit::found(!rows.is_empty()))
}

/// Says for each level above a row, and its own, whether the tree goes on there.
fn branches(rows: &[AgentRow], k: usize) -> Vec<bool> {
    let goes_on = |level: usize| {
        let below = rows[k + 1..].iter().find(|row| row.depth <= level);
        below.is_some_and(|row| row.depth == level)
    };
    (1..=rows[k].depth).map(goes_on).collect()
}

fn print(row: &AgentRow, branches: &[bool], out: &mut Out) -> Result<(), CliError> {
    let (own, above) = branches.split_last().unwrap_or((&false, &[]));
    let mut left: String = above.iter().map(|goes_on| if *goes_on { "│  " } else { "   " }).collect();
    let joint = if *own { "├─ " } else { "└─ " };
    let kind = if row.kind.is_empty() { "agent" } else { &clean::line(&row.kind) };
    let what = if row.description.is_empty() { &row.prompt } else { &row.description };
    let room = out.width().saturating_sub(left.chars().count() + 3 + kind.chars().count() + 2);
    let what = truncate_to_width(&clean::line(what), room);
    out.line(&format!("{}{}  {what}", paint(QUIET, &format!("{left}{joint}")), paint(TOOL, kind)))?;
    left.push_str(if *own { "│  " } else { "   " });
    let took = row.first.zip(row.last).and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
    let facts = [
        Some(clean::line(&row.id)),
        Some(things(row.tools as u64, "tool call")),
        Some(format!("{} tokens", tokens(row.usage.total()))),
        took.map(duration),
        row.call_line.map(|line| format!("from L{line}")),
        row.warmup.then(|| "warm-up".to_owned()),
        Some(things(row.responses as u64, "response")),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    out.line(&paint(QUIET, &truncate_to_width(&format!("{left}{facts}"), out.width())))
}
