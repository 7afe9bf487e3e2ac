//! JSON of `repair`.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic, SuggestedFix};
use rethread_engine::core::fix::FixAction;
use rethread_engine::ops::doctor::ReachableEntries;
use rethread_engine::ops::repair::{RepairReport, RepairTarget, RepairedLine};
use serde::Serialize;

use super::new_session::{ExpectedLoadJson, build_expected_loads};
use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct FixJson<'a> {
    line: Option<u32>,
    code: &'static str,
    action: &'static str,
    description: String,
    parent_before: Option<&'a str>,
    parent_after: Option<&'a str>,
    parent_line: Option<u32>,
    reason: Option<&'static str>,
}

/// Builds the `fix` object of `repair`. `description` is the sentence for the user about the change.
pub(crate) fn build_fix(repaired: &RepairedLine, description: String) -> ObjectJson<FixJson<'_>> {
    let fix = &repaired.fix;
    let (before, after, reason) = match &fix.action {
        FixAction::Relinked { from, to, reason, .. } => (from.as_deref(), to.as_deref(), Some(reason.name())),
        FixAction::LogicalParentSet { from, to, .. } => (from.as_deref(), Some(to.as_str()), None),
        _ => (None, None, None),
    };
    build_object(
        "fix",
        FixJson {
            line: repaired.line,
            code: fix.code.name(),
            action: fix.action.name(),
            description,
            parent_before: before,
            parent_after: after,
            parent_line: repaired.to_line,
            reason,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct RepairJson<'a> {
    origin: &'a str,
    session: Option<&'a str>,
    path: Option<String>,
    folder: &'a str,
    in_place: bool,
    op: Option<u64>,
    dry_run: bool,
    fixes: usize,
    before: StateJson,
    after: StateJson,
    remaining: Vec<&'static str>,
    damaged: Option<String>,
    images: Vec<String>,
    expected_loads: Vec<ExpectedLoadJson<'a>>,
}

#[derive(Serialize)]
struct StateJson {
    entries: usize,
    reachable: usize,
    findings: BTreeMap<&'static str, usize>,
}

/// Builds the state of a session before or after the repair, with the number of locations of the findings by code.
fn build_state(reach: ReachableEntries, findings: &[Diagnostic]) -> StateJson {
    let mut codes = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.locations.len();
    }
    StateJson { entries: reach.total, reachable: reach.reachable, findings: codes }
}

/// Builds the `repair` object of `repair`: the target, and the state before and after.
pub(crate) fn build_repair(report: &RepairReport) -> ObjectJson<RepairJson<'_>> {
    let header = &report.before.header;
    let (session, path, op, loads) = match &report.target {
        Some(RepairTarget::New(session)) => (
            Some(session.id.as_str()),
            Some(&session.path),
            session.op,
            build_expected_loads(&session.expected_loads),
        ),
        Some(RepairTarget::InPlace { expected_loads: loads, op }) => {
            (Some(header.id.as_str()), Some(&report.before.path), *op, build_expected_loads(loads))
        }
        None => (None, None, None, Vec::new()),
    };
    let remaining = report.after.findings.iter().filter(|finding| finding.fix == SuggestedFix::Repair);
    let path_text = |path: &std::path::PathBuf| path.display().to_string();
    build_object(
        "repair",
        RepairJson {
            origin: &header.id,
            session,
            path: path.map(path_text),
            folder: &header.folder,
            in_place: matches!(report.target, Some(RepairTarget::InPlace { .. })),
            op: op.map(|op| op.0),
            dry_run: op.is_none() && report.target.is_some(),
            fixes: report.fixes.len(),
            before: build_state(report.before.reachable_entries(), &report.before.findings),
            after: build_state(report.after.reachable, &report.after.findings),
            remaining: remaining.map(|finding| finding.code.name()).collect(),
            damaged: report.damaged.as_ref().map(path_text),
            images: report.images.iter().map(path_text).collect(),
            expected_loads: loads,
        },
    )
}
