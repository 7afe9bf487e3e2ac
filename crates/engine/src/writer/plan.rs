//! What shall be written, as a value: it can be shown, tested and refused before a byte moves (**plan-before-pen**).

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::TailFingerprint;

/// An intended change of files.
pub(crate) struct Plan<'a> {
    /// The command: a word of the log.
    pub(crate) command: &'static str,
    /// The id of the session it is about.
    pub(crate) session: String,
    /// More words of the log.
    pub(crate) about: String,
    /// What to do, in this order.
    pub(crate) deeds: Vec<FileOp<'a>>,
    /// Whether to write although somebody may be at work in the session.
    pub(crate) even_if_live: bool,
}

/// One change of one file or folder.
pub(crate) enum FileOp<'a> {
    /// Adds bytes to the end of a file.
    Append {
        /// The file.
        path: PathBuf,
        /// How it was when the plan was made.
        stamp: TailFingerprint,
        /// What to add.
        bytes: Vec<u8>,
    },
    /// Gives a file another content.
    Replace {
        /// The file.
        path: PathBuf,
        /// How it was when the plan was made.
        stamp: TailFingerprint,
        /// The content.
        content: Content<'a>,
    },
    /// Makes a file and the folders above it; never overwrites.
    Create {
        /// Where.
        path: PathBuf,
        /// Its content.
        content: Content<'a>,
    },
    /// Moves a file or folder to the trash.
    Remove {
        /// Which.
        path: PathBuf,
    },
    /// Moves a file or folder out of the trash; never overwrites.
    Return {
        /// Where to.
        path: PathBuf,
        /// Where it lies.
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
}

/// Writes a content.
pub(crate) type ContentWriter<'a> = Box<dyn Fn(&mut dyn io::Write) -> io::Result<()> + 'a>;

/// What a file shall hold.
pub(crate) enum Content<'a> {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The bytes of another file.
    Copy(PathBuf),
    /// What this writes.
    Generated(ContentWriter<'a>),
}
