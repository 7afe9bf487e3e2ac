//! Error messages cleaned for a terminal, hints, and warnings about the cache.

use std::io;
use std::path::Path;

use rethread_engine::{CacheWarning, Error, describe_io_error};

use super::clean;

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
    let hint = match error {
        Error::UnknownSession { nearest, .. } if nearest.is_empty() => "`rethread ls` lists the sessions",
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
        Error::CannotResumeFrom { .. } => {
            "`rethread fork` creates a new session that ends there, `rethread branches` lists other entries to resume from"
        }
        Error::EmptyTitle => "type a title",
        Error::TitleTooLong { .. } => "type a shorter title",
        Error::NothingToLoad { .. } => "`rethread explain` shows why; name an entry to resume from",
        Error::NothingRemains { .. } => "remove less, or keep more turns",
        Error::CannotFit { .. } => "raise --fit, or rescue an earlier entry with --branch",
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
        Error::ChangedSinceOp { session, created: true, .. } => {
            let session = clean::line(session);
            return format!("`rethread rm {session}` moves it to the trash in its current state");
        }
        Error::ChangedSinceOp { session, .. } => {
            let session = clean::line(session);
            return format!(
                "`rethread restore {session}` restores the state before the first change by rethread, and backs up the current one"
            );
        }
        Error::UnknownOp { .. } | Error::NotApplied { by: None, .. } => "`rethread log` lists the operations",
        Error::NotApplied { by: Some(by), .. } => {
            return format!("`rethread undo {by}` applies it again");
        }
        Error::DamagedJournal { .. } => {
            "all backups and the trash are kept; what the readable lines name can still be undone"
        }
        Error::DamagedTrash { .. } => "nothing was changed; copy the file from there if you can use it",
        Error::RollbackFailed { .. } => "no data was lost; the next `rethread log` tries again",
        Error::NotDurable { .. } => "the change is in effect; after a power failure it may be rolled back",
        Error::UnknownOutcome { .. } => "nothing was changed; `rethread log` lists the operations",
        Error::UndetectableWriters { .. } => {
            "nothing was changed; close all clients, then use --even-if-live"
        }
        Error::NewerJournal { .. } => "use that version",
        Error::NoBackup { backup_file: Some(_), .. } => {
            "another program left a backup next to the session: `rethread restore --backup-file` restores it"
        }
        Error::NoBackup { .. } => {
            "rethread backs up only what it changes itself; `rethread log` lists the changes"
        }
        Error::BackupGone { .. } => "it was pruned or removed by hand; nothing was changed",
        Error::VerificationFailed { .. } | Error::Unreadable { .. } | Error::NothingToUndo => "",
    };
    hint.to_owned()
}

/// Formats a path in backticks, cleaned for a terminal.
pub(crate) fn quoted(path: &Path) -> String {
    format!("`{}`", clean::line(&path.display().to_string()))
}
