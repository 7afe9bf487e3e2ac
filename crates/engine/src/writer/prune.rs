//! Throws backups of old ops away. The journal's lines stay and say so.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use super::journal::{Journal, Op, OpState};
use super::record::{JournalEvent, OpId};
use super::session_writer::SessionWriter;
use super::transaction::Transaction;
use super::trash::clear;
use crate::Error;
use crate::disk::size_of;

/// What was, or would be, thrown away.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pruned {
    pub(crate) ops: Vec<OpId>,
    pub(crate) bytes: u64,
}

impl SessionWriter {
    /// Throws away what is kept of ops that began before a moment, but never of the newest op of a session.
    pub(crate) fn prune(&self, before: Timestamp, dry_run: bool) -> Result<Pruned, Error> {
        let state = self.state()?.to_owned();
        if dry_run {
            let journal = Journal::read(&state)?;
            let ops = old(&journal, before);
            let bytes = unused(&state, &journal, &ops).map_err(Error::reading(&state))?;
            return Ok(Pruned { bytes: bytes.iter().map(|(_, bytes)| bytes).sum(), ops });
        }
        let mut desk = Transaction::take(self, "log --prune")?;
        let ops = old(&desk.journal, before);
        let unused = unused(&state, &desk.journal, &ops).map_err(Error::reading(&state))?;
        for op in &ops {
            desk.journal.add(*op, JournalEvent::Pruned)?;
            self.step("noted as pruned");
        }
        for (path, _) in &unused {
            clear(path).map_err(Error::writing(path))?;
            self.step("pruned");
        }
        Ok(Pruned { bytes: unused.iter().map(|(_, bytes)| bytes).sum(), ops })
    }
}

/// Returns the ops that are old enough.
fn old(journal: &Journal, before: Timestamp) -> Vec<OpId> {
    let newest: HashMap<&str, OpId> = journal.ops.iter().map(|op| (op.session.as_str(), op.no)).collect();
    let is_old = |op: &&Op| {
        op.at < before
            && !op.pruned
            && op.state != OpState::Unfinished
            && newest.get(op.session.as_str()) != Some(&op.no)
    };
    journal.ops.iter().filter(is_old).map(|op| op.no).collect()
}

/// Lists what no op needs but those in `gone`, with its size.
fn unused(state: &Path, journal: &Journal, gone: &[OpId]) -> io::Result<Vec<(PathBuf, u64)>> {
    let stays = |op: &&Op| !op.pruned && !gone.contains(&op.no);
    let (mut lists, mut others) = (HashSet::new(), HashSet::new());
    for op in journal.ops.iter().filter(stays) {
        for change in &op.changes {
            lists.extend(change.bytes.iter().map(OsString::from));
            for thing in change.before.iter() {
                lists.extend(thing.hash.iter().map(OsString::from));
                others.extend(thing.link.clone());
                others.extend(thing.trash.as_ref().and_then(|trash| trash.parent()).map(Path::to_owned));
            }
        }
    }
    let mut unused = Vec::new();
    let mut chunks = HashSet::new();
    for list in entries(&state.join("lists"))? {
        if list.file_name().is_some_and(|name| lists.contains(name)) {
            chunks.extend(std::fs::read_to_string(&list)?.lines().map(OsString::from));
        } else {
            unused.push(list);
        }
    }
    let chunk_files = entries(&state.join("chunks"))?;
    unused.extend(
        chunk_files.into_iter().filter(|chunk| chunk.file_name().is_some_and(|name| !chunks.contains(name))),
    );
    for folder in ["links", "trash"] {
        unused.extend(entries(&state.join(folder))?.into_iter().filter(|path| !others.contains(path)));
    }
    Ok(unused.into_iter().map(|path| (size_of(&path), path)).map(|(bytes, path)| (path, bytes)).collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => found?.map(|entry| Ok(entry?.path())).collect(),
    }
}
