//! The journal: an append-only log with one line for each state change of an op.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_core::entry::Timestamp;

use super::files::{private_mode, sync_dir};
use super::fs;
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
    /// A journal line about it is damaged, so its outcome is unknown. It is not touched.
    Unknown,
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
    /// Whether another process may still have a replaced file open.
    pub(super) watched: bool,
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
    /// The numbers of the damaged lines, from 1.
    pub(crate) damaged_lines: Vec<usize>,
    /// The state of the end of the file.
    end: JournalEnd,
    /// Whether the file did not exist when it was read.
    is_new: bool,
    next_op_id: u64,
}

/// The end of the journal file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalEnd {
    /// The last line is complete.
    Complete,
    /// A crash truncated the last line, or its line feed is damaged.
    Unterminated { is_torn: bool },
}

impl Journal {
    /// Reads the journal in a state directory. A missing journal is empty. Returns an error if a newer version of rethread
    /// wrote a line.
    pub(crate) fn read(state_dir: &Path) -> Result<Journal, Error> {
        let path = state_dir.join("journal.jsonl");
        let (text, is_new) = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => (Vec::new(), true),
            text => (text.map_err(Error::reading(&path))?, false),
        };
        let mut journal = Journal {
            path,
            ops: Vec::new(),
            damaged_lines: Vec::new(),
            end: JournalEnd::Complete,
            is_new,
            next_op_id: 1 + find_highest_op_id(state_dir),
        };
        let mut op_idx = HashMap::new();
        let mut line_number = 0;
        for line in text.split_inclusive(|&b| b == b'\n') {
            line_number += 1;
            let is_terminated = line.ends_with(b"\n");
            let parsed = parse_line(line.strip_suffix(b"\n").unwrap_or(line));
            let has_records = !parsed.records.is_empty();
            for record in parsed.records {
                if record.after_torn_line && journal.damaged_lines.last() == Some(&(line_number - 1)) {
                    journal.damaged_lines.pop();
                }
                journal.next_op_id = journal.next_op_id.max(record.op.0 + 1);
                journal.apply_record(record, &mut op_idx);
            }
            if parsed.is_newer {
                return Err(Error::NewerJournal { path: journal.path });
            }
            if !is_terminated {
                journal.end = JournalEnd::Unterminated { is_torn: !has_records };
            }
            if parsed.is_damaged && (is_terminated || has_records) {
                journal.damaged_lines.push(line_number);
                journal.mark_unfinished_unknown();
            }
        }
        journal.next_op_id += journal.damaged_lines.len() as u64;
        journal.mark_undone();
        Ok(journal)
    }

    /// Marks all unfinished ops as unknown: the damaged line that was just read may be about any of them.
    fn mark_unfinished_unknown(&mut self) {
        for op in self.ops.iter_mut().filter(|op| op.status == OpStatus::Unfinished) {
            op.status = OpStatus::Unknown;
        }
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
                watched: false,
                changes,
            });
            return;
        }
        let Some(op) = op_idx.get(&record.op).map(|&idx| &mut self.ops[idx]) else { return };
        match record.event {
            JournalEvent::Ready { after } => op.set_states_after(after),
            JournalEvent::Done { after, watched } => {
                op.set_states_after(after);
                op.status = OpStatus::Done;
                op.watched = watched;
            }
            JournalEvent::RolledBack { watched, .. } => {
                op.status = OpStatus::RolledBack;
                op.watched = watched;
            }
            JournalEvent::Pruned => op.pruned = true,
            JournalEvent::Carried { change, len } => {
                if let Some(change) = op.changes.get_mut(change) {
                    change.carried = Some(len);
                }
            }
            JournalEvent::Settled => op.watched = false,
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

    /// Returns the id of the next op. It is higher than every id in the journal, the trash and the backups, so that an id
    /// never names two ops, even if the journal was lost.
    pub(super) fn next_op_id(&self) -> OpId {
        OpId(self.next_op_id)
    }

    /// Returns [`Error::DamagedJournal`] if a line is damaged.
    pub(crate) fn ensure_undamaged(&self) -> Result<(), Error> {
        if self.damaged_lines.is_empty() {
            return Ok(());
        }
        Err(Error::DamagedJournal { path: self.path.clone(), lines: self.damaged_lines.clone() })
    }

    /// Appends a line about an op to the journal durably. Does not update `ops`.
    pub(super) fn append_event(&mut self, op: OpId, event: JournalEvent) -> Result<(), Error> {
        let file = self.write_event(op, event)?;
        self.sync(&file)
    }

    /// Appends a line about an op to the journal. The caller passes the returned file to [`Journal::sync`].
    pub(super) fn write_event(&mut self, op: OpId, event: JournalEvent) -> Result<File, Error> {
        let after_torn_line = self.end == JournalEnd::Unterminated { is_torn: true };
        let record = JournalRecord { v: VERSION, op, at: now().0, after_torn_line, event };
        let mut line = if self.end == JournalEnd::Complete { Vec::new() } else { b"\n".to_vec() };
        write_line(&record, &mut line)
            .map_err(|error| Error::Unwritable { path: self.path.clone(), source: error.into() })?;
        // If the write is cut short, the next line must not continue this one.
        self.end = JournalEnd::Unterminated { is_torn: true };
        let file = fs::open(private_mode(OpenOptions::new().append(true).create(true)), &self.path)
            .map_err(Error::writing(&self.path))?;
        fs::write_all(&file, &line).map_err(Error::writing(&self.path))?;
        self.end = JournalEnd::Complete;
        Ok(file)
    }

    /// Flushes the journal to disk.
    pub(super) fn sync(&mut self, file: &File) -> Result<(), Error> {
        fs::sync_data(file).map_err(Error::writing(&self.path))?;
        if std::mem::take(&mut self.is_new)
            && let Some(dir) = self.path.parent()
        {
            sync_dir(dir).map_err(Error::writing(dir))?;
        }
        Ok(())
    }
}

