//! The journal: an append-only log with one line for each state change of an op.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_core::entry::Timestamp;

use super::files::{private_mode, sync_dir};
use super::record::{ChangeRecord, FileState, JournalEvent, JournalRecord, OpId, VERSION};
use crate::Error;

/// The status of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpStatus {
    /// It was interrupted. The next op rolls it back or completes it.
    Unfinished,
    /// It was completed and is in effect.
    Done,
    /// It was completed and later undone by this op.
    Undone(OpId),
    /// It failed and was rolled back.
    RolledBack,
}

/// An op, as recorded in the journal.
#[derive(Debug, Clone)]
pub(crate) struct Op {
    pub(crate) id: OpId,
    pub(crate) time: Timestamp,
    pub(crate) command: String,
    pub(crate) session: String,
    pub(crate) about: String,
    pub(crate) undoes: Option<OpId>,
    pub(crate) status: OpStatus,
    /// Whether its backups were deleted.
    pub(crate) pruned: bool,
    pub(crate) changes: Vec<ChangeRecord>,
}

impl Op {
    /// Returns `true` if it was completed, whether or not it was undone later.
    pub(crate) fn was_completed(&self) -> bool {
        matches!(self.status, OpStatus::Done | OpStatus::Undone(_))
    }

    /// Sets the state of each change after the op. `states` has one element per change.
    fn set_states_after(&mut self, states: Vec<Option<FileState>>) {
        for (change, after) in self.changes.iter_mut().zip(states) {
            change.after = after;
        }
    }
}

/// The journal file with all its ops, oldest first.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    pub(crate) ops: Vec<Op>,
    /// Whether the last line is incomplete.
    is_torn: bool,
}

impl Journal {
    /// Reads the journal in a state directory. A missing journal is empty, and damaged lines are ignored. Returns an error
    /// if a newer version of rethread wrote a line.
    pub(crate) fn read(state_dir: &Path) -> Result<Journal, Error> {
        let path = state_dir.join("journal.jsonl");
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            result => result.map_err(Error::reading(&path))?,
        };
        let is_torn = text.last().is_some_and(|&last| last != b'\n');
        let mut journal = Journal { path, ops: Vec::new(), is_torn };
        let mut op_idx = HashMap::new();
        for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<JournalRecord>(line) {
                Ok(record) if record.v == VERSION => journal.apply_record(record, &mut op_idx),
                // The version of a newer line can be read whatever else the line contains. A torn line has no effect.
                _ if read_version(line).is_some_and(|v| v > VERSION) => {
                    return Err(Error::NewerJournal { path: journal.path });
                }
                _ => {}
            }
        }
        journal.mark_undone();
        Ok(journal)
    }

    /// Adds a new op, or updates the op of the record. `op_idx` maps ids to indices of `ops`.
    fn apply_record(&mut self, record: JournalRecord, op_idx: &mut HashMap<OpId, usize>) {
        if let JournalEvent::Begun { command, session, about, undoes, changes } = record.event {
            op_idx.insert(record.op, self.ops.len());
            self.ops.push(Op {
                id: record.op,
                time: Timestamp(record.at),
                command,
                session,
                about,
                undoes,
                status: OpStatus::Unfinished,
                pruned: false,
                changes,
            });
            return;
        }
        let Some(op) = op_idx.get(&record.op).map(|&idx| &mut self.ops[idx]) else { return };
        match record.event {
            JournalEvent::Ready { after } => op.set_states_after(after),
            JournalEvent::Done { after } => {
                op.set_states_after(after);
                op.status = OpStatus::Done;
            }
            JournalEvent::RolledBack { .. } => op.status = OpStatus::RolledBack,
            JournalEvent::Pruned => op.pruned = true,
            JournalEvent::Begun { .. } => {}
        }
    }

    /// Marks the ops that are undone by an op in effect. Runs from newest to oldest, because an undo can be undone too.
    fn mark_undone(&mut self) {
        for idx in (0..self.ops.len()).rev() {
            let op = &self.ops[idx];
            if let Some(undone) = op.undoes.filter(|_| op.status == OpStatus::Done) {
                let undone_by = op.id;
                if let Some(op) = self.ops.iter_mut().find(|op| op.id == undone && op.was_completed()) {
                    op.status = OpStatus::Undone(undone_by);
                }
            }
        }
    }

    pub(crate) fn find_op(&self, id: OpId) -> Option<&Op> {
        self.ops.iter().find(|op| op.id == id)
    }

    /// Returns the id of the next op: one more than the highest id.
    pub(super) fn next_op_id(&self) -> OpId {
        OpId(self.ops.iter().map(|op| op.id.0).max().unwrap_or(0) + 1)
    }

    /// Appends a line about an op to the journal durably. Does not update `ops`.
    pub(super) fn append_event(&mut self, op: OpId, event: JournalEvent) -> Result<(), Error> {
        let record = JournalRecord { v: VERSION, op, at: now().0, event };
        let mut line = if self.is_torn { b"\n".to_vec() } else { Vec::new() };
        serde_json::to_writer(&mut line, &record)
            .map_err(|error| Error::Unwritable { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        let is_new_file = !self.path.exists();
        // If the write is cut short, the next line must not continue this one.
        self.is_torn = true;
        let file = private_mode(OpenOptions::new().append(true).create(true)).open(&self.path);
        let written = file.and_then(|mut file| {
            file.write_all(&line)?;
            file.sync_data()
        });
        written.map_err(Error::writing(&self.path))?;
        self.is_torn = false;
        if is_new_file && let Some(dir) = self.path.parent() {
            sync_dir(dir).map_err(Error::writing(dir))?;
        }
        Ok(())
    }
}

/// Reads only the version of a line. Returns `None` if the line is not JSON or has no version.
fn read_version(line: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct VersionOnly {
        v: u32,
    }
    serde_json::from_slice::<VersionOnly>(line).ok().map(|line| line.v)
}

/// Returns the current time.
pub(super) fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Returns `true` if a state directory has a journal that can be opened.
pub(super) fn exists(state_dir: &Path) -> bool {
    File::open(state_dir.join("journal.jsonl")).is_ok()
}
