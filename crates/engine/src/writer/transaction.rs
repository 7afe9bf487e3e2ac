//! The locked state directory: the journal and the backups, with interrupted ops recovered.

use std::io;
use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::change_error::ChangeError;
use super::fs;
use super::journal::{Journal, Op, OpStatus};
use super::lock::StateLock;
use super::plan::Plan;
use super::record::{ChangeRecord, FileOpKind, JournalEvent, OpId};
use super::replace::{OldFileStatus, carry_lines, merge_draft_path};
use super::rollback::{Rollback, is_new_content, read_growth, settle_merge, starts_with_file};
use super::session_writer::SessionWriter;
use super::trash::{read_file_state, remove_path};
use crate::Error;
use crate::disk::ProcessTable;

/// The locked state directory.
pub(super) struct Transaction<'w> {
    pub(super) writer: &'w SessionWriter,
    pub(super) state_dir: PathBuf,
    pub(super) journal: Journal,
    pub(super) backups: BackupStore,
    /// The interrupted ops that could not be recovered, with the reason. Other files can still be written.
    unrecovered: Vec<(Op, Error)>,
    _lock: StateLock,
}

impl<'w> Transaction<'w> {
    /// Acquires the state lock and recovers interrupted ops.
    pub(super) fn begin(writer: &'w SessionWriter, command: &str) -> Result<Transaction<'w>, Error> {
        let state_dir = writer.state_dir()?.to_owned();
        let lock = StateLock::acquire(&state_dir, command)?;
        Transaction::with_lock(writer, state_dir, lock)
    }

    /// Does the same as [`Transaction::begin`] without waiting. Returns `None` if the lock is not available or there is no
    /// state directory.
    pub(super) fn try_begin(
        writer: &'w SessionWriter,
        command: &str,
    ) -> Option<Result<Transaction<'w>, Error>> {
        let state_dir = writer.state_dir().ok()?.to_owned();
        let lock = StateLock::try_acquire(&state_dir, command)?;
        Some(Transaction::with_lock(writer, state_dir, lock))
    }

