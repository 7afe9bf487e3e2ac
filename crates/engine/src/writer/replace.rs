//! Another file in the place of one, without losing what is appended to the old one meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::files::{remove_if_there, sync_name};
use crate::disk::{open, writer_of};
use crate::error::LiveEvidence;

/// How often writers of the old file are waited for, and how long each time.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// The old file, out of place but still at hand.
#[derive(Debug)]
pub(super) struct ReplacedFile {
    file: File,
    /// How much of it is in the new file or stands for it.
    seen: u64,
}

impl ReplacedFile {
    /// Carries what the old file grew by to the new one.
    pub(super) fn copy_appended(&mut self, path: &Path) -> io::Result<()> {
        let grown = read_from(&self.file, self.seen)?;
        append(path, &grown)?;
        self.seen += grown.len() as u64;
        Ok(())
    }

    /// Waits until nobody can write to the old file any more; returns who still can.
    pub(super) fn wait(&self) -> io::Result<Option<LiveEvidence>> {
        let meta = [self.file.metadata()?];
        let mut writer = None;
        for _ in 0..TRIES {
            // It has lost its name: who does not have it open now never will.
            writer = writer_of(&meta);
            if writer.is_none() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        Ok(writer)
    }
}

/// Gives the old file a second name, so that it outlives a crash; not every file system can.
pub(super) fn hard_link(path: &Path, old: &Path) -> io::Result<()> {
    remove_if_there(old)?;
    match std::fs::hard_link(path, old) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
        _ => sync_name(old),
    }
}

/// Puts a file in the place of another, whose first `seen` bytes it accounts for.
pub(super) fn replace_file(new: &Path, path: &Path, file: File, seen: u64) -> io::Result<ReplacedFile> {
    std::fs::rename(new, path)?;
    sync_name(path)?;
    Ok(ReplacedFile { file, seen })
}

/// Reads a file from a place to its end.
pub(super) fn read_from(mut file: &File, from: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Adds bytes to the end of a file, durably.
pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    // Only a regular file: a pipe of that name would never answer.
    drop(open(path)?);
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
