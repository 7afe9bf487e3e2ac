//! Backing up a file before it changes, and writing it again from its backup.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::chunks::ChunkStore;
use super::files::{make_folder, same_file, sync_folder};
use super::record::{FileState, OpId};
use crate::disk::{TailFingerprint, open, tail_at};

/// A larger file that is only appended to is kept by a second name.
const LARGE: u64 = 16 << 20;

/// Where backups are kept.
#[derive(Debug, Clone)]
pub(crate) struct BackupStore {
    state: PathBuf,
    pub(super) chunks: ChunkStore,
}

impl BackupStore {
    /// Opens the backups in a state folder.
    pub(super) fn at(state: &Path) -> BackupStore {
        BackupStore { state: state.to_owned(), chunks: ChunkStore::at(state) }
    }

    /// Keeps a file by its chunks.
    pub(super) fn back_up(&self, path: &Path, stamp: &TailFingerprint) -> io::Result<FileState> {
        let content = open(path)?.take(stamp.len);
        let hash = self.chunks.keep(content)?;
        Ok(FileState { hash: Some(hash), ..FileState::file(stamp) })
    }

    /// Keeps a file that only grows: by a second name where it is large and that can be, else by its chunks.
    pub(super) fn growing(
        &self,
        path: &Path,
        stamp: &TailFingerprint,
        op: OpId,
        k: usize,
    ) -> io::Result<FileState> {
        if stamp.len > LARGE
            && let Some(link) = self.link(path, op, k)
        {
            return Ok(FileState { link: Some(link), ..FileState::file(stamp) });
        }
        self.back_up(path, stamp)
    }

    fn link(&self, path: &Path, op: OpId, k: usize) -> Option<PathBuf> {
        let folder = self.state.join("links");
        make_folder(&folder).ok()?;
        let link = folder.join(format!("{op}-{k}.jsonl"));
        // An op that never came to its journal line may have left one.
        super::files::remove_if_there(&link).ok()?;
        std::fs::hard_link(path, &link).ok()?;
        sync_folder(&folder).ok()?;
        let same = same_file(&std::fs::metadata(path).ok()?, &std::fs::metadata(&link).ok()?);
        same.then_some(link)
    }

    /// Whether the bytes of a state can be had.
    pub(crate) fn holds(&self, thing: &FileState) -> bool {
        let by_link = || {
            let file = thing.link.as_deref().and_then(|link| open(link).ok());
            let tail = file.and_then(|file| tail_at(&file, thing.len).ok());
            tail.is_some_and(|tail| tail.to_hex().as_str() == thing.tail)
        };
        thing.hash.as_deref().is_some_and(|hash| self.chunks.holds(hash))
            || by_link()
            || thing.trash.as_deref().is_some_and(|trash| std::fs::symlink_metadata(trash).is_ok())
    }

    /// Writes the bytes of a state.
    pub(crate) fn write(&self, thing: &FileState, out: &mut dyn Write) -> io::Result<()> {
        if let Some(hash) = &thing.hash {
            return self.chunks.write(hash, out);
        }
        let Some(kept) = thing.link.as_ref().or(thing.trash.as_ref()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let copied = io::copy(&mut open(kept)?.take(thing.len), out)?;
        if copied == thing.len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
