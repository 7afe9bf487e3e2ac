//! `log` and `prune`: lists the changes that rethread made, and deletes old backups.

use std::collections::HashMap;

use rethread_core::entry::Timestamp;

use crate::error::Error;
pub use crate::writer::OpStatus;
use crate::writer::{self, OpId, SessionWriter};

/// An op (operation) of the journal.
#[derive(Debug, Clone)]
pub struct OpRow {
    /// The id of the op.
    pub id: OpId,
    /// The time at which the op started.
    pub started_at: Timestamp,
    /// The rethread command that ran the op.
    pub command: String,
    /// The id of the session that the op changed.
    pub session: String,
    /// A description of the change.
    pub about: String,
    /// Whether the op is unfinished, done, undone, rolled back or unknown.
    pub status: OpStatus,
    /// The earlier op that this op undid.
    pub undoes: Option<OpId>,
    /// The change that this op made, reverted or made again.
    pub change: OpChange,
    /// Whether the backups of the op were deleted.
    pub pruned: bool,
    /// The changed files.
    pub paths: Vec<std::path::PathBuf>,
}

/// The change of an op that is not an undo, and what an op did with it. An undo reverts the change, an undo of that
/// undo makes it again, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpChange {
    /// The op that made the change first.
    pub op: OpId,
    /// The command and the description of that op.
    pub text: String,
    /// Whether the change was reverted. Then undoing the op redoes the change.
    pub is_revert: bool,
}

/// Finds the change of each op, by its id. `ops` are sorted by time.
pub(super) fn find_changes(ops: &[writer::Op]) -> HashMap<OpId, OpChange> {
    let mut changes: HashMap<OpId, OpChange> = HashMap::with_capacity(ops.len());
    for op in ops {
        let undone = op.undoes.and_then(|undone| changes.get(&undone)).cloned();
        let change = match undone {
            Some(change) => OpChange { is_revert: !change.is_revert, ..change },
            // The undone op may be missing in a damaged journal.
            None => OpChange {
                op: op.id,
                text: format!("{} {}", op.command, op.about).trim_end().to_owned(),
                is_revert: false,
            },
        };
        changes.insert(op.id, change);
    }
    changes
}

/// The result of [`log`].
#[derive(Debug)]
pub struct OpLog {
    /// The ops, oldest first.
    pub ops: Vec<OpRow>,
    /// The damage of the journal, if any. Ops may be missing or of unknown outcome then.
    pub damage: Option<Error>,
}

/// Lists all ops.
pub fn log(writer: &SessionWriter) -> Result<OpLog, Error> {
    let journal = writer.read_journal()?;
    let damage = journal.ensure_undamaged().err();
    let changes = find_changes(&journal.ops);
    let rows = journal.ops.into_iter().filter_map(|op| Some(build_row(changes.get(&op.id)?.clone(), op)));
    Ok(OpLog { ops: rows.collect(), damage })
}

fn build_row(change: OpChange, op: writer::Op) -> OpRow {
    OpRow {
        change,
        id: op.id,
        started_at: op.time,
        command: op.command,
        session: op.session,
        about: op.about,
        status: op.status,
        undoes: op.undoes,
        pruned: op.pruned,
        paths: op.changes.into_iter().map(|change| change.path).collect(),
    }
}

/// The result of [`prune`].
#[derive(Debug, Clone)]
pub struct PruneOutcome {
    /// The ops with deleted backups, or with backups that would be deleted. They stay in the log.
    pub ops: Vec<OpId>,
    /// The number of bytes freed, or that would be freed.
    pub bytes: u64,
    /// Whether this was a dry run, which deletes nothing.
    pub dry_run: bool,
}

/// Deletes the backups and the trash of ops that began before a time, except those of the newest op of each session.
///
/// If `dry_run` is set, nothing is deleted.
pub fn prune(writer: &SessionWriter, before: Timestamp, dry_run: bool) -> Result<PruneOutcome, Error> {
    let pruned = writer.prune(before, dry_run)?;
    Ok(PruneOutcome { ops: pruned.ops, bytes: pruned.bytes, dry_run })
}
