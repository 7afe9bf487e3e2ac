//! The doctor report on the store.

use std::path::PathBuf;

use rethread_engine::core::check::{Diagnostic, Impact, Severity, SizeCategory};
use rethread_engine::ops::doctor::{SessionReport, StoreCode, StoreFinding, StoreReport};

use super::session::severity_style;
use crate::cli::error::CliError;
use crate::cli::facts::{print_command, print_fact};
use crate::cli::figures::{count_noun, draw_bar, format_size, group_digits};
use crate::cli::ls::shorten_id;
use crate::cli::out::Out;
use crate::cli::style::{GOOD, NAME, PLAIN, QUIET, STRONG, paint};
use crate::cli::table::{Align, Cell, DECORATION, Table};
use crate::cli::{AppContext, clean};
use crate::text::command::build_command;
use crate::text::diagnostic;

/// Prints a summary, a row per session with findings, the findings about the store, and the sizes by category.
pub(super) fn print(report: &StoreReport, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    out.line(&paint(STRONG, &summarize(report)))?;
    if !report.sessions.is_empty() {
        out.line("")?;
        print_sessions(&report.sessions, out)?;
    }
    for finding in &report.store_findings {
        out.line("")?;
        print_finding(finding, app, out)?;
    }
    out.line("")?;
    print_sizes(report, out)?;
    if let Some(first) = report.sessions.first() {
        let ids: Vec<&str> = report.sessions.iter().map(|session| session.header.id.as_str()).collect();
        out.line("")?;
        let id = shorten_id(&first.header.id, &ids);
        print_command("details", &build_command(&["doctor", id]), out)?;
    }
    Ok(())
}

/// Returns the number of sessions, and how many have no problems, errors or warnings.
fn summarize(report: &StoreReport) -> String {
    let [infos, warnings, errors] = report.by_severity.map(|count| count as u64);
    let clean_count = report.session_count as u64 - warnings - errors;
    let mut parts = vec![format!("{} without problems", group_digits(clean_count))];
    if infos > 0 {
        parts[0].push_str(&format!(" ({} with info)", group_digits(infos)));
    }
    parts.extend((errors > 0).then(|| format!("{} with errors", group_digits(errors))));
    parts.extend((warnings > 0).then(|| format!("{} with warnings", group_digits(warnings))));
    format!("{}: {}", count_noun(report.session_count as u64, "session"), parts.join(", "))
}

/// Prints a row per session. Findings of severity info are listed only if the session has no others.
fn print_sessions(sessions: &[SessionReport], out: &mut Out) -> Result<(), CliError> {
    // On a narrow screen the findings take the place of the title.
    let (findings_width, title_width) = match out.table_width() {
        Some(width @ ..60) => (width.saturating_sub(20).max(8), 0),
        Some(..100) => (40, 200),
        _ => (56, 200),
    };
    let mut table = Table::new(0)
        .column("", Align::Left, 8)
        .column("session", Align::Left, 36)
        .column("findings", Align::Left, findings_width)
        .column("title", Align::Left, title_width);
    let ids: Vec<&str> = sessions.iter().map(|session| session.header.id.as_str()).collect();
    for session in sessions {
        let worst = session.worst_severity().unwrap_or(Severity::Info);
        let min_severity = worst.min(Severity::Warning);
        let shown = session.findings.iter().filter(|finding| finding.severity >= min_severity);
        let mut codes: Vec<String> = shown.map(format_finding).collect();
        codes.dedup();
        table.row(vec![
            Cell::new(severity_style(worst), worst.name()),
            Cell::new(NAME, clean::line(shorten_id(&session.header.id, &ids))),
            codes.join(", ").into(),
            Cell::new(QUIET, clean::line(&session.header.title.text)),
        ]);
    }
    table.print(out)
}

/// Formats the code of a finding and, if known, the number of affected entries.
fn format_finding(finding: &Diagnostic) -> String {
    let name = finding.code.name();
    match finding.impact {
        Impact::Entries { affected, total } if affected > 0 => {
            format!("{name} {} of {}", group_digits(affected), group_digits(total))
        }
        _ => name.to_owned(),
    }
}

