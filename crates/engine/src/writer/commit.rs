//! Executes a plan: every step of the write protocol in order.

use std::io;
use std::path::{Path, PathBuf};

use super::file_op::PreparedOp;
use super::plan::{FileOp, Plan};
use super::precondition::ensure_not_live;
use super::record::{ChangeRecord, FileState, JournalEvent, OpId};
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
        let named_paths: Vec<PathBuf> =
            plan.file_ops.iter().map(|file_op| file_op.path().to_owned()).collect();
        for file_op in &mut plan.file_ops {
            resolve_links(file_op)?;
        }
        self.ensure_recovered(&plan)?;
        ensure_not_live(&plan, &named_paths, &self.journal)?;
        let mut prepared = Vec::with_capacity(plan.file_ops.len());
        for (idx, file_op) in plan.file_ops.into_iter().enumerate() {
            let prepared_op = PreparedOp::prepare(file_op, op, idx, &self.backups, &self.state_dir)?;
            prepared_op.check_precondition()?;
            self.writer.step("backed up");
            prepared.push(prepared_op);
        }
        let changes: Vec<ChangeRecord> =
            prepared.iter().map(|prepared_op| prepared_op.change.clone()).collect();
        let command = plan.command.to_owned();
        let begun_event =
            JournalEvent::Begun { command, session: plan.session, about: plan.about, undoes, changes };
        self.journal.append_event(op, begun_event)?;
        self.writer.step("begun");
        let applied = self.apply_all(op, &mut prepared);
        let result = applied.and_then(|()| verify()).and_then(|()| self.clean_up(&mut prepared));
        if let Err(error) = result {
            let changes: Vec<ChangeRecord> =
                prepared.into_iter().map(|prepared_op| prepared_op.change).collect();
            self.roll_back(op, &changes, &error.to_string())?;
            return Err(error);
        }
        self.journal.append_event(op, JournalEvent::Done { after: collect_states_after(&prepared) })?;
        self.writer.step("done");
        // Directories that the undone op created are removed if they are empty now.
        if let Some(undone_op) = undoes.and_then(|id| self.journal.find_op(id)) {
            undone_op.changes.iter().rev().for_each(remove_created_dirs);
        }
        Ok(op)
    }

    /// Writes all drafts, records that they are ready, and then applies the changes in order.
    fn apply_all(&mut self, op: OpId, prepared: &mut [PreparedOp<'_>]) -> Result<(), Error> {
        for prepared_op in &mut *prepared {
            prepared_op.write_draft()?;
            self.writer.step("drafted");
        }
        self.journal.append_event(op, JournalEvent::Ready { after: collect_states_after(prepared) })?;
        self.writer.step("ready");
        for prepared_op in prepared {
            prepared_op.check_precondition()?;
            prepared_op.apply(|name| self.writer.step(name))?;
            self.writer.step("applied");
        }
        Ok(())
    }

    /// Finishes all file operations after the verification.
    fn clean_up(&self, prepared: &mut [PreparedOp<'_>]) -> Result<(), Error> {
        for prepared_op in prepared {
            self.writer.step("verified");
            prepared_op.finish().map_err(Error::writing(&prepared_op.change.path))?;
            self.writer.step("cleaned up");
        }
        Ok(())
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
