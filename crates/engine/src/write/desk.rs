//! The state folder, locked: journal and backups at hand, nothing left unfinished.

use std::io;
use std::path::{Path, PathBuf};

use super::files::remove_if_there;
use super::journal::{Journal, Op, OpState};
use super::keep::Keep;
use super::lock::Lock;
use super::pen::Pen;
use super::plan::Plan;
use super::record::{Change, DeedName, News, Thing};
use super::rollback::{common, is_new, take_back};
use super::swap::{append, read_from};
use super::trash::{clear, look};
use crate::Failure;
use crate::disk::open;

/// Where ops are written.
pub(super) struct Desk<'p> {
    pub(super) pen: &'p Pen,
    pub(super) state: PathBuf,
    pub(super) journal: Journal,
    pub(super) keep: Keep,
    /// What could not be ended, and why: other files can still be written.
    stuck: Vec<(Op, Failure)>,
    _lock: Lock,
}

impl<'p> Desk<'p> {
    /// Sits down: takes the lock and ends what was cut short.
    pub(super) fn take(pen: &'p Pen, command: &str) -> Result<Desk<'p>, Failure> {
        let state = pen.state()?.to_owned();
        let lock = Lock::take(&state, command)?;
        Desk::with(pen, state, lock)
    }

    /// The same, but only where nobody else is at it.
    pub(super) fn take_if_free(pen: &'p Pen, command: &str) -> Option<Result<Desk<'p>, Failure>> {
        let state = pen.state().ok()?.to_owned();
        let lock = Lock::take_if_free(&state, command)?;
        Some(Desk::with(pen, state, lock))
    }

    fn with(pen: &'p Pen, state: PathBuf, lock: Lock) -> Result<Desk<'p>, Failure> {
        let journal = Journal::read(&state)?;
        let keep = Keep::at(&state);
        let mut desk = Desk { pen, state, journal, keep, stuck: Vec::new(), _lock: lock };
        desk.recover()?;
        Ok(desk)
    }

    /// Ends every op that was cut short: takes it back, or finishes it where others have gone on from it.
    fn recover(&mut self) -> Result<(), Failure> {
        let cut: Vec<Op> =
            self.journal.ops.iter().filter(|op| op.state == OpState::Unfinished).cloned().collect();
        for op in cut.iter().rev() {
            if let Err(failure) = self.end(op) {
                self.stuck.push((op.clone(), failure));
            }
        }
        if !cut.is_empty() {
            self.journal = Journal::read(&self.state)?;
        }
        Ok(())
    }

    /// Ends one op.
    fn end(&mut self, op: &Op) -> Result<(), Failure> {
        let done = self.went_on(op);
        if !done.map_err(Failure::writing(&self.state))? {
            return self.roll_back(op.no, &op.changes, "it was cut short");
        }
        for change in &op.changes {
            self.finish(change).map_err(Failure::writing(&change.path))?;
            self.pen.step("change is finished");
        }
        let after = op.changes.iter().map(|change| change.after.clone()).collect();
        self.journal.add(op.no, News::Done { after })
    }

    /// Refuses to write where an op could not be ended.
    pub(super) fn refuse_if_stuck(&mut self, plan: &Plan<'_>) -> Result<(), Failure> {
        let touches = |op: &Op| {
            op.changes.iter().any(|change| plan.deeds.iter().any(|deed| deed.path() == change.path))
        };
        match self.stuck.iter().position(|(op, _)| touches(op)) {
            Some(k) => Err(self.stuck.remove(k).1),
            None => Ok(()),
        }
    }

    /// Takes changes back, the last first, and notes it.
    pub(super) fn roll_back(
        &mut self,
        op: super::record::OpNo,
        changes: &[Change],
        why: &str,
    ) -> Result<(), Failure> {
        for change in changes.iter().rev() {
            take_back(change, &self.keep).map_err(Failure::writing(&change.path))?;
            self.pen.step("change is taken back");
        }
        self.journal.add(op, News::RolledBack { why: why.to_owned() })
    }

    /// Whether all of an op was written and somebody has added to it since: then it is too late to take it back.
    fn went_on(&self, op: &Op) -> io::Result<bool> {
        let mut grown = false;
        for change in &op.changes {
            match self.standing(change)? {
                Standing::Not => return Ok(false),
                Standing::Done => {}
                Standing::Grown => grown = true,
            }
        }
        Ok(grown)
    }

    fn standing(&self, change: &Change) -> io::Result<Standing> {
        let Change { path, before, after, .. } = change;
        let here = look(path)?;
        Ok(match (change.deed, here) {
            (DeedName::Append, Some(here)) => {
                let from = before.as_ref().map_or(0, |before| before.len);
                let Ok(ours) = self.keep.chunks.read(change.bytes.as_deref().unwrap_or_default()) else {
                    return Ok(Standing::Not);
                };
                if here.len < from + ours.len() as u64 {
                    return Ok(Standing::Not);
                }
                match read_from(&open(path)?, from)?.strip_prefix(&ours[..]) {
                    None => Standing::Not,
                    Some([]) => Standing::Done,
                    Some(_) => Standing::Grown,
                }
            }
            (DeedName::Replace | DeedName::Create, Some(here)) => match after {
                Some(after) if here.same(after) => Standing::Done,
                Some(after) if is_new(path, &here, before.as_ref(), after)? => Standing::Grown,
                _ => Standing::Not,
            },
            (DeedName::Remove, None) => Standing::of(trash_of(before.as_ref()).is_some_and(Path::exists)),
            (DeedName::Return, Some(_)) => {
                Standing::of(change.from.as_ref().is_some_and(|from| !from.exists()))
            }
            _ => Standing::Not,
        })
    }

    /// Tidies up behind a change that stays.
    fn finish(&self, change: &Change) -> io::Result<()> {
        let Change { path, before, after, .. } = change;
        if let (DeedName::Replace, Some(old), Some(before), Some(after)) =
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
enum Standing {
    /// Not to its end.
    Not,
    /// To its end.
    Done,
    /// To its end, and others added to it.
    Grown,
}

impl Standing {
    fn of(done: bool) -> Standing {
        if done { Standing::Done } else { Standing::Not }
    }
}

fn trash_of(before: Option<&Thing>) -> Option<&Path> {
    before.and_then(|before| before.trash.as_deref())
}
