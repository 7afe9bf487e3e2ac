//! `undo`: reverts an op. An undo is an op itself, so it can be undone.

use crate::disk::TailFingerprint;
use crate::edit::effect::{FileEffect, backup_content, plan_effects};
use crate::error::{Error, FileChange};
use crate::ops::log::{OpChange, find_changes};
use crate::writer::{
    BackupStore, FileOp, Journal, Op, OpId, OpStatus, Plan, SessionWriter, ensure_undamaged, find_change,
};

/// Options of [`undo`].
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// The op to undo. By default, the newest op that is not undone.
    pub op: Option<u64>,
    /// Write even if another process is using the session.
    pub even_if_live: bool,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`undo`].
#[derive(Debug, Clone)]
pub struct UndoOutcome {
    /// The number of the new op. `None` in a dry run.
    pub op: Option<OpId>,
    /// The undone op.
    pub undone: OpId,
    /// The command of the undone op.
    pub command: String,
    /// The session id of the undone op.
    pub session: String,
    /// The description of the undone op.
    pub about: String,
    /// The change that was reverted, or made again if the undone op was an undo itself.
    pub change: OpChange,
    /// The effects on files.
    pub effects: Vec<FileEffect>,
}

/// Undoes an op. Returns an error if a file changed since, a backup is missing, or the op is not in effect.
pub fn undo(writer: &SessionWriter, request: &UndoRequest) -> Result<UndoOutcome, Error> {
    let journal = writer.read_journal()?;
    let backups = writer.open_backups()?;
    let op = resolve_op(&journal, request.op.map(OpId))?;
    let plan = Plan {
        command: "undo",
        session: op.session.clone(),
        about: format!("of {}: {} {}", op.id, op.command, op.about).trim_end().to_owned(),
        file_ops: build_reverse_ops(op, &backups)?,
        even_if_live: request.even_if_live,
    };
    let effects = plan_effects(&plan);
    let change = find_changes(&journal.ops).remove(&op.id).ok_or(Error::UnknownOp { op: op.id.0 })?;
    let change = OpChange { is_revert: !change.is_revert, ..change };
    let new_op = if request.dry_run { None } else { Some(writer.commit_undo(plan, op.id)?) };
    let (command, about) = (op.command.clone(), op.about.clone());
    let session = op.session.clone();
    Ok(UndoOutcome { op: new_op, undone: op.id, command, session, about, change, effects })
}

/// Finds the op to revert: the requested one, or the newest that is in effect and not an undo. An op that was undone and
/// redone is reverted by undoing the redo.
fn resolve_op(journal: &Journal, requested: Option<OpId>) -> Result<&Op, Error> {
    let Some(requested) = requested else {
        let newest = journal.ops.iter().rev().find(|op| op.status == OpStatus::Done && op.undoes.is_none());
        return newest.map(|op| follow_redos(journal, op)).ok_or(Error::NothingToUndo);
    };
    let op = journal.find_op(requested).ok_or(Error::UnknownOp { op: requested.0 })?;
    match op.status {
        OpStatus::Done => Ok(follow_redos(journal, op)),
        OpStatus::Undone(by) => Err(Error::NotApplied { op: requested.0, by: Some(by.0) }),
        OpStatus::Unknown => Err(Error::UnknownOutcome { op: requested.0 }),
        OpStatus::Unfinished | OpStatus::RolledBack => Err(Error::NotApplied { op: requested.0, by: None }),
    }
}

/// Follows pairs of undo and redo to the op that applied the change last.
fn follow_redos<'j>(journal: &'j Journal, mut op: &'j Op) -> &'j Op {
    let find_undo =
        |id: OpId| journal.ops.iter().rev().find(|op| op.undoes == Some(id) && op.was_completed());
    while let Some(redo) = find_undo(op.id).and_then(|undo| find_undo(undo.id)) {
        op = redo;
    }
    op
}

/// Builds the file operations that restore the state before every change of an op, in reverse order.
fn build_reverse_ops<'k>(op: &Op, backups: &'k BackupStore) -> Result<Vec<FileOp<'k>>, Error> {
    let mut file_ops = Vec::with_capacity(op.changes.len());
    for change in op.changes.iter().rev() {
        let path = change.path.clone();
        let changed_since = |difference: FileChange| Error::ChangedSinceOp {
            op: op.id.0,
            session: op.session.clone(),
            created: change.before.is_none(),
            path: path.clone(),
            change: difference,
        };
        // Take the fingerprint before the comparison, so that the commit notices every later change.
        let fingerprint = TailFingerprint::from_path(&path);
        if let Some(after) = &change.after
            && let Some(difference) = find_change(&path, after).map_err(Error::reading(&path))?
        {
            return Err(changed_since(difference));
        }
        if let Some(before) = &change.before
            && !backups.has_content(before)
        {
            return Err(Error::BackupGone { path });
        }
        match (&change.before, &change.after) {
            (Some(before), Some(_)) => {
                let fingerprint = fingerprint.map_err(Error::reading(&path))?;
                file_ops.push(FileOp::Replace {
                    path,
                    fingerprint,
                    content: backup_content(backups, before.clone()),
                });
            }
            (None, Some(_)) => file_ops.push(FileOp::Remove { path }),
            (Some(before), None) => {
                if std::fs::symlink_metadata(&path).is_ok() {
                    return Err(changed_since(FileChange::Appeared));
                }
                let from = before.trash.clone().ok_or(Error::BackupGone { path: path.clone() })?;
                ensure_undamaged(&from, before)?;
                file_ops.push(FileOp::Return { path, from });
            }
            (None, None) => {}
        }
    }
    Ok(file_ops)
}
