//! `rethread repair`: mends what `doctor` finds.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic, SuggestedFix};
use rethread_engine::ops::{self, EntrySelector, Repair, RepairRequest, Repaired, Written};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::facts;
use super::figures::{count, things};
use super::out::Out;
use super::style::{BAD, GOOD, NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::{AppContext, fork, write_report};
use crate::json;
use crate::text::operation;

/// Mends that are listed.
const LISTED: usize = 20;

/// Runs the command.
pub(crate) fn run(args: &args::Repair, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = RepairRequest {
        path: place.session_to_change(&args.session)?,
        in_place: args.in_place,
        drop_unpaired: args.drop_unpaired,
        extract: args.extract.as_ref().map(std::path::absolute).transpose().map_err(CliError::Io)?,
        leaf: args.leaf.clone().map(|name| EntrySelector { name, before: false, exact: true }),
        now: write_report::now(&place.clock),
        dry_run: args.pen.dry_run,
        even_if_live: args.pen.even_if_live,
    };
    let repair = ops::repair(&request, &place.pen)?;
    if out.is_json() {
        for repaired in &repair.mends {
            out.json(&json::mend(repaired, operation::act(&repaired.mended.act, repaired.to_line)))?;
        }
        out.json(&json::repair(&repair))?;
    } else {
        print(&repair, place, out)?;
    }
    Ok(Exit::found(repair.written.is_some()))
}

fn print(repair: &Repair, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    super::header(&repair.before.head, place, out)?;
    let Some(done) = &repair.written else {
        left(&repair.after.findings, out)?;
        let others =
            repair.before.findings.iter().filter(|finding| finding.mend != SuggestedFix::Nothing).count();
        let words = if others > 0 { "nothing that repair mends" } else { "nothing to mend" };
        out.line(&paint(GOOD, words))?;
        if others > 0 {
            out.note("other commands help here: see `rethread doctor` on this session");
        }
        return Ok(());
    };
    mends(&repair.mends, out)?;
    let dry = match done {
        Written::New(born) => born.op.is_none(),
        Written::InPlace { op, .. } => op.is_none(),
    };
    out.line("")?;
    state("before", repair.before.within_reach(), &repair.before.findings, out)?;
    state(if dry { "would be" } else { "after" }, repair.after.reach, &repair.after.findings, out)?;
    left(&repair.after.findings, out)?;
    if let Some(path) = &repair.damaged {
        write_report::fact("damaged bytes", &write_report::path(path, place), out)?;
    }
    for path in &repair.pictures {
        write_report::fact("picture", &write_report::path(path, place), out)?;
    }
    match done {
        Written::New(born) => fork::print(born, place, out),
        Written::InPlace { promises, op } => {
            write_report::promises(promises, dry, out)?;
            if dry {
                write_report::print_dry_run_note(out);
                return Ok(());
            }
            out.line("")?;
            write_report::resume(&repair.before.head.id, &repair.before.head.folder, place, out)?;
            op.map_or(Ok(()), |op| write_report::undo(op, out))
        }
    }
}

/// Says what calls for repair and could not be mended.
fn left(findings: &[Diagnostic], out: &mut Out) -> Result<(), CliError> {
    for finding in findings.iter().filter(|finding| finding.mend == SuggestedFix::Repair) {
        let line = finding.spots.first().map_or(0, |spot| spot.line);
        let words = format!("{} at L{line}: nothing in the file says how", finding.code.name());
        write_report::fact("not mended", &paint(BAD, &words), out)?;
    }
    Ok(())
}

/// Lists what was mended, the first of it.
fn mends(mends: &[Repaired], out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("line", Align::Right, 8)
        .column("what was wrong", Align::Left, 22)
        .column("what was done", Align::Left, usize::MAX);
    for repaired in mends.iter().take(LISTED) {
        let line = repaired.line.map_or_else(|| "new".to_owned(), |line| format!("L{line}"));
        let what = clean::line(&operation::act(&repaired.mended.act, repaired.to_line));
        table.row(vec![Cell::new(NAME, line), repaired.mended.code.name().into(), what.into()]);
    }
    table.print(out)?;
    if mends.len() > LISTED {
        out.line(&paint(QUIET, &format!("and {} more", count((mends.len() - LISTED) as u64))))?;
    }
    Ok(())
}

/// Says how much is within reach, and what is wrong.
fn state(label: &str, reach: (usize, usize), findings: &[Diagnostic], out: &mut Out) -> Result<(), CliError> {
    let (within, all) = (reach.0 as u64, reach.1 as u64);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.spots.len();
    }
    let named: Vec<String> =
        codes.iter().map(|(code, number)| format!("{code}\u{a0}{}", count(*number as u64))).collect();
    let named = if named.is_empty() { "nothing is wrong".to_owned() } else { named.join(", ") };
    let words = format!("{} of {} within reach; {named}", count(within), things(all, "entry"));
    facts::fact(&format!("{label:<15}"), &vec![(PLAIN, words)], out)
}
