//! Lighter copies, in `--json`.

use rethread_engine::core::trim::EscalationStep;
use rethread_engine::ops::{SessionSize, TrimmedCopy};
use serde::Serialize;

use super::new_session::{NewSessionJson, new_session};
use super::{Wire, wire};

#[derive(Serialize)]
pub(crate) struct Scales {
    bytes: u64,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct LeftOut {
    cause: &'static str,
    count: u64,
    bytes: u64,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct Changed<'a> {
    path: &'a str,
    count: u64,
}

#[derive(Serialize)]
pub(crate) struct LighterCopy<'a> {
    #[serde(flatten)]
    session: NewSessionJson<'a>,
    before: Scales,
    after: Scales,
    left_out: Vec<LeftOut>,
    changed: Vec<Changed<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Step {
    step: &'static str,
    count: u64,
    before: u64,
    after: u64,
}

#[derive(Serialize)]
pub(crate) struct Rescued<'a> {
    #[serde(flatten)]
    copy: LighterCopy<'a>,
    fit: u64,
    steps: Vec<Step>,
}

fn copy(copy: &TrimmedCopy) -> LighterCopy<'_> {
    let scales = |weight: SessionSize| Scales { bytes: weight.bytes, tokens: weight.tokens };
    let rows = copy.ledger.rows().map(|(cause, row)| LeftOut {
        cause: cause.name(),
        count: row.count,
        bytes: row.bytes,
        tokens: row.tokens(),
    });
    LighterCopy {
        session: new_session(&copy.born),
        before: scales(copy.before),
        after: scales(copy.after),
        left_out: rows.collect(),
        changed: copy.changed.iter().map(|(path, count)| Changed { path, count: *count }).collect(),
    }
}

/// A lighter copy, made by the command `name`.
pub(crate) fn lighter<'a>(name: &'static str, light: &'a TrimmedCopy) -> Wire<LighterCopy<'a>> {
    wire(name, copy(light))
}

/// A copy that fits, and the steps to it.
pub(crate) fn rescue<'a>(taken: &[EscalationStep], fit: u64, light: &'a TrimmedCopy) -> Wire<Rescued<'a>> {
    let step = |taken: &EscalationStep| Step {
        step: taken.stage.name(),
        count: taken.count,
        before: taken.before,
        after: taken.after,
    };
    wire("rescue", Rescued { copy: copy(light), fit, steps: taken.iter().map(step).collect() })
}
