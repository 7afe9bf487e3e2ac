//! Error messages cleaned for a terminal, hints, and warnings about the cache.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use rethread_engine::core::id::Id;
use rethread_engine::{CacheWarning, Error, describe_io_error};

use super::clean;
use super::command::quote_command;

/// The hint if there are no sessions.
pub(crate) const NO_SESSIONS_HINT: &str = "use --root for another folder, or --demo for invented sessions";

/// Returns the text of a cache warning. A cache problem costs time only, never correctness.
pub(crate) fn cache_warning_text(warning: &CacheWarning) -> String {
    match warning {
        CacheWarning::Damaged { path } => {
            format!("the cache {} was damaged: the files were read instead", quoted(path))
        }
        CacheWarning::Unwritable { path, source } => {
            format!(
                "cannot write the cache {}: {} (--no-index disables it)",
                quoted(path),
                describe_io_error(source)
            )
        }
    }
}

/// Returns the message of an error as one clean line. It may quote hostile text of a session.
pub(crate) fn error_message(error: &Error) -> String {
    clean::line(&error.to_string())
}

/// Returns advice for the user on how to resolve an error. Returns an empty string if there is none.
pub(crate) fn hint(error: &Error) -> String {
    command_hint(error).unwrap_or_else(|| plain_hint(error).to_owned())
}

/// Returns advice that names a command. Returns `None` if no command helps.
fn command_hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::UnknownSession { name, .. } if is_id_prefix(name) => format!(
            "{} lists the sessions, {} what is left of deleted ones",
            quote_command(&["ls"]),
            quote_command(&["ls", "--deleted"])
        ),
        Error::UnknownSession { name, nearest } if nearest.is_empty() && name != "last" => {
            format!("{} lists the sessions", quote_command(&["ls"]))
        }
        Error::InTrash { op, .. } => format!("{} restores it", quote_command(&["undo", op])),
        Error::CannotResumeFrom { path, name } => format!(
            "{} creates a new session that ends there, {} lists other entries to resume from",
            quote_command(&["fork", &name_session(path), name]),
            quote_command(&["branches", &name_session(path)])
        ),
        Error::NothingToLoad { path } => format!(
            "{} shows why; name an entry to resume from",
            quote_command(&["explain", &name_session(path)])
        ),
        Error::ChangedSinceOp { session, created: true, .. } => {
            format!("{} moves it to the trash in its current state", quote_command(&["rm", session]))
        }
        Error::ChangedSinceOp { session, .. } => format!(
            "{} restores the state before the first change by rethread, and backs up the current one",
            quote_command(&["restore", session])
        ),
        Error::UnknownOp { .. } | Error::NotApplied { by: None, .. } => {
            format!("{} lists the operations", quote_command(&["log"]))
        }
        Error::NotApplied { by: Some(by), .. } => {
            format!("{} applies it again", quote_command(&["undo", &by.to_string()]))
        }
        Error::RollbackFailed { .. } => {
            format!("no data was lost; the next {} tries again", quote_command(&["log"]))
        }
        Error::UnknownOutcome { .. } => {
            format!("nothing was changed; {} lists the operations", quote_command(&["log"]))
        }
        Error::NoBackup { backup_file: Some(_), session } => format!(
            "another program left a backup next to the session: {} restores it",
            quote_command(&["restore", session, "--backup-file"])
        ),
        Error::UnknownGeneration { known, session, .. } => {
            let known: Vec<String> = known.iter().map(u32::to_string).collect();
            let command = quote_command(&["restore", session, "--generation", "N"]);
            format!("{command} takes one of these numbers: {}", known.join(", "))
        }
        Error::OnlyArchived { path } => {
            format!("bring the session back first: {}", quote_command(&["restore", &name_session(path)]))
        }
        Error::NoBackup { .. } => format!(
            "rethread backs up only what it changes itself; {} lists the changes",
            quote_command(&["log"])
        ),
        _ => return None,
    };
    Some(hint)
}

