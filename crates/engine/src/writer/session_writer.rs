//! The entry point of the writer: the state directory and the fail points for crash tests.

use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::journal::{self, Journal, OpStatus};
use super::plan::Plan;
use super::record::OpId;
use super::transaction::Transaction;
use crate::Error;

/// Changes session files, with a journal and backups in a state directory. No file is open between calls.
#[derive(Debug)]
pub struct SessionWriter {
    /// The directory of the journal and the backups. `None` if the writer is read-only.
    state_dir: Option<PathBuf>,
    #[cfg(debug_assertions)]
    fail_point: FailPoint,
}

/// The step after which to abort.
#[cfg(debug_assertions)]
#[derive(Debug, Default)]
struct FailPoint {
    after: Option<u32>,
    steps: std::sync::atomic::AtomicU32,
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
        SessionWriter {
            state_dir,
            #[cfg(debug_assertions)]
            fail_point: FailPoint::default(),
        }
    }

    /// Aborts the process after this many steps. For crash tests.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn with_fail_point(mut self, steps: Option<u32>) -> SessionWriter {
        self.fail_point.after = steps;
        self
    }

    /// Counts a step, and aborts if the fail point is reached.
    #[cfg(debug_assertions)]
    pub(super) fn step(&self, _name: &'static str) {
        let count = 1 + self.fail_point.steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.fail_point.after == Some(count) {
            std::process::abort();
        }
    }

    /// Does nothing: fail points exist only in debug builds.
    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "fail points exist only in debug builds")]
    pub(super) fn step(&self, _name: &'static str) {}

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
        if journal.ops.iter().all(|op| op.status != OpStatus::Unfinished) || !journal::exists(state_dir) {
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
