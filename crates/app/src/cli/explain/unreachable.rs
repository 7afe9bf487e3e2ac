//! Prints unreachable entries, and the commands that show them.

use rethread_engine::core::resume::SkipReason;
use rethread_engine::ops::explain::{LostGroup, UnreachableBranch};

use super::labels;
use super::one::ReportPrinter;
use crate::cli::error::CliError;
use crate::cli::facts::{print_command, print_fact};
use crate::cli::figures::{count_noun, group_digits};
use crate::cli::out::Out;
use crate::cli::style::{NAME, PLAIN, QUIET, STRONG, paint};
use crate::cli::table::{Align, Cell, Table};
use crate::text::command::build_command;

/// The maximum number of listed branches per reason.
const MAX_BRANCHES: usize = 5;

/// Prints unreachable entries by reason, and the commands that show them.
pub(super) fn print(printer: &mut ReportPrinter<'_>, out: &mut Out) -> Result<(), CliError> {
    let groups = printer.verdict.lost_groups(&printer.explanation.session);
    for group in &groups {
        out.line("")?;
        print_heading(group, out)?;
        if !group.unnamed_lines.is_empty() {
            out.line(&format!("  {}", labels::line_list(&group.unnamed_lines)))?;
        }
        print_branches(printer, group, out)?;
    }
    // Suggest the last branch if the chain is broken, otherwise the largest one.
    let is_broken = printer.verdict.is_chain_broken();
    let priority = |branch: &&UnreachableBranch| if is_broken { branch.tip as usize } else { branch.entries };
    let Some(suggested) = groups.iter().flat_map(|group| &group.branches).max_by_key(priority) else {
        return Ok(());
    };
    let handle = |id| printer.explanation.session.entry_handle(id);
    out.line("")?;
    let (session, tip, top) = (printer.session, handle(suggested.tip), handle(suggested.top));
    print_command("read it", &build_command(&["show", session, "--branch", &tip]), out)?;
    print_command("see where", &build_command(&["tree", session, &top]), out)?;
    let is_on_other_branch = groups
        .iter()
        .filter(|group| group.reason == SkipReason::OtherBranch)
        .any(|group| group.branches.iter().any(|branch| branch.tip == suggested.tip));
    if is_on_other_branch && printer.verdict.client.is_some() {
        print_command("resume it", &build_command(&["goto", session, &tip]), out)?;
    }
    if groups.iter().any(|group| group.branches.len() > MAX_BRANCHES) {
        print_command("see all", &build_command(&["branches", session]), out)?;
    }
    Ok(())
}

/// Prints the number of unreachable entries and turns of a group, and the reason.
fn print_heading(group: &LostGroup, out: &mut Out) -> Result<(), CliError> {
    let mut counts = count_noun(group.entries as u64, "entry");
    if group.turns > 0 {
        counts = format!("{counts}, {}", count_noun(group.turns as u64, "turn"));
    }
    let label = if group.is_left { "left" } else { "unreachable" };
    print_fact(
        label,
        &vec![(STRONG, counts), (PLAIN, format!(" {}", labels::unreachable_reason_text(group.reason)))],
        out,
    )
}

/// Prints a row for each of the first 5 branches of a group, and a line about the others.
fn print_branches(printer: &mut ReportPrinter<'_>, group: &LostGroup, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(2)
        .column("from", Align::Left, 36)
        .column("to", Align::Left, 36)
        .column("entries", Align::Right, 9)
        .column("turns", Align::Right, 7)
        .omitted_at(1)
        .column("first text", Align::Left, 400);
    for branch in group.branches.iter().take(MAX_BRANCHES) {
        let handle = |id| printer.explanation.session.entry_handle(id);
        let (top, tip) = (handle(branch.top), handle(branch.tip));
        let preview = printer.read_preview(branch.first)?;
        table.row(vec![
            Cell::new(NAME, top),
            Cell::new(NAME, tip),
            group_digits(branch.entries as u64).into(),
            if branch.turns > 0 { group_digits(branch.turns as u64).into() } else { Cell::default() },
            Cell::new(PLAIN, out.truncate_cell(&preview)),
        ]);
    }
    table.print(out)?;
    if group.branches.len() > MAX_BRANCHES {
        let rest = &group.branches[MAX_BRANCHES..];
        let entries: usize = rest.iter().map(|branch| branch.entries).sum();
        let more =
            format!("  … {} more, {}", group_digits(rest.len() as u64), count_noun(entries as u64, "entry"));
        out.line(&paint(QUIET, &more))?;
    }
    Ok(())
}
