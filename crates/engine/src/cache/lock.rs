//! A lock that allows one writer at a time. A second writer does not wait, it skips writing.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::cache_dir::{create_private_dir, private_options};

/// The lock on one file of a cache directory. It is released on drop and when the process dies.
#[derive(Debug)]
pub(crate) struct CacheLock {
    _file: File,
}

impl CacheLock {
    /// Acquires the lock called `name` without waiting. Creates the directory and the lock file if needed.
    ///
    /// Returns `None` if another process or thread holds the lock.
    pub(crate) fn try_acquire(dir: &Path, name: &str) -> io::Result<Option<CacheLock>> {
        create_private_dir(dir)?;
        let path = dir.join(format!("{name}.lock"));
        let file = private_options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(CacheLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