/// The text before the checksum of a line.
const CHECKSUM_KEY: &[u8] = b",\"sum\":\"";
/// The number of hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 16;

/// Writes a record and its checksum as a line: `{…,"sum":"0123456789abcdef"}`.
fn write_line(record: &JournalRecord, line: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = line.len();
    serde_json::to_writer(&mut *line, record)?;
    line.pop();
    let checksum = compute_checksum(&line[start..]);
    line.extend_from_slice(CHECKSUM_KEY);
    line.extend_from_slice(checksum.as_bytes());
    line.extend_from_slice(b"\"}\n");
    Ok(())
}

/// Computes the checksum of a line up to the comma before its checksum.
fn compute_checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..CHECKSUM_DIGITS].to_owned()
}

/// The records of a journal line.
#[derive(Default)]
struct ParsedLine {
    /// One record, or several if the line feed between them is damaged.
    records: Vec<JournalRecord>,
    /// Whether some bytes could not be read.
    is_damaged: bool,
    /// Whether a newer version of rethread wrote the line.
    is_newer: bool,
}

/// Parses a line without its line feed.
fn parse_line(mut line: &[u8]) -> ParsedLine {
    let mut parsed = ParsedLine::default();
    while !line.is_empty() {
        let end = find_record_end(line);
        let (record, rest) = line.split_at(end.unwrap_or(line.len()));
        match (serde_json::from_slice::<JournalRecord>(record), read_version(record)) {
            (_, Some(version)) if version > VERSION && end.is_some() => parsed.is_newer = true,
            // Version 1 has no checksums.
            (Ok(record), Some(version)) if end.is_some() || version == 1 => parsed.records.push(record),
            // Version 1 did not mark lines that a crash truncated.
            _ if record.starts_with(b"{\"v\":1,") && !record.ends_with(b"}") => {}
            _ => parsed.is_damaged = true,
        }
        // The line feed after a record is damaged: another record may follow it.
        parsed.is_damaged |= !rest.is_empty();
        line = rest.get(1..).unwrap_or_default();
    }
    parsed
}

