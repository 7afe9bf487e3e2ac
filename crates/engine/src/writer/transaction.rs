//! The state folder, locked: journal and backups at hand, nothing left unfinished.

use std::io;
use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::files::remove_if_there;
use super::journal::{Journal, Op, OpState};
use super::lock::Lock;
use super::plan::Plan;
use super::record::{Change, FileOpKind, FileState, JournalEvent};
use super::replace::{append, read_from};
use super::rollback::{common, is_new, roll_back};
use super::session_writer::SessionWriter;
use super::trash::{clear, file_state};
use crate::Error;
use crate::disk::open;

/// Where ops are written.
pub(super) struct Transaction<'p> {
    pub(super) pen: &'p SessionWriter,
    pub(super) state: PathBuf,
    pub(super) journal: Journal,
    pub(super) keep: BackupStore,
    /// What could not be ended, and why: other files can still be written.
    unrecovered: Vec<(Op, Error)>,
    _lock: Lock,
}

impl<'p> Transaction<'p> {
    /// Sits down: takes the lock and ends what was cut short.
    pub(super) fn take(pen: &'p SessionWriter, command: &str) -> Result<Transaction<'p>, Error> {
        let state = pen.state()?.to_owned();
        let lock = Lock::take(&state, command)?;
        Transaction::with(pen, state, lock)
    }

    /// The same, but only where nobody else is at it.
    pub(super) fn take_if_free(
        pen: &'p SessionWriter,
        command: &str,
    ) -> Option<Result<Transaction<'p>, Error>> {
        let state = pen.state().ok()?.to_owned();
        let lock = Lock::take_if_free(&state, command)?;
        Some(Transaction::with(pen, state, lock))
    }

    fn with(pen: &'p SessionWriter, state: PathBuf, lock: Lock) -> Result<Transaction<'p>, Error> {
        let journal = Journal::read(&state)?;
        let keep = BackupStore::at(&state);
        let mut desk = Transaction { pen, state, journal, keep, unrecovered: Vec::new(), _lock: lock };
        desk.recover()?;
        Ok(desk)
    }

    /// Ends every op that was cut short: takes it back, or finishes it where others have gone on from it.
    fn recover(&mut self) -> Result<(), Error> {
        let cut: Vec<Op> =
            self.journal.ops.iter().filter(|op| op.state == OpState::Unfinished).cloned().collect();
        for op in cut.iter().rev() {
            if let Err(failure) = self.end(op) {
                self.unrecovered.push((op.clone(), failure));
            }
        }
        if !cut.is_empty() {
            self.journal = Journal::read(&self.state)?;
        }
        Ok(())
    }

    /// Ends one op.
    fn end(&mut self, op: &Op) -> Result<(), Error> {
        let done = self.was_extended(op);
        if !done.map_err(Error::writing(&self.state))? {
            return self.roll_back(op.no, &op.changes, "it was cut short");
        }
        for change in &op.changes {
            self.finish(change).map_err(Error::writing(&change.path))?;
            self.pen.step("change is finished");
        }
        let after = op.changes.iter().map(|change| change.after.clone()).collect();
        self.journal.add(op.no, JournalEvent::Done { after })
    }

    /// Refuses to write where an op could not be ended.
    pub(super) fn refuse_if_stuck(&mut self, plan: &Plan<'_>) -> Result<(), Error> {
        let touches = |op: &Op| {
            op.changes.iter().any(|change| plan.deeds.iter().any(|deed| deed.path() == change.path))
        };
        match self.unrecovered.iter().position(|(op, _)| touches(op)) {
            Some(k) => Err(self.unrecovered.remove(k).1),
            None => Ok(()),
        }
    }

    /// Takes changes back, the last first, and notes it.
    pub(super) fn roll_back(
        &mut self,
        op: super::record::OpId,
        changes: &[Change],
        why: &str,
    ) -> Result<(), Error> {
        for change in changes.iter().rev() {
            roll_back(change, &self.keep).map_err(Error::writing(&change.path))?;
            self.pen.step("change is taken back");
        }
        self.journal.add(op, JournalEvent::RolledBack { why: why.to_owned() })
    }

    /// Whether all of an op was written and somebody has added to it since: then it is too late to take it back.
    fn was_extended(&self, op: &Op) -> io::Result<bool> {
        let mut grown = false;
        for change in &op.changes {
            match self.standing(change)? {
                ChangeProgress::Not => return Ok(false),
                ChangeProgress::Done => {}
                ChangeProgress::Grown => grown = true,
            }
        }
        Ok(grown)
    }

    fn standing(&self, change: &Change) -> io::Result<ChangeProgress> {
        let Change { path, before, after, .. } = change;
        let here = file_state(path)?;
        Ok(match (change.deed, here) {
            (FileOpKind::Append, Some(here)) => {
                let from = before.as_ref().map_or(0, |before| before.len);
                let Ok(ours) = self.keep.chunks.read(change.bytes.as_deref().unwrap_or_default()) else {
                    return Ok(ChangeProgress::Not);
                };
                if here.len < from + ours.len() as u64 {
                    return Ok(ChangeProgress::Not);
                }
                match read_from(&open(path)?, from)?.strip_prefix(&ours[..]) {
                    None => ChangeProgress::Not,
                    Some([]) => ChangeProgress::Done,
                    Some(_) => ChangeProgress::Grown,
                }
            }
            (FileOpKind::Replace | FileOpKind::Create, Some(here)) => match after {
                Some(after) if here.same(after) => ChangeProgress::Done,
                Some(after) if is_new(path, &here, before.as_ref(), after)? => ChangeProgress::Grown,
                _ => ChangeProgress::Not,
            },
            (FileOpKind::Remove, None) => {
                ChangeProgress::of(trash_of(before.as_ref()).is_some_and(Path::exists))
            }
            (FileOpKind::Return, Some(_)) => {
                ChangeProgress::of(change.from.as_ref().is_some_and(|from| !from.exists()))
            }
            _ => ChangeProgress::Not,
        })
    }

    /// Tidies up behind a change that stays.
    fn finish(&self, change: &Change) -> io::Result<()> {
        let Change { path, before, after, .. } = change;
        if let (FileOpKind::Replace, Some(old), Some(before), Some(after)) =
            (change.deed, &change.old, before, after)
            && let Ok(old) = open(old)
        {
            let grown = read_from(&old, before.len)?;
            let there = read_from(&open(path)?, after.len)?;
            append(path, &grown[common(&grown, &there)..])?;
        }
        change.old.as_deref().map_or(Ok(()), remove_if_there)?;
        change.draft.as_deref().map_or(Ok(()), clear)
    }
}

/// How far a change came.
enum ChangeProgress {
    /// Not to its end.
    Not,
    /// To its end.
    Done,
    /// To its end, and others added to it.
    Grown,
}

impl ChangeProgress {
    fn of(done: bool) -> ChangeProgress {
        if done { ChangeProgress::Done } else { ChangeProgress::Not }
    }
}

fn trash_of(before: Option<&FileState>) -> Option<&Path> {
    before.and_then(|before| before.trash.as_deref())
}
