//! The entry point of the writer.

use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::journal::{self, Journal, Op, OpStatus};
use super::plan::Plan;
use super::record::OpId;
use super::transaction::Transaction;
use crate::Error;
use crate::disk::{ProcessTable, SystemProcesses};

/// Changes session files, with a journal and backups in a state directory. No file is open between calls.
#[derive(Debug)]
pub struct SessionWriter {
    /// The directory of the journal and the backups. `None` if the writer is read-only.
    state_dir: Option<PathBuf>,
    pub(super) processes: Box<dyn ProcessTable>,
}

impl SessionWriter {
    /// Creates a writer that stores its journal and backups in this directory.
    pub fn new(state_dir: PathBuf) -> SessionWriter {
        SessionWriter::with_state_dir(Some(state_dir))
    }

    /// Creates a writer that refuses to write. Every attempt returns [`Error::NoStateDir`].
    pub fn read_only() -> SessionWriter {
        SessionWriter::with_state_dir(None)
    }

    fn with_state_dir(state_dir: Option<PathBuf>) -> SessionWriter {
        SessionWriter { state_dir, processes: Box::new(SystemProcesses) }
    }

    /// Uses another table of processes.
    #[must_use]
    pub fn with_process_table(mut self, processes: Box<dyn ProcessTable>) -> SessionWriter {
        self.processes = processes;
        self
    }

    /// Returns the state directory. Returns [`Error::NoStateDir`] if there is none.
    pub(super) fn state_dir(&self) -> Result<&Path, Error> {
        self.state_dir.as_deref().ok_or(Error::NoStateDir)
    }

    /// Executes a plan and returns the id of the new op. `verify` is called after all files have changed and checks the
    /// result. If anything fails, all changes are rolled back.
    pub(crate) fn commit(
        &self,
        plan: Plan<'_>,
        verify: impl FnOnce() -> Result<(), Error>,
    ) -> Result<OpId, Error> {
        Transaction::begin(self, plan.command)?.commit(plan, None, verify)
    }

    /// Executes a plan that undoes the op `undone`, and returns the id of the new op.
    pub(crate) fn commit_undo(&self, plan: Plan<'_>, undone: OpId) -> Result<OpId, Error> {
        Transaction::begin(self, plan.command)?.commit(plan, Some(undone), || Ok(()))
    }

    /// Reads the journal. Recovers interrupted ops first, unless the lock is not available.
    pub(crate) fn read_journal(&self) -> Result<Journal, Error> {
        let state_dir = self.state_dir()?;
        let journal = Journal::read(state_dir)?;
        let is_settled = |op: &Op| op.status != OpStatus::Unfinished && !op.watched;
        if journal.ops.iter().all(is_settled) || !journal::exists(state_dir) {
            return Ok(journal);
        }
        match Transaction::try_begin(self, "log") {
            Some(transaction) => transaction.map(|transaction| transaction.journal),
            None => Ok(journal),
        }
    }

    /// Returns the backups in the state directory. Returns [`Error::NoStateDir`] if there is none.
    pub(crate) fn open_backups(&self) -> Result<BackupStore, Error> {
        Ok(BackupStore::new(self.state_dir()?))
    }
}