/// Returns `true` if a name can only be meant as an id: at least 8 hexadecimal digits and hyphens.
fn is_id_prefix(name: &str) -> bool {
    name.len() >= 8 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Returns the argument that names the session of a file: its id, or the path if the file is not named by an id.
fn name_session(path: &Path) -> String {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    if Id::is_uuid(stem.as_bytes()) { stem.to_owned() } else { path.display().to_string() }
}

/// Returns advice that names no command. Returns an empty string if there is none.
fn plain_hint(error: &Error) -> &'static str {
    match error {
        Error::UnknownSession { name, .. } if name == "last" => NO_SESSIONS_HINT,
        Error::UnknownSession { .. } => {
            "name a session by its id or the start of it, part of its title, a path, or `last`"
        }
        Error::AmbiguousSession { .. } => "type more of it, or one of these",
        Error::UnknownEntry { .. } => {
            "name an entry by its uuid or the start of it, L118 (line) or t9 (turn)"
        }
        Error::AmbiguousEntry { .. } => "type more of the text, or one of these",
        Error::TooManyFolders { .. } => "name the folders that contain sessions with --root",
        Error::NothingBefore { .. } => "start a new session instead",
        Error::NotAResumePoint { .. } => {
            "it belongs to a subagent, or clients do not read the lines above it"
        }
        Error::EmptyTitle => "type a title",
        Error::TitleTooLong { .. } => "type a shorter title",
        Error::NothingRemains { .. } => "remove less, or keep more turns",
        Error::CannotFit { .. } => "raise --fit, or rescue an earlier entry with --branch",
        Error::NoSyncFolder { was_present: false, .. } => "connect the disk, or create the folder first",
        Error::NoSyncFolder { .. } => "nothing was lost; connect the disk and try again",
        Error::DivergedArchive { .. } => {
            "nothing was changed; rename that folder, and the next synchronisation keeps both as two machines"
        }
        Error::UnknownPart { .. } => {
            "synchronise once with --identity too; if the local archive was lost, into an empty archive"
        }
        Error::EncryptedPlace { .. } => "use --encrypt-to to copy there, and --identity to copy from there",
        Error::PlainPlace { .. } => "name another folder, or remove the archive there first",
        Error::InvalidRecipient { is_secret: true, .. } => "name the public key, which begins with `age1`",
        Error::InvalidRecipient { .. } => "a public key begins with `age1`; `age-keygen` creates a key pair",
        Error::InvalidIdentity { .. } => {
            "name the file that `age-keygen` wrote; files with a passphrase are not supported"
        }
        Error::WrongIdentity { .. } => "nothing was changed; name the file with the secret key of this place",
        Error::BuiltWithoutEncryption => {
            "build it with encryption: cargo install --path crates/app --features encrypt"
        }
        Error::FolderNotFound { .. } => "create it first: the client resumes a session in its folder",
        Error::UnknownProject { candidates: 0, .. } => "start the client there once, then try again",
        Error::UnknownProject { .. } => "several project folders match: move the folder to a shorter path",
        Error::OutsideStore { .. } => "name its folder with --root",
        Error::Changed { .. } => "a client is writing to it: try again",
        Error::Unwritable { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            "free some disk space and try again; no data was lost"
        }
        Error::Unwritable { .. } => {
            "no data was lost; the interrupted change is rolled back now or by the next command"
        }
        Error::NoStateDir => "set HOME or XDG_STATE_HOME",
        Error::Busy { .. } => "wait until it has finished, then try again",
        Error::Stale { .. } => "nothing was changed; close the client, then try again",
        Error::Live { .. } => "close it first, or use --even-if-live if you are sure",
        Error::AlreadyExists { .. } => "nothing was changed; move it away first",
        Error::DamagedJournal { .. } => {
            "all backups and the trash are kept; what the readable lines name can still be undone"
        }
        Error::DamagedTrash { .. } => "nothing was changed; copy the file from there if you can use it",
        Error::NotDurable { .. } => "the change is in effect; after a power failure it may be rolled back",
        Error::UndetectableWriters { .. } => {
            "nothing was changed; close all clients, then use --even-if-live"
        }
        Error::NewerJournal { .. } => "use that version",
        Error::BackupGone { .. } => "it was pruned or removed by hand; nothing was changed",
        // The others have a command as hint, or none.
        _ => "",
    }
}

/// Formats a path in backticks, cleaned for a terminal.
pub(crate) fn quoted(path: &Path) -> String {
    format!("`{}`", clean::line(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rethread_engine::Error;

    use super::hint;

    #[test]
    fn suggested_commands_name_the_session() {
        const ID: &str = "3f2a9f60-0000-4000-8000-000000000001";
        let path = PathBuf::from(format!("/s/projects/-x/{ID}.jsonl"));
        let error = Error::CannotResumeFrom { path: path.clone(), name: "L7".to_owned() };
        let expected = [format!("`rethread fork {ID} L7`"), format!("`rethread branches {ID}`")];
        assert!(expected.iter().all(|command| hint(&error).contains(command)), "{}", hint(&error));
        assert!(hint(&Error::NothingToLoad { path }).starts_with(&format!("`rethread explain {ID}`")));
        let backup_file = Some(PathBuf::from("x.jsonl.backup"));
        let error = Error::NoBackup { session: ID.to_owned(), backup_file };
        assert!(hint(&error).ends_with(&format!("`rethread restore {ID} --backup-file` restores it")));
        // A file that is not named by an id is named by its path.
        let error = Error::NothingToLoad { path: PathBuf::from("/s/old talk.jsonl") };
        assert!(hint(&error).starts_with("`rethread explain '/s/old talk.jsonl'`"), "{}", hint(&error));
    }
}
