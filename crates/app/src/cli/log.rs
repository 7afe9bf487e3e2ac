//! `log`: what rethread has changed so far.

use rethread_engine::ops::{self, OpRow, OpState};

use super::args::Log;
use super::error::{CliError, Exit};
use super::figures::{size, things};
use super::ls::short_id;
use super::out::Out;
use super::style::{GOOD, MARK, NAME, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::{AppContext, clean};
use crate::json;

pub(crate) fn run(args: &Log, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if args.prune {
        return prune(args, place, out);
    }
    let rows = ops::log(&place.pen)?;
    let wanted = |row: &&OpRow| args.session.as_ref().is_none_or(|session| row.session.starts_with(session));
    let mut rows: Vec<&OpRow> = rows.iter().filter(wanted).collect();
    rows.reverse();
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        rows.iter().try_for_each(|row| out.json(&json::op(row)))?;
        return Ok(Exit::found(!rows.is_empty()));
    }
    if rows.is_empty() {
        out.note("rethread has not changed anything yet");
        return Ok(Exit::Nothing);
    }
    out.may_page();
    let ids: Vec<&str> = rows.iter().map(|row| row.session.as_str()).collect();
    let mut table = Table::new(0)
        .column("op", Align::Right, 9)
        .column("when", Align::Left, 16)
        .column("command", Align::Left, 10)
        .column("session", Align::Left, 36)
        .column("state", Align::Left, 24)
        .column("about", Align::Left, usize::MAX);
    for row in &rows {
        table.row(vec![
            Cell::new(NAME, row.no.to_string()),
            Cell::new(QUIET, place.clock.stamp(row.at)),
            clean::line(&row.command).into(),
            Cell::new(NAME, clean::line(short_id(&row.session, &ids))),
            state(row),
            clean::line(&row.about).into(),
        ]);
    }
    table.print(out)?;
    if let Some(row) =
        rows.iter().find(|row| row.state == OpState::Done && row.undoes.is_none() && !row.pruned)
    {
        out.line("")?;
        out.line(&format!("take one back: {}", paint(NAME, &format!("rethread undo {}", row.no))))?;
    }
    Ok(Exit::Done)
}

fn state(row: &OpRow) -> Cell {
    let cell = match row.state {
        OpState::Done => Cell::new(GOOD, "done"),
        OpState::Undone(by) => Cell::new(QUIET, format!("undone by {by}")),
        OpState::RolledBack => Cell::new(MARK, "rolled back"),
        OpState::Unfinished => Cell::new(MARK, "unfinished"),
    };
    if row.pruned { cell.and(QUIET, ", pruned") } else { cell }
}

fn prune(args: &Log, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let before = place.clock.read(&args.older_than);
    let before = before.ok_or_else(|| CliError::BadMoment(args.older_than.clone()))?;
    let pruned = ops::prune(&place.pen, before, args.dry_run)?;
    let any = !pruned.ops.is_empty() || pruned.bytes > 0;
    if out.is_json() {
        out.json(&json::prune(&pruned))?;
        return Ok(Exit::found(any));
    }
    if !any {
        out.note("there is nothing to throw away");
        return Ok(Exit::Nothing);
    }
    let done = if pruned.dry_run { "would throw away" } else { "threw away" };
    let ops = things(pruned.ops.len() as u64, "op");
    out.line(&format!("{done} the backups of {ops}, {}", size(pruned.bytes)))?;
    Ok(Exit::Done)
}
