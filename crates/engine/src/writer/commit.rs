//! Executes a plan: every step of the write protocol in order.

use std::io;
use std::path::{Path, PathBuf};

use super::file_op::PreparedOp;
use super::plan::{FileOp, Plan};
use super::precondition::ensure_not_live;
use super::record::{ChangeRecord, FileState, JournalEvent, OpId};
use super::replace::OldFileStatus;
use super::rollback::remove_created_dirs;
use super::transaction::Transaction;
use crate::Error;

impl Transaction<'_> {
    /// Executes a plan and returns the id of the new op. If anything fails, all changes are rolled back.
    ///
    /// `undoes` is the op that the plan undoes. `verify` is called after all files have changed and checks the result.
    pub(super) fn commit(
        mut self,
        mut plan: Plan<'_>,
        undoes: Option<OpId>,
        verify: impl FnOnce() -> Result<(), Error>,
    ) -> Result<OpId, Error> {
        let op = self.journal.next_op_id();
        let is_strict = !plan.even_if_live;
        let named_paths: Vec<PathBuf> =
            plan.file_ops.iter().map(|file_op| file_op.path().to_owned()).collect();
        for file_op in &mut plan.file_ops {
            resolve_links(file_op)?;
        }
        self.ensure_recovered(&plan)?;
        ensure_not_live(&plan, &named_paths, &self.journal, self.processes())?;
        let mut prepared = Vec::with_capacity(plan.file_ops.len());
        for (idx, file_op) in plan.file_ops.into_iter().enumerate() {
            let prepared_op = PreparedOp::prepare(file_op, op, idx, &self.backups, &self.state_dir)?;
            prepared_op.check_precondition()?;
            prepared.push(prepared_op);
        }
        let changes: Vec<ChangeRecord> =
            prepared.iter().map(|prepared_op| prepared_op.change.clone()).collect();
        let command = plan.command.to_owned();
        let begun_event =
            JournalEvent::Begun { command, session: plan.session, about: plan.about, undoes, changes };
        self.journal.append_event(op, begun_event)?;
        let applied = self.apply_all(op, &mut prepared, is_strict);
        let finished = applied.and_then(|()| verify()).and_then(|()| self.finish_all(&mut prepared));
        let written = finished.and_then(|watched| {
            self.journal
                .write_event(op, JournalEvent::Done { after: collect_states_after(&prepared), watched })
        });
        match written {
            Err(error) => {
                let changes: Vec<ChangeRecord> =
                    prepared.into_iter().map(|prepared_op| prepared_op.change).collect();
                Err(self.roll_back_after(op, &changes, error))
            }
            Ok(file) => {
                self.remove_emptied_dirs(undoes);
                self.journal
                    .sync(&file)
                    .map_err(|error| Error::NotDurable { op: op.0, source: Box::new(error) })?;
                Ok(op)
            }
        }
    }

    /// Rolls back the changes of an op that failed with `error`. Returns the error to report.
    fn roll_back_after(&mut self, op: OpId, changes: &[ChangeRecord], error: Error) -> Error {
        match self.roll_back(op, changes, &error.to_string()) {
            Ok(()) => error,
            Err(rollback) => Error::RollbackFailed { error: Box::new(error), rollback: Box::new(rollback) },
        }
    }

    /// Removes the directories that the undone op created, if they are empty now.
    fn remove_emptied_dirs(&self, undoes: Option<OpId>) {
        if let Some(undone_op) = undoes.and_then(|id| self.journal.find_op(id)) {
            undone_op.changes.iter().rev().for_each(remove_created_dirs);
        }
    }

    /// Writes all drafts, records that they are ready, and then applies the changes in order.
    fn apply_all(&mut self, op: OpId, prepared: &mut [PreparedOp<'_>], is_strict: bool) -> Result<(), Error> {
        for prepared_op in &mut *prepared {
            prepared_op.write_draft()?;
        }
        self.journal.append_event(op, JournalEvent::Ready { after: collect_states_after(prepared) })?;
        for prepared_op in prepared {
            prepared_op.check_precondition()?;
            let result = prepared_op.apply(self.processes(), is_strict);
            result.map_err(|error| error.at(&prepared_op.change.path))?;
        }
        Ok(())
    }

    /// Finishes all file operations after the verification. Returns `true` if another process may still have a replaced
    /// file open.
    fn finish_all(&self, prepared: &mut [PreparedOp<'_>]) -> Result<bool, Error> {
        let mut watched = false;
        for prepared_op in prepared {
            let result = prepared_op.finish(self.processes());
            let status = result.map_err(|error| error.at(&prepared_op.change.path))?;
            watched |= status == OldFileStatus::MaybeOpen;
        }
        Ok(watched)
    }
}

/// Returns the state of each file after its change. `None` for a removed file.
fn collect_states_after(prepared: &[PreparedOp<'_>]) -> Vec<Option<FileState>> {
    prepared.iter().map(|prepared_op| prepared_op.change.after.clone()).collect()
}

/// Replaces the path of a file operation by the real path: a new file must not replace a link to the old one.
fn resolve_links(file_op: &mut FileOp<'_>) -> Result<(), Error> {
    let path = file_op.path().to_owned();
    let real_path = match file_op {
        FileOp::Append { .. } | FileOp::Replace { .. } => std::fs::canonicalize(&path),
        FileOp::Create { .. } | FileOp::Remove { .. } | FileOp::Return { .. } => resolve_parent(&path),
    };
    file_op.set_path(real_path.map_err(Error::reading(&path))?);
    Ok(())
}

/// Resolves the links in the existing ancestors of a path.
fn resolve_parent(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let existing = path.ancestors().skip(1).find(|dir| dir.exists()).unwrap_or(Path::new("/"));
    let rest = path.strip_prefix(existing).unwrap_or(&path);
    Ok(std::fs::canonicalize(existing)?.join(rest))
}
