//! What went wrong, in words, and what to do about it.

use std::io;
use std::path::Path;

use rethread_engine::{CacheWarning, Error, FileChange, LiveEvidence};

use super::clean;
use super::figures::{things, tokens};

/// Says what is wrong with the cache, which costs time and nothing else.
pub(crate) fn notice(notice: &CacheWarning) -> String {
    match notice {
        CacheWarning::Damaged { path } => {
            format!("the cache {} was damaged: the files were read instead", quoted(path))
        }
        CacheWarning::Unwritable { path, source } => {
            format!("cannot write the cache {}: {} (--no-index does without)", quoted(path), why(source))
        }
    }
}

/// Says what could not be done.
pub(crate) fn error_message(failure: &Error) -> String {
    match failure {
        Error::Unreadable { path, source } => format!("cannot read {}: {}", quoted(path), why(source)),
        Error::UnknownSession { name, .. } if name == "last" => "there is no session".to_owned(),
        Error::UnknownSession { name, .. } => format!("no session is called `{}`", clean::line(name)),
        Error::AmbiguousSession { name, candidates } => {
            format!("`{}` names {} sessions", clean::line(name), candidates.len())
        }
        Error::UnknownEntry { name } => {
            format!("no entry of the session is called `{}`", clean::line(name))
        }
        Error::AmbiguousEntry { name, count, .. } => {
            format!("{count} entries hold `{}`", clean::line(name))
        }
        Error::NothingBefore { name } => format!("nothing stands before `{}`", clean::line(name)),
        Error::NotAResumePoint { name } => format!("no client goes on from `{}`", clean::line(name)),
        Error::CannotResumeFrom { name } => {
            format!("no way was found to make clients go on from `{}`", clean::line(name))
        }
        Error::NoTitle => "the title is empty".to_owned(),
        Error::LongTitle { length, most } => {
            format!("the title has {length} characters, and a title may have {most}")
        }
        Error::NothingToLoad { path } => format!("a client would load nothing of {}", quoted(path)),
        Error::NothingLeft { path } => format!("nothing would be left of {}", quoted(path)),
        Error::TooLong { fit, least } => {
            let (fit, least) = (tokens(*fit), tokens(*least));
            format!("it cannot be made to fit {fit} tokens: its last two turns have about {least}")
        }
        Error::NoFolder { path } => format!("there is no folder {}", quoted(path)),
        Error::UnknownProject { path, .. } => {
            format!(
                "cannot tell where the client keeps the sessions of {}: its name is too long",
                quoted(path)
            )
        }
        Error::OutsideStore { path } => format!("{} lies in no store of sessions", quoted(path)),
        Error::Changed { path } => format!("{} changed while it was read", quoted(path)),
        Error::Unwritable { path, source } => format!("cannot write {}: {}", quoted(path), why(source)),
        Error::NoState => "there is no folder for the journal and the backups".to_owned(),
        Error::Busy { who } if who.is_empty() => "another rethread is writing".to_owned(),
        Error::Busy { who } => format!("another rethread is writing: process {}", clean::line(who)),
        Error::Stale { path, drift } => format!("{} {} since it was read", quoted(path), changed(*drift)),
        Error::Live { session, why } => {
            format!("session `{}` is live: {}", clean::line(session), live(why))
        }
        Error::AlreadyExists { path } => format!("{} is already there", quoted(path)),
        Error::VerificationFailed { path } => {
            format!("the client would not load what was promised from {}; it is as it was", quoted(path))
        }
        Error::ChangedSinceOp { op, path, drift, .. } => {
            format!("{} is not as op {op} left it: it {} since", quoted(path), changed(*drift))
        }
        Error::UnknownOp { op } => format!("there is no op {op}"),
        Error::NothingToUndo => "there is nothing to undo".to_owned(),
        Error::NotApplied { op, by: Some(by) } => format!("op {op} was undone by op {by}"),
        Error::NotApplied { op, by: None } => format!("op {op} never took effect"),
        Error::NoBackup { session } => {
            format!("nothing is kept of session `{}`", clean::line(session))
        }
        Error::BackupGone { path } => format!("the backup of {} is gone", quoted(path)),
        Error::NewerJournal { path } => format!("{} was written by a newer rethread", quoted(path)),
    }
}

