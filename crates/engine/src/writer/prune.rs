//! Deletes the backups of old ops. Their journal lines remain and are marked as pruned.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use super::fs;
use super::journal::{Journal, Op, OpStatus, read_op_id};
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
            journal.ensure_undamaged()?;
            let ops = find_prunable(&journal, before);
            let unused = find_unused(&state_dir, &journal, &ops).map_err(Error::reading(&state_dir))?;
            return Ok(PruneSummary { bytes: unused.iter().map(|(_, bytes)| bytes).sum(), ops });
        }
        let mut transaction = Transaction::begin(self, "log --prune")?;
        transaction.journal.ensure_undamaged()?;
        let ops = find_prunable(&transaction.journal, before);
        let unused =
            find_unused(&state_dir, &transaction.journal, &ops).map_err(Error::reading(&state_dir))?;
        for op in &ops {
            transaction.journal.append_event(*op, JournalEvent::Pruned)?;
        }
        for (path, _) in &unused {
            remove_path(path).map_err(Error::writing(path))?;
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

/// Lists the backup and trash paths that only pruned ops need, with their sizes in bytes. The ops in `pruned` are pruned
/// next.
///
/// A path that no op names is kept: the journal may be incomplete. Returns an error if a list of chunks is damaged, because
/// then the chunks that it needs are unknown.
fn find_unused(state_dir: &Path, journal: &Journal, pruned: &[OpId]) -> io::Result<Vec<(PathBuf, u64)>> {
    let is_pruned = |op: &&Op| op.pruned || pruned.contains(&op.id);
    let pruned_backups = BackupNames::collect(journal.ops.iter().filter(is_pruned));
    let kept_backups = BackupNames::collect(journal.ops.iter().filter(|op| !is_pruned(op)));
    let (lists_dir, chunks_dir) = (state_dir.join("lists"), state_dir.join("chunks"));
    let is_unused =
        |name: &OsString| pruned_backups.lists.contains(name) && !kept_backups.lists.contains(name);
    let (mut unused, mut unused_chunks, mut kept_chunks) = (Vec::new(), HashSet::new(), HashSet::new());
    for list in fs::list_dir(&lists_dir)? {
        let names = fs::read_to_string(&list)?;
        let names = names.lines().map(OsString::from);
        if is_unused(&list.file_name().unwrap_or_default().to_owned()) {
            unused_chunks.extend(names);
            unused.push(list);
        } else {
            for name in names {
                if !chunks_dir.join(&name).exists() {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a backup is damaged"));
                }
                kept_chunks.insert(name);
            }
        }
    }
    let chunks = unused_chunks.difference(&kept_chunks).map(|name| chunks_dir.join(name));
    unused.extend(chunks.filter(|path| path.exists()));
    for folder in ["links", "trash"] {
        let ids: HashSet<OpId> = journal.ops.iter().filter(is_pruned).map(|op| op.id).collect();
        let paths = fs::list_dir(&state_dir.join(folder))?.into_iter();
        unused.extend(paths.filter(|path| {
            read_op_id(path).is_some_and(|id| ids.contains(&id)) && !kept_backups.paths.contains(path)
        }));
    }
    Ok(unused.into_iter().map(|path| (total_size(&path), path)).map(|(bytes, path)| (path, bytes)).collect())
}

/// The backups that some ops need.
#[derive(Default)]
struct BackupNames {
    /// The names of contents in the chunk store.
    lists: HashSet<OsString>,
    /// Hard links, and folders in the trash.
    paths: HashSet<PathBuf>,
}

impl BackupNames {
    fn collect<'o>(ops: impl Iterator<Item = &'o Op>) -> BackupNames {
        let mut names = BackupNames::default();
        for change in ops.flat_map(|op| &op.changes) {
            names.lists.extend(change.bytes.iter().map(OsString::from));
            for before in change.before.iter() {
                names.lists.extend(before.hash.iter().map(OsString::from));
                names.paths.extend(before.link.clone());
                names
                    .paths
                    .extend(before.trash.as_ref().and_then(|trash| trash.parent()).map(Path::to_owned));
            }
        }
        names
    }
}
