//! The report on one session.

use rethread_engine::core::check::{Diagnostic, Severity, SizeBreakdown, SizeCategory, SuggestedFix};
use rethread_engine::ops::SessionReport;

use super::super::error::CliError;
use super::super::facts::{Words, command, fact};
use super::super::figures::{count, size, things};
use super::super::out::Out;
use super::super::style::{BAD, GOOD, MARK, NAME, PLAIN, QUIET, paint};
use crate::text::diagnostic;
use anstyle::Style;

/// Prints what was found, the worst first.
pub(super) fn print(diagnosis: &SessionReport, session: &str, out: &mut Out) -> Result<(), CliError> {
    let (style, verdict) = verdict(diagnosis);
    out.line(&paint(style, &verdict))?;
    for finding in &diagnosis.findings {
        out.line("")?;
        self::finding(finding, diagnosis, session, out)?;
    }
    out.line("")?;
    fact("bytes", &vec![(PLAIN, sizes(&diagnosis.weight))], out)
}

fn verdict(diagnosis: &SessionReport) -> (Style, String) {
    let [blocks, costs, harmless] = [Severity::Blocks, Severity::Warning, Severity::Harmless]
        .map(|severity| diagnosis.count(severity) as u64);
    let odd = if harmless > 0 { format!("; {} harmless", count(harmless)) } else { String::new() };
    match (blocks, costs) {
        (0, 0) if harmless == 0 => (GOOD, "clean: nothing is wrong".to_owned()),
        (0, 0) => (GOOD, format!("clean: nothing worse than {}", things(harmless, "harmless finding"))),
        (0, costs) => {
            let cost = if costs == 1 { "costs" } else { "cost" };
            (MARK, format!("{} that {cost} something{odd}", things(costs, "finding")))
        }
        (blocks, 0) => (BAD, format!("{}{odd}", blocking(blocks))),
        (blocks, costs) => (BAD, format!("{}, {} with a cost{odd}", blocking(blocks), count(costs))),
    }
}

fn blocking(number: u64) -> String {
    let block = if number == 1 { "blocks" } else { "block" };
    format!("{} that {block} the session", things(number, "finding"))
}

fn finding(
    finding: &Diagnostic,
    diagnosis: &SessionReport,
    session: &str,
    out: &mut Out,
) -> Result<(), CliError> {
    let style = severity_style(finding.severity);
    let mut head: Words = vec![(style, finding.code.name().to_owned())];
    head.push((PLAIN, "  ".to_owned()));
    head.push((NAME, diagnostic::lines(finding)));
    fact(finding.severity.name(), &head, out)?;
    fact("", &vec![(PLAIN, diagnostic::cost(finding, diagnosis))], out)?;
    match diagnostic::mend(finding, session) {
        // A list of branches mends nothing: it shows where to go.
        Some(help) if finding.mend == SuggestedFix::Branches => command("see", &help.text, out),
        Some(help) if help.is_command => command("mend", &help.text, out),
        Some(help) => fact("mend", &vec![(PLAIN, help.text)], out),
        None => Ok(()),
    }
}

/// The style of a severity; its name stands beside it.
pub(super) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Blocks => BAD,
        Severity::Warning => MARK,
        Severity::Harmless => QUIET,
    }
}

/// Says a size that no line break parts.
fn whole(bytes: u64) -> String {
    size(bytes).replace(' ', "\u{a0}")
}

/// Says where the bytes are, the most first.
fn sizes(weight: &SizeBreakdown) -> String {
    let mut parts: Vec<(u64, &str)> = SizeCategory::ALL
        .iter()
        .map(|&cause| (weight.of(cause), cause.name()))
        .filter(|(bytes, _)| *bytes > 0)
        .collect();
    parts.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
    let parts: Vec<String> = parts.iter().map(|(bytes, name)| format!("{name} {}", whole(*bytes))).collect();
    let repeated = if weight.repeated > 0 {
        format!("; {} in repeated lines", size(weight.repeated))
    } else {
        String::new()
    };
    format!("{}: {}{repeated}", size(weight.total()), parts.join(", "))
}
