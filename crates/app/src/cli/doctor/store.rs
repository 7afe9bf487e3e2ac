//! The report on a store.

use std::path::PathBuf;

use rethread_engine::core::check::{Diagnostic, Impact, Severity, SizeCategory};
use rethread_engine::ops::{SessionReport, StoreCode, StoreFinding, StoreReport};

use super::super::error::CliError;
use super::super::facts::{command, fact};
use super::super::figures::{bar, count, size, things};
use super::super::ls::short_id;
use super::super::out::Out;
use super::super::style::{GOOD, NAME, PLAIN, QUIET, STRONG, paint};
use super::super::table::{Align, Cell, Table};
use super::super::{AppContext, clean};
use super::session::severity_style;
use crate::text::diagnostic;

/// Prints what was found: sessions, the store, sizes.
pub(super) fn print(round: &StoreReport, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    out.line(&paint(STRONG, &summary(round)))?;
    if !round.sessions.is_empty() {
        out.line("")?;
        sessions(&round.sessions, out)?;
    }
    for finding in &round.store {
        out.line("")?;
        store(finding, place, out)?;
    }
    out.line("")?;
    sizes(round, out)?;
    if let Some(first) = round.sessions.first() {
        let ids: Vec<&str> = round.sessions.iter().map(|session| session.head.id.as_str()).collect();
        out.line("")?;
        let id = clean::line(short_id(&first.head.id, &ids));
        command("see more", &format!("rethread doctor {id}"), out)?;
    }
    Ok(())
}

fn summary(round: &StoreReport) -> String {
    let [harmless, costs, blocks] = round.by_severity.map(|number| number as u64);
    let clean = round.examined as u64 - costs - blocks;
    let mut said = vec![format!("{} clean", count(clean))];
    said.extend((blocks > 0).then(|| format!("{} blocked", count(blocks))));
    said.extend((costs > 0).then(|| format!("{} with a cost", count(costs))));
    let odd =
        if harmless > 0 { format!(" ({} with harmless findings)", count(harmless)) } else { String::new() };
    said[0].push_str(&odd);
    format!("{}: {}", things(round.examined as u64, "session"), said.join(", "))
}

fn sessions(list: &[SessionReport], out: &mut Out) -> Result<(), CliError> {
    let findings = if out.width() < 100 { 40 } else { 56 };
    let mut table = Table::new(0)
        .column("", Align::Left, 8)
        .column("session", Align::Left, 36)
        .column("findings", Align::Left, findings)
        .column("title", Align::Left, 200);
    let ids: Vec<&str> = list.iter().map(|diagnosis| diagnosis.head.id.as_str()).collect();
    for diagnosis in list {
        let worst = diagnosis.worst().unwrap_or(Severity::Harmless);
        let least = worst.min(Severity::Warning);
        let told = diagnosis.findings.iter().filter(|finding| finding.severity >= least);
        let mut codes: Vec<String> = told.map(code).collect();
        codes.dedup();
        table.row(vec![
            Cell::new(severity_style(worst), worst.name()),
            Cell::new(NAME, clean::line(short_id(&diagnosis.head.id, &ids))),
            codes.join(", ").into(),
            Cell::new(QUIET, clean::line(&diagnosis.head.title.text)),
        ]);
    }
    table.print(out)
}

/// Names a finding, with the number that tells most.
fn code(finding: &Diagnostic) -> String {
    let name = finding.code.name();
    match finding.measure {
        Impact::Entries { part, whole } if part > 0 => format!("{name} {} of {}", count(part), count(whole)),
        _ => name.to_owned(),
    }
}

fn store(finding: &StoreFinding, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let style = severity_style(finding.severity);
    fact(finding.severity.name(), &vec![(style, finding.code.name().to_owned())], out)?;
    fact("", &vec![(PLAIN, diagnostic::store_cost(finding))], out)?;
    let about_sessions = matches!(finding.code, StoreCode::ExpiresSoon | StoreCode::ProjectGone);
    let named = if about_sessions { ids(finding) } else { paths(finding, place) };
    for line in named {
        fact("", &vec![(NAME, line)], out)?;
    }
    match diagnostic::store_mend(finding) {
        Some(mend) if mend.is_command => command("mend", &mend.text, out),
        Some(mend) => fact("mend", &vec![(PLAIN, mend.text)], out),
        None => Ok(()),
    }
}

/// Names sessions by the beginnings of their ids, on one line.
fn ids(finding: &StoreFinding) -> Vec<String> {
    const NAMED: usize = 6;
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stems: Vec<String> = finding.paths.iter().filter_map(stem).collect();
    let all: Vec<&str> = stems.iter().map(String::as_str).collect();
    let named = all.iter().take(NAMED).map(|id| clean::line(short_id(id, &all)));
    let mut named: Vec<String> = named.collect();
    named.extend(more(stems.len(), NAMED));
    vec![named.join(" ")]
}

/// Names paths, one per line.
fn paths(finding: &StoreFinding, place: &AppContext) -> Vec<String> {
    const NAMED: usize = 3;
    let named = finding.paths.iter().take(NAMED).map(|path| place.tilde(&path.display().to_string()));
    named.chain(more(finding.paths.len(), NAMED)).collect()
}

fn more(number: usize, named: usize) -> Option<String> {
    (number > named).then(|| format!("… {} more", count((number - named) as u64)))
}

fn sizes(round: &StoreReport, out: &mut Out) -> Result<(), CliError> {
    let mut rows: Vec<(&str, u64)> =
        SizeCategory::ALL.iter().map(|&cause| (cause.name(), round.weight.of(cause))).collect();
    let beside = round.beside;
    rows.extend([
        ("subagents", beside.agents),
        ("large results", beside.results),
        ("file history", beside.history),
    ]);
    rows.retain(|(_, bytes)| *bytes > 0);
    rows.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let whole: u64 = rows.iter().map(|(_, bytes)| bytes).sum();
    let mut table =
        Table::new(0).column("", Align::Left, 14).column("", Align::Right, 9).column("", Align::Left, 40);
    for (name, bytes) in &rows {
        let drawn = bar(*bytes, whole, 32);
        table.row(vec![Cell::new(QUIET, *name), size(*bytes).into(), Cell::new(GOOD, drawn)]);
    }
    table.row(vec![Cell::new(QUIET, "in all"), size(whole).into(), Cell::default()]);
    table.print(out)?;
    if round.weight.repeated > 0 {
        let text = format!("{} of it in repeated lines", size(round.weight.repeated));
        fact("", &vec![(QUIET, text)], out)?;
    }
    Ok(())
}
