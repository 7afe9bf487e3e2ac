//! The fingerprint of a file that a plan depends on: it is checked again before the file is written (**still-file**).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use super::file_content::{FileContent, open_content};
use crate::plain_file::open_file;

/// The number of bytes at the end of a file that are hashed.
const TAIL_BYTES: u64 = 64 << 10;

/// Length, modification time and the hash of the last 64 kB of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TailFingerprint {
    pub(crate) len: u64,
    pub(crate) mtime: Option<SystemTime>,
    /// The hash of the last 64 kB.
    pub(crate) tail: blake3::Hash,
    /// Whether the last line has no line feed. Appended bytes must then begin with one.
    pub(crate) unterminated: bool,
}

impl TailFingerprint {
    /// Opens the file at `path` and hashes its last 64 kB.
    pub(crate) fn from_path(path: &Path) -> io::Result<TailFingerprint> {
        TailFingerprint::from_file(&open_file(path)?)
    }

    /// Hashes the last 64 kB of an open file. Moves its position.
    pub(crate) fn from_file(file: &File) -> io::Result<TailFingerprint> {
        let meta = file.metadata()?;
        let (tail, unterminated) = hash_tail(file, meta.len())?;
        Ok(TailFingerprint { len: meta.len(), mtime: meta.modified().ok(), tail, unterminated })
    }

    /// Hashes the last 64 kB of a file on disk or in an open archive. An archived file has no modification time, so its
    /// fingerprint is never that of a file on disk.
    pub(crate) fn from_content(path: &Path) -> io::Result<TailFingerprint> {
        match open_content(path)? {
            FileContent::Disk(file) => TailFingerprint::from_file(&file),
            FileContent::Archive(mut content) => {
                let len = content.len();
                let (tail, unterminated) = hash_tail(&mut content, len)?;
                Ok(TailFingerprint { len, mtime: None, tail, unterminated })
            }
        }
    }
}

/// Hashes the 64 kB before the offset `len`. Also returns whether the last of these bytes is not a line feed.
fn hash_tail(mut file: impl Read + Seek, len: u64) -> io::Result<(blake3::Hash, bool)> {
    let from = len.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = vec![0; usize::try_from(len - from).unwrap_or_default()];
    file.read_exact(&mut bytes)?;
    Ok((blake3::hash(&bytes), bytes.last().is_some_and(|&last| last != b'\n')))
}

/// Hashes the last 64 kB of the first `len` bytes of a file. Returns an error if the file is shorter.
pub(crate) fn hash_tail_at(file: &File, len: u64) -> io::Result<blake3::Hash> {
    hash_tail(file, len).map(|(hash, _)| hash)
}
