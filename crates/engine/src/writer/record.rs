//! The format of the journal lines.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::disk::TailFingerprint;

/// The version of the journal format. Lines of version 1 have no checksum.
pub(super) const VERSION: u32 = 2;

/// The number of an op, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpId(pub u64);

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A line of the journal: a state change of an op.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JournalRecord {
    pub(super) v: u32,
    pub(super) op: OpId,
    /// The time in milliseconds since 1970.
    pub(super) at: i64,
    /// Whether a crash truncated the line before this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) after_torn_line: bool,
    #[serde(flatten)]
    pub(super) event: JournalEvent,
}

/// The new state of an op.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(super) enum JournalEvent {
    /// The backups are complete. No file has changed yet.
    Begun {
        command: String,
        session: String,
        about: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<OpId>,
        changes: Vec<ChangeRecord>,
    },
    /// The drafts are written, and the files change next. `after` is the expected state of each.
    Ready { after: Vec<Option<FileState>> },
    /// All changes are complete. `after` is the new state of each file.
    Done {
        after: Vec<Option<FileState>>,
        /// Whether another process may still have a replaced file open.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    },
    /// All changes were rolled back.
    RolledBack {
        why: String,
        /// Whether another process may still have a replaced file open.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        watched: bool,
    },
    /// The first `len` bytes of the file that the change with this index replaced need not be copied again.
    Carried { change: usize, len: u64 },
    /// No process has the replaced files open any more, and they were removed.
    Settled,
    /// The backups of the op were deleted.
    Pruned,
}

/// A change of a file or directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    // The name of the field in version 1 of the format.
    #[serde(rename = "deed")]
    pub(crate) kind: FileOpKind,
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    /// The state before the op. `None` if the path did not exist.
    pub(crate) before: Option<FileState>,
    /// The state after the op, taken from the events `Ready` and `Done`.
    #[serde(skip)]
    pub(crate) after: Option<FileState>,
    /// The path of the draft: a temporary file in the same folder, or in the trash for `Remove`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) draft: Option<PathBuf>,
    /// The path of a hard link to the old file while it is replaced. For `Remove` and `Return`, the path of the temporary
    /// copy when the move is reverted.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) old: Option<PathBuf>,
    /// The name of the appended bytes in the chunk store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
    /// The path in the trash, for `Return`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) from: Option<PathBuf>,
    /// The parent folders that the op creates, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "path_text::list")]
    pub(super) folders: Vec<PathBuf>,
    /// The number of bytes of the replaced file that need not be copied again, taken from the event `Carried`.
    #[serde(skip)]
    pub(super) carried: Option<u64>,
}

/// The kind of a file operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOpKind {
    /// Appends bytes to a file.
    Append,
    /// Replaces the content of a file.
    Replace,
    /// Creates a file.
    Create,
    /// Moves a file or directory to the trash.
    Remove,
    /// Moves a file or directory out of the trash.
    Return,
}

/// The state of a file or folder, and the location of its backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) folder: bool,
    /// The length, or the total length of all files in a folder.
    pub(crate) len: u64,
    /// The hash of the last 64 kB, or of all names and lengths in a folder.
    pub(crate) tail: String,
    /// The name of the content in the chunk store: the hash of all bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
    /// The path of a hard link to the file. Its first `len` bytes are the content.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(crate) link: Option<PathBuf>,
    /// The path in the trash, if the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(crate) trash: Option<PathBuf>,
    /// The hash of all names and contents of a file or folder in the trash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
}

impl FileState {
    /// Creates the state of a file without a backup.
    pub(super) fn from_fingerprint(fingerprint: &TailFingerprint) -> FileState {
        let tail = fingerprint.tail.to_hex().to_string();
        FileState {
            folder: false,
            len: fingerprint.len,
            tail,
            hash: None,
            link: None,
            trash: None,
            digest: None,
        }
    }

    /// Returns `true` if type, length and tail hash are equal. Ignores the locations of the backups.
    pub(crate) fn is_same_content(&self, other: &FileState) -> bool {
        self.folder == other.folder && self.len == other.len && self.tail == other.tail
    }
}

/// Serializes paths as text, or as `{"hex": …}` if they are not UTF-8.
mod path_text {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum PathText {
        Text(String),
        Bytes { hex: String },
    }

    fn to_text(path: &Path) -> PathText {
        match path.to_str() {
            Some(text) => PathText::Text(text.to_owned()),
            None => {
                let hex = path.as_os_str().as_encoded_bytes().iter().map(|b| format!("{b:02x}"));
                PathText::Bytes { hex: hex.collect() }
            }
        }
    }

    fn from_text<E: serde::de::Error>(text: PathText) -> Result<PathBuf, E> {
        let hex = match text {
            PathText::Text(text) => return Ok(text.into()),
            PathText::Bytes { hex } => hex,
        };
        let parse_byte =
            |at: usize| hex.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(parse_byte).collect();
        bytes.and_then(to_os_string).map(PathBuf::from).ok_or_else(|| E::custom("not a path"))
    }

    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "on other systems not all bytes are a path")]
    fn to_os_string(bytes: Vec<u8>) -> Option<OsString> {
        Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
    }

    #[cfg(not(unix))]
    fn to_os_string(bytes: Vec<u8>) -> Option<OsString> {
        String::from_utf8(bytes).ok().map(OsString::from)
    }

    /// Serializes a path for `#[serde(with = "path_text")]`.
    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        to_text(path).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        from_text(PathText::deserialize(deserializer)?)
    }

    /// Serializes an optional path in the same form.
    pub(super) mod option {
        use super::{
            Deserialize, Deserializer, PathBuf, PathText, Serialize, Serializer, from_text, to_text,
        };

        #[expect(clippy::ref_option, reason = "serde passes a reference")]
        pub(in super::super) fn serialize<S: Serializer>(
            path: &Option<PathBuf>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            path.as_deref().map(to_text).serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<PathBuf>, D::Error> {
            Option::<PathText>::deserialize(deserializer)?.map(from_text).transpose()
        }
    }

    /// Serializes a list of paths in the same form.
    pub(super) mod list {
        use super::{
            Deserialize, Deserializer, PathBuf, PathText, Serialize, Serializer, from_text, to_text,
        };

        pub(in super::super) fn serialize<S: Serializer>(
            paths: &[PathBuf],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            paths.iter().map(|path| to_text(path)).collect::<Vec<PathText>>().serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<PathBuf>, D::Error> {
            Vec::<PathText>::deserialize(deserializer)?.into_iter().map(from_text).collect()
        }
    }
}
