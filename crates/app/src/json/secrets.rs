//! JSON of `secrets`.

use rethread_engine::core::secrets::Detector;
use rethread_engine::ops::redact::RulePreview;
use rethread_engine::ops::secrets::{SecretFinding, SecretKindCount, SecretReport};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct SecretJson<'a> {
    kind: &'static str,
    severity: &'static str,
    session: Option<&'a str>,
    path: String,
    line: u32,
    place: &'static str,
    time: Option<String>,
    secret: String,
    context: &'a str,
}

/// Builds the `secret` object of `secrets`: one place. It does not contain the secret.
pub(crate) fn build_secret(finding: &SecretFinding) -> ObjectJson<SecretJson<'_>> {
    build_object(
        "secret",
        SecretJson {
            kind: finding.detector.name,
            severity: finding.detector.severity.name(),
            session: finding.session.as_deref(),
            path: finding.path.display().to_string(),
            line: finding.line,
            place: finding.place.name(),
            time: format_time(finding.time),
            secret: format!("{}-{}", finding.detector.name, finding.number),
            context: &finding.context,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct SecretTotalJson {
    files: usize,
    bytes: u64,
    secrets: usize,
    places: u64,
    kinds: Vec<SecretKindJson>,
    failures: usize,
}

#[derive(Serialize)]
pub(crate) struct SecretKindJson {
    kind: &'static str,
    severity: &'static str,
    secrets: u64,
    places: u64,
    sessions: u64,
    newest: Option<String>,
}

/// Builds the `secret_total` object of `secrets`: the counts of all kinds.
pub(crate) fn build_secret_total(
    report: &SecretReport,
    counts: &[SecretKindCount],
) -> ObjectJson<SecretTotalJson> {
    let build_kind = |count: &SecretKindCount| SecretKindJson {
        kind: count.detector.name,
        severity: count.detector.severity.name(),
        secrets: count.secrets,
        places: count.findings,
        sessions: count.sessions,
        newest: format_time(count.newest),
    };
    build_object(
        "secret_total",
        SecretTotalJson {
            files: report.files,
            bytes: report.bytes,
            secrets: report.secret_count(),
            places: report.findings.len() as u64 + report.omitted,
            kinds: counts.iter().map(build_kind).collect(),
            failures: report.failures.len(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct DetectorJson {
    kind: &'static str,
    severity: &'static str,
    title: &'static str,
}

/// Builds the `secret_kind` object of `secrets --kinds`.
pub(crate) fn build_detector(detector: &Detector) -> ObjectJson<DetectorJson> {
    let (kind, severity, title) = (detector.name, detector.severity.name(), detector.title);
    build_object("secret_kind", DetectorJson { kind, severity, title })
}

#[derive(Serialize)]
pub(crate) struct RulePreviewJson<'a> {
    rule: &'a str,
    texts: usize,
    places: u64,
    contexts: &'a [String],
}

/// Builds the `export_rule` object of `export --dry-run`: what an export replaces for one reason.
pub(crate) fn build_rule_preview(preview: &RulePreview) -> ObjectJson<RulePreviewJson<'_>> {
    let RulePreview { rule, texts, places, contexts } = preview;
    build_object("export_rule", RulePreviewJson { rule, texts: *texts, places: *places, contexts })
}
