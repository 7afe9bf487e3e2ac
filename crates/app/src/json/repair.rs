//! What was repaired, in `--json`.

use std::collections::BTreeMap;

use rethread_engine::core::check::{Diagnostic, SuggestedFix as Help};
use rethread_engine::core::fix::FixAction;
use rethread_engine::ops::{Repair as Done, Repaired, Written};
use serde::Serialize;

use super::new_session::{Promised, promised};
use super::{Wire, wire};

#[derive(Serialize)]
pub(crate) struct Mend<'a> {
    line: Option<u32>,
    code: &'static str,
    act: &'static str,
    words: String,
    parent_before: Option<&'a str>,
    parent_after: Option<&'a str>,
    parent_line: Option<u32>,
    how: Option<&'static str>,
}

/// One thing that was mended, in words too.
pub(crate) fn mend(repaired: &Repaired, words: String) -> Wire<Mend<'_>> {
    let mended = &repaired.mended;
    let (before, after, how) = match &mended.act {
        FixAction::Relinked { from, to, how, .. } => (from.as_deref(), to.as_deref(), Some(how.name())),
        FixAction::Followed { from, to, .. } => (from.as_deref(), Some(to.as_str()), None),
        _ => (None, None, None),
    };
    wire(
        "mend",
        Mend {
            line: repaired.line,
            code: mended.code.name(),
            act: mended.act.name(),
            words,
            parent_before: before,
            parent_after: after,
            parent_line: repaired.to_line,
            how,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Repair<'a> {
    origin: &'a str,
    session: Option<&'a str>,
    path: Option<String>,
    folder: &'a str,
    in_place: bool,
    op: Option<u64>,
    dry_run: bool,
    mends: usize,
    before: State,
    after: State,
    not_mended: Vec<&'static str>,
    damaged: Option<String>,
    pictures: Vec<String>,
    promises: Vec<Promised<'a>>,
}

#[derive(Serialize)]
struct State {
    entries: usize,
    within_reach: usize,
    findings: BTreeMap<&'static str, usize>,
}

fn state((within_reach, entries): (usize, usize), findings: &[Diagnostic]) -> State {
    let mut codes = BTreeMap::new();
    for finding in findings {
        *codes.entry(finding.code.name()).or_default() += finding.spots.len();
    }
    State { entries, within_reach, findings: codes }
}

/// The end of what is said of a repair.
pub(crate) fn repair(done: &Done) -> Wire<Repair<'_>> {
    let head = &done.before.head;
    let (session, path, op, promises) = match &done.written {
        Some(Written::New(born)) => {
            (Some(born.id.as_str()), Some(&born.path), born.op, promised(&born.promises))
        }
        Some(Written::InPlace { promises, op }) => {
            (Some(head.id.as_str()), Some(&done.before.path), *op, promised(promises))
        }
        None => (None, None, None, Vec::new()),
    };
    let left = done.after.findings.iter().filter(|finding| finding.mend == Help::Repair);
    let shown = |path: &std::path::PathBuf| path.display().to_string();
    wire(
        "repair",
        Repair {
            origin: &head.id,
            session,
            path: path.map(shown),
            folder: &head.folder,
            in_place: matches!(done.written, Some(Written::InPlace { .. })),
            op: op.map(|op| op.0),
            dry_run: op.is_none() && done.written.is_some(),
            mends: done.mends.len(),
            before: state(done.before.within_reach(), &done.before.findings),
            after: state(done.after.reach, &done.after.findings),
            not_mended: left.map(|finding| finding.code.name()).collect(),
            damaged: done.damaged.as_ref().map(shown),
            pictures: done.pictures.iter().map(shown).collect(),
            promises,
        },
    )
}
