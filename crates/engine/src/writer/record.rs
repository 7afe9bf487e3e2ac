//! The lines of the journal.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::disk::TailFingerprint;

/// The version of the journal's lines.
pub(super) const VERSION: u32 = 1;

/// The number of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpId(pub u64);

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A line of the journal: an op comes to a new state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JournalRecord {
    pub(super) v: u32,
    pub(super) op: OpId,
    /// When, in milliseconds since 1970.
    pub(super) at: i64,
    #[serde(flatten)]
    pub(super) news: JournalEvent,
}

/// What the line says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(super) enum JournalEvent {
    /// Everything is backed up; nothing has changed yet.
    Begun {
        command: String,
        session: String,
        about: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<OpId>,
        changes: Vec<Change>,
    },
    /// The drafts are written; now the files change. What each will be.
    Ready { after: Vec<Option<FileState>> },
    /// All of it is done. What each file is now.
    Done { after: Vec<Option<FileState>> },
    /// All is as it was before.
    RolledBack { why: String },
    /// What was kept of the op was thrown away.
    Pruned,
}

/// How a file or folder changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) deed: FileOpKind,
    #[serde(with = "path_text")]
    pub(crate) path: PathBuf,
    /// What it was; nothing where it was not there.
    pub(crate) before: Option<FileState>,
    /// What it is afterwards, known when the op is done.
    #[serde(skip)]
    pub(crate) after: Option<FileState>,
    /// The draft beside it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) draft: Option<PathBuf>,
    /// A second name of the old file, beside it, while the new one takes its place; of what was moved, where a copy
    /// grows when it is moved back.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) old: Option<PathBuf>,
    /// What is appended: the name of its bytes among the backups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<String>,
    /// Where something is brought back from.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(super) from: Option<PathBuf>,
    /// Folders that are made for it, the uppermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "path_text::list")]
    pub(super) folders: Vec<PathBuf>,
}

/// What is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileOpKind {
    Append,
    Replace,
    Create,
    Remove,
    Return,
}

/// A state of a file or folder, and where its bytes are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) folder: bool,
    /// Its bytes; of a folder, those of all files in it.
    pub(crate) len: u64,
    /// The hash of its last 64 kB; of a folder, that of the names and lengths in it.
    pub(crate) tail: String,
    /// The name of its list of chunks: the hash of all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hash: Option<String>,
    /// A second name of the file, whose first `len` bytes it is.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(crate) link: Option<PathBuf>,
    /// Where it lies in the trash.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text::option")]
    pub(crate) trash: Option<PathBuf>,
}

impl FileState {
    /// The state of a file of which nothing is kept.
    pub(super) fn file(stamp: &TailFingerprint) -> FileState {
        let tail = stamp.tail.to_hex().to_string();
        FileState { folder: false, len: stamp.len, tail, hash: None, link: None, trash: None }
    }

    /// Whether both are the same, wherever their bytes are kept.
    pub(crate) fn same(&self, other: &FileState) -> bool {
        self.folder == other.folder && self.len == other.len && self.tail == other.tail
    }
}

/// Paths as text; those that are not UTF-8, as `{"hex": …}`.
mod path_text {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes { hex: String },
    }

    fn form(path: &Path) -> Form {
        match path.to_str() {
            Some(text) => Form::Text(text.to_owned()),
            None => {
                let hex = path.as_os_str().as_encoded_bytes().iter().map(|b| format!("{b:02x}"));
                Form::Bytes { hex: hex.collect() }
            }
        }
    }

    fn path<E: serde::de::Error>(form: Form) -> Result<PathBuf, E> {
        let hex = match form {
            Form::Text(text) => return Ok(text.into()),
            Form::Bytes { hex } => hex,
        };
        let digits = |k: usize| hex.get(k..k + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(digits).collect();
        bytes.and_then(os_string).map(PathBuf::from).ok_or_else(|| E::custom("no path"))
    }

    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere bytes may be no path")]
    fn os_string(bytes: Vec<u8>) -> Option<OsString> {
        Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
    }

    #[cfg(not(unix))]
    fn os_string(bytes: Vec<u8>) -> Option<OsString> {
        String::from_utf8(bytes).ok().map(OsString::from)
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        form(path).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        path(Form::deserialize(deserializer)?)
    }

    /// The same for a path that may be missing.
    pub(super) mod option {
        use super::{Deserialize, Deserializer, Form, PathBuf, Serialize, Serializer, form, path};

        #[expect(clippy::ref_option, reason = "serde hands over a reference")]
        pub(in super::super) fn serialize<S: Serializer>(
            path: &Option<PathBuf>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            path.as_deref().map(form).serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<PathBuf>, D::Error> {
            Option::<Form>::deserialize(deserializer)?.map(path).transpose()
        }
    }

    /// The same for several.
    pub(super) mod list {
        use super::{Deserialize, Deserializer, Form, PathBuf, Serialize, Serializer, form, path};

        pub(in super::super) fn serialize<S: Serializer>(
            paths: &[PathBuf],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            paths.iter().map(|path| form(path)).collect::<Vec<Form>>().serialize(serializer)
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<PathBuf>, D::Error> {
            Vec::<Form>::deserialize(deserializer)?.into_iter().map(path).collect()
        }
    }
}
