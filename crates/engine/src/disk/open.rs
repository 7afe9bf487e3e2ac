//! Opens files that are files: a pipe or device with a session's name must not stop anybody.

use std::fs::File;
use std::io;
use std::path::Path;

/// Largest file beside a session that is read whole.
const SIDE: u64 = 1 << 20;

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(path)
}

/// Reads a small file beside a session; `None` where there is none, or none that could be one.
pub(crate) fn read_side(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > SIDE {
        return None;
    }
    std::fs::read(path).ok()
}
