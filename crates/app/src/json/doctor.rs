//! What is wrong, in `--json`.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic as Found, Severity, SizeBreakdown, SizeCategory};
use rethread_engine::ops::{SessionReport, StoreFinding as StoreFound, StoreReport};
use serde::Serialize;

use super::{Wire, wire};
use crate::text::diagnostic::Help;

/// Spots that are listed of one finding.
const LISTED: usize = 100;

#[derive(Serialize)]
pub(crate) struct Finding<'a> {
    session: Option<&'a str>,
    path: Option<String>,
    code: &'static str,
    severity: &'static str,
    count: usize,
    spots: Vec<Spot>,
    paths: Vec<String>,
    cost: String,
    mend: Option<String>,
    mend_is_command: bool,
}

#[derive(Serialize)]
struct Spot {
    line: u32,
    block: Option<u16>,
    inner_block: Option<u16>,
}

/// A finding of a session, with what it costs and what mends it in words.
pub(crate) fn finding<'a>(
    diagnosis: &'a SessionReport,
    found: &Found,
    (cost, help): (String, Option<Help>),
) -> Wire<Finding<'a>> {
    let spots = found.spots.iter().take(LISTED);
    let spots = spots.map(|spot| Spot { line: spot.line, block: spot.block, inner_block: spot.inner });
    let mend_is_command = help.as_ref().is_some_and(|help| help.is_command);
    wire(
        "finding",
        Finding {
            session: Some(&diagnosis.head.id),
            path: Some(diagnosis.path.display().to_string()),
            code: found.code.name(),
            severity: found.severity.name(),
            count: found.spots.len(),
            spots: spots.collect(),
            paths: Vec::new(),
            cost,
            mend: help.map(|help| help.text),
            mend_is_command,
        },
    )
}

/// A finding of the store.
pub(crate) fn store_finding(found: &StoreFound, cost: String, help: Option<Help>) -> Wire<Finding<'_>> {
    let mend_is_command = help.as_ref().is_some_and(|help| help.is_command);
    wire(
        "finding",
        Finding {
            session: None,
            path: None,
            code: found.code.name(),
            severity: found.severity.name(),
            count: found.paths.len(),
            spots: Vec::new(),
            paths: found.paths.iter().take(LISTED).map(|path| path.display().to_string()).collect(),
            cost,
            mend: help.map(|help| help.text),
            mend_is_command,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Doctor {
    sessions: usize,
    clean: usize,
    harmless: usize,
    costs: usize,
    blocks: usize,
    codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
    bytes: u64,
    bytes_by_cause: BTreeMap<String, u64>,
    bytes_repeated: u64,
    bytes_beside: BTreeMap<&'static str, u64>,
    unreadable: usize,
}

fn by_cause(weight: &SizeBreakdown) -> BTreeMap<String, u64> {
    SizeCategory::ALL.iter().map(|&cause| (cause.name().replace(' ', "_"), weight.of(cause))).collect()
}

/// The end of what is said of one session.
pub(crate) fn one_session(diagnosis: &SessionReport) -> Wire<Doctor> {
    let mut codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for found in &diagnosis.findings {
        codes.entry(found.code.name()).or_default().insert(found.severity.name(), 1);
    }
    let worst = |severity| usize::from(diagnosis.worst() == Some(severity));
    wire(
        "doctor",
        Doctor {
            sessions: 1,
            clean: usize::from(diagnosis.worst() <= Some(Severity::Harmless)),
            harmless: worst(Severity::Harmless),
            costs: worst(Severity::Warning),
            blocks: worst(Severity::Blocks),
            codes,
            bytes: diagnosis.weight.total(),
            bytes_by_cause: by_cause(&diagnosis.weight),
            bytes_repeated: diagnosis.weight.repeated,
            bytes_beside: BTreeMap::new(),
            unreadable: 0,
        },
    )
}

/// The end of what is said of a store.
pub(crate) fn whole_store(round: &StoreReport) -> Wire<Doctor> {
    let mut codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for (&(code, severity), &number) in &round.by_code {
        codes.entry(code.name()).or_default().insert(severity.name(), number);
    }
    let [harmless, costs, blocks] = round.by_severity;
    let beside = round.beside;
    let beside =
        [("subagents", beside.agents), ("large_results", beside.results), ("file_history", beside.history)];
    wire(
        "doctor",
        Doctor {
            sessions: round.examined,
            clean: round.examined - costs - blocks,
            harmless,
            costs,
            blocks,
            codes,
            bytes: round.weight.total(),
            bytes_by_cause: by_cause(&round.weight),
            bytes_repeated: round.weight.repeated,
            bytes_beside: beside.into_iter().collect(),
            unreadable: round.failures.len(),
        },
    )
}
