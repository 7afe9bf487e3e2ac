//! What writing commands did, in `--json`.

use rethread_engine::ops::{EntryRef, ExpectedLoad, GotoOutcome, NewSession};
use serde::Serialize;

use super::{Wire, wire};

#[derive(Serialize)]
pub(crate) struct Promised<'a> {
    client: &'a str,
    entries: usize,
    tokens: u64,
}

#[derive(Serialize)]
pub(crate) struct Entry<'a> {
    handle: &'a str,
    uuid: &'a str,
    line: u32,
    turn: Option<u32>,
    prompt: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Goto<'a> {
    session: &'a str,
    folder: &'a str,
    op: Option<u64>,
    dry_run: bool,
    from: Option<Entry<'a>>,
    to: Entry<'a>,
    added_bytes: usize,
    replayed_lines: usize,
    promises: Vec<Promised<'a>>,
}

/// What `goto` did.
pub(crate) fn moved(moved: &GotoOutcome) -> Wire<Goto<'_>> {
    wire(
        "goto",
        Goto {
            session: &moved.head.id,
            folder: &moved.head.folder,
            op: moved.op.map(|op| op.0),
            dry_run: moved.op.is_none(),
            from: moved.from.as_ref().map(entry),
            to: entry(&moved.to),
            added_bytes: moved.added.len(),
            replayed_lines: moved.replayed,
            promises: promised(&moved.promises),
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
    promises: Vec<Promised<'a>>,
}

/// A new session, made by the command `name`.
pub(crate) fn offspring<'a>(name: &'static str, born: &'a NewSession) -> Wire<NewSessionJson<'a>> {
    wire(name, new_session(born))
}

/// A new session.
pub(super) fn new_session(born: &NewSession) -> NewSessionJson<'_> {
    NewSessionJson {
        origin: &born.origin.id,
        session: &born.id,
        title: &born.title,
        path: born.path.display().to_string(),
        folder: &born.folder,
        op: born.op.map(|op| op.0),
        dry_run: born.op.is_none(),
        lines: born.lines,
        side_files: born.side,
        promises: promised(&born.promises),
    }
}

pub(super) fn promised(promises: &[ExpectedLoad]) -> Vec<Promised<'_>> {
    let promised = |promise: &'_ ExpectedLoad| (promise.path.len(), promise.tokens);
    let wired = |promise| {
        let (entries, tokens) = promised(promise);
        Promised { client: &promise.client.text, entries, tokens }
    };
    promises.iter().map(wired).collect()
}

fn entry(stand: &EntryRef) -> Entry<'_> {
    Entry {
        handle: &stand.handle,
        uuid: &stand.uuid,
        line: stand.line,
        turn: stand.turn,
        prompt: stand.prompt.as_deref(),
    }
}
