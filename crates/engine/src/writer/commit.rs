//! From a plan to an op: every step in its order.

use std::io;
use std::path::{Path, PathBuf};

use super::file_op::PreparedOp;
use super::plan::{FileOp, Plan};
use super::precondition::refuse_if_live;
use super::record::{Change, FileState, JournalEvent, OpId};
use super::rollback::remove_created_dirs;
use super::transaction::Transaction;
use crate::Error;

impl Transaction<'_> {
    /// Writes what a plan says; where anything fails, all is as it was before.
    pub(super) fn write(
        mut self,
        mut plan: Plan<'_>,
        undoes: Option<OpId>,
        check: impl FnOnce() -> Result<(), Error>,
    ) -> Result<OpId, Error> {
        let op = self.journal.next();
        let named: Vec<PathBuf> = plan.deeds.iter().map(|deed| deed.path().to_owned()).collect();
        for deed in &mut plan.deeds {
            follow_links(deed)?;
        }
        self.refuse_if_stuck(&plan)?;
        refuse_if_live(&plan, &named, &self.journal)?;
        let mut tasks = Vec::with_capacity(plan.deeds.len());
        for (k, deed) in plan.deeds.into_iter().enumerate() {
            let task = PreparedOp::prepare(deed, op, k, &self.keep, &self.state)?;
            task.refuse_if_changed()?;
            self.pen.step("kept");
            tasks.push(task);
        }
        let changes: Vec<Change> = tasks.iter().map(|task| task.change.clone()).collect();
        let command = plan.command.to_owned();
        let begun =
            JournalEvent::Begun { command, session: plan.session, about: plan.about, undoes, changes };
        self.journal.add(op, begun)?;
        self.pen.step("begun");
        let written =
            self.carry_out(op, &mut tasks).and_then(|()| check()).and_then(|()| self.tidy(&mut tasks));
        if let Err(failure) = written {
            let changes: Vec<Change> = tasks.into_iter().map(|task| task.change).collect();
            self.roll_back(op, &changes, &failure.to_string())?;
            return Err(failure);
        }
        self.journal.add(op, JournalEvent::Done { after: after(&tasks) })?;
        self.pen.step("done");
        // Folders that were made for what is gone now go too, if they are empty.
        if let Some(undone) = undoes.and_then(|undone| self.journal.op(undone)) {
            undone.changes.iter().rev().for_each(remove_created_dirs);
        }
        Ok(op)
    }

    fn carry_out(&mut self, op: OpId, tasks: &mut [PreparedOp<'_>]) -> Result<(), Error> {
        for task in &mut *tasks {
            task.draft()?;
            self.pen.step("drafted");
        }
        self.journal.add(op, JournalEvent::Ready { after: after(tasks) })?;
        self.pen.step("ready");
        for task in tasks {
            task.refuse_if_changed()?;
            task.apply(|name| self.pen.step(name))?;
            self.pen.step("acted");
        }
        Ok(())
    }

    fn tidy(&self, tasks: &mut [PreparedOp<'_>]) -> Result<(), Error> {
        for task in tasks {
            self.pen.step("checked");
            task.finish().map_err(Error::writing(&task.change.path))?;
            self.pen.step("tidied");
        }
        Ok(())
    }
}

fn after(tasks: &[PreparedOp<'_>]) -> Vec<Option<FileState>> {
    tasks.iter().map(|task| task.change.after.clone()).collect()
}

/// Lets a deed name the file itself: a new file must not take the place of a link to the old one.
fn follow_links(deed: &mut FileOp<'_>) -> Result<(), Error> {
    let path = deed.path().to_owned();
    let real = match deed {
        FileOp::Append { .. } | FileOp::Replace { .. } => std::fs::canonicalize(&path),
        FileOp::Create { .. } | FileOp::Remove { .. } | FileOp::Return { .. } => real_folder(&path),
    };
    let real = real.map_err(Error::reading(&path))?;
    match deed {
        FileOp::Append { path, .. }
        | FileOp::Replace { path, .. }
        | FileOp::Create { path, .. }
        | FileOp::Remove { path }
        | FileOp::Return { path, .. } => *path = real,
    }
    Ok(())
}

/// Follows the links in the folders above a path, as far as they are there.
fn real_folder(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let rest = path.strip_prefix(there).unwrap_or(&path);
    Ok(std::fs::canonicalize(there)?.join(rest))
}
