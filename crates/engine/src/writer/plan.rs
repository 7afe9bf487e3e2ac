//! A planned change as a value: it can be displayed, tested and refused before anything is written (**plan-first**).

use std::io;
use std::path::{Path, PathBuf};

use super::record::FileOpKind;
use crate::disk::TailFingerprint;

/// A planned change of files.
pub(crate) struct Plan<'a> {
    /// The command, for the log.
    pub(crate) command: &'static str,
    /// The id of the session that changes.
    pub(crate) session: String,
    /// A description for the log.
    pub(crate) about: String,
    /// The file operations, in order.
    pub(crate) file_ops: Vec<FileOp<'a>>,
    /// Writes even if a client may be using the session.
    pub(crate) even_if_live: bool,
}

/// A planned change of one file or directory.
pub(crate) enum FileOp<'a> {
    /// Appends bytes to a file.
    Append {
        path: PathBuf,
        /// The fingerprint of the file when the plan was made.
        fingerprint: TailFingerprint,
        bytes: Vec<u8>,
    },
    /// Replaces the content of a file.
    Replace {
        path: PathBuf,
        /// The fingerprint of the file when the plan was made.
        fingerprint: TailFingerprint,
        content: NewContent<'a>,
    },
    /// Creates a file and its missing parent directories. Never overwrites.
    Create { path: PathBuf, content: NewContent<'a> },
    /// Moves a file or directory to the trash.
    Remove { path: PathBuf },
    /// Moves a file or directory out of the trash. Never overwrites.
    Return {
        path: PathBuf,
        /// The path in the trash.
        from: PathBuf,
    },
}

impl FileOp<'_> {
    /// Returns the path that changes.
    pub(crate) fn path(&self) -> &Path {
        match self {
            FileOp::Append { path, .. }
            | FileOp::Replace { path, .. }
            | FileOp::Create { path, .. }
            | FileOp::Remove { path }
            | FileOp::Return { path, .. } => path,
        }
    }

    /// Sets the path that changes.
    pub(super) fn set_path(&mut self, new_path: PathBuf) {
        match self {
            FileOp::Append { path, .. }
            | FileOp::Replace { path, .. }
            | FileOp::Create { path, .. }
            | FileOp::Remove { path }
            | FileOp::Return { path, .. } => *path = new_path,
        }
    }

    /// Returns its kind, as recorded in the journal.
    pub(crate) fn kind(&self) -> FileOpKind {
        match self {
            FileOp::Append { .. } => FileOpKind::Append,
            FileOp::Replace { .. } => FileOpKind::Replace,
            FileOp::Create { .. } => FileOpKind::Create,
            FileOp::Remove { .. } => FileOpKind::Remove,
            FileOp::Return { .. } => FileOpKind::Return,
        }
    }
}

/// A closure that writes the bytes of a file. It may be called more than once.
pub(crate) type ContentWriter<'a> = Box<dyn Fn(&mut dyn io::Write) -> io::Result<()> + 'a>;

/// The source of the bytes of a new file.
pub(crate) enum NewContent<'a> {
    Bytes(Vec<u8>),
    /// The bytes of another file.
    Copy(PathBuf),
    /// The bytes this closure writes.
    Generated(ContentWriter<'a>),
    /// The bytes this closure writes, in a file with these permission bits. 0 means those of a private file.
    WithMode(u32, ContentWriter<'a>),
}