    /// Reads the journal and recovers interrupted ops.
    fn with_lock(
        writer: &'w SessionWriter,
        state_dir: PathBuf,
        lock: StateLock,
    ) -> Result<Transaction<'w>, Error> {
        let journal = Journal::read(&state_dir)?;
        let backups = BackupStore::new(&state_dir);
        let mut transaction =
            Transaction { writer, state_dir, journal, backups, unrecovered: Vec::new(), _lock: lock };
        transaction.recover_all()?;
        transaction.settle_all()?;
        Ok(transaction)
    }

    /// Returns the table of other processes.
    pub(super) fn processes(&self) -> &'w dyn ProcessTable {
        &*self.writer.processes
    }

    /// Recovers every interrupted op, newest first. An op that cannot be recovered is added to `unrecovered`.
    ///
    /// An op is not recovered if a later op changed one of its files: it was completed, whatever the journal says.
    fn recover_all(&mut self) -> Result<(), Error> {
        let ops = &self.journal.ops;
        let interrupted: Vec<Op> = (0..ops.len())
            .filter(|&idx| ops[idx].status == OpStatus::Unfinished)
            .filter(|&idx| !ops[idx + 1..].iter().any(|later| shares_path(later, &ops[idx])))
            .map(|idx| ops[idx].clone())
            .collect();
        for op in interrupted.iter().rev() {
            if let Err(error) = self.recover_op(op) {
                self.unrecovered.push((op.clone(), error));
            }
        }
        if !interrupted.is_empty() {
            self.journal = Journal::read(&self.state_dir)?;
        }
        Ok(())
    }

    /// Rolls back an interrupted op, or completes it if another process has appended to its files since.
    fn recover_op(&mut self, op: &Op) -> Result<(), Error> {
        let was_extended = self.was_extended(op);
        if !was_extended.map_err(Error::writing(&self.state_dir))? {
            return self.roll_back(op.id, &op.changes, "the operation was interrupted");
        }
        for change in &op.changes {
            self.complete_change(change).map_err(|error| error.at(&change.path))?;
        }
        let after = op.changes.iter().map(|change| change.after.clone()).collect();
        self.journal.append_event(op.id, JournalEvent::Done { after, watched: false })
    }

    /// Returns the error of the failed recovery if the plan changes a file of an op that could not be recovered.
    pub(super) fn ensure_recovered(&mut self, plan: &Plan<'_>) -> Result<(), Error> {
        let is_affected = |op: &Op| {
            op.changes.iter().any(|change| plan.file_ops.iter().any(|file_op| file_op.path() == change.path))
        };
        match self.unrecovered.iter().position(|(op, _)| is_affected(op)) {
            Some(idx) => Err(self.unrecovered.remove(idx).1),
            None => Ok(()),
        }
    }

    /// Rolls back changes, the last one first, and records it in the journal with the reason `why`.
    pub(super) fn roll_back(&mut self, op: OpId, changes: &[ChangeRecord], why: &str) -> Result<(), Error> {
        let trash_dir = self.state_dir.join("trash");
        let rollback = Rollback { backups: &self.backups, processes: self.processes(), trash_dir, op };
        let mut watched = false;
        for (idx, change) in changes.iter().enumerate().rev() {
            let status = rollback.roll_back(change, idx).map_err(|error| error.at(&change.path))?;
            watched |= status == OldFileStatus::MaybeOpen;
        }
        self.journal.append_event(op, JournalEvent::RolledBack { why: why.to_owned(), watched })
    }

    /// Returns `true` if the op was fully applied and another process has appended since, so it must be completed rather
    /// than rolled back.
    fn was_extended(&self, op: &Op) -> io::Result<bool> {
        let mut was_extended = false;
        for change in &op.changes {
            match self.find_progress(change)? {
                ChangeProgress::Incomplete => return Ok(false),
                ChangeProgress::Complete => {}
                ChangeProgress::Extended => was_extended = true,
            }
        }
        Ok(was_extended)
    }

    /// Compares the files with the record of a change to find out how far it was applied.
    fn find_progress(&self, change: &ChangeRecord) -> io::Result<ChangeProgress> {
        let ChangeRecord { path, before, after, .. } = change;
        let current = read_file_state(path)?;
        Ok(match (change.kind, current) {
            (FileOpKind::Append, Some(current)) => {
                let start = before.as_ref().map_or(0, |before| before.len);
                let Ok(appended) = self.backups.chunks.read_all(change.bytes.as_deref().unwrap_or_default())
                else {
                    return Ok(ChangeProgress::Incomplete);
                };
                if current.len < start + appended.len() as u64 {
                    return Ok(ChangeProgress::Incomplete);
                }
                match fs::read_from_offset(&fs::open_file(path)?, start)?.strip_prefix(&appended[..]) {
                    None => ChangeProgress::Incomplete,
                    Some([]) => ChangeProgress::Complete,
                    Some(_) => ChangeProgress::Extended,
                }
            }
            (FileOpKind::Replace | FileOpKind::Create, Some(current)) => match after {
                Some(after) if current.is_same_content(after) => ChangeProgress::Complete,
                Some(after) if is_new_content(path, &current, before.as_ref(), after)? => {
                    ChangeProgress::Extended
                }
                _ => ChangeProgress::Incomplete,
            },
            (FileOpKind::Remove, None) => {
                let trash = before.as_ref().and_then(|before| before.trash.as_deref());
                ChangeProgress::from_complete(trash.is_some_and(Path::exists))
            }
            (FileOpKind::Return, Some(current)) => match (&change.from, after) {
                (Some(from), _) if !from.exists() => ChangeProgress::Complete,
                (Some(from), Some(after)) if current.len > after.len && starts_with_file(path, from)? => {
                    ChangeProgress::Extended
                }
                _ => ChangeProgress::Incomplete,
            },
            _ => ChangeProgress::Incomplete,
        })
    }

    /// Completes an applied change: copies lines that were appended to the old file, then removes the temporary files.
    fn complete_change(&self, change: &ChangeRecord) -> Result<(), ChangeError> {
        if let ChangeRecord {
            kind: FileOpKind::Replace,
            path,
            before: Some(before),
            after: Some(after),
            old: Some(old),
            ..
        } = change
        {
            if fs::link_metadata(old)?.is_some() {
                let lines = read_growth(old, before.len)?;
                carry_lines(path, after.len, &lines, &merge_draft_path(old), self.processes())?;
            }
            settle_merge(path, after.len, old, self.processes())?;
        }
        if let (FileOpKind::Return, Some(from)) = (change.kind, &change.from)
            && starts_with_file(&change.path, from)?
        {
            remove_path(from)?;
        }
        change.old.as_deref().map_or(Ok(()), remove_path)?;
        change.draft.as_deref().map_or(Ok(()), remove_path)?;
        Ok(())
    }
}

/// Returns `true` if both ops change a file at the same path.
fn shares_path(a: &Op, b: &Op) -> bool {
    a.changes.iter().any(|a| b.changes.iter().any(|b| a.path == b.path))
}

/// How far a change was applied.
enum ChangeProgress {
    Incomplete,
    Complete,
    /// Complete, and another process has appended since.
    Extended,
}

impl ChangeProgress {
    fn from_complete(is_complete: bool) -> ChangeProgress {
        if is_complete { ChangeProgress::Complete } else { ChangeProgress::Incomplete }
    }
}
