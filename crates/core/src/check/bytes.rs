//! Checks the bytes of a file: truncated, joined and unreadable lines.

use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::run::CheckInput;
use crate::problem::{Problem, ProblemKind};

/// Reports a file without a readable line, and damaged lines, by code.
pub(super) fn check_bytes(input: &CheckInput<'_>) -> Vec<Diagnostic> {
    let codes = [Code::TornLine, Code::GluedLine, Code::NulBytes, Code::NotJson];
    let damaged = codes.into_iter().flat_map(|code| check_code(input, code));
    check_readable(input).into_iter().chain(damaged).collect()
}

/// Reports a file of which no line can be read. Returns `None` for an empty file.
fn check_readable(input: &CheckInput<'_>) -> Option<Diagnostic> {
    let mut lines: Vec<u32> = input
        .problems
        .iter()
        .filter(|problem| input.collector.is_empty() && problem.kind.is_line_damage())
        .map(|problem| problem.line)
        .collect();
    lines.dedup();
    let diagnostic = Diagnostic::new(Code::NoEntry, Severity::Error, line_locations(&lines))?;
    Some(diagnostic.with_fix(SuggestedFix::Nothing))
}

/// Returns the code under which a problem of a line is reported. Returns `None` if other checks report it.
fn code_for(kind: &ProblemKind) -> Option<Code> {
    match kind {
        ProblemKind::Torn => Some(Code::TornLine),
        ProblemKind::Glued(_) | ProblemKind::Damaged(_) => Some(Code::GluedLine),
        ProblemKind::Nuls(_) => Some(Code::NulBytes),
        ProblemKind::NotJson
        | ProblemKind::NotObject
        | ProblemKind::ControlBytes
        | ProblemKind::TooLong(_) => Some(Code::NotJson),
        _ => None,
    }
}

/// Reports the lines with one code. They are a warning if they have recoverable records, or if the parent of an entry is
/// missing.
fn check_code(input: &CheckInput<'_>, code: Code) -> Vec<Diagnostic> {
    let mut lines: Vec<u32> = input
        .problems
        .iter()
        .filter(|problem| code_for(&problem.kind) == Some(code))
        .map(|problem| problem.line)
        .collect();
    lines.dedup();
    if code == Code::TornLine {
        return check_torn(input, &lines).into_iter().collect();
    }
    let record_count =
        |line: u32| input.collector.recovered_spans().iter().filter(|span| span.line == line).count();
    let is_missing_parent = |problem: &Problem| problem.kind == ProblemKind::MissingParent;
    let has_missing_parent = input.tree.problems.iter().any(is_missing_parent);
    let (affected, unaffected): (Vec<u32>, Vec<u32>) =
        lines.iter().partition(|&&line| has_missing_parent || record_count(line) > 0);
    let count = affected.iter().map(|&line| record_count(line) as u64).sum();
    let warning = Diagnostic::new(code, Severity::Warning, line_locations(&affected));
    let info = Diagnostic::new(code, Severity::Info, line_locations(&unaffected));
    warning.map(|diagnostic| diagnostic.with_impact(Impact::Records(count))).into_iter().chain(info).collect()
}

/// Reports an incomplete last line: as info if a client may still be writing it, else as a warning.
fn check_torn(input: &CheckInput<'_>, lines: &[u32]) -> Option<Diagnostic> {
    if input.live {
        let diagnostic = Diagnostic::new(Code::TornLine, Severity::Info, line_locations(lines));
        return diagnostic.map(|diagnostic| diagnostic.with_fix(SuggestedFix::Wait));
    }
    Diagnostic::new(Code::TornLine, Severity::Warning, line_locations(lines))
}

fn line_locations(lines: &[u32]) -> Vec<Location> {
    lines.iter().map(|&line| Location::line(line)).collect()
}
