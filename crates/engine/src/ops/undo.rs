//! Takes an op back; that is an op itself, so an undo can be undone.

use crate::disk::TailFingerprint;
use crate::edit::effect::{Effects, effects, kept};
use crate::error::{Error, FileChange};
use crate::writer::{BackupStore, FileOp, Journal, Op, OpId, OpState, Plan, SessionWriter, drift};

/// Which op, and how.
#[derive(Debug, Clone, Default)]
pub struct UndoRequest {
    /// The op; the newest that is in force where none is named.
    pub op: Option<u64>,
    /// Also while somebody is at work in the session.
    pub even_if_live: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What was taken back.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The new op; none where it was only said.
    pub op: Option<OpId>,
    /// The op that was undone.
    pub undone: OpId,
    /// Its command.
    pub command: String,
    /// Its session.
    pub session: String,
    /// What it was about.
    pub about: String,
    /// What happens to which file.
    pub effects: Effects,
}

/// Takes an op back.
pub fn undo(pen: &SessionWriter, request: &UndoRequest) -> Result<Undo, Error> {
    let journal = pen.journal()?;
    let keep = pen.keep()?;
    let op = which(&journal, request.op.map(OpId))?;
    let plan = Plan {
        command: "undo",
        session: op.session.clone(),
        about: format!("of {}: {} {}", op.no, op.command, op.about).trim_end().to_owned(),
        deeds: reversed(op, &keep)?,
        even_if_live: request.even_if_live,
    };
    let effects = effects(&plan);
    let done = if request.dry_run { None } else { Some(pen.commit_undo(plan, op.no)?) };
    let (command, about) = (op.command.clone(), op.about.clone());
    Ok(Undo { op: done, undone: op.no, command, session: op.session.clone(), about, effects })
}

/// Finds the op to take back. An op that was undone and redone is taken back by undoing the redo.
fn which(journal: &Journal, named: Option<OpId>) -> Result<&Op, Error> {
    let Some(named) = named else {
        let newest = journal.ops.iter().rev().find(|op| op.is_in_force() && op.undoes.is_none());
        return newest.map(|op| redone(journal, op)).ok_or(Error::NothingToUndo);
    };
    let op = journal.op(named).ok_or(Error::UnknownOp { op: named.0 })?;
    if op.state != OpState::Done || op.undone_by.is_some() {
        return Err(Error::NotApplied { op: named.0, by: op.undone_by.map(|by| by.0) });
    }
    Ok(redone(journal, op))
}

/// Follows undo and redo to the op that did it last.
fn redone<'j>(journal: &'j Journal, mut op: &'j Op) -> &'j Op {
    let done = |undoes: OpId| {
        journal.ops.iter().rev().find(|op| op.undoes == Some(undoes) && op.state == OpState::Done)
    };
    while let Some(redo) = done(op.no).and_then(|undo| done(undo.no)) {
        op = redo;
    }
    op
}

/// Swaps before and after of every change, the last first.
fn reversed<'k>(op: &Op, keep: &'k BackupStore) -> Result<Vec<FileOp<'k>>, Error> {
    let mut deeds = Vec::with_capacity(op.changes.len());
    for change in op.changes.iter().rev() {
        let path = change.path.clone();
        let not_as_left = |drift| Error::ChangedSinceOp {
            op: op.no.0,
            session: op.session.clone(),
            made: change.before.is_none(),
            path: path.clone(),
            drift,
        };
        if let Some(after) = &change.after
            && let Some(drift) = drift(&path, after).map_err(Error::reading(&path))?
        {
            return Err(not_as_left(drift));
        }
        if let Some(before) = &change.before
            && !keep.holds(before)
        {
            return Err(Error::BackupGone { path });
        }
        match (&change.before, &change.after) {
            (Some(before), Some(_)) => {
                let stamp = TailFingerprint::of(&path).map_err(Error::reading(&path))?;
                deeds.push(FileOp::Replace { path, stamp, content: kept(keep, before.clone()) });
            }
            (None, Some(_)) => deeds.push(FileOp::Remove { path }),
            (Some(before), None) => {
                if std::fs::symlink_metadata(&path).is_ok() {
                    return Err(not_as_left(FileChange::Appeared));
                }
                let from = before.trash.clone().ok_or(Error::BackupGone { path: path.clone() })?;
                deeds.push(FileOp::Return { path, from });
            }
            (None, None) => {}
        }
    }
    Ok(deeds)
}
