//! `rethread secrets`: finds credentials and prints where they are, never what they are.

use std::collections::BTreeSet;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::secrets::{DETECTORS, SecretSeverity};
use rethread_engine::ops;
use rethread_engine::ops::secrets::{SecretFinding, SecretKindCount, SecretReport};

use super::args;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, format_size, group_digits};
use super::out::Out;
use super::style::{BAD, MARK, NAME, PLAIN, QUIET, paint};
use super::table::{Align, Cell, Table};
use super::{AppContext, clean};
use crate::json;
use crate::text::command::quote_command;
use crate::text::secrets::count_secrets;

/// The number of places that are listed without `--list`.
const MAX_PLACES: usize = 10;

/// Runs `rethread secrets`: prints the secrets of a session or of all sessions by kind, and their places.
///
/// Returns [`Exit::Nothing`] (exit code 1) if there are any.
pub(crate) fn run(args: &args::Secrets, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if args.kinds {
        return print_detectors(out);
    }
    let mut report = match &args.session {
        Some(session) => ops::secrets::find_session_secrets(&app.find_session(session)?),
        None => ops::secrets::find_store_secrets(&app.roots, app.cache.as_ref()),
    };
    let since = match &args.since {
        Some(text) => Some(app.clock.parse_time(text).ok_or_else(|| CliError::BadTime(text.clone()))?),
        None => None,
    };
    report.findings.retain(|finding| is_selected(finding, args, since));
    error::print_warnings(&report.failures, out);
    let counts = report.count_kinds();
    if out.is_json() {
        for finding in &report.findings {
            out.json(&json::build_secret(finding))?;
        }
        out.json(&json::build_secret_total(&report, &counts))?;
    } else {
        out.allow_pager();
        print(&report, &counts, args, app, out)?;
    }
    Ok(if !report.failures.is_empty() {
        Exit::Failed
    } else if report.findings.is_empty() {
        Exit::Done
    } else {
        Exit::Nothing
    })
}

fn is_selected(finding: &SecretFinding, args: &args::Secrets, since: Option<Timestamp>) -> bool {
    (args.kind.is_empty() || args.kind.contains(&finding.detector.name))
        && args.severity.is_none_or(|severity| finding.detector.severity >= severity)
        && (args.place.is_empty() || args.place.contains(&finding.place))
        && since.is_none_or(|since| finding.time >= Some(since))
}

/// Prints the kinds, the places and what to do.
fn print(
    report: &SecretReport,
    counts: &[SecretKindCount],
    args: &args::Secrets,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let searched = format!("{}, {}", count_noun(report.files as u64, "file"), format_size(report.bytes));
    if report.findings.is_empty() {
        out.note(&format!("no secrets found in {searched}"));
        return Ok(());
    }
    let mut table = Table::new(0)
        .column("kind", Align::Left, 24)
        .column("severity", Align::Left, 8)
        .column("secrets", Align::Right, 9)
        .column("places", Align::Right, 9)
        .column("sessions", Align::Right, 9)
        .omitted_at(1)
        .column("newest", Align::Left, 16)
        .omitted_at(2);
    for count in counts {
        table.row(vec![
            Cell::new(NAME, count.detector.name),
            Cell::new(severity_style(count.detector.severity), count.detector.severity.name()),
            group_digits(count.secrets).into(),
            group_digits(count.findings).into(),
            group_digits(count.sessions).into(),
            Cell::new(QUIET, app.clock.format_age(count.newest)),
        ]);
    }
    table.print(out)?;
    out.line("")?;
    print_places(report, args, app, out)?;
    out.line("")?;
    let counted = count_secrets(report).unwrap_or_default();
    out.line(&format!("{counted}; searched {searched}"))?;
    out.note(&paint(
        QUIET,
        "hint: replace a secret at its service; deleting it here does not make it safe again",
    ));
    out.note(&paint(QUIET, "hint: `rethread export` replaces secrets by tokens, except with --keep-secrets"));
    Ok(())
}

/// Prints the newest places, or all of them with `--list`.
fn print_places(
    report: &SecretReport,
    args: &args::Secrets,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut findings: Vec<&SecretFinding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.time));
    let shown_count = if args.list { findings.len() } else { findings.len().min(MAX_PLACES) };
    let mut table = Table::new(0)
        .column("session", Align::Left, 8)
        .column("line", Align::Left, 8)
        .column("place", Align::Left, 12)
        .omitted_at(2)
        .column("time", Align::Left, 16)
        .omitted_at(1)
        .column("context", Align::Left, 90)
        .shrinking();
    for finding in &findings[..shown_count] {
        let session: String = finding.session.as_deref().unwrap_or("-").chars().take(8).collect();
        table.row(vec![
            Cell::new(NAME, clean::line(&session)),
            Cell::new(PLAIN, format!("L{}", finding.line)),
            Cell::new(PLAIN, finding.place.name()),
            Cell::new(QUIET, finding.time.map(|time| app.clock.format_minute(time)).unwrap_or_default()),
            Cell::new(PLAIN, clean::line(&finding.context)),
        ]);
    }
    table.print(out)?;
    let hidden = findings.len() - shown_count;
    if hidden > 0 {
        out.note(&format!("{} more; --list shows all", count_noun(hidden as u64, "place")));
    }
    let files: BTreeSet<_> =
        findings[..shown_count].iter().filter_map(|finding| finding.session.as_deref()).collect();
    if let (None, Some(session)) = (&args.session, files.first()) {
        let id: String = session.chars().take(8).collect();
        out.note(&paint(
            QUIET,
            &format!("{} lists one session", quote_command(&["secrets", &clean::line(&id), "--list"])),
        ));
    }
    Ok(())
}

fn severity_style(severity: SecretSeverity) -> anstyle::Style {
    match severity {
        SecretSeverity::High => BAD.into(),
        SecretSeverity::Medium => MARK.into(),
        SecretSeverity::Low => QUIET.into(),
    }
}

/// Prints all kinds that are recognised.
fn print_detectors(out: &mut Out) -> Result<Exit, CliError> {
    if out.is_json() {
        for detector in &DETECTORS {
            out.json(&json::build_detector(detector))?;
        }
        return Ok(Exit::Done);
    }
    out.allow_pager();
    let mut table = Table::new(0).column("kind", Align::Left, 24).column("severity", Align::Left, 8).column(
        "",
        Align::Left,
        60,
    );
    for detector in &DETECTORS {
        table.row(vec![
            Cell::new(NAME, detector.name),
            Cell::new(severity_style(detector.severity), detector.severity.name()),
            Cell::new(PLAIN, detector.title),
        ]);
    }
    table.print(out)?;
    Ok(Exit::Done)
}
