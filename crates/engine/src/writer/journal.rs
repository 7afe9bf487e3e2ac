//! The journal: one line for each new state of an op, only ever added to.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_core::entry::Timestamp;

use super::files::{private, sync_folder};
use super::record::{Change, FileState, JournalEvent, JournalRecord, OpId, VERSION};
use crate::Error;

/// What became of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpState {
    /// It was cut short; the next op takes it back.
    Unfinished,
    /// It is done.
    Done,
    /// It was taken back at once.
    RolledBack,
}

/// An op, as the journal tells it.
#[derive(Debug, Clone)]
pub(crate) struct Op {
    pub(crate) no: OpId,
    pub(crate) at: Timestamp,
    pub(crate) command: String,
    pub(crate) session: String,
    pub(crate) about: String,
    pub(crate) undoes: Option<OpId>,
    /// The op that undid it and is in force.
    pub(crate) undone_by: Option<OpId>,
    pub(crate) state: OpState,
    /// Whether its backups were thrown away.
    pub(crate) pruned: bool,
    pub(crate) changes: Vec<Change>,
}

impl Op {
    /// Whether it is done and was not undone.
    pub(crate) fn is_in_force(&self) -> bool {
        self.state == OpState::Done && self.undone_by.is_none()
    }
}

/// All ops, oldest first.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    pub(crate) ops: Vec<Op>,
    /// Whether the last line was cut short.
    torn: bool,
}

impl Journal {
    /// Reads the journal in a state folder; where there is none, it is empty.
    pub(crate) fn read(state: &Path) -> Result<Journal, Error> {
        let path = state.join("journal.jsonl");
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(Error::reading(&path))?,
        };
        let torn = text.last().is_some_and(|&last| last != b'\n');
        let mut journal = Journal { path, ops: Vec::new(), torn };
        let mut places = HashMap::new();
        for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<JournalRecord>(line) {
                Ok(record) if record.v == VERSION => journal.take(record, &mut places),
                // A line of another version says so whatever else it holds; a torn line never took effect.
                _ if version(line).is_some_and(|v| v > VERSION) => {
                    return Err(Error::NewerJournal { path: journal.path });
                }
                _ => {}
            }
        }
        journal.mark_undone();
        Ok(journal)
    }

    fn take(&mut self, record: JournalRecord, places: &mut HashMap<OpId, usize>) {
        if let JournalEvent::Begun { command, session, about, undoes, changes } = record.news {
            places.insert(record.op, self.ops.len());
            self.ops.push(Op {
                no: record.op,
                at: Timestamp(record.at),
                command,
                session,
                about,
                undoes,
                undone_by: None,
                state: OpState::Unfinished,
                pruned: false,
                changes,
            });
            return;
        }
        let Some(op) = places.get(&record.op).map(|&at| &mut self.ops[at]) else { return };
        match record.news {
            JournalEvent::Ready { after } => op.set_after(after),
            JournalEvent::Done { after } => {
                op.set_after(after);
                op.state = OpState::Done;
            }
            JournalEvent::RolledBack { .. } => op.state = OpState::RolledBack,
            JournalEvent::Pruned => op.pruned = true,
            JournalEvent::Begun { .. } => {}
        }
    }

    /// An op is undone while the op that undid it is in force: told from the newest to the oldest.
    fn mark_undone(&mut self) {
        for at in (0..self.ops.len()).rev() {
            let op = &self.ops[at];
            if let Some(undone) = op.undoes.filter(|_| op.is_in_force()) {
                let by = op.no;
                if let Some(op) = self.ops.iter_mut().find(|op| op.no == undone) {
                    op.undone_by = Some(by);
                }
            }
        }
    }

    /// Finds an op.
    pub(crate) fn op(&self, no: OpId) -> Option<&Op> {
        self.ops.iter().find(|op| op.no == no)
    }

    /// Returns the number of the next op.
    pub(super) fn next(&self) -> OpId {
        OpId(self.ops.iter().map(|op| op.no.0).max().unwrap_or(0) + 1)
    }

    /// Adds a line, durably.
    pub(super) fn add(&mut self, op: OpId, news: JournalEvent) -> Result<(), Error> {
        let record = JournalRecord { v: VERSION, op, at: now().0, news };
        let mut line = if self.torn { b"\n".to_vec() } else { Vec::new() };
        serde_json::to_writer(&mut line, &record)
            .map_err(|error| Error::Unwritable { path: self.path.clone(), source: error.into() })?;
        line.push(b'\n');
        let fresh = !self.path.exists();
        // Should only a part of the line arrive, the next line must not hang on it.
        self.torn = true;
        let added = private(OpenOptions::new().append(true).create(true)).open(&self.path);
        let added = added.and_then(|mut file| {
            file.write_all(&line)?;
            file.sync_data()
        });
        added.map_err(Error::writing(&self.path))?;
        self.torn = false;
        if fresh && let Some(folder) = self.path.parent() {
            sync_folder(folder).map_err(Error::writing(folder))?;
        }
        Ok(())
    }
}

impl Op {
    fn set_after(&mut self, after: Vec<Option<FileState>>) {
        for (change, after) in self.changes.iter_mut().zip(after) {
            change.after = after;
        }
    }
}

/// Reads only the version of a line.
fn version(line: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct Only {
        v: u32,
    }
    serde_json::from_slice::<Only>(line).ok().map(|only| only.v)
}

/// Returns the present.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Whether a state folder has a journal.
pub(super) fn exists(state: &Path) -> bool {
    File::open(state.join("journal.jsonl")).is_ok()
}
