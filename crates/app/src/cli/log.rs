//! `rethread log`: lists the changes that rethread made.

use rethread_engine::ops;
use rethread_engine::ops::log::{OpRow, OpStatus};

use super::args::Log;
use super::error::{CliError, Exit};
use super::figures::{count_noun, format_size};
use super::ls::shorten_id;
use super::out::Out;
use super::style::{GOOD, MARK, NAME, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::write_report::undo_command;
use super::{AppContext, clean};
use crate::json;

/// Runs `rethread log`: lists operations, newest first, or deletes old backups with `--prune`.
///
/// Returns [`Exit::Nothing`] if there are none.
pub(crate) fn run(args: &Log, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if args.prune {
        return prune(args, app, out);
    }
    let log = ops::log::log(&app.writer)?;
    if let Some(damage) = &log.damage {
        super::error::print_warning(&format!("{damage}; {}", crate::text::error::hint(damage)), out);
    }
    let is_selected =
        |row: &&OpRow| args.session.as_ref().is_none_or(|session| row.session.starts_with(session));
    let mut rows: Vec<&OpRow> = log.ops.iter().filter(is_selected).collect();
    rows.reverse();
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        rows.iter().try_for_each(|row| out.json(&json::build_op(row)))?;
        return Ok(Exit::from_found(!rows.is_empty()));
    }
    if rows.is_empty() {
        out.note("no changes yet");
        return Ok(Exit::Nothing);
    }
    out.allow_pager();
    let ids: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
    let mut table = Table::new(0)
        .column("op", Align::Right, 9)
        .column("when", Align::Left, 16)
        .omitted_at(1)
        .column("command", Align::Left, 10)
        .column("session", Align::Left, 36)
        .column("state", Align::Left, 24)
        .column("summary", Align::Left, usize::MAX);
    for row in &rows {
        table.row(vec![
            Cell::new(NAME, row.id.to_string()),
            Cell::new(QUIET, app.clock.format_minute(row.started_at)),
            clean::line(&row.command).into(),
            Cell::new(NAME, clean::line(shorten_id(&row.session, &ids))),
            build_state_cell(row),
            clean::line(&row.about).into(),
        ]);
    }
    table.print(out)?;
    if let Some(row) =
        rows.iter().find(|row| row.status == OpStatus::Done && row.undoes.is_none() && !row.pruned)
    {
        out.line("")?;
        out.line(&format!("undo a change: {}", paint(NAME, &undo_command(row.id))))?;
    }
    Ok(Exit::Done)
}

fn build_state_cell(row: &OpRow) -> Cell {
    let cell = match row.status {
        OpStatus::Done => Cell::new(GOOD, "done"),
        OpStatus::Undone(by) => Cell::new(QUIET, format!("undone by {by}")),
        OpStatus::RolledBack => Cell::new(MARK, "rolled back"),
        OpStatus::Unfinished => Cell::new(MARK, "unfinished"),
        OpStatus::Unknown => Cell::new(MARK, "unknown"),
    };
    if row.pruned { cell.and(QUIET, ", pruned") } else { cell }
}

/// Deletes the backups of operations older than `--older-than`, except the newest of each session, and prints their size.
fn prune(args: &Log, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let cutoff = app.clock.parse_time(&args.older_than);
    let cutoff = cutoff.ok_or_else(|| CliError::BadTime(args.older_than.clone()))?;
    let outcome = ops::log::prune(&app.writer, cutoff, args.dry_run)?;
    let has_deleted = !outcome.ops.is_empty() || outcome.bytes > 0;
    if out.is_json() {
        out.json(&json::build_prune(&outcome))?;
        return Ok(Exit::from_found(has_deleted));
    }
    if !has_deleted {
        out.note("nothing to delete");
        return Ok(Exit::Nothing);
    }
    let verb = if outcome.dry_run { "would delete" } else { "deleted" };
    let ops = count_noun(outcome.ops.len() as u64, "operation");
    out.line(&format!("{verb} the backups of {ops}, {}", format_size(outcome.bytes)))?;
    Ok(Exit::Done)
}
