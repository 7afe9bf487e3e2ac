//! Opens session files for reading: files on disk, and files that only an archive has.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::fingerprint::FileFingerprint;
use super::open_archive;
use crate::archive_reader::ArchivedContent;
use crate::plain_file::{self, MAX_SMALL_FILE_BYTES, open_file};

/// The content of a file on disk, or of one that only an archive has.
#[derive(Debug)]
pub(crate) enum FileContent {
    Disk(File),
    Archive(Box<ArchivedContent>),
}

impl FileContent {
    /// Returns the length of the content in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            FileContent::Disk(file) => Ok(file.metadata()?.len()),
            FileContent::Archive(content) => Ok(content.len()),
        }
    }
}

impl Read for FileContent {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            FileContent::Disk(file) => file.read(out),
            FileContent::Archive(content) => content.read(out),
        }
    }
}

impl Seek for FileContent {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            FileContent::Disk(file) => file.seek(to),
            FileContent::Archive(content) => content.seek(to),
        }
    }
}

/// Opens a regular file for reading. If it does not exist, opens its newest state in an open archive.
pub(crate) fn open_content(path: &Path) -> io::Result<FileContent> {
    let error = match open_file(path) {
        Ok(file) => return Ok(FileContent::Disk(file)),
        Err(error) => error,
    };
    let archived = is_missing(&error).then(|| open_archive::find_content(path)).flatten();
    archived.map(|content| FileContent::Archive(Box::new(content))).ok_or(error)
}

/// Reads a metadata file of at most 1 MB, on disk or in an open archive. Returns `None` if it is missing, unreadable, too
/// long or not a regular file.
pub(crate) fn read_small_file(path: &Path) -> Option<Vec<u8>> {
    if std::fs::symlink_metadata(path).is_ok() {
        return plain_file::read_small_file(path);
    }
    let mut content =
        open_archive::find_content(path).filter(|content| content.len() <= MAX_SMALL_FILE_BYTES)?;
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the fingerprint of a file on disk or in an open archive.
pub(crate) fn read_fingerprint(path: &Path) -> io::Result<FileFingerprint> {
    match std::fs::metadata(path) {
        Ok(meta) => Ok(FileFingerprint::from_metadata(&meta)),
        Err(error) => {
            let archived = is_missing(&error).then(|| open_archive::find_fingerprint(path)).flatten();
            archived.ok_or(error)
        }
    }
}

/// Returns `true` if a path is that of a regular file on disk, or of a file that only an archive has.
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file() || is_only_archived(path)
}

/// Returns `true` if there is no file at a path, but an open archive has its content.
pub(crate) fn is_only_archived(path: &Path) -> bool {
    let is_missing = std::fs::symlink_metadata(path).is_err_and(|error| is_missing(&error));
    is_missing && open_archive::find_fingerprint(path).is_some()
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
