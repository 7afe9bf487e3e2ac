//! What is worth saying about the index while the command goes on without it.

use std::io;
use std::path::PathBuf;

/// Why the index did not help.
#[derive(Debug)]
pub enum CacheWarning {
    /// A file of it is damaged or not ours, and was not believed.
    Damaged {
        /// Which.
        path: PathBuf,
    },
    /// It could not be written, so that the next command must read again.
    Unwritable {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
