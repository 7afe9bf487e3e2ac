//! `rethread branches`: every way a conversation went.

use rethread_engine::core::entry::Kind;
use rethread_engine::core::tree::ParentLink;
use rethread_engine::ops::{self, BranchList, BranchRow};

use super::args;
use super::error::{CliError, Exit};
use super::figures::{count, things, tokens};
use super::out::Out;
use super::style::{GOOD, MARK, NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table, truncate_to_width};
use super::{AppContext, entry};
use crate::json;
use crate::text::shell::typed;

/// Runs the command.
pub(crate) fn run(args: &args::Branches, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = place.session(&args.session)?;
    let list = ops::branches(&path)?;
    if out.is_json() {
        for row in &list.rows {
            out.json(&json::branch(&list.head.id, row))?;
        }
        return Ok(Exit::found(!list.rows.is_empty()));
    }
    if list.rows.is_empty() {
        out.note("nothing was said in this session");
        return Ok(Exit::Nothing);
    }
    out.may_page();
    super::header(&list.head, place, out)?;
    table(&list, place, out.width()).print(out)?;
    out.line("")?;
    footer(&list, &args.session, out)?;
    Ok(Exit::Done)
}

fn table(list: &BranchList, place: &AppContext, width: usize) -> Table {
    let forked = list.rows.len() > 1;
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("branch", Align::Left, 36)
        .column("from", Align::Left, 36)
        .column("how", Align::Left, 28)
        .column(if forked { "own" } else { "" }, Align::Right, 7)
        .column("turns", Align::Right, 7)
        .column("tokens", Align::Right, 7)
        .column("last", Align::Right, 4)
        .column("first prompt", Align::Left, 400);
    for row in &list.rows {
        let branch = &row.branch;
        let own = if forked { count(branch.own_turns as u64) } else { String::new() };
        table.row(vec![
            if row.active { Cell::new(GOOD, "●") } else { Cell::new(QUIET, "○") },
            Cell::new(NAME, row.handle.clone()),
            from(row),
            how(row),
            own.into(),
            count(branch.turns as u64).into(),
            tokens(if forked { row.own_usage.total() } else { row.usage.total() }).into(),
            Cell::new(QUIET, place.clock.age(branch.last)),
            Cell::new(
                PLAIN,
                truncate_to_width(&entry::words(&row.first, row.voice, Kind::User, &list.head.folder), width),
            ),
        ]);
    }
    table
}

/// Says where a branch leaves the others.
fn from(row: &BranchRow) -> Cell {
    let Some(shared) = &row.from else { return Cell::default() };
    let turn = shared.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    Cell::new(PLAIN, shared.handle.clone()).and(QUIET, turn)
}

/// Says how a branch arose, and which of how many ways it is; of an island, why it is one.
fn how(row: &BranchRow) -> Cell {
    let from = row.branch.from.map(|from| (from.kind.name(), format!(" {}/{}", from.way, from.ways)));
    let cut = match row.branch.cut {
        Some(ParentLink::Cut) => "island, a cycle",
        Some(_) if row.branch.orphaned => "island, no parent",
        Some(_) => "no parent",
        None => "",
    };
    let cell = match from {
        Some((kind, way)) => Cell::new(PLAIN, kind).and(QUIET, way),
        None => Cell::default(),
    };
    let gap = if cut.is_empty() || row.branch.from.is_none() { "" } else { ", " };
    cell.and(MARK, format!("{gap}{cut}"))
}

fn footer(list: &BranchList, session: &str, out: &mut Out) -> Result<(), CliError> {
    let mut facts = vec![things(list.branches as u64, "branch")];
    if list.islands > 0 {
        facts.push(things(list.islands as u64, "island"));
    }
    let active = list.rows.iter().find(|row| row.active);
    let active = active.map(|row| match &list.short {
        Some(leaf) => format!("● the client loads {} up to {leaf}", row.handle),
        None => format!("● the client loads {}", row.handle),
    });
    facts.extend(active.filter(|_| list.rows.len() > 1));
    if list.rows.len() == 1 {
        facts.push("this conversation never forked".to_owned());
    }
    out.line(&paint(QUIET, &facts.join(" · ")))?;
    let other = list.rows.iter().rev().find(|row| !row.active);
    if let Some(row) = other {
        let command = format!("rethread show {} --branch {}", typed(session), row.handle);
        out.line(&format!("{} {}", paint(QUIET, "read one:"), paint(NAME, &command)))?;
    }
    Ok(())
}
