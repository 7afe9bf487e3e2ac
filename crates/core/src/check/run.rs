//! Runs all checks and sorts the diagnostics.

use std::cmp::Reverse;

use super::collect::CheckCollector;
use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::reachability::Reachability;
use super::{bytes, forks, links, loaded};
use crate::id::Id;
use crate::problem::Problem;
use crate::resume::{ResumeIndex, ResumeOutcome, SkippedEntry};
use crate::tree::{NodeId, Tree};

/// The input of the checks. Tree, resume index and collector contain only entries that clients can read.
#[derive(Debug, Clone, Copy)]
pub struct CheckInput<'a> {
    /// The tree, built with content hashes.
    pub tree: &'a Tree,
    /// The resume index of the session.
    pub resume_index: &'a ResumeIndex,
    /// The data collected for the checks.
    pub collector: &'a CheckCollector,
    /// Problems of the lines.
    pub problems: &'a [Problem],
    /// The entries that the session's own client loads.
    pub resume: &'a ResumeOutcome,
    /// The entries that the newest known client loads.
    pub newest: &'a ResumeOutcome,
    /// The session id, if the file name is one.
    pub session: Option<Id>,
    /// Whether a client has the session open.
    pub live: bool,
}

/// Runs all checks and returns the diagnostics, most severe first, then in the order of [`Code`].
pub fn run_checks(input: &CheckInput<'_>) -> Vec<Diagnostic> {
    let reach = Reachability::from_input(input);
    let mut diagnostics = bytes::check_bytes(input);
    diagnostics.extend(links::check_links(input, &reach));
    // Clients never resume a subagent's file. A file without uuids has no nodes.
    if input.tree.nodes().is_empty() || !input.tree.is_sidechain_file() {
        diagnostics.extend(forks::check_forks(input, &reach));
        diagnostics.extend(loaded::check_loaded(input, &reach));
    }
    diagnostics.sort_by_key(|diagnostic| (Reverse(diagnostic.severity), diagnostic.code));
    diagnostics
}

impl CheckInput<'_> {
    /// Returns the location of a node.
    pub(super) fn location_of(&self, node_id: NodeId) -> Location {
        Location { node: Some(node_id), ..Location::line(self.tree.node(node_id).span.line) }
    }

    /// Returns the location of a skipped entry.
    pub(super) fn skipped_location(&self, skipped: &SkippedEntry) -> Location {
        Location { node: skipped.node, ..Location::line(skipped.line) }
    }

    /// Creates a diagnostic with the locations of nodes. Returns `None` if there are none. See [`Diagnostic::new`].
    pub(super) fn diagnose(&self, code: Code, severity: Severity, nodes: &[NodeId]) -> Option<Diagnostic> {
        let locations = nodes.iter().map(|&node_id| self.location_of(node_id)).collect();
        Diagnostic::new(code, severity, locations)
    }

    /// Returns the impact of this number of affected entries, out of all entries of the session.
    pub(super) fn entries_impact(&self, affected: usize) -> Impact {
        Impact::Entries { affected: affected as u64, total: self.resume.entries as u64 }
    }
}

impl Diagnostic {
    /// Creates a diagnostic without impact. Suggests a repair unless it is only info.
    ///
    /// Returns `None` if there are no locations.
    pub(super) fn new(code: Code, severity: Severity, locations: Vec<Location>) -> Option<Diagnostic> {
        let fix = if severity == Severity::Info { SuggestedFix::Nothing } else { SuggestedFix::Repair };
        (!locations.is_empty()).then_some(Diagnostic { code, severity, locations, impact: Impact::None, fix })
    }

    pub(super) fn with_impact(mut self, impact: Impact) -> Diagnostic {
        self.impact = impact;
        self
    }

    pub(super) fn with_fix(mut self, fix: SuggestedFix) -> Diagnostic {
        self.fix = fix;
        self
    }
}