/// Says how a file changed.
fn changed(drift: FileChange) -> String {
    match drift {
        FileChange::Grew(lines) => format!("grew by {}", things(lines, "line")),
        FileChange::Shrank => "became shorter".to_owned(),
        FileChange::Differs => "changed".to_owned(),
        FileChange::Touched => "was written again".to_owned(),
        FileChange::Gone => "went away".to_owned(),
        FileChange::Appeared => "came back".to_owned(),
    }
}

/// Says how it is known that somebody is at work.
fn live(why: &LiveEvidence) -> String {
    match why {
        LiveEvidence::Registered => "a client has it open".to_owned(),
        LiveEvidence::Open(pid, name) => {
            format!("process {pid} ({}) has it open for writing", clean::line(name))
        }
        LiveEvidence::Fresh => "it was written to within the last 5 seconds".to_owned(),
    }
}

/// Says what to do about it.
pub(crate) fn hint(failure: &Error) -> String {
    let hint = match failure {
        Error::UnknownSession { nearest, .. } if nearest.is_empty() => "`rethread ls` shows what there is",
        Error::UnknownSession { .. } => {
            "name a session by its id or its beginning, words of its title, a path, or `last`"
        }
        Error::AmbiguousSession { .. } => "type more of it, or one of these",
        Error::UnknownEntry { .. } => "name an entry by its uuid or its beginning, L118 (line) or t9 (turn)",
        Error::AmbiguousEntry { .. } => "type more words, or one of these",
        Error::NothingBefore { .. } => "it is the beginning: start a new session instead",
        Error::NotAResumePoint { .. } => "it belongs to a subagent, or to lines that clients do not read",
        Error::CannotResumeFrom { .. } => {
            "`rethread explain` says what clients make of the session, `rethread branches` where else to go"
        }
        Error::NoTitle | Error::LongTitle { .. } => "write some words",
        Error::NothingToLoad { .. } => "`rethread explain` says why; name a point to go on from",
        Error::NothingLeft { .. } => "leave less out, or keep more turns",
        Error::TooLong { .. } => "give it more room with --fit, or rescue an earlier point with --branch",
        Error::NoFolder { .. } => "make it first: the client resumes a session in its folder",
        Error::UnknownProject { found: 0, .. } => "start the client there once, then try again",
        Error::UnknownProject { .. } => "several places fit: move the folder to a shorter path",
        Error::OutsideStore { .. } => "name the folder it lies in with --root",
        Error::Changed { .. } => "a client is writing to it: try again",
        Error::Unwritable { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            "make room on the disk and try again; nothing is lost"
        }
        Error::Unwritable { .. } => {
            "nothing is lost: what was begun is taken back, now or by the next command"
        }
        Error::NoState => "set HOME or XDG_STATE_HOME",
        Error::Busy { .. } => "wait until it is done, then try again",
        Error::Stale { .. } => "nothing was changed; close the client, then try again",
        Error::Live { .. } => "close it first, or use --even-if-live if you know better",
        Error::AlreadyExists { .. } => "nothing was changed; move it away first",
        Error::ChangedSinceOp { session, made: true, .. } => {
            let session = clean::line(session);
            return format!("`rethread rm {session}` moves it to the trash as it is now");
        }
        Error::ChangedSinceOp { session, .. } => {
            let session = clean::line(session);
            return format!(
                "`rethread restore {session}` goes back to before rethread's first change of it, with a backup of what is there now"
            );
        }
        Error::UnknownOp { .. } | Error::NotApplied { by: None, .. } => "`rethread log` lists the ops",
        Error::NotApplied { by: Some(by), .. } => {
            return format!("`rethread undo {by}` does it again");
        }
        Error::NewerJournal { .. } => "use that one",
        Error::NoBackup { .. } => "rethread keeps only what it changes itself; `rethread log` lists it",
        Error::BackupGone { .. } => "it was pruned or removed by hand; nothing was changed",
        Error::VerificationFailed { .. } | Error::Unreadable { .. } | Error::NothingToUndo => "",
    };
    hint.to_owned()
}

pub(crate) fn quoted(path: &Path) -> String {
    format!("`{}`", clean::line(&path.display().to_string()))
}

/// Says why in lower case, without the number that the system adds.
pub(crate) fn why(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
