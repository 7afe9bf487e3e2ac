//! What the writing commands say in `--json`.

use rethread_engine::OpId;
use rethread_engine::ops::{self, Effects};
use serde::Serialize;

use super::{Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Effect {
    path: String,
    effect: &'static str,
    bytes: Option<u64>,
}

pub(crate) fn effect_list(effects: &Effects) -> Vec<Effect> {
    let row = |(path, effect): &(std::path::PathBuf, ops::Effect)| {
        let (effect, bytes) = match effect {
            ops::Effect::Append(bytes) => ("append", Some(*bytes)),
            ops::Effect::Replace => ("replace", None),
            ops::Effect::Create => ("create", None),
            ops::Effect::Remove => ("remove", None),
            ops::Effect::Return => ("return", None),
        };
        Effect { path: path.display().to_string(), effect, bytes }
    };
    effects.iter().map(row).collect()
}

#[derive(Serialize)]
pub(crate) struct Undo<'a> {
    op: Option<u64>,
    undoes: u64,
    command: &'a str,
    session: &'a str,
    about: &'a str,
    dry_run: bool,
    effects: Vec<Effect>,
}

/// What `undo` did.
pub(crate) fn undo(undo: &ops::Undo) -> Wire<Undo<'_>> {
    wire(
        "undo",
        Undo {
            op: undo.op.map(|OpId(op)| op),
            undoes: undo.undone.0,
            command: &undo.command,
            session: &undo.session,
            about: &undo.about,
            dry_run: undo.op.is_none(),
            effects: effect_list(&undo.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Rename<'a> {
    op: Option<u64>,
    session: &'a str,
    before: &'a str,
    title: &'a str,
    dry_run: bool,
    effects: Vec<Effect>,
}

/// What `rename` did.
pub(crate) fn rename(rename: &ops::Rename) -> Wire<Rename<'_>> {
    wire(
        "rename",
        Rename {
            op: rename.op.map(|OpId(op)| op),
            session: &rename.session,
            before: &rename.before,
            title: &rename.title,
            dry_run: rename.op.is_none(),
            effects: effect_list(&rename.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Op<'a> {
    op: u64,
    time: Option<String>,
    command: &'a str,
    session: &'a str,
    about: &'a str,
    state: &'static str,
    undone_by: Option<u64>,
    undoes: Option<u64>,
    pruned: bool,
    paths: Vec<String>,
}

/// A row of `log`.
pub(crate) fn op(row: &ops::OpRow) -> Wire<Op<'_>> {
    let (state, undone_by) = match row.state {
        ops::OpState::Done => ("done", None),
        ops::OpState::Undone(by) => ("undone", Some(by.0)),
        ops::OpState::RolledBack => ("rolled-back", None),
        ops::OpState::Unfinished => ("unfinished", None),
    };
    wire(
        "op",
        Op {
            op: row.no.0,
            time: time(Some(row.at)),
            command: &row.command,
            session: &row.session,
            about: &row.about,
            state,
            undone_by,
            undoes: row.undoes.map(|OpId(op)| op),
            pruned: row.pruned,
            paths: row.paths.iter().map(|path| path.display().to_string()).collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Remove<'a> {
    op: Option<u64>,
    session: &'a str,
    bytes: u64,
    dry_run: bool,
    effects: Vec<Effect>,
}

/// What `rm` did to a session.
pub(crate) fn remove(remove: &ops::Remove) -> Wire<Remove<'_>> {
    wire(
        "rm",
        Remove {
            op: remove.op.map(|OpId(op)| op),
            session: &remove.session,
            bytes: remove.bytes,
            dry_run: remove.op.is_none(),
            effects: effect_list(&remove.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Restore<'a> {
    op: Option<u64>,
    session: &'a str,
    before_op: u64,
    dry_run: bool,
    effects: Vec<Effect>,
}

/// What `restore` did.
pub(crate) fn restore(restore: &ops::Restore, dry_run: bool) -> Wire<Restore<'_>> {
    wire(
        "restore",
        Restore {
            op: restore.op.map(|OpId(op)| op),
            session: &restore.session,
            before_op: restore.first.0,
            dry_run,
            effects: effect_list(&restore.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct Prune {
    ops: Vec<u64>,
    bytes: u64,
    dry_run: bool,
}

/// What `log --prune` threw away.
pub(crate) fn prune(prune: &ops::Prune) -> Wire<Prune> {
    let ops = prune.ops.iter().map(|op| op.0).collect();
    wire("prune", Prune { ops, bytes: prune.bytes, dry_run: prune.dry_run })
}
