//! JSON of `clone` and `rescue`: trimmed copies.

use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops::{SessionSize, TrimmedCopy};
use serde::Serialize;

use super::new_session::{NewSessionJson, build_new_session_body};
use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct SizeJson {
    lines: u64,
    bytes: u64,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct OmittedJson {
    cause: &'static str,
    count: u64,
    lines: u64,
    bytes: u64,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct ChangedPathJson<'a> {
    path: &'a str,
    count: u64,
}

#[derive(Serialize)]
pub(crate) struct TrimmedCopyJson<'a> {
    #[serde(flatten)]
    session: NewSessionJson<'a>,
    before: SizeJson,
    after: SizeJson,
    omitted: Vec<OmittedJson>,
    changed_paths: Vec<ChangedPathJson<'a>>,
}

#[derive(Serialize)]
pub(crate) struct StepJson {
    step: &'static str,
    count: u64,
    before: u64,
    after: u64,
}

#[derive(Serialize)]
pub(crate) struct RescueJson<'a> {
    #[serde(flatten)]
    copy: TrimmedCopyJson<'a>,
    fit: u64,
    steps: Vec<StepJson>,
}

/// Builds the fields that `clone` and `rescue` share: sizes in bytes and tokens, and what was omitted.
fn build_trimmed_copy_body(copy: &TrimmedCopy) -> TrimmedCopyJson<'_> {
    let size = |size: SessionSize| SizeJson { lines: size.lines, bytes: size.bytes, tokens: size.tokens };
    let savings = copy.savings.iter().map(|(cause, saving)| OmittedJson {
        cause: cause.name(),
        count: saving.count,
        lines: saving.lines,
        bytes: saving.bytes,
        tokens: saving.tokens(),
    });
    TrimmedCopyJson {
        session: build_new_session_body(&copy.session),
        before: size(copy.before),
        after: size(copy.after),
        omitted: savings.collect(),
        changed_paths: copy
            .changed_paths
            .iter()
            .map(|(path, count)| ChangedPathJson { path, count: *count })
            .collect(),
    }
}

/// Builds the object of a trimmed copy. `command` is the command that created it and becomes the object type.
pub(crate) fn build_trimmed_copy<'a>(
    command: &'static str,
    copy: &'a TrimmedCopy,
) -> ObjectJson<TrimmedCopyJson<'a>> {
    build_object(command, build_trimmed_copy_body(copy))
}

/// Builds the `rescue` object: the copy, its limit of `max_tokens` and the steps that shortened it, in order.
pub(crate) fn build_rescue<'a>(
    steps: &[EscalationStep],
    max_tokens: u64,
    copy: &'a TrimmedCopy,
) -> ObjectJson<RescueJson<'a>> {
    let to_json = |step: &EscalationStep| StepJson {
        step: step.stage.name(),
        count: step.count,
        before: step.before,
        after: step.after,
    };
    let steps = steps.iter().map(to_json).collect();
    build_object("rescue", RescueJson { copy: build_trimmed_copy_body(copy), fit: max_tokens, steps })
}
