//! `rethread repair`: fixes problems that `doctor` reports.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic, SuggestedFix};
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::doctor::ReachableEntries;
use rethread_engine::ops::repair::{RepairReport, RepairRequest, RepairTarget, RepairedLine};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::facts;
use super::figures::{count_noun, group_digits};
use super::out::Out;
use super::output_path::resolve_output_path;
use super::style::{BAD, GOOD, NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::{AppContext, fork, write_report};
use crate::json;
use crate::text::command::quote_command;
use crate::text::operation;

/// The maximum number of listed fixes.
const MAX_LISTED: usize = 20;

/// Runs `rethread repair`: fixes findings in a new session or in place, and prints the fixes.
///
/// Returns [`Exit::Nothing`] if there is nothing to repair.
pub(crate) fn run(args: &args::Repair, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let path = app.find_session_to_change(&args.session)?;
    let extract = args.extract.as_ref().map(|folder| resolve_output_path(folder, app, &path)).transpose()?;
    let request = RepairRequest {
        path,
        in_place: args.in_place,
        drop_unpaired: args.drop_unpaired,
        extract,
        leaf: args.leaf.clone().map(|name| EntrySelector { name, before: false, exact: true }),
        now: write_report::now(&app.clock),
        dry_run: args.write.dry_run,
        even_if_live: args.write.even_if_live,
    };
    let report = ops::repair::repair(&request, &app.writer)?;
    if out.is_json() {
        for repaired in &report.fixes {
            out.json(&json::build_fix(
                repaired,
                operation::fix_text(&repaired.fix.action, repaired.to_line),
            ))?;
        }
        out.json(&json::build_repair(&report))?;
    } else {
        print(&report, app, out)?;
    }
    Ok(Exit::from_found(report.target.is_some()))
}

/// Prints the fixes, the state before and after, saved files, and how to resume and undo.
fn print(report: &RepairReport, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    super::print_header(&report.before.header, app, out)?;
    let Some(target) = &report.target else {
        print_unfixed(&report.after.findings, out)?;
        let fixable_count =
            report.before.findings.iter().filter(|finding| finding.fix != SuggestedFix::Nothing).count();
        let has_unfixed = report.after.findings.iter().any(|finding| finding.fix == SuggestedFix::Repair);
        match has_unfixed {
            true => out.line("nothing that repair can fix")?,
            false => out.line(&paint(GOOD, "nothing to repair"))?,
        }
        if fixable_count > 0 {
            let command = quote_command(&["doctor", &report.before.header.id]);
            out.note(&format!("{command} lists other findings and how to fix them"));
        }
        return Ok(());
    };
    print_fixes(&report.fixes, out)?;
    let dry_run = match target {
        RepairTarget::New(session) => session.op.is_none(),
        RepairTarget::InPlace { op, .. } => op.is_none(),
    };
    out.line("")?;
    print_state("before", report.before.reachable_entries(), &report.before.findings, out)?;
    print_state(
        if dry_run { "after repair" } else { "after" },
        report.after.reachable,
        &report.after.findings,
        out,
    )?;
    print_unfixed(&report.after.findings, out)?;
    if let Some(path) = &report.damaged {
        write_report::print_field("damaged bytes", &write_report::format_path(path, app), out)?;
    }
    for path in &report.images {
        write_report::print_field("image", &write_report::format_path(path, app), out)?;
    }
    match target {
        RepairTarget::New(session) => fork::print_new_session(session, app, out),
        RepairTarget::InPlace { expected_loads, op } => {
            write_report::print_loads(expected_loads, dry_run, out)?;
            if dry_run {
                write_report::print_dry_run_note(out);
                return Ok(());
            }
            out.line("")?;
            write_report::print_resume(&report.before.header.id, &report.before.header.folder, app, out)?;
            op.map_or(Ok(()), |op| write_report::print_undo(op, out))
        }
    }
}

/// Prints findings that repair could not fix.
fn print_unfixed(findings: &[Diagnostic], out: &mut Out) -> Result<(), CliError> {
    for finding in findings.iter().filter(|finding| finding.fix == SuggestedFix::Repair) {
        let line = finding.locations.first().map_or(0, |location| location.line);
        let text = format!("{} at L{line}: the file contains too little information", finding.code.name());
        write_report::print_field("not repaired", &paint(BAD, &text), out)?;
    }
    Ok(())
}

/// Prints a table of the first 20 fixes, and the number of others.
fn print_fixes(fixes: &[RepairedLine], out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0).column("line", Align::Right, 8).column("problem", Align::Left, 22).column(
        "repair",
        Align::Left,
        usize::MAX,
    );
    for repaired in fixes.iter().take(MAX_LISTED) {
        let line = repaired.line.map_or_else(|| "new".to_owned(), |line| format!("L{line}"));
        let text = clean::line(&operation::fix_text(&repaired.fix.action, repaired.to_line));
        table.row(vec![Cell::new(NAME, line), repaired.fix.code.name().into(), text.into()]);
    }
    table.print(out)?;
    if fixes.len() > MAX_LISTED {
        out.line(&paint(QUIET, &format!("and {} more", group_digits((fixes.len() - MAX_LISTED) as u64))))?;
    }
    Ok(())
}

/// Prints the number of reachable entries, and the number of locations of each finding.
fn print_state(
    label: &str,
    entries: ReachableEntries,
    findings: &[Diagnostic],
    out: &mut Out,
) -> Result<(), CliError> {
    let (reachable, total) = (entries.reachable as u64, entries.total as u64);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.locations.len();
    }
    let counts: Vec<String> =
        codes.iter().map(|(code, count)| format!("{code}\u{a0}{}", group_digits(*count as u64))).collect();
    let problems = if counts.is_empty() { "no problems".to_owned() } else { counts.join(", ") };
    let text = format!("{} of {} reachable; {problems}", group_digits(reachable), count_noun(total, "entry"));
    facts::print_fact(&format!("{label:<15}"), &vec![(PLAIN, text)], out)
}
