//! Backs up files before they change, and reads the backups.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::chunks::ChunkStore;
use super::files::{create_private_dir, is_same_file, sync_dir};
use super::fs;
use super::record::{FileState, OpId};
use crate::disk::{TailFingerprint, hash_tail_at};

/// A longer file that is only appended to is backed up by a hard link instead of a copy.
const MIN_LINK_BYTES: u64 = 16 << 20;

/// The backups in a state folder.
#[derive(Debug, Clone)]
pub(crate) struct BackupStore {
    state_dir: PathBuf,
    pub(super) chunks: ChunkStore,
}

impl BackupStore {
    pub(super) fn new(state_dir: &Path) -> BackupStore {
        BackupStore { state_dir: state_dir.to_owned(), chunks: ChunkStore::new(state_dir) }
    }

    /// Stores the chunks of the first `fingerprint.len` bytes of a file. Returns the state with the hash of these bytes.
    pub(super) fn back_up(&self, path: &Path, fingerprint: &TailFingerprint) -> io::Result<FileState> {
        let content = fs::open_file(path)?.take(fingerprint.len);
        let hash = self.chunks.store(content)?;
        Ok(FileState { hash: Some(hash), ..FileState::from_fingerprint(fingerprint) })
    }

    /// Backs up a file before an append. Creates a hard link to a file over 16 MB if possible, else stores its chunks. `idx`
    /// is the index of the file operation in the op.
    pub(super) fn back_up_for_append(
        &self,
        path: &Path,
        fingerprint: &TailFingerprint,
        op: OpId,
        idx: usize,
    ) -> io::Result<FileState> {
        if fingerprint.len > MIN_LINK_BYTES
            && let Some(link) = self.link_file(path, op, idx)
        {
            return Ok(FileState { link: Some(link), ..FileState::from_fingerprint(fingerprint) });
        }
        self.back_up(path, fingerprint)
    }

    /// Creates a hard link to a file in the state folder. Returns `None` if any step fails.
    fn link_file(&self, path: &Path, op: OpId, idx: usize) -> Option<PathBuf> {
        let dir = self.state_dir.join("links");
        create_private_dir(&dir).ok()?;
        let link = dir.join(format!("{op}-{idx}.jsonl"));
        // An op that was interrupted before its first journal line may have created this link.
        super::files::remove_if_exists(&link).ok()?;
        fs::hard_link(path, &link).ok()?;
        sync_dir(&dir).ok()?;
        let is_linked = is_same_file(&std::fs::metadata(path).ok()?, &std::fs::metadata(&link).ok()?);
        is_linked.then_some(link)
    }

    /// Returns `true` if a backup of the state exists. Does not read all of its bytes, so it may still be damaged.
    pub(crate) fn has_content(&self, state: &FileState) -> bool {
        let has_link = || {
            let file = state.link.as_deref().and_then(|link| fs::open_file(link).ok());
            let tail = file.and_then(|file| hash_tail_at(&file, state.len).ok());
            tail.is_some_and(|tail| tail.to_hex().as_str() == state.tail)
        };
        state.hash.as_deref().is_some_and(|hash| self.chunks.has_content(hash))
            || has_link()
            || state.trash.as_deref().is_some_and(|trash| std::fs::symlink_metadata(trash).is_ok())
    }

    /// Writes the bytes of a state to `out`. Returns an error if the backup is missing, too short or damaged.
    pub(crate) fn write_content(&self, state: &FileState, out: &mut dyn Write) -> io::Result<()> {
        if let Some(hash) = &state.hash {
            return self.chunks.write_content(hash, out);
        }
        let Some(backup) = state.link.as_ref().or(state.trash.as_ref()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if state.link.is_none() && super::trash::ensure_undamaged(backup, state).is_err() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the backup is damaged"));
        }
        let copied = io::copy(&mut fs::open_file(backup)?.take(state.len), out)?;
        if copied == state.len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
