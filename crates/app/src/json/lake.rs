//! The objects of `lake`.

use rethread_engine::core::entry::Timestamp;
use rethread_lake::{CheckReport, CompactReport, Finding, ForgetReport, LakeStatus, Level, PushReport};
use serde::Serialize;
use serde_json::Value;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct LakePushJson {
    level: &'static str,
    dry_run: bool,
    files: usize,
    pushed: usize,
    pushed_bytes: u64,
    forgotten: usize,
    tables: Vec<LakeTableJson>,
}

#[derive(Serialize)]
struct LakeTableJson {
    name: &'static str,
    rows: u64,
    bytes: u64,
    samples: Vec<Value>,
}

/// Builds the `lake_push` object.
pub(crate) fn build_lake_push(report: &PushReport, level: Level, dry_run: bool) -> ObjectJson<LakePushJson> {
    let tables = report.tables.iter().map(|table| LakeTableJson {
        name: table.name,
        rows: table.rows,
        bytes: table.bytes,
        samples: table.samples.clone(),
    });
    build_object(
        "lake_push",
        LakePushJson {
            level: level.name(),
            dry_run,
            files: report.files,
            pushed: report.pushed,
            pushed_bytes: report.pushed_bytes,
            forgotten: report.forgotten,
            tables: tables.collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct LakeStatusJson {
    level: Option<&'static str>,
    developers: usize,
    sources: usize,
    own_sources: usize,
    rows: u64,
    last_push: Option<String>,
    objects: usize,
    bytes: u64,
}

/// Builds the `lake_status` object.
pub(crate) fn build_lake_status(status: &LakeStatus, level: Option<Level>) -> ObjectJson<LakeStatusJson> {
    build_object(
        "lake_status",
        LakeStatusJson {
            level: level.map(Level::name),
            developers: status.developers,
            sources: status.sources,
            own_sources: status.own_sources,
            rows: status.rows,
            last_push: format_time(status.last_push.map(Timestamp)),
            objects: status.tables.iter().map(|(_, objects, _)| objects).sum(),
            bytes: status.tables.iter().map(|(_, _, bytes)| bytes).sum(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct LakeCheckJson {
    objects: usize,
    sources: usize,
    rows: u64,
    unnamed_rows: u64,
    faults: Vec<String>,
}

/// Builds the `lake_check` object.
pub(crate) fn build_lake_check(report: &CheckReport) -> ObjectJson<LakeCheckJson> {
    let describe = |finding: &Finding| match finding {
        Finding::Unreadable { path, message } => format!("{}: {message}", path.display()),
        Finding::RowCount { source_id, push_id, expected, found } => {
            format!("source {source_id}, push {push_id}: {found} of {expected} rows")
        }
    };
    build_object(
        "lake_check",
        LakeCheckJson {
            objects: report.objects,
            sources: report.heads,
            rows: report.rows,
            unnamed_rows: report.unnamed_rows,
            faults: report.findings.iter().map(describe).collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct LakeForgetJson {
    dry_run: bool,
    sources: usize,
    objects: usize,
    rewritten: usize,
}

/// Builds the `lake_forget` object.
pub(crate) fn build_lake_forget(report: &ForgetReport, dry_run: bool) -> ObjectJson<LakeForgetJson> {
    let ForgetReport { sources, objects, rewritten, .. } = *report;
    build_object("lake_forget", LakeForgetJson { dry_run, sources, objects, rewritten })
}

#[derive(Serialize)]
pub(crate) struct LakeCompactJson {
    dry_run: bool,
    objects_before: usize,
    merged: usize,
    written: usize,
    deleted: usize,
    deleted_bytes: u64,
    kept: usize,
}

/// Builds the `lake_compact` object.
pub(crate) fn build_lake_compact(report: &CompactReport, dry_run: bool) -> ObjectJson<LakeCompactJson> {
    let CompactReport { objects_before, merged, written, deleted, deleted_bytes, kept } = *report;
    let body = LakeCompactJson { dry_run, objects_before, merged, written, deleted, deleted_bytes, kept };
    build_object("lake_compact", body)
}
