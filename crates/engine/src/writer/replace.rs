//! Replaces a file by another one without losing bytes that other processes append to the old one meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::files::{remove_if_exists, sync_parent};
use crate::disk::{find_writer, open_file};
use crate::error::LiveEvidence;

/// The number of checks for writers of the old file, with [`PAUSE`] between them: 2 seconds in all.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// A file that was replaced by another one, still open.
#[derive(Debug)]
pub(super) struct ReplacedFile {
    file: File,
    /// The number of its bytes that the new file already accounts for.
    accounted: u64,
}

impl ReplacedFile {
    /// Appends to the new file at `path` the bytes that were appended to the old one since the last call.
    pub(super) fn copy_appended(&mut self, path: &Path) -> io::Result<()> {
        let appended = read_from_offset(&self.file, self.accounted)?;
        append_durably(path, &appended)?;
        self.accounted += appended.len() as u64;
        Ok(())
    }

    /// Waits until no process has the old file open for writing. Returns a writer that remains after 2 seconds, or `None`.
    pub(super) fn wait_for_writers(&self) -> io::Result<Option<LiveEvidence>> {
        let meta = [self.file.metadata()?];
        let mut writer = None;
        for _ in 0..TRIES {
            // The path now names another file, so no new writers can appear.
            writer = find_writer(&meta);
            if writer.is_none() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Ok(writer)
    }
}

/// Creates a hard link to the old file, so that it survives a crash. Ignores file systems without hard links.
pub(super) fn link_old_file(path: &Path, old: &Path) -> io::Result<()> {
    remove_if_exists(old)?;
    match std::fs::hard_link(path, old) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        _ => sync_parent(old),
    }
}

/// Renames `new` to `path`. `file` is the old file, and `new` accounts for its first `accounted` bytes.
pub(super) fn replace_file(new: &Path, path: &Path, file: File, accounted: u64) -> io::Result<ReplacedFile> {
    std::fs::rename(new, path)?;
    sync_parent(path)?;
    Ok(ReplacedFile { file, accounted })
}

/// Reads a file from an offset to its end.
pub(super) fn read_from_offset(mut file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Appends bytes to a file durably.
pub(super) fn append_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    // Check that it is a regular file: opening a pipe would block.
    drop(open_file(path)?);
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
