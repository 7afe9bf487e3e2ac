//! JSON of `undo`, `rename`, `log`, `rm` and `restore`.

use rethread_engine::OpId;
use rethread_engine::ops;
use rethread_engine::ops::{FileEffect, FileOpKind};
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct EffectJson {
    path: String,
    effect: &'static str,
    bytes: Option<u64>,
}

/// Builds the list of changed files. `bytes` is the number of appended bytes.
pub(crate) fn build_effects(effects: &[FileEffect]) -> Vec<EffectJson> {
    let to_json = |effect: &FileEffect| {
        let name = match effect.kind {
            FileOpKind::Append => "append",
            FileOpKind::Replace => "replace",
            FileOpKind::Create => "create",
            FileOpKind::Remove => "remove",
            FileOpKind::Return => "return",
        };
        EffectJson { path: effect.path.display().to_string(), effect: name, bytes: effect.appended }
    };
    effects.iter().map(to_json).collect()
}

#[derive(Serialize)]
pub(crate) struct UndoJson<'a> {
    op: Option<u64>,
    undoes: u64,
    command: &'a str,
    session: &'a str,
    about: &'a str,
    dry_run: bool,
    effects: Vec<EffectJson>,
}

/// Builds the `undo` object of `undo`. An `op` of `null` means a dry run.
pub(crate) fn build_undo(undo: &ops::undo::UndoOutcome) -> ObjectJson<UndoJson<'_>> {
    build_object(
        "undo",
        UndoJson {
            op: undo.op.map(|OpId(op)| op),
            undoes: undo.undone.0,
            command: &undo.command,
            session: &undo.session,
            about: &undo.about,
            dry_run: undo.op.is_none(),
            effects: build_effects(&undo.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct RenameJson<'a> {
    op: Option<u64>,
    session: &'a str,
    before: &'a str,
    title: &'a str,
    dry_run: bool,
    effects: Vec<EffectJson>,
}

/// Builds the `rename` object of `rename`. An `op` of `null` means a dry run.
pub(crate) fn build_rename(rename: &ops::rename::RenameOutcome) -> ObjectJson<RenameJson<'_>> {
    build_object(
        "rename",
        RenameJson {
            op: rename.op.map(|OpId(op)| op),
            session: &rename.session,
            before: &rename.old_title,
            title: &rename.title,
            dry_run: rename.op.is_none(),
            effects: build_effects(&rename.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct OpJson<'a> {
    op: u64,
    time: Option<String>,
    command: &'a str,
    session: &'a str,
    about: &'a str,
    status: &'static str,
    undone_by: Option<u64>,
    undoes: Option<u64>,
    pruned: bool,
    paths: Vec<String>,
}

/// Builds the `op` object of `log`: one operation of the journal.
pub(crate) fn build_op(row: &ops::log::OpRow) -> ObjectJson<OpJson<'_>> {
    let (status, undone_by) = match row.status {
        ops::log::OpStatus::Done => ("done", None),
        ops::log::OpStatus::Undone(by) => ("undone", Some(by.0)),
        ops::log::OpStatus::RolledBack => ("rolled-back", None),
        ops::log::OpStatus::Unfinished => ("unfinished", None),
        ops::log::OpStatus::Unknown => ("unknown", None),
    };
    build_object(
        "op",
        OpJson {
            op: row.id.0,
            time: format_time(Some(row.started_at)),
            command: &row.command,
            session: &row.session,
            about: &row.about,
            status,
            undone_by,
            undoes: row.undoes.map(|OpId(op)| op),
            pruned: row.pruned,
            paths: row.paths.iter().map(|path| path.display().to_string()).collect(),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct RemoveJson<'a> {
    op: Option<u64>,
    session: &'a str,
    bytes: u64,
    dry_run: bool,
    effects: Vec<EffectJson>,
}

/// Builds the `rm` object of `rm` for one session. An `op` of `null` means a dry run.
pub(crate) fn build_remove(remove: &ops::rm::RemoveOutcome) -> ObjectJson<RemoveJson<'_>> {
    build_object(
        "rm",
        RemoveJson {
            op: remove.op.map(|OpId(op)| op),
            session: &remove.session,
            bytes: remove.bytes,
            dry_run: remove.op.is_none(),
            effects: build_effects(&remove.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct RestoreJson<'a> {
    op: Option<u64>,
    session: &'a str,
    before_op: Option<u64>,
    backup_file: Option<String>,
    dry_run: bool,
    effects: Vec<EffectJson>,
}

/// Builds the `restore` object of `restore`.
pub(crate) fn build_restore(
    restore: &ops::restore::RestoreOutcome,
    dry_run: bool,
) -> ObjectJson<RestoreJson<'_>> {
    build_object(
        "restore",
        RestoreJson {
            op: restore.op.map(|OpId(op)| op),
            session: &restore.session,
            before_op: restore.first.map(|OpId(op)| op),
            backup_file: restore.backup_file.as_ref().map(|path| path.display().to_string()),
            dry_run,
            effects: build_effects(&restore.effects),
        },
    )
}

#[derive(Serialize)]
pub(crate) struct PruneJson {
    ops: Vec<u64>,
    bytes: u64,
    dry_run: bool,
}

/// Builds the `prune` object of `log --prune`: the operations that lost their backups, and the freed bytes.
pub(crate) fn build_prune(prune: &ops::log::PruneOutcome) -> ObjectJson<PruneJson> {
    let ops = prune.ops.iter().map(|op| op.0).collect();
    build_object("prune", PruneJson { ops, bytes: prune.bytes, dry_run: prune.dry_run })
}