/// Returns the end of the first record with a correct checksum at the start of a line. Returns `None` if there is none.
fn find_record_end(line: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(line, CHECKSUM_KEY).find_map(|at| {
        let digits = at + CHECKSUM_KEY.len()..at + CHECKSUM_KEY.len() + CHECKSUM_DIGITS;
        let end = digits.end + 2;
        let is_correct = line.get(digits.clone())? == compute_checksum(&line[..at]).as_bytes()
            && line.get(digits.end..end)? == b"\"}";
        is_correct.then_some(end)
    })
}

/// Reads only the version of a line. Returns `None` if the line is not JSON or has no version.
fn read_version(line: &[u8]) -> Option<u32> {
    #[derive(serde::Deserialize)]
    struct VersionOnly {
        v: u32,
    }
    serde_json::from_slice::<VersionOnly>(line).ok().map(|line| line.v)
}

/// Returns the highest op id in the names of the trash and the hard links: `<op>-<index>`. Returns 0 if there are none.
fn find_highest_op_id(state_dir: &Path) -> u64 {
    let paths =
        ["trash", "links"].into_iter().flat_map(|dir| fs::list_dir(&state_dir.join(dir)).unwrap_or_default());
    paths.filter_map(|path| read_op_id(&path)).map(|id| id.0).max().unwrap_or(0)
}

/// Returns the op id in the name of a path in the trash or of a hard link.
pub(super) fn read_op_id(path: &Path) -> Option<OpId> {
    path.file_name()?.to_str()?.split_once('-')?.0.parse().ok().map(OpId)
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

#[cfg(test)]
mod tests {
    use super::{Journal, JournalEvent, JournalRecord, OpId, VERSION, write_line};
    use crate::Error;

    fn write_journal(records: &[JournalRecord]) -> (tempfile::TempDir, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        for record in records {
            write_line(record, &mut bytes).unwrap();
        }
        std::fs::write(folder.path().join("journal.jsonl"), &bytes).unwrap();
        (folder, bytes)
    }

    fn make_record(v: u32, op: u64, event: JournalEvent) -> JournalRecord {
        JournalRecord { v, op: OpId(op), at: 1, after_torn_line: false, event }
    }

    fn begun() -> JournalEvent {
        let (command, session, about) = ("rename".to_owned(), "s".to_owned(), String::new());
        JournalEvent::Begun { command, session, about, undoes: None, changes: Vec::new() }
    }

    #[test]
    fn newer_journal_is_not_read() {
        let (folder, _) = write_journal(&[make_record(VERSION + 1, 1, JournalEvent::Pruned)]);
        assert!(matches!(Journal::read(folder.path()), Err(Error::NewerJournal { .. })));
    }

    /// A flipped bit must not make an op look unfinished, or a newer version.
    #[test]
    fn every_flipped_bit_is_noticed() {
        let done = || JournalEvent::Done { after: Vec::new(), watched: false };
        let records = [
            make_record(VERSION, 1, begun()),
            make_record(VERSION, 1, done()),
            make_record(VERSION, 2, begun()),
            make_record(VERSION, 2, done()),
        ];
        let (folder, bytes) = write_journal(&records);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(folder.path().join("journal.jsonl"), &damaged).unwrap();
                let journal = Journal::read(folder.path()).unwrap();
                let context = format!("bit {bit} of byte {at}: {journal:?}");
                assert!(!journal.damaged_lines.is_empty(), "{context}");
                assert!(journal.ops.iter().all(|op| op.status != super::OpStatus::Unfinished), "{context}");
                assert!(journal.next_op_id().0 >= 3, "{context}");
            }
        }
    }
}
