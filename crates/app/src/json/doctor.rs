//! JSON of `doctor`.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic, Severity, SizeBreakdown, SizeCategory};
use rethread_engine::ops::doctor::{SessionReport, StoreFinding, StoreReport};
use serde::Serialize;

use super::object::{ObjectJson, build_object};
use crate::text::diagnostic::FixHint;

/// The maximum number of locations or paths listed for one finding.
const MAX_LOCATIONS: usize = 100;

#[derive(Serialize)]
pub(crate) struct FindingJson<'a> {
    session: Option<&'a str>,
    path: Option<String>,
    code: &'static str,
    severity: &'static str,
    count: usize,
    locations: Vec<LocationJson>,
    paths: Vec<String>,
    effect: String,
    fix: Option<String>,
    fix_is_command: bool,
}

#[derive(Serialize)]
struct LocationJson {
    line: u32,
    block: Option<u16>,
    inner_block: Option<u16>,
}

/// Builds the `finding` object of a session in `doctor`, with at most [`MAX_LOCATIONS`] locations.
/// `effect` describes the consequence for the user, the hint how to fix it.
pub(crate) fn build_finding<'a>(
    report: &'a SessionReport,
    finding: &Diagnostic,
    (effect, hint): (String, Option<FixHint>),
) -> ObjectJson<FindingJson<'a>> {
    let locations = finding.locations.iter().take(MAX_LOCATIONS).map(|location| LocationJson {
        line: location.line,
        block: location.block,
        inner_block: location.inner,
    });
    let fix_is_command = hint.as_ref().is_some_and(|hint| hint.is_command);
    build_object(
        "finding",
        FindingJson {
            session: Some(&report.header.id),
            path: Some(report.path.display().to_string()),
            code: finding.code.name(),
            severity: finding.severity.name(),
            count: finding.locations.len(),
            locations: locations.collect(),
            paths: Vec::new(),
            effect,
            fix: hint.map(|hint| hint.text),
            fix_is_command,
        },
    )
}

/// Builds the `finding` object of a finding about the store itself, with at most [`MAX_LOCATIONS`] paths.
pub(crate) fn build_store_finding(
    finding: &StoreFinding,
    effect: String,
    hint: Option<FixHint>,
) -> ObjectJson<FindingJson<'_>> {
    let fix_is_command = hint.as_ref().is_some_and(|hint| hint.is_command);
    build_object(
        "finding",
        FindingJson {
            session: None,
            path: None,
            code: finding.code.name(),
            severity: finding.severity.name(),
            count: finding.paths.len(),
            locations: Vec::new(),
            paths: finding.paths.iter().take(MAX_LOCATIONS).map(|path| path.display().to_string()).collect(),
            effect,
            fix: hint.map(|hint| hint.text),
            fix_is_command,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct DoctorJson {
    sessions: usize,
    clean: usize,
    info: usize,
    warnings: usize,
    errors: usize,
    codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
    bytes: u64,
    bytes_by_cause: BTreeMap<String, u64>,
    bytes_repeated: u64,
    side_file_bytes: BTreeMap<&'static str, u64>,
    secrets: usize,
    unreadable: usize,
}

/// Returns the bytes of each size category. Spaces in category names become underscores.
fn build_bytes_by_cause(sizes: &SizeBreakdown) -> BTreeMap<String, u64> {
    SizeCategory::ALL.iter().map(|&cause| (cause.name().replace(' ', "_"), sizes.bytes_of(cause))).collect()
}

/// Builds the `doctor` object of `doctor <session>`: the summary of one session with `secrets` different secrets.
pub(crate) fn build_doctor_session(report: &SessionReport, secrets: usize) -> ObjectJson<DoctorJson> {
    let mut codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for finding in &report.findings {
        codes.entry(finding.code.name()).or_default().insert(finding.severity.name(), 1);
    }
    let count_if_worst = |severity| usize::from(report.worst_severity() == Some(severity));
    build_object(
        "doctor",
        DoctorJson {
            sessions: 1,
            clean: usize::from(report.worst_severity() <= Some(Severity::Info)),
            info: count_if_worst(Severity::Info),
            warnings: count_if_worst(Severity::Warning),
            errors: count_if_worst(Severity::Error),
            codes,
            bytes: report.sizes.total(),
            bytes_by_cause: build_bytes_by_cause(&report.sizes),
            bytes_repeated: report.sizes.repeated,
            side_file_bytes: BTreeMap::new(),
            secrets,
            unreadable: 0,
        },
    )
}

/// Builds the `doctor` object of `doctor` without a session: the summary of the whole store with `secrets` different secrets.
pub(crate) fn build_doctor_store(report: &StoreReport, secrets: usize) -> ObjectJson<DoctorJson> {
    let mut codes: BTreeMap<&'static str, BTreeMap<&'static str, usize>> = BTreeMap::new();
    for (&(code, severity), &count) in &report.by_code {
        codes.entry(code.name()).or_default().insert(severity.name(), count);
    }
    let [info, warnings, errors] = report.by_severity;
    let sizes = report.side_files;
    let side_files =
        [("subagents", sizes.agents), ("large_results", sizes.results), ("file_history", sizes.history)];
    build_object(
        "doctor",
        DoctorJson {
            sessions: report.session_count,
            clean: report.session_count - warnings - errors,
            info,
            warnings,
            errors,
            codes,
            bytes: report.sizes.total(),
            bytes_by_cause: build_bytes_by_cause(&report.sizes),
            bytes_repeated: report.sizes.repeated,
            side_file_bytes: side_files.into_iter().collect(),
            secrets,
            unreadable: report.failures.len(),
        },
    )
}
