//! The doctor report on one session.

use rethread_engine::core::check::{Diagnostic, Severity, SizeBreakdown, SizeCategory, SuggestedFix};
use rethread_engine::ops::doctor::SessionReport;

use crate::cli::error::CliError;
use crate::cli::facts::{StyledText, print_command, print_fact};
use crate::cli::figures::format_size;
use crate::cli::out::Out;
use crate::cli::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET, paint};
use crate::config::TextRole;
use crate::text::diagnostic;

/// Prints a summary, the findings, worst first, and the sizes. `session` is the name to use in commands.
pub(super) fn print(report: &SessionReport, session: &str, out: &mut Out) -> Result<(), CliError> {
    let (style, summary) = summarize(report);
    out.line(&paint(style, &summary))?;
    for finding in &report.findings {
        out.line("")?;
        print_finding(finding, report, session, out)?;
    }
    out.line("")?;
    print_fact("size", &vec![(PLAIN, list_sizes(&report.sizes))], out)
}

/// Returns the number of findings by severity, with the style of the worst one.
fn summarize(report: &SessionReport) -> (TextRole, String) {
    let style = match report.worst_severity() {
        None | Some(Severity::Info) => GOOD,
        Some(Severity::Warning) => MARK,
        Some(Severity::Error) => BAD,
    };
    (style, diagnostic::summarize_findings(report))
}

/// Prints a finding: its code and lines, its consequence, and the fix.
fn print_finding(
    finding: &Diagnostic,
    report: &SessionReport,
    session: &str,
    out: &mut Out,
) -> Result<(), CliError> {
    let style = severity_style(finding.severity);
    let title: StyledText = vec![
        (style, finding.code.name().to_owned()),
        (PLAIN, format!(", {}  ", diagnostic::code_name(finding.code))),
        (NAME, diagnostic::line_list(finding)),
    ];
    print_fact(finding.severity.name(), &title, out)?;
    print_fact("", &vec![(PLAIN, diagnostic::describe_finding(finding, report))], out)?;
    match diagnostic::fix_hint(finding, session) {
        // A list of branches fixes nothing, but shows the entries from which the session can be resumed.
        Some(hint) if finding.fix == SuggestedFix::Branches => print_command("see", &hint.text, out),
        Some(hint) if hint.is_command => print_command("fix", &hint.text, out),
        Some(hint) => print_fact("fix", &vec![(PLAIN, hint.text)], out),
        None => Ok(()),
    }
}

pub(super) fn severity_style(severity: Severity) -> TextRole {
    match severity {
        Severity::Error => BAD,
        Severity::Warning => MARK,
        Severity::Info => QUIET,
    }
}

/// Formats a number of bytes with a no-break space before the unit.
fn format_unbroken_size(bytes: u64) -> String {
    format_size(bytes).replace(' ', "\u{a0}")
}

/// Formats the total size and the sizes of the categories, largest first.
fn list_sizes(breakdown: &SizeBreakdown) -> String {
    let mut parts: Vec<(u64, &str)> = SizeCategory::ALL
        .iter()
        .map(|&category| (breakdown.bytes_of(category), category.name()))
        .filter(|(bytes, _)| *bytes > 0)
        .collect();
    parts.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    let parts: Vec<String> =
        parts.iter().map(|(bytes, name)| format!("{name} {}", format_unbroken_size(*bytes))).collect();
    let repeated = if breakdown.repeated > 0 {
        format!("; {} in repeated lines", format_size(breakdown.repeated))
    } else {
        String::new()
    };
    format!("{}: {}{repeated}", format_size(breakdown.total()), parts.join(", "))
}
