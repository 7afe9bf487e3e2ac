//! The locked state directory: the journal and the backups, with interrupted ops recovered.

use std::io;
use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::files::remove_if_exists;
use super::journal::{Journal, Op, OpStatus};
use super::lock::StateLock;
use super::plan::Plan;
use super::record::{ChangeRecord, FileOpKind, JournalEvent, OpId};
use super::replace::{append_durably, read_from_offset};
use super::rollback::{common_prefix_len, is_new_content, roll_back};
use super::session_writer::SessionWriter;
use super::trash::{read_file_state, remove_path};
use crate::Error;
use crate::disk::open_file;

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
        Ok(transaction)
    }

    /// Recovers every interrupted op, newest first. An op that cannot be recovered is added to `unrecovered`.
    fn recover_all(&mut self) -> Result<(), Error> {
        let interrupted: Vec<Op> =
            self.journal.ops.iter().filter(|op| op.status == OpStatus::Unfinished).cloned().collect();
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
            self.complete_change(change).map_err(Error::writing(&change.path))?;
            self.writer.step("change completed");
        }
        let after = op.changes.iter().map(|change| change.after.clone()).collect();
        self.journal.append_event(op.id, JournalEvent::Done { after })
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
        for change in changes.iter().rev() {
            roll_back(change, &self.backups).map_err(Error::writing(&change.path))?;
            self.writer.step("change rolled back");
        }
        self.journal.append_event(op, JournalEvent::RolledBack { why: why.to_owned() })
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
                match read_from_offset(&open_file(path)?, start)?.strip_prefix(&appended[..]) {
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
            (FileOpKind::Return, Some(_)) => {
                ChangeProgress::from_complete(change.from.as_ref().is_some_and(|from| !from.exists()))
            }
            _ => ChangeProgress::Incomplete,
        })
    }

    /// Completes an applied change: copies bytes that were appended to the old file, then removes the temporary files.
    fn complete_change(&self, change: &ChangeRecord) -> io::Result<()> {
        let ChangeRecord { path, before, after, .. } = change;
        if let (FileOpKind::Replace, Some(old), Some(before), Some(after)) =
            (change.kind, &change.old, before, after)
            && let Ok(old) = open_file(old)
        {
            let appended = read_from_offset(&old, before.len)?;
            let already_copied = read_from_offset(&open_file(path)?, after.len)?;
            append_durably(path, &appended[common_prefix_len(&appended, &already_copied)..])?;
        }
        change.old.as_deref().map_or(Ok(()), remove_if_exists)?;
        change.draft.as_deref().map_or(Ok(()), remove_path)
    }
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
