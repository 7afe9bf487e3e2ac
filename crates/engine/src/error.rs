//! The error type of the library. Its `Display` is the message for the user; frontends add hints and exit codes.
//!
//! Messages may contain text of session files, so a frontend must clean them before it prints them to a terminal.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Reasons why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read `{}`: {}", path.display(), describe_io_error(source))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The walk over the folders ended early, so sessions may be missing.
    #[error(
        "stopped at `{}` after {limit} folders{}; sessions in the rest are missing",
        path.display(),
        if *is_linked { " behind symbolic links" } else { "" }
    )]
    TooManyFolders {
        /// The first folder that was not visited.
        path: PathBuf,
        /// The limit that was reached.
        limit: u64,
        /// Whether only folders behind symbolic links count.
        is_linked: bool,
    },
    /// No session matches the name. The name `last` fails only if there are no sessions.
    #[error("{}", if name == "last" { "there are no sessions".to_owned() } else { format!("no session matches `{name}`") })]
    UnknownSession {
        /// The requested name.
        name: String,
        /// The most similar sessions, best first: id or path, and title.
        nearest: Vec<(String, String)>,
    },
    /// Several sessions match the name.
    #[error("`{name}` matches {} sessions", candidates.len())]
    AmbiguousSession {
        /// The requested name.
        name: String,
        /// The matching sessions: id, or path if the id is not unique, and title. The title may be empty.
        candidates: Vec<(String, String)>,
    },
    /// The session is in the trash.
    #[error("session {session} is in the trash")]
    InTrash {
        /// The session id.
        session: String,
        /// The id of the operation that removed it.
        op: String,
    },
    /// No entry of the session matches the name, or several uuids start with it.
    #[error("no entry of the session matches `{name}`")]
    UnknownEntry {
        /// The requested name.
        name: String,
    },
    /// Several entries contain the text.
    #[error("`{name}` matches {count} entries")]
    AmbiguousEntry {
        /// The requested text.
        name: String,
        /// The number of matching entries.
        count: usize,
        /// The first matching entries, at most 12: handle and matching text.
        candidates: Vec<(String, String)>,
    },
    /// The entry before the first entry was requested.
    #[error("`{name}` is the first entry of the session")]
    NothingBefore {
        /// The entry.
        name: String,
    },
    /// Clients never resume from the entry: it belongs to a subagent, or no ancestor is loaded.
    #[error("clients never resume from `{name}`")]
    NotAResumePoint {
        /// The entry.
        name: String,
    },
    /// No lines were found that make every client resume from the entry.
    #[error("cannot make clients resume from `{name}`")]
    CannotResumeFrom {
        /// The session file.
        path: PathBuf,
        /// The entry.
        name: String,
    },
    /// The title contains no visible characters.
    #[error("the title is empty")]
    EmptyTitle,
    /// The title is too long.
    #[error("the title has {length} characters; the maximum is {max}")]
    TitleTooLong {
        /// The number of characters.
        length: usize,
        /// The maximum number of characters.
        max: usize,
    },
    /// Clients would load nothing.
    #[error("clients would load nothing from `{}`", path.display())]
    NothingToLoad {
        /// The session file.
        path: PathBuf,
    },
    /// The options would remove every entry.
    #[error("nothing would remain of `{}`", path.display())]
    NothingRemains {
        /// The session file.
        path: PathBuf,
    },
    /// The conversation cannot be trimmed to the requested size.
    #[error("cannot make the session fit {fit} tokens: its last two turns have about {min}")]
    CannotFit {
        /// The requested maximum number of tokens.
        fit: u64,
        /// The number of tokens after all possible trimming.
        min: u64,
    },
    /// The folder does not exist.
    #[error("there is no folder `{}`", path.display())]
    FolderNotFound {
        /// The folder.
        path: PathBuf,
    },
    /// The folder to synchronise an archive with does not exist, or it disappeared meanwhile.
    #[error("{}", if *was_present {
        format!("the folder `{}` disappeared during the synchronisation", path.display())
    } else {
        format!("there is no folder `{}`", path.display())
    })]
    NoSyncFolder {
        /// The folder.
        path: PathBuf,
        /// Whether it existed when the synchronisation started.
        was_present: bool,
    },
    /// The second place has content of this machine that the local archive, which was started anew, does not have.
    #[error("`{}` has content of this machine that the local archive does not have", path.display())]
    DivergedArchive {
        /// The folder of this machine in the second place.
        path: PathBuf,
    },
    /// An encrypted place has content of a machine that this machine did not write there, or no longer knows.
    #[error("`{}` has content that this machine cannot read without an identity", path.display())]
    UnknownPart {
        /// The folder of the machine in the encrypted place.
        path: PathBuf,
    },
    /// The folder is an encrypted place, not an archive.
    #[error("`{}` is encrypted", path.display())]
    EncryptedPlace {
        /// The folder.
        path: PathBuf,
    },
    /// The folder contains an archive that is not encrypted.
    #[error("`{}` contains an archive that is not encrypted", path.display())]
    PlainPlace {
        /// The folder.
        path: PathBuf,
    },
    /// The text is not a public key.
    #[error("{}", if *is_secret {
        "a secret key was given instead of a public key".to_owned()
    } else {
        format!("`{text}` is not a public key of age")
    })]
    InvalidRecipient {
        /// The text. Empty if it is a secret key.
        text: String,
        /// Whether it is a secret key.
        is_secret: bool,
    },
    /// The file does not contain a secret key.
    #[error("`{}` does not contain an identity of age", path.display())]
    InvalidIdentity {
        /// The file.
        path: PathBuf,
    },
    /// A file is encrypted for other keys.
    #[error("the identity cannot decrypt `{}`", path.display())]
    WrongIdentity {
        /// The encrypted file.
        path: PathBuf,
    },
    /// The library was built without the feature `encrypt`.
    #[error("this build cannot encrypt")]
    BuiltWithoutEncryption,
    /// The path of a folder is too long to derive the name of the client's project folder.
    #[error("cannot determine the project folder of `{}`: the path is too long", path.display())]
    UnknownProject {
        /// The folder.
        path: PathBuf,
        /// The number of project folders with a name that starts with the truncated path.
        candidates: usize,
    },
    /// The file was deleted, so it cannot be changed. The archive has its content.
    #[error("only the archive has `{}`", path.display())]
    OnlyArchived {
        /// The path that the file had.
        path: PathBuf,
    },
    /// The file is outside the session roots.
    #[error("`{}` is outside the session folders", path.display())]
    OutsideStore {
        /// The file.
        path: PathBuf,
    },
    /// The file changed while it was being read.
    #[error("`{}` changed while it was being read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder could not be written. Nothing was changed, or the change was rolled back.
    #[error("cannot write `{}`: {}", path.display(), describe_io_error(source))]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no state folder for the journal and the backups.
    #[error("there is no folder for the journal and the backups")]
    NoStateDir,
    /// Another rethread process holds the lock.
    #[error("another rethread is writing{}", if process.is_empty() { String::new() } else { format!(": process {process}") })]
    Busy {
        /// The process id and command of the other process. Empty if unknown.
        process: String,
    },
    /// The file is not in the state that the plan was made for.
    #[error("`{}` {change} since it was read", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
        /// The difference.
        change: FileChange,
    },
    /// Another process is using the session.
    #[error("session `{session}` is live: {evidence}")]
    Live {
        /// The session id.
        session: String,
        /// The reason for assuming so.
        evidence: LiveEvidence,
    },
    /// The path of a new file exists already.
    #[error("`{}` already exists", path.display())]
    AlreadyExists {
        /// The path.
        path: PathBuf,
    },
    /// After the write, clients would not load the expected entries or title. The change was rolled back.
    #[error("verification failed for `{}`: clients would not load the expected session; the change was rolled back", path.display())]
    VerificationFailed {
        /// The session file.
        path: PathBuf,
    },
    /// A file changed after the op wrote it, so the op cannot be undone.
    #[error("`{}` {change} since op {op}", path.display())]
    ChangedSinceOp {
        /// The number of the op.
        op: u64,
        /// The session that the op changed.
        session: String,
        /// Whether the op created the file.
        created: bool,
        /// The file.
        path: PathBuf,
        /// The difference.
        change: FileChange,
    },
    /// No op has this number.
    #[error("there is no op {op}")]
    UnknownOp {
        /// The requested number.
        op: u64,
    },
    /// The settings of the client are not a JSON object, so nothing can be added to them.
    #[error("`{}` is not a JSON object", path.display())]
    UnusableSettings {
        /// The settings file.
        path: PathBuf,
    },
    /// No op can be undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The op was undone before, or never took effect.
    #[error("op {op} {}", match by { Some(by) => format!("was undone by op {by}"), None => "never took effect".to_owned() })]
    NotApplied {
        /// The number of the op.
        op: u64,
        /// The op that undid it. `None` if it was rolled back.
        by: Option<u64>,
    },
    /// rethread never changed the session, or all its backups were pruned.
    #[error("there is no backup of session `{session}`")]
    NoBackup {
        /// The session id.
        session: String,
        /// A backup next to the session file that another program made.
        backup_file: Option<PathBuf>,
    },
    /// The archive has no such state of the session.
    #[error("the archive has no generation {number} of session `{session}`")]
    UnknownGeneration {
        /// The session id.
        session: String,
        /// The requested number.
        number: u32,
        /// The numbers of the states that the archive has.
        known: Vec<u32>,
    },
    /// A backup is missing or damaged.
    #[error("the backup of `{}` is missing", path.display())]
    BackupGone {
        /// The original path of the file.
        path: PathBuf,
    },
    /// A journal line is damaged, so it is unknown which backups are still needed.
    #[error("the journal `{}` is damaged: {}", path.display(), describe_lines(lines))]
    DamagedJournal {
        /// The journal file.
        path: PathBuf,
        /// The numbers of the damaged lines, from 1.
        lines: Vec<usize>,
    },
    /// A file in the trash is not the one that was removed.
    #[error("the file in the trash `{}` is damaged", path.display())]
    DamagedTrash {
        /// The path in the trash.
        path: PathBuf,
    },
    /// The op failed, and its changes could not be rolled back. The next command tries again.
    #[error("{error}; the change could not be rolled back: {rollback}")]
    RollbackFailed {
        /// The reason of the failure.
        error: Box<Error>,
        /// The reason why the rollback failed.
        rollback: Box<Error>,
    },
    /// The op is complete, but its last journal line may not survive a power failure.
    #[error("op {op} is complete, but the journal was not flushed to disk: {source}")]
    NotDurable {
        /// The number of the op.
        op: u64,
        /// The cause.
        source: Box<Error>,
    },
    /// The journal does not tell whether the op took effect.
    #[error("a journal line about op {op} is damaged, so its outcome is unknown")]
    UnknownOutcome {
        /// The number of the op.
        op: u64,
    },
    /// The system does not reveal whether another process has the file open, and no later check would show its lines.
    #[error("cannot replace `{}`: lines that another process writes meanwhile would go unnoticed", path.display())]
    UndetectableWriters {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of rethread wrote the journal.
    #[error("the journal `{}` was written by a newer version of rethread", path.display())]
    NewerJournal {
        /// The journal file.
        path: PathBuf,
    },
}

