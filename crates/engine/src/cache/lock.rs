//! One writer at a time; who comes second does without.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::cache_dir::{make_folder, private};

/// The right to write what is called `name` in a folder; it goes with this value, also when the process dies.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock if it is free; makes the folder if it is not there.
    pub(crate) fn take(folder: &Path, name: &str) -> io::Result<Option<Lock>> {
        make_folder(folder)?;
        let path = folder.join(format!("{name}.lock"));
        let file = private().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
