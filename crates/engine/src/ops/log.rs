//! What rethread has changed so far.

use rethread_core::entry::Timestamp;

use crate::error::Error;
use crate::writer::{self, OpId, SessionWriter};

/// What became of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpState {
    /// It was cut short, and another process is at work now; the next op ends it.
    Unfinished,
    /// It is in force.
    Done,
    /// It was undone by another op.
    Undone(OpId),
    /// It failed, and was taken back at once.
    RolledBack,
}

/// An op.
#[derive(Debug, Clone)]
pub struct OpRow {
    /// Its number.
    pub no: OpId,
    /// When it began.
    pub at: Timestamp,
    /// The command.
    pub command: String,
    /// The session it was about.
    pub session: String,
    /// More words about it.
    pub about: String,
    /// What became of it.
    pub state: OpState,
    /// The op that it undid.
    pub undoes: Option<OpId>,
    /// Whether its backups were thrown away.
    pub pruned: bool,
    /// The files it changed.
    pub paths: Vec<std::path::PathBuf>,
}

/// Lists all ops, oldest first.
pub fn log(pen: &SessionWriter) -> Result<Vec<OpRow>, Error> {
    Ok(pen.journal()?.ops.into_iter().map(row).collect())
}

fn row(op: writer::Op) -> OpRow {
    let state = match (op.state, op.undone_by) {
        (writer::OpState::Unfinished, _) => OpState::Unfinished,
        (writer::OpState::RolledBack, _) => OpState::RolledBack,
        (writer::OpState::Done, Some(by)) => OpState::Undone(by),
        (writer::OpState::Done, None) => OpState::Done,
    };
    OpRow {
        no: op.no,
        at: op.at,
        command: op.command,
        session: op.session,
        about: op.about,
        state,
        undoes: op.undoes,
        pruned: op.pruned,
        paths: op.changes.into_iter().map(|change| change.path).collect(),
    }
}

/// What was, or would be, thrown away.
#[derive(Debug, Clone)]
pub struct Prune {
    /// The ops whose backups go; their lines in the log stay.
    pub ops: Vec<OpId>,
    /// How much room that makes.
    pub bytes: u64,
    /// Whether it was only said.
    pub dry_run: bool,
}

/// Throws away the backups and the trash of ops before a moment, but never of the newest op of a session.
pub fn prune(pen: &SessionWriter, before: Timestamp, dry_run: bool) -> Result<Prune, Error> {
    let pruned = pen.prune(before, dry_run)?;
    Ok(Prune { ops: pruned.ops, bytes: pruned.bytes, dry_run })
}
