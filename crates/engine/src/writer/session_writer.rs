//! The pen itself: where it keeps its journal, and the points at which tests break it off.

use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::journal::{self, Journal, OpState};
use super::plan::Plan;
use super::record::OpId;
use super::transaction::Transaction;
use crate::Error;

/// The only thing that changes session files. It knows its state folder and nothing else.
#[derive(Debug)]
pub struct SessionWriter {
    state: PathBuf,
    #[cfg(debug_assertions)]
    fault: Fault,
}

/// Where to break off.
#[cfg(debug_assertions)]
#[derive(Debug, Default)]
struct Fault {
    after: Option<u32>,
    steps: std::sync::atomic::AtomicU32,
}

impl SessionWriter {
    /// Makes a pen that keeps journal and backups in this folder; with an empty path it cannot write.
    pub fn new(state: PathBuf) -> SessionWriter {
        SessionWriter {
            state,
            #[cfg(debug_assertions)]
            fault: Fault::default(),
        }
    }

    /// Lets the process abort after so many steps: a crash at a chosen point, for tests.
    #[cfg(debug_assertions)]
    #[must_use]
    pub fn with_fail_point(mut self, steps: Option<u32>) -> SessionWriter {
        self.fault.after = steps;
        self
    }

    /// Notes that a step was made.
    #[cfg(debug_assertions)]
    pub(super) fn step(&self, _name: &'static str) {
        let made = 1 + self.fault.steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if self.fault.after == Some(made) {
            std::process::abort();
        }
    }

    /// Steps are of interest to tests only.
    #[cfg(not(debug_assertions))]
    #[expect(clippy::unused_self, reason = "tests count the steps of a pen")]
    pub(super) fn step(&self, _name: &'static str) {}

    /// Returns the folder for journal and backups.
    pub(super) fn state(&self) -> Result<&Path, Error> {
        if self.state.as_os_str().is_empty() { Err(Error::NoState) } else { Ok(&self.state) }
    }

    /// Writes what a plan says. `check` looks at the outcome; where it fails, all is as it was before.
    pub(crate) fn commit(
        &self,
        plan: Plan<'_>,
        check: impl FnOnce() -> Result<(), Error>,
    ) -> Result<OpId, Error> {
        Transaction::take(self, plan.command)?.write(plan, None, check)
    }

    /// Writes a plan that takes an op back.
    pub(crate) fn commit_undo(&self, plan: Plan<'_>, undone: OpId) -> Result<OpId, Error> {
        Transaction::take(self, plan.command)?.write(plan, Some(undone), || Ok(()))
    }

    /// Reads the journal; what was cut short is ended first, unless another process is at work.
    pub(crate) fn journal(&self) -> Result<Journal, Error> {
        let state = self.state()?;
        let journal = Journal::read(state)?;
        if journal.ops.iter().all(|op| op.state != OpState::Unfinished) || !journal::exists(state) {
            return Ok(journal);
        }
        match Transaction::take_if_free(self, "log") {
            Some(desk) => desk.map(|desk| desk.journal),
            None => Ok(journal),
        }
    }

    /// Opens the backups.
    pub(crate) fn keep(&self) -> Result<BackupStore, Error> {
        Ok(BackupStore::at(self.state()?))
    }
}
