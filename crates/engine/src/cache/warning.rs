//! Problems with the cache. The command continues without it.

use std::io;
use std::path::PathBuf;

/// A reason why the cache could not be used.
#[derive(Debug)]
pub enum CacheWarning {
    /// A file is damaged or was not written by rethread. It was ignored.
    Damaged {
        /// The damaged file.
        path: PathBuf,
    },
    /// A file could not be written. The next command reads the session files again.
    Unwritable {
        /// The file that could not be written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}
