//! Errors of lake operations.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why an operation on a lake failed.
#[derive(Debug, thiserror::Error)]
pub enum LakeError {
    /// The folder is not a lake.
    #[error("`{}` is not a lake", .0.display())]
    NotALake(PathBuf),
    /// The folder is a lake already.
    #[error("`{}` is a lake already", .0.display())]
    AlreadyALake(PathBuf),
    /// The folder to create a lake in has other files.
    #[error("`{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A newer version of the program wrote the lake.
    #[error("the lake has schema version {0}, which is newer than this program")]
    NewerSchema(u64),
    /// The text is not a team key.
    #[error("`{}` is not a team key", .0.display())]
    BadKey(PathBuf),
    /// The key is of another lake.
    #[error("the key is not that of this lake")]
    WrongKey,
    /// The key lies inside the lake.
    #[error("the key `{}` is inside the lake", .0.display())]
    KeyInsideLake(PathBuf),
    /// A file could not be read or written.
    #[error("cannot access `{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An object is not valid Parquet, or does not have the columns of the schema.
    #[error("cannot read `{}`: {message}", path.display())]
    BadObject {
        /// The object.
        path: PathBuf,
        /// The cause.
        message: String,
    },
    /// An object could not be encoded.
    #[error("cannot write Parquet: {0}")]
    Encode(String),
    /// A test interrupted the operation.
    #[error("interrupted")]
    Interrupted,
}

impl LakeError {
    /// Returns a function that adds the path to an IO error.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> LakeError + use<> {
        let path = path.to_owned();
        move |source| LakeError::Io { path, source }
    }

    /// Returns a function that adds the path of an object to a Parquet error.
    pub(crate) fn object(path: &Path) -> impl FnOnce(parquet::errors::ParquetError) -> LakeError + use<> {
        let path = path.to_owned();
        move |error| LakeError::BadObject { path, message: error.to_string() }
    }
}