/// Reasons for assuming that another process is using a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveEvidence {
    /// A running client has the session open.
    Registered,
    /// A process has the file open for writing: its process id and name.
    Open(u32, String),
    /// A process that is not visible has the file open for writing: one of another user or container.
    OpenElsewhere,
    /// The file was modified within the last five seconds.
    Fresh,
}

impl fmt::Display for LiveEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveEvidence::Registered => f.write_str("a client has it open"),
            LiveEvidence::Open(pid, name) => write!(f, "process {pid} ({name}) has it open for writing"),
            LiveEvidence::OpenElsewhere => {
                f.write_str("a process of another user or container has it open for writing")
            }
            LiveEvidence::Fresh => f.write_str("it was written to within the last 5 seconds"),
        }
    }
}

/// Differences between the current and the recorded state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// This number of lines was appended.
    Grew(u64),
    /// The file is shorter.
    Shrank,
    /// The bytes differ.
    Differs,
    /// Only the modification time differs.
    Touched,
    /// The file no longer exists.
    Gone,
    /// The file exists again.
    Appeared,
}

impl fmt::Display for FileChange {
    /// Writes a verb phrase in the past tense. The file is its subject.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileChange::Grew(1) => f.write_str("grew by 1 line"),
            FileChange::Grew(lines) => write!(f, "grew by {lines} lines"),
            FileChange::Shrank => f.write_str("became shorter"),
            FileChange::Differs => f.write_str("changed"),
            FileChange::Touched => f.write_str("was rewritten"),
            FileChange::Gone => f.write_str("was removed"),
            FileChange::Appeared => f.write_str("was created again"),
        }
    }
}

impl Error {
    /// Returns a converter for I/O errors that occurred while reading `path`. An unexpected end of the file means that it
    /// changed.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        |source| match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::Changed { path: path.to_owned() },
            _ => Error::Unreadable { path: path.to_owned(), source },
        }
    }

    /// Returns a converter for I/O errors that occurred while writing `path`.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
        |source| Error::Unwritable { path: path.to_owned(), source }
    }
}

/// Lists line numbers: `line 3`, `lines 3 and 5`, `lines 3, 5, 8 and 2 more`.
fn describe_lines(lines: &[usize]) -> String {
    let named: Vec<String> = lines.iter().take(3).map(usize::to_string).collect();
    match (lines.len(), &named[..]) {
        (1, [line]) => format!("line {line}"),
        (2, [first, second]) => format!("lines {first} and {second}"),
        (count, _) if count <= 3 => format!("lines {}", named.join(", ")),
        (count, _) => format!("lines {} and {} more", named.join(", "), count - 3),
    }
}

/// Formats an I/O error with a lower-case first letter and without the error number of the system.
pub fn describe_io_error(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
