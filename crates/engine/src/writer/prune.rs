//! Deletes the backups of old ops. Their journal lines remain and are marked as pruned.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use super::journal::{Journal, Op, OpStatus};
use super::record::{JournalEvent, OpId};
use super::session_writer::SessionWriter;
use super::transaction::Transaction;
use super::trash::remove_path;
use crate::Error;
use crate::disk::total_size;

/// The ops that were pruned, or would be, and the bytes that this frees.
#[derive(Debug, Clone, Default)]
pub(crate) struct PruneSummary {
    pub(crate) ops: Vec<OpId>,
    pub(crate) bytes: u64,
}

impl SessionWriter {
    /// Deletes the backups and the trash of ops that began before a time, except those of the newest op of each session. In
    /// a dry run, only computes what would be deleted.
    pub(crate) fn prune(&self, before: Timestamp, dry_run: bool) -> Result<PruneSummary, Error> {
        let state_dir = self.state_dir()?.to_owned();
        if dry_run {
            let journal = Journal::read(&state_dir)?;
            let ops = find_prunable(&journal, before);
            let unused = find_unused(&state_dir, &journal, &ops).map_err(Error::reading(&state_dir))?;
            return Ok(PruneSummary { bytes: unused.iter().map(|(_, bytes)| bytes).sum(), ops });
        }
        let mut transaction = Transaction::begin(self, "log --prune")?;
        let ops = find_prunable(&transaction.journal, before);
        let unused =
            find_unused(&state_dir, &transaction.journal, &ops).map_err(Error::reading(&state_dir))?;
        for op in &ops {
            transaction.journal.append_event(*op, JournalEvent::Pruned)?;
            self.step("marked as pruned");
        }
        for (path, _) in &unused {
            remove_path(path).map_err(Error::writing(path))?;
            self.step("pruned");
        }
        Ok(PruneSummary { bytes: unused.iter().map(|(_, bytes)| bytes).sum(), ops })
    }
}

/// Returns the ops to prune. Unfinished ops and the newest op of each session are never pruned.
fn find_prunable(journal: &Journal, before: Timestamp) -> Vec<OpId> {
    let newest: HashMap<&str, OpId> = journal.ops.iter().map(|op| (op.session.as_str(), op.id)).collect();
    let is_prunable = |op: &&Op| {
        op.time < before
            && !op.pruned
            && op.status != OpStatus::Unfinished
            && newest.get(op.session.as_str()) != Some(&op.id)
    };
    journal.ops.iter().filter(is_prunable).map(|op| op.id).collect()
}

/// Lists the backup and trash paths that no op needs, with their sizes in bytes. The ops in `pruned` need none.
fn find_unused(state_dir: &Path, journal: &Journal, pruned: &[OpId]) -> io::Result<Vec<(PathBuf, u64)>> {
    let is_kept = |op: &&Op| !op.pruned && !pruned.contains(&op.id);
    let (mut kept_lists, mut kept_paths) = (HashSet::new(), HashSet::new());
    for op in journal.ops.iter().filter(is_kept) {
        for change in &op.changes {
            kept_lists.extend(change.bytes.iter().map(OsString::from));
            for before in change.before.iter() {
                kept_lists.extend(before.hash.iter().map(OsString::from));
                kept_paths.extend(before.link.clone());
                kept_paths.extend(before.trash.as_ref().and_then(|trash| trash.parent()).map(Path::to_owned));
            }
        }
    }
    let mut unused = Vec::new();
    let mut kept_chunks = HashSet::new();
    for list in list_dir(&state_dir.join("lists"))? {
        if list.file_name().is_some_and(|name| kept_lists.contains(name)) {
            kept_chunks.extend(std::fs::read_to_string(&list)?.lines().map(OsString::from));
        } else {
            unused.push(list);
        }
    }
    let chunk_files = list_dir(&state_dir.join("chunks"))?;
    unused.extend(
        chunk_files
            .into_iter()
            .filter(|chunk| chunk.file_name().is_some_and(|name| !kept_chunks.contains(name))),
    );
    for folder in ["links", "trash"] {
        let paths = list_dir(&state_dir.join(folder))?;
        unused.extend(paths.into_iter().filter(|path| !kept_paths.contains(path)));
    }
    Ok(unused.into_iter().map(|path| (total_size(&path), path)).map(|(bytes, path)| (path, bytes)).collect())
}

/// Lists the paths in a directory. A missing directory is empty.
fn list_dir(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}
