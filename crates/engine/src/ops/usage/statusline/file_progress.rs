//! Incremental reading of a growing file: its usage so far, and the position at which to continue.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rethread_core::pack_fields;
use rethread_core::usage::{FileUsage, UsageCollector};
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::disk::{FileFingerprint, SessionFile, find_last_line_end, open_content};
use crate::ops::usage::store::collect_range;

/// The number of bytes before the last position that must be unchanged for incremental reading.
///
/// Hashing the whole file would cost more than reading it. A rewrite shifts the content or creates a new inode, so the
/// tail suffices.
const TAIL_BYTES: u64 = 1 << 20;

/// The usage of a file up to the end of a line.
#[derive(Debug, Clone)]
pub(super) struct FileProgress {
    pub(super) path: PathBuf,
    fingerprint: FileFingerprint,
    /// Whether any later change is guaranteed to change the fingerprint.
    is_stable: bool,
    /// The number of bytes read, in whole lines.
    bytes: u64,
    line_count: u32,
    /// The hash of the last bytes that were read, at most 1 MB.
    tail_hash: u64,
    /// The usage of these lines.
    pub(super) usage: FileUsage,
}

pack_fields!(FileProgress { path, fingerprint, is_stable, bytes, line_count, tail_hash, usage });

/// An up-to-date [`FileProgress`].
pub(super) struct RefreshedFile {
    pub(super) progress: FileProgress,
    /// The usage including an unterminated last line, if there is one.
    with_last_line: Option<FileUsage>,
    /// The number of bytes that this refresh read.
    pub(super) bytes_read: u64,
    /// Whether the file had to be read from the start although progress was known.
    pub(super) was_rewritten: bool,
}

impl RefreshedFile {
    /// Returns the usage of the whole file, including an unterminated last line.
    pub(super) fn usage(&self) -> &FileUsage {
        self.with_last_line.as_ref().unwrap_or(&self.progress.usage)
    }

    /// Returns the path and the usage of the whole file.
    pub(super) fn into_usage(self) -> (PathBuf, FileUsage) {
        (self.progress.path, self.with_last_line.unwrap_or(self.progress.usage))
    }
}

impl FileProgress {
    /// Returns `true` if this is the progress of `file`, even if `file` has another path to the same inode.
    pub(super) fn is_for_file(&self, file: &SessionFile) -> bool {
        self.path == file.path || self.fingerprint.is_same_inode(&file.fingerprint)
    }

    /// Reads the bytes of a file after the `known` progress. Without `trust_known`, a changed file is read from the start.
    pub(super) fn refresh(
        file: &SessionFile,
        known: Option<FileProgress>,
        trust_known: bool,
    ) -> Result<RefreshedFile, Error> {
        let is_unchanged = |known: &FileProgress| {
            known.is_stable && known.fingerprint == file.fingerprint && known.bytes == file.len
        };
        let known = match known {
            Some(known) if is_unchanged(&known) => {
                return Ok(RefreshedFile {
                    progress: known,
                    with_last_line: None,
                    bytes_read: 0,
                    was_rewritten: false,
                });
            }
            known => known,
        };
        let was_known = known.is_some();
        let grown = known.filter(|known| {
            let may_have_grown =
                known.fingerprint.may_be_same_file(&file.fingerprint) && known.bytes <= file.len;
            trust_known
                && may_have_grown
                && hash_tail(&file.path, known.bytes).is_ok_and(|hash| hash == known.tail_hash)
        });
        let was_rewritten = trust_known && was_known && grown.is_none();
        let (collector, from, line_count) = match grown {
            Some(known) => (UsageCollector::resume_from(known.usage), known.bytes, known.line_count),
            None => {
                (UsageCollector::without_tools(file.path_id(), file.session_id().unwrap_or_default()), 0, 0)
            }
        };
        let end = find_last_line_end(&file.path, file.len).map_err(Error::reading(&file.path))?.max(from);
        let (collector, line_count) = collect_range(file, collector, from..end, line_count)?;
        let usage = collector.finish();
        let with_last_line = if end < file.len {
            let (collector, _) =
                collect_range(file, UsageCollector::resume_from(usage.clone()), end..file.len, line_count)?;
            Some(collector.finish())
        } else {
            None
        };
        let progress = FileProgress {
            path: file.path.clone(),
            fingerprint: file.fingerprint,
            is_stable: file.is_stable,
            bytes: end,
            line_count,
            tail_hash: hash_tail(&file.path, end).map_err(Error::reading(&file.path))?,
            usage,
        };
        Ok(RefreshedFile { progress, with_last_line, bytes_read: file.len - from, was_rewritten })
    }
}

/// Hashes the bytes before the offset `end` of a file, at most 1 MB. Returns an error if the file is shorter.
fn hash_tail(path: &Path, end: u64) -> io::Result<u64> {
    let mut file = open_content(path)?;
    let from = end.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = file.take(end - from);
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 64 << 10];
    let mut hashed_bytes = 0;
    loop {
        let len = tail.read(&mut buffer)?;
        if len == 0 {
            // The file was truncated in the meantime.
            return if hashed_bytes == end - from {
                Ok(hasher.digest())
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        hasher.update(&buffer[..len]);
        hashed_bytes += len as u64;
    }
}