/// Prints a finding about the store: code, consequence, affected paths or session ids, and the fix.
fn print_finding(finding: &StoreFinding, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let style = severity_style(finding.severity);
    let name = format!(", {}", diagnostic::store_code_name(finding.code));
    print_fact(finding.severity.name(), &vec![(style, finding.code.name().to_owned()), (PLAIN, name)], out)?;
    print_fact("", &vec![(PLAIN, diagnostic::describe_store_finding(finding))], out)?;
    let is_about_sessions =
        matches!(finding.code, StoreCode::ExpiresSoon | StoreCode::ExpiresArchived | StoreCode::ProjectGone);
    let lines = if is_about_sessions { list_ids(finding) } else { list_paths(finding, app) };
    for line in lines {
        print_fact("", &vec![(NAME, line)], out)?;
    }
    match diagnostic::store_fix_hint(finding) {
        Some(hint) if hint.is_command => print_command("fix", &hint.text, out),
        Some(hint) => print_fact("fix", &vec![(PLAIN, hint.text)], out),
        None => Ok(()),
    }
}

/// Lists the short ids of the first 6 sessions on one line.
fn list_ids(finding: &StoreFinding) -> Vec<String> {
    const MAX_LISTED: usize = 6;
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stems: Vec<String> = finding.paths.iter().filter_map(stem).collect();
    let all: Vec<&str> = stems.iter().map(String::as_str).collect();
    let listed = all.iter().take(MAX_LISTED).map(|id| clean::line(shorten_id(id, &all)));
    let mut listed: Vec<String> = listed.collect();
    listed.extend(format_more_note(stems.len(), MAX_LISTED));
    vec![listed.join(" ")]
}

/// Lists the first 3 file paths, one per line.
fn list_paths(finding: &StoreFinding, app: &AppContext) -> Vec<String> {
    const MAX_LISTED: usize = 3;
    let listed =
        finding.paths.iter().take(MAX_LISTED).map(|path| app.format_path(&path.display().to_string()));
    listed.chain(format_more_note(finding.paths.len(), MAX_LISTED)).collect()
}

/// Returns the number of unlisted items as a note. Returns `None` if all are listed.
fn format_more_note(count: usize, listed_count: usize) -> Option<String> {
    (count > listed_count).then(|| format!("… {} more", group_digits((count - listed_count) as u64)))
}

/// Prints the bytes of each category with bars, largest first, and their total.
fn print_sizes(report: &StoreReport, out: &mut Out) -> Result<(), CliError> {
    let mut rows: Vec<(&str, u64)> = SizeCategory::ALL
        .iter()
        .map(|&category| (category.name(), report.sizes.bytes_of(category)))
        .collect();
    let side_files = report.side_files;
    rows.extend([
        ("subagents", side_files.agents),
        ("large results", side_files.results),
        ("file history", side_files.history),
    ]);
    rows.retain(|(_, bytes)| *bytes > 0);
    rows.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
    let total: u64 = rows.iter().map(|(_, bytes)| bytes).sum();
    let mut table = Table::new(0)
        .column("", Align::Left, 14)
        .column("", Align::Right, 9)
        .column("", Align::Left, 40)
        .omitted_at(DECORATION);
    for (name, bytes) in &rows {
        let bar = draw_bar(*bytes, total, 32);
        table.row(vec![Cell::new(QUIET, *name), format_size(*bytes).into(), Cell::new(GOOD, bar)]);
    }
    table.row(vec![Cell::new(QUIET, "total"), format_size(total).into(), Cell::default()]);
    table.print(out)?;
    if report.sizes.repeated > 0 {
        let text = format!("{} of it in repeated lines", format_size(report.sizes.repeated));
        print_fact("", &vec![(QUIET, text)], out)?;
    }
    Ok(())
}
