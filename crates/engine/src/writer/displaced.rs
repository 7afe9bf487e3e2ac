//! Replaced files that another process may still have open, on systems that do not reveal it.
//!
//! Such a file keeps its temporary name. Each later op copies the lines that have appeared in it to the file in its place.
//! It is removed when no process has it open, or after a day.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::change_error::ChangeError;
use super::files::remove_if_exists;
use super::fs;
use super::journal::Op;
use super::record::{ChangeRecord, FileOpKind, JournalEvent};
use super::replace::append_durably;
use super::transaction::Transaction;
use crate::Error;

/// A replaced file is removed if nothing was written to it for this time.
const WATCH_TIME: Duration = Duration::from_secs(24 * 60 * 60);

impl Transaction<'_> {
    /// Copies lines that have appeared in replaced files since, and removes replaced files that no process has open.
    pub(super) fn settle_all(&mut self) -> Result<(), Error> {
        let watched: Vec<Op> = self.journal.ops.iter().filter(|op| op.watched).cloned().collect();
        for op in watched {
            let mut is_settled = true;
            for (idx, change) in op.changes.iter().enumerate() {
                if let Some((file, len)) = find_displaced(&op, change) {
                    let len = change.carried.unwrap_or(len);
                    is_settled &= self.settle(&op, idx, file, len).map_err(|error| error.at(&change.path))?;
                }
            }
            if is_settled {
                self.journal.append_event(op.id, JournalEvent::Settled)?;
            }
        }
        Ok(())
    }

    /// Copies the lines of a replaced file after its first `len` bytes. Returns `true` if the file was removed.
    fn settle(&mut self, op: &Op, idx: usize, displaced: &Path, len: u64) -> Result<bool, ChangeError> {
        let path = &op.changes[idx].path;
        if fs::link_metadata(displaced)?.is_none() {
            return Ok(true);
        }
        if !path.is_file() {
            // The session was removed or moved. The lines stay in the replaced file.
            return Ok(false);
        }
        let file = fs::open_file(displaced)?;
        let modified = file.metadata().and_then(|meta| meta.modified())?;
        let is_idle = SystemTime::now().duration_since(modified).is_ok_and(|age| age > WATCH_TIME);
        let lease = self.processes().block_writers(&file);
        let is_closed = is_idle || lease.is_some();
        let added = fs::read_from_offset(&file, len)?;
        // A process may be writing the last line.
        let end = if is_closed { added.len() } else { memchr::memrchr(b'\n', &added).map_or(0, |at| at + 1) };
        if end > 0 {
            let mut known = fs::read(path)?;
            if let Some(ours) = &op.changes[idx].bytes {
                known.extend(self.backups.chunks.read_all(ours)?);
            }
            append_durably(path, &find_missing_lines(&known, &added[..end]))?;
            self.journal.append_event(op.id, JournalEvent::Carried { change: idx, len: len + end as u64 })?;
        }
        if is_closed {
            remove_if_exists(displaced)?;
        }
        Ok(is_closed)
    }
}

/// Returns the file that a change replaced, and the number of its bytes that the file in its place accounts for.
fn find_displaced<'o>(op: &Op, change: &'o ChangeRecord) -> Option<(&'o Path, u64)> {
    let ChangeRecord { before: Some(before), draft: Some(draft), old: Some(old), .. } = change else {
        return None;
    };
    match change.kind {
        FileOpKind::Replace if op.was_completed() => Some((old, before.len)),
        // A rollback replaced the new file.
        FileOpKind::Replace => change.after.as_ref().map(|after| (draft.as_path(), after.len)),
        FileOpKind::Append => Some((old, before.len)),
        FileOpKind::Create | FileOpKind::Remove | FileOpKind::Return => None,
    }
}

/// Returns the lines of `added` that `known` does not contain, each terminated.
fn find_missing_lines(known: &[u8], added: &[u8]) -> Vec<u8> {
    let existing: std::collections::HashSet<&[u8]> = known.split(|&b| b == b'\n').collect();
    let mut missing = Vec::new();
    for line in added.split(|&b| b == b'\n').filter(|line| !line.is_empty() && !existing.contains(line)) {
        missing.extend_from_slice(line);
        missing.push(b'\n');
    }
    missing
}
