//! Opens regular files only: opening a pipe or device that has the name of a session file could block forever.

use std::fs::File;
use std::io;
use std::path::Path;

/// The maximum length of a file for [`read_small_file`].
pub(crate) const MAX_SMALL_FILE_BYTES: u64 = 1 << 20;

/// Opens a regular file for reading. Returns an error for anything else.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// Reads a metadata file of at most 1 MB. Returns `None` if it is missing, unreadable, too long or not a regular file.
pub(crate) fn read_small_file(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_SMALL_FILE_BYTES {
        return None;
    }
    std::fs::read(path).ok()
}
