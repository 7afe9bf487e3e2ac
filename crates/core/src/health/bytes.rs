//! What is wrong with the bytes: torn, glued and unreadable lines.

use super::examine::Patient;
use super::finding::{Code, Finding, Measure, Mend, Severity, Spot};
use crate::problem::{Problem, ProblemKind};

pub(super) fn findings(patient: &Patient<'_>) -> Vec<Finding> {
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
fn of_code(patient: &Patient<'_>, code: Code) -> Vec<Finding> {
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
    let costs = Finding::new(code, Severity::Costs, spots(&costly));
    let harmless = Finding::new(code, Severity::Harmless, spots(&idle));
    costs.map(|finding| finding.measured(Measure::Records(count))).into_iter().chain(harmless).collect()
}

fn torn(patient: &Patient<'_>, lines: &[u32]) -> Option<Finding> {
    if patient.live {
        let finding = Finding::new(Code::TornLine, Severity::Harmless, spots(lines));
        return finding.map(|finding| finding.mended(Mend::Wait));
    }
    Finding::new(Code::TornLine, Severity::Costs, spots(lines))
}

fn spots(lines: &[u32]) -> Vec<Spot> {
    lines.iter().map(|&line| Spot::line(line)).collect()
}
