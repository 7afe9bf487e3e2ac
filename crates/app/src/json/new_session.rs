//! JSON of `goto` and of commands that create a session.

use rethread_engine::ops::goto::{EntryRef, GotoOutcome};
use rethread_engine::ops::{ExpectedLoad, NewSession};
use serde::Serialize;

use super::object::{ObjectJson, build_object};

#[derive(Serialize)]
pub(crate) struct ExpectedLoadJson<'a> {
    client: &'a str,
    entries: usize,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct EntryRefJson<'a> {
    handle: &'a str,
    uuid: &'a str,
    line: u32,
    turn: Option<u32>,
    prompt: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct GotoJson<'a> {
    session: &'a str,
    folder: &'a str,
    op: Option<u64>,
    dry_run: bool,
    from: Option<EntryRefJson<'a>>,
    to: EntryRefJson<'a>,
    added_bytes: usize,
    replayed_lines: usize,
    sent_below: usize,
    expected_loads: Vec<ExpectedLoadJson<'a>>,
}

/// Builds the `goto` object of `goto`. An `op` of `null` means a dry run.
pub(crate) fn build_goto(outcome: &GotoOutcome) -> ObjectJson<GotoJson<'_>> {
    build_object(
        "goto",
        GotoJson {
            session: &outcome.header.id,
            folder: &outcome.header.folder,
            op: outcome.op.map(|op| op.0),
            dry_run: outcome.op.is_none(),
            from: outcome.from.as_ref().map(build_entry_ref),
            to: build_entry_ref(&outcome.to),
            added_bytes: outcome.added.len(),
            replayed_lines: outcome.replayed,
            sent_below: outcome.sent_below,
            expected_loads: build_expected_loads(&outcome.expected_loads),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct NewSessionJson<'a> {
    origin: &'a str,
    session: &'a str,
    title: &'a str,
    path: String,
    folder: &'a str,
    op: Option<u64>,
    dry_run: bool,
    lines: usize,
    side_files: usize,
    expected_loads: Vec<ExpectedLoadJson<'a>>,
}

/// Builds the object of a new session. `command` is the command that created it and becomes the object type.
pub(crate) fn build_new_session<'a>(
    command: &'static str,
    session: &'a NewSession,
) -> ObjectJson<NewSessionJson<'a>> {
    build_object(command, build_new_session_body(session))
}

/// Builds the fields that all objects about a new session share.
pub(super) fn build_new_session_body(session: &NewSession) -> NewSessionJson<'_> {
    NewSessionJson {
        origin: &session.origin.id,
        session: &session.id,
        title: &session.title,
        path: session.path.display().to_string(),
        folder: &session.folder,
        op: session.op.map(|op| op.0),
        dry_run: session.op.is_none(),
        lines: session.lines,
        side_files: session.side_files,
        expected_loads: build_expected_loads(&session.expected_loads),
    }
}

/// Builds the list of what each client version will load: the number of entries and of tokens.
pub(super) fn build_expected_loads(loads: &[ExpectedLoad]) -> Vec<ExpectedLoadJson<'_>> {
    loads
        .iter()
        .map(|load| ExpectedLoadJson {
            client: &load.client.text,
            entries: load.path.len(),
            tokens: load.tokens,
        })
        .collect()
}

fn build_entry_ref(entry: &EntryRef) -> EntryRefJson<'_> {
    EntryRefJson {
        handle: &entry.handle,
        uuid: &entry.uuid,
        line: entry.line,
        turn: entry.turn,
        prompt: entry.prompt.as_deref(),
    }
}
