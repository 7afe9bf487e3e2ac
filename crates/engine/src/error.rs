//! What could not be done; the app finds the words and the hint.

use std::path::PathBuf;

/// A thing that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No session has this name.
    #[error("no session is called `{name}`")]
    UnknownSession {
        /// What was asked for.
        name: String,
        /// The nearest names: id and title.
        nearest: Vec<(String, String)>,
    },
    /// Several sessions have this name.
    #[error("`{name}` names {} sessions", candidates.len())]
    AmbiguousSession {
        /// What was asked for.
        name: String,
        /// Those: id and title.
        candidates: Vec<(String, String)>,
    },
    /// No entry of the session has this name.
    #[error("no entry of the session is called `{name}`")]
    UnknownEntry {
        /// What was asked for.
        name: String,
    },
    /// Several entries hold these words.
    #[error("`{name}` names {count} entries")]
    AmbiguousEntry {
        /// What was asked for.
        name: String,
        /// How many.
        count: usize,
        /// The first of them: name and words.
        candidates: Vec<(String, String)>,
    },
    /// Nothing stands before the entry.
    #[error("nothing stands before `{name}`")]
    NothingBefore {
        /// The entry.
        name: String,
    },
    /// No client goes on from this entry: it belongs to a subagent, or nothing above it is read.
    #[error("no client goes on from `{name}`")]
    NotAResumePoint {
        /// The entry.
        name: String,
    },
    /// Clients cannot be brought to this entry.
    #[error("no client can be brought to `{name}`")]
    CannotResumeFrom {
        /// The entry.
        name: String,
    },
    /// A title without a word.
    #[error("the title is empty")]
    NoTitle,
    /// A title that is too long.
    #[error("the title has {length} characters, {most} are taken")]
    LongTitle {
        /// How many characters it has.
        length: usize,
        /// How many it may have.
        most: usize,
    },
    /// A client would load nothing.
    #[error("there is nothing to load in `{}`", path.display())]
    NothingToLoad {
        /// The file.
        path: PathBuf,
    },
    /// Everything was to be left out.
    #[error("nothing is left of `{}`", path.display())]
    NothingLeft {
        /// The file.
        path: PathBuf,
    },
    /// A conversation cannot be made to fit.
    #[error("it cannot be made to fit {fit} tokens: its last two turns have about {least}")]
    TooLong {
        /// How many tokens there is room for.
        fit: u64,
        /// How many are left where all went that may go.
        least: u64,
    },
    /// There is no such folder.
    #[error("there is no folder `{}`", path.display())]
    NoFolder {
        /// Which.
        path: PathBuf,
    },
    /// The name of a folder is too long to tell where the client keeps its sessions.
    #[error("cannot tell where the sessions of `{}` lie", path.display())]
    UnknownProject {
        /// The folder.
        path: PathBuf,
        /// How many places there could be.
        found: usize,
    },
    /// The file lies outside the folders that hold sessions.
    #[error("`{}` is in no store", path.display())]
    OutsideStore {
        /// The file.
        path: PathBuf,
    },
    /// The file changed while it was read.
    #[error("`{}` changed while it was read", path.display())]
    Changed {
        /// Which.
        path: PathBuf,
    },
    /// A file or folder could not be written; nothing was changed, or all of it is as it was again.
    #[error("cannot write `{}`", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no folder for backups and the journal.
    #[error("there is no folder for backups")]
    NoState,
    /// Another process of rethread is writing.
    #[error("another rethread is writing")]
    Busy {
        /// What is known of it: its process and command.
        who: String,
    },
    /// The file is not what the plan was made for.
    #[error("`{}` changed since it was read", path.display())]
    Stale {
        /// Which.
        path: PathBuf,
        /// How it differs.
        drift: FileChange,
    },
    /// Somebody is at work in the session.
    #[error("session `{session}` is live")]
    Live {
        /// The session.
        session: String,
        /// How that is known.
        why: LiveEvidence,
    },
    /// Something stands where a new file was to be.
    #[error("`{}` is already there", path.display())]
    AlreadyExists {
        /// Where.
        path: PathBuf,
    },
    /// After the write a client would not load what was promised; it was taken back.
    #[error("the outcome is not what was promised for `{}`", path.display())]
    VerificationFailed {
        /// The file.
        path: PathBuf,
    },
    /// What an op wrote was changed since, so it cannot be taken back.
    #[error("`{}` is no longer as op {op} left it", path.display())]
    ChangedSinceOp {
        /// The op.
        op: u64,
        /// The session it was about.
        session: String,
        /// Whether the op made it.
        made: bool,
        /// The file.
        path: PathBuf,
        /// How it differs.
        drift: FileChange,
    },
    /// No op has this number.
    #[error("there is no op {op}")]
    UnknownOp {
        /// The number.
        op: u64,
    },
    /// There is nothing that could be taken back.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The op was undone before, or never took effect.
    #[error("op {op} is not in force")]
    NotApplied {
        /// The op.
        op: u64,
        /// The op that undid it; none where it was rolled back.
        by: Option<u64>,
    },
    /// rethread never changed the session, or keeps nothing of it.
    #[error("nothing is kept of session `{session}`")]
    NoBackup {
        /// The session.
        session: String,
    },
    /// A backup is gone or damaged.
    #[error("the backup of `{}` is gone", path.display())]
    BackupGone {
        /// The file it was of.
        path: PathBuf,
    },
    /// The journal was written by a newer rethread.
    #[error("the journal `{}` is of a newer rethread", path.display())]
    NewerJournal {
        /// Where it is.
        path: PathBuf,
    },
}

/// Who writes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvidence {
    /// A client that is running has the session open.
    Registered,
    /// This process has the file open for writing: its number and name.
    Open(u32, String),
    /// Somebody wrote to it within the last seconds.
    Fresh,
}

/// How a file differs from what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// So many lines were added.
    Grew(u64),
    /// It is shorter.
    Shrank,
    /// Its bytes differ.
    Differs,
    /// Only its date differs.
    Touched,
    /// It is gone.
    Gone,
    /// It is there, and was not.
    Appeared,
}

impl Error {
    /// Wraps an error of reading `path`.
    pub(crate) fn reading(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        |source| match source.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::Changed { path: path.to_owned() },
            _ => Error::Unreadable { path: path.to_owned(), source },
        }
    }

    /// Wraps an error of writing `path`.
    pub(crate) fn writing(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        |source| Error::Unwritable { path: path.to_owned(), source }
    }
}
