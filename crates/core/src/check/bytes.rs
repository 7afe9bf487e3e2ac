//! What is wrong with the bytes: torn, glued and unreadable lines.

use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::run::CheckInput;
use crate::problem::{Problem, ProblemKind};

pub(super) fn findings(patient: &CheckInput<'_>) -> Vec<Diagnostic> {
    let codes = [Code::TornLine, Code::GluedLine, Code::NulBytes, Code::NotJson];
    codes.into_iter().flat_map(|code| of_code(patient, code)).collect()
}

fn code_of(kind: &ProblemKind) -> Option<Code> {
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

/// Lines with records that clients pass over cost something; others only where something hangs on them.
fn of_code(patient: &CheckInput<'_>, code: Code) -> Vec<Diagnostic> {
    let mut lines: Vec<u32> =
        patient.problems.iter().filter(|p| code_of(&p.kind) == Some(code)).map(|p| p.line).collect();
    lines.dedup();
    if code == Code::TornLine {
        return torn(patient, &lines).into_iter().collect();
    }
    let records = |line: u32| patient.checkup.salvage().iter().filter(|place| place.line == line).count();
    let is_missed = |problem: &Problem| problem.kind == ProblemKind::MissingParent;
    let missed = code == Code::NotJson && patient.tree.problems.iter().any(is_missed);
    let (costly, idle): (Vec<u32>, Vec<u32>) = lines.iter().partition(|&&line| missed || records(line) > 0);
    let count = costly.iter().map(|&line| records(line) as u64).sum();
    let costs = Diagnostic::new(code, Severity::Warning, spots(&costly));
    let harmless = Diagnostic::new(code, Severity::Harmless, spots(&idle));
    costs.map(|finding| finding.measured(Impact::Records(count))).into_iter().chain(harmless).collect()
}

fn torn(patient: &CheckInput<'_>, lines: &[u32]) -> Option<Diagnostic> {
    if patient.live {
        let finding = Diagnostic::new(Code::TornLine, Severity::Harmless, spots(lines));
        return finding.map(|finding| finding.mended(SuggestedFix::Wait));
    }
    Diagnostic::new(Code::TornLine, Severity::Warning, spots(lines))
}

fn spots(lines: &[u32]) -> Vec<Location> {
    lines.iter().map(|&line| Location::line(line)).collect()
}
