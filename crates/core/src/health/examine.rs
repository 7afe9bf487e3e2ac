//! Asks every question and sorts the answers, the worst first.

use std::cmp::Reverse;

use super::checkup::Checkup;
use super::finding::{Code, Finding, Measure, Mend, Severity, Spot};
use super::sides::Sides;
use super::{bytes, forks, links, loaded};
use crate::id::Id;
use crate::problem::Problem;
use crate::resume::{Facts, Resume};
use crate::tree::{NodeNo, Tree};

/// Everything that is known of a session. Tree, facts and checkup hold what a client can read: whole lines.
#[derive(Debug, Clone, Copy)]
pub struct Patient<'a> {
    /// Its entries, linked, by a weaver that compares.
    pub tree: &'a Tree,
    /// What a client goes by.
    pub facts: &'a Facts,
    /// What was seen on the way.
    pub checkup: &'a Checkup,
    /// What is odd about its bytes.
    pub problems: &'a [Problem],
    /// What the session's own client loads.
    pub resume: &'a Resume,
    /// What the newest known client loads.
    pub newest: &'a Resume,
    /// Its id, where the name of its file is one.
    pub session: Option<Id>,
    /// Whether a client has it open.
    pub live: bool,
}

/// Lists what is wrong with a session, the worst first.
pub fn examine(patient: &Patient<'_>) -> Vec<Finding> {
    let sides = Sides::of(patient);
    let mut findings = bytes::findings(patient);
    findings.extend(links::findings(patient, &sides));
    // A subagent's file is never resumed.
    if !patient.tree.is_side_file() {
        findings.extend(forks::findings(patient, &sides));
        findings.extend(loaded::findings(patient, &sides));
    }
    findings.sort_by_key(|finding| (Reverse(finding.severity), finding.code));
    findings
}

impl Patient<'_> {
    /// Makes the spot of a node.
    pub(super) fn spot(&self, no: NodeNo) -> Spot {
        Spot { node: Some(no), ..Spot::line(self.tree.node(no).place.line) }
    }

    /// Makes a finding of nodes, unless there are none.
    pub(super) fn found(&self, code: Code, severity: Severity, nodes: &[NodeNo]) -> Option<Finding> {
        let spots = nodes.iter().map(|&no| self.spot(no)).collect();
        Finding::new(code, severity, spots)
    }

    /// Says how many of the entries so many are.
    pub(super) fn entries(&self, part: usize) -> Measure {
        Measure::Entries { part: part as u64, whole: self.resume.entries as u64 }
    }
}

impl Finding {
    /// Makes a finding, unless it is nowhere.
    pub(super) fn new(code: Code, severity: Severity, spots: Vec<Spot>) -> Option<Finding> {
        let mend = if severity == Severity::Harmless { Mend::Nothing } else { Mend::Repair };
        (!spots.is_empty()).then_some(Finding { code, severity, spots, measure: Measure::None, mend })
    }

    pub(super) fn measured(mut self, measure: Measure) -> Finding {
        self.measure = measure;
        self
    }

    pub(super) fn mended(mut self, mend: Mend) -> Finding {
        self.mend = mend;
        self
    }
}
