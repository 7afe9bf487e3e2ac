//! One writer at a time. Nobody waits: who comes second takes what there is.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Held while the index is written; a process that dies lets go of it.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a folder; `None` where another process has it.
    pub(super) fn take(folder: &Path) -> io::Result<Option<Lock>> {
        let file = super::home::make_file(&folder.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
