//! `rethread branches`: lists all branches of a session.

use rethread_engine::core::entry::Kind;
use rethread_engine::core::tree::ParentLink;
use rethread_engine::ops;
use rethread_engine::ops::branches::{BranchList, BranchRow};

use super::args;
use super::error::{CliError, Exit};
use super::figures::{format_branch_count, format_tokens, group_digits};
use super::out::Out;
use super::style::{GOOD, MARK, NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table, truncate_to_width};
use super::{AppContext, entry};
use crate::json;
use crate::text::command::build_command;

/// Runs `rethread branches`: prints a table with one row per branch of the session.
///
/// Returns [`Exit::Nothing`] if there are no branches.
pub(crate) fn run(args: &args::Branches, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session(&args.session)?;
    let list = ops::branches::list_branches(&path)?;
    if out.is_json() {
        for row in &list.rows {
            out.json(&json::build_branch(&list.header.id, row))?;
        }
        return Ok(Exit::from_found(!list.rows.is_empty()));
    }
    if list.rows.is_empty() {
        out.note("this session has no messages");
        return Ok(Exit::Nothing);
    }
    out.allow_pager();
    super::print_header(&list.header, app, out)?;
    build_table(&list, app, out.table_width().unwrap_or(usize::MAX)).print(out)?;
    out.line("")?;
    print_footer(&list, &args.session, out)?;
    Ok(Exit::Done)
}

/// Builds the table of branches. The column of own turns is shown only if there are several branches.
fn build_table(list: &BranchList, app: &AppContext, width: usize) -> Table {
    let has_forks = list.rows.len() > 1;
    let mut table = Table::new(0)
        .column("", Align::Left, 1)
        .column("branch", Align::Left, 36)
        .column("from", Align::Left, 36)
        .omitted_at(4)
        .column("kind", Align::Left, 28)
        .omitted_at(3)
        .column(if has_forks { "own" } else { "" }, Align::Right, 7)
        .omitted_at(1)
        .column("turns", Align::Right, 7)
        .column("tokens", Align::Right, 7)
        .omitted_at(2)
        .column("last", Align::Right, 4)
        .column("first prompt", Align::Left, 400);
    for row in &list.rows {
        let branch = &row.branch;
        let own = if has_forks { group_digits(branch.own_turns as u64) } else { String::new() };
        table.row(vec![
            if row.active { Cell::new(GOOD, "●") } else { Cell::new(QUIET, "○") },
            Cell::new(NAME, row.tip_handle.clone()),
            build_fork_cell(row),
            build_kind_cell(row),
            own.into(),
            group_digits(branch.turns as u64).into(),
            format_tokens(if has_forks { row.own_usage.total() } else { row.usage.total() }).into(),
            Cell::new(QUIET, app.clock.format_age(branch.last_time)),
            Cell::new(
                PLAIN,
                truncate_to_width(
                    &entry::format_entry_line(
                        &row.first_preview,
                        row.first_role,
                        Kind::User,
                        &list.header.folder,
                    ),
                    width,
                ),
            ),
        ]);
    }
    table
}

/// Builds the cell with the last entry that the branch shares with another one. It is empty if there is none.
fn build_fork_cell(row: &BranchRow) -> Cell {
    let Some(shared) = &row.forked_from else { return Cell::default() };
    let turn = shared.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    Cell::new(PLAIN, shared.handle.clone()).and(QUIET, turn)
}

/// Builds the cell with the kind of fork, the number of the branch at it, and why the branch is orphaned.
fn build_kind_cell(row: &BranchRow) -> Cell {
    let fork = row
        .branch
        .fork_point
        .map(|from| (from.kind.name(), format!(" {}/{}", from.branch_number, from.branch_count)));
    let broken = match row.branch.broken_link {
        Some(ParentLink::CycleBroken) => "orphaned, a cycle",
        Some(_) if row.branch.orphaned => "orphaned, no parent",
        Some(_) => "no parent",
        None => "",
    };
    let cell = match fork {
        Some((kind, position)) => Cell::new(PLAIN, kind).and(QUIET, position),
        None => Cell::default(),
    };
    let gap = if broken.is_empty() || row.branch.fork_point.is_none() { "" } else { ", " };
    cell.and(MARK, format!("{gap}{broken}"))
}

/// Prints the number of branches, the loaded branch, and a command that shows another branch.
fn print_footer(list: &BranchList, session: &str, out: &mut Out) -> Result<(), CliError> {
    let mut facts = vec![format_branch_count(list.branches, list.orphaned)];
    let active = list.rows.iter().find(|row| row.active);
    let active = active.map(|row| match &list.resume_handle {
        Some(leaf) => format!("● the client loads {} up to {leaf}", row.tip_handle),
        None => format!("● the client loads {}", row.tip_handle),
    });
    facts.extend(active.filter(|_| list.rows.len() > 1));
    if list.rows.len() == 1 {
        facts.push("no forks".to_owned());
    }
    out.line(&paint(QUIET, &facts.join(" · ")))?;
    let other = list.rows.iter().rev().find(|row| !row.active);
    if let Some(row) = other {
        let command = build_command(&["show", session, "--branch", &row.tip_handle]);
        out.line(&format!("{} {}", paint(QUIET, "show a branch:"), paint(NAME, &command)))?;
    }
    Ok(())
}
