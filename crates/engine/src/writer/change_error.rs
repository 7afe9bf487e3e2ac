//! The error of a change to one file.

use std::io;
use std::path::Path;

use crate::Error;

/// A failure of a change to one file. The caller knows the path.
#[derive(Debug)]
pub(super) enum ChangeError {
    /// A file system call failed.
    Io(io::Error),
    /// The change was refused.
    Refused(Error),
}

impl ChangeError {
    /// Adds the path of the file.
    pub(super) fn at(self, path: &Path) -> Error {
        match self {
            ChangeError::Io(source) => Error::Unwritable { path: path.to_owned(), source },
            ChangeError::Refused(error) => error,
        }
    }
}

impl From<io::Error> for ChangeError {
    fn from(error: io::Error) -> ChangeError {
        ChangeError::Io(error)
    }
}

impl From<Error> for ChangeError {
    fn from(error: Error) -> ChangeError {
        ChangeError::Refused(error)
    }
}
