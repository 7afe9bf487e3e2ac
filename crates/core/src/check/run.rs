//! Asks every question and sorts the answers, the worst first.

use std::cmp::Reverse;

use super::collect::CheckCollector;
use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::reachability::Reachability;
use super::{bytes, forks, links, loaded};
use crate::id::Id;
use crate::problem::Problem;
use crate::resume::{ResumeIndex, ResumeOutcome};
use crate::tree::{NodeId, Tree};

/// Everything that is known of a session. Tree, facts and checkup hold what a client can read: whole lines.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// Its entries, linked, by a weaver that compares.
    pub tree: &'a Tree,
    /// What a client goes by.
    pub facts: &'a ResumeIndex,
    /// What was seen on the way.
    pub checkup: &'a CheckCollector,
    /// What is odd about its bytes.
    pub problems: &'a [Problem],
    /// What the session's own client loads.
    pub resume: &'a ResumeOutcome,
    /// What the newest known client loads.
    pub newest: &'a ResumeOutcome,
    /// Its id, where the name of its file is one.
    pub session: Option<Id>,
    /// Whether a client has it open.
    pub live: bool,
}

/// Lists what is wrong with a session, the worst first.
pub fn run_checks(patient: &CheckInput<'_>) -> Vec<Diagnostic> {
    let sides = Reachability::of(patient);
    let mut findings = bytes::findings(patient);
    findings.extend(links::findings(patient, &sides));
    // A subagent's file is never resumed.
    if !patient.tree.is_sidechain_file() {
        findings.extend(forks::findings(patient, &sides));
        findings.extend(loaded::findings(patient, &sides));
    }
    findings.sort_by_key(|finding| (Reverse(finding.severity), finding.code));
    findings
}

impl CheckInput<'_> {
    /// Makes the spot of a node.
    pub(super) fn spot(&self, no: NodeId) -> Location {
        Location { node: Some(no), ..Location::line(self.tree.node(no).place.line) }
    }

    /// Makes a finding of nodes, unless there are none.
    pub(super) fn found(&self, code: Code, severity: Severity, nodes: &[NodeId]) -> Option<Diagnostic> {
        let spots = nodes.iter().map(|&no| self.spot(no)).collect();
        Diagnostic::new(code, severity, spots)
    }

    /// Says how many of the entries so many are.
    pub(super) fn entries(&self, part: usize) -> Impact {
        Impact::Entries { part: part as u64, whole: self.resume.entries as u64 }
    }
}

impl Diagnostic {
    /// Makes a finding, unless it is nowhere.
    pub(super) fn new(code: Code, severity: Severity, spots: Vec<Location>) -> Option<Diagnostic> {
        let mend = if severity == Severity::Harmless { SuggestedFix::Nothing } else { SuggestedFix::Repair };
        (!spots.is_empty()).then_some(Diagnostic { code, severity, spots, measure: Impact::None, mend })
    }

    pub(super) fn measured(mut self, measure: Impact) -> Diagnostic {
        self.measure = measure;
        self
    }

    pub(super) fn mended(mut self, mend: SuggestedFix) -> Diagnostic {
        self.mend = mend;
        self
    }
}
