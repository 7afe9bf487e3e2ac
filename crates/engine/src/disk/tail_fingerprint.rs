//! What a file looked like when it was read, so that nobody writes into another one (**still-file**).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use super::open::open;

/// How much of a file's end is looked at.
const TAIL: u64 = 64 << 10;

/// Length, time of change and the hash of the last 64 kB of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TailFingerprint {
    pub(crate) len: u64,
    pub(crate) mtime: Option<SystemTime>,
    pub(crate) tail: blake3::Hash,
    /// Whether the last line has no end: what is appended must begin with one.
    pub(crate) open_end: bool,
}

impl TailFingerprint {
    /// Looks at a file.
    pub(crate) fn of(path: &Path) -> io::Result<TailFingerprint> {
        TailFingerprint::of_file(&open(path)?)
    }

    /// Looks at an open file.
    pub(crate) fn of_file(file: &File) -> io::Result<TailFingerprint> {
        let meta = file.metadata()?;
        let (tail, open_end) = tail(file, meta.len())?;
        Ok(TailFingerprint { len: meta.len(), mtime: meta.modified().ok(), tail, open_end })
    }
}

/// Hashes the 64 kB before `len`; says also whether no line ends there.
fn tail(mut file: &File, len: u64) -> io::Result<(blake3::Hash, bool)> {
    let from = len.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = vec![0; usize::try_from(len - from).unwrap_or_default()];
    file.read_exact(&mut bytes)?;
    Ok((blake3::hash(&bytes), bytes.last().is_some_and(|&last| last != b'\n')))
}

/// Hashes the last 64 kB of the first `len` bytes of a file.
pub(crate) fn tail_at(file: &File, len: u64) -> io::Result<blake3::Hash> {
    tail(file, len).map(|(hash, _)| hash)
}
