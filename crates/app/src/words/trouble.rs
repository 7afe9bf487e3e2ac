//! What went wrong, in words, and what to do about it.

use std::io;
use std::path::Path;

use rethread_engine::{Drift, Failure, Liveness, Notice};

use super::clean;
use super::figures::{things, tokens};

/// Says what is wrong with the cache, which costs time and nothing else.
pub(crate) fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Damaged { path } => {
            format!("the cache {} was damaged: the files were read instead", quoted(path))
        }
        Notice::Unwritable { path, source } => {
            format!("cannot write the cache {}: {} (--no-index does without)", quoted(path), why(source))
        }
    }
}

/// Says what could not be done.
pub(crate) fn message(failure: &Failure) -> String {
    match failure {
        Failure::Unreadable { path, source } => format!("cannot read {}: {}", quoted(path), why(source)),
        Failure::UnknownSession { name, .. } if name == "last" => "there is no session".to_owned(),
        Failure::UnknownSession { name, .. } => format!("no session is called `{}`", clean::line(name)),
        Failure::AmbiguousSession { name, candidates } => {
            format!("`{}` names {} sessions", clean::line(name), candidates.len())
        }
        Failure::UnknownEntry { name } => {
            format!("no entry of the session is called `{}`", clean::line(name))
        }
        Failure::AmbiguousEntry { name, count, .. } => {
            format!("{count} entries hold `{}`", clean::line(name))
        }
        Failure::NothingBefore { name } => format!("nothing stands before `{}`", clean::line(name)),
        Failure::NoPoint { name } => format!("no client goes on from `{}`", clean::line(name)),
        Failure::NoWay { name } => {
            format!("no way was found to make clients go on from `{}`", clean::line(name))
        }
        Failure::NoTitle => "the title is empty".to_owned(),
        Failure::LongTitle { length, most } => {
            format!("the title has {length} characters, and a title may have {most}")
        }
        Failure::NothingToLoad { path } => format!("a client would load nothing of {}", quoted(path)),
        Failure::NothingLeft { path } => format!("nothing would be left of {}", quoted(path)),
        Failure::TooLong { fit, least } => {
            let (fit, least) = (tokens(*fit), tokens(*least));
            format!("it cannot be made to fit {fit} tokens: its last two turns have about {least}")
        }
        Failure::NoFolder { path } => format!("there is no folder {}", quoted(path)),
        Failure::UnknownProject { path, .. } => {
            format!(
                "cannot tell where the client keeps the sessions of {}: its name is too long",
                quoted(path)
            )
        }
        Failure::OutsideStore { path } => format!("{} lies in no store of sessions", quoted(path)),
        Failure::Changed { path } => format!("{} changed while it was read", quoted(path)),
        Failure::Unwritable { path, source } => format!("cannot write {}: {}", quoted(path), why(source)),
        Failure::NoState => "there is no folder for the journal and the backups".to_owned(),
        Failure::Busy { who } if who.is_empty() => "another rethread is writing".to_owned(),
        Failure::Busy { who } => format!("another rethread is writing: process {}", clean::line(who)),
        Failure::Stale { path, drift } => format!("{} {} since it was read", quoted(path), changed(*drift)),
        Failure::Live { session, why } => {
            format!("session `{}` is live: {}", clean::line(session), live(why))
        }
        Failure::Occupied { path } => format!("{} is already there", quoted(path)),
        Failure::BrokenPromise { path } => {
            format!("the client would not load what was promised from {}; it is as it was", quoted(path))
        }
        Failure::NotAsLeft { op, path, drift, .. } => {
            format!("{} is not as op {op} left it: it {} since", quoted(path), changed(*drift))
        }
        Failure::UnknownOp { op } => format!("there is no op {op}"),
        Failure::NothingToUndo => "there is nothing to undo".to_owned(),
        Failure::NotInForce { op, by: Some(by) } => format!("op {op} was undone by op {by}"),
        Failure::NotInForce { op, by: None } => format!("op {op} never took effect"),
        Failure::NothingKept { session } => {
            format!("nothing is kept of session `{}`", clean::line(session))
        }
        Failure::BackupGone { path } => format!("the backup of {} is gone", quoted(path)),
        Failure::NewerJournal { path } => format!("{} was written by a newer rethread", quoted(path)),
    }
}

/// Says how a file changed.
fn changed(drift: Drift) -> String {
    match drift {
        Drift::Grew(lines) => format!("grew by {}", things(lines, "line")),
        Drift::Shrank => "became shorter".to_owned(),
        Drift::Differs => "changed".to_owned(),
        Drift::Touched => "was written again".to_owned(),
        Drift::Gone => "went away".to_owned(),
        Drift::Appeared => "came back".to_owned(),
    }
}

/// Says how it is known that somebody is at work.
fn live(why: &Liveness) -> String {
    match why {
        Liveness::Registered => "a client has it open".to_owned(),
        Liveness::Open(pid, name) => {
            format!("process {pid} ({}) has it open for writing", clean::line(name))
        }
        Liveness::Fresh => "it was written to within the last 5 seconds".to_owned(),
    }
}

/// Says what to do about it.
pub(crate) fn hint(failure: &Failure) -> String {
    let hint = match failure {
        Failure::UnknownSession { nearest, .. } if nearest.is_empty() => "`rethread ls` shows what there is",
        Failure::UnknownSession { .. } => {
            "name a session by its id or its beginning, words of its title, a path, or `last`"
        }
        Failure::AmbiguousSession { .. } => "type more of it, or one of these",
        Failure::UnknownEntry { .. } => {
            "name an entry by its uuid or its beginning, L118 (line) or t9 (turn)"
        }
        Failure::AmbiguousEntry { .. } => "type more words, or one of these",
        Failure::NothingBefore { .. } => "it is the beginning: start a new session instead",
        Failure::NoPoint { .. } => "it belongs to a subagent, or to lines that clients do not read",
        Failure::NoWay { .. } => {
            "`rethread explain` says what clients make of the session, `rethread branches` where else to go"
        }
        Failure::NoTitle | Failure::LongTitle { .. } => "write some words",
        Failure::NothingToLoad { .. } => "`rethread explain` says why; name a point to go on from",
        Failure::NothingLeft { .. } => "leave less out, or keep more turns",
        Failure::TooLong { .. } => "give it more room with --fit, or rescue an earlier point with --branch",
        Failure::NoFolder { .. } => "make it first: the client resumes a session in its folder",
        Failure::UnknownProject { found: 0, .. } => "start the client there once, then try again",
        Failure::UnknownProject { .. } => "several places fit: move the folder to a shorter path",
        Failure::OutsideStore { .. } => "name the folder it lies in with --root",
        Failure::Changed { .. } => "a client is writing to it: try again",
        Failure::Unwritable { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            "make room on the disk and try again; nothing is lost"
        }
        Failure::Unwritable { .. } => {
            "nothing is lost: what was begun is taken back, now or by the next command"
        }
        Failure::NoState => "set HOME or XDG_STATE_HOME",
        Failure::Busy { .. } => "wait until it is done, then try again",
        Failure::Stale { .. } => "nothing was changed; close the client, then try again",
        Failure::Live { .. } => "close it first, or use --even-if-live if you know better",
        Failure::Occupied { .. } => "nothing was changed; move it away first",
        Failure::NotAsLeft { session, made: true, .. } => {
            let session = clean::line(session);
            return format!("`rethread rm {session}` moves it to the trash as it is now");
        }
        Failure::NotAsLeft { session, .. } => {
            let session = clean::line(session);
            return format!(
                "`rethread restore {session}` goes back to before rethread's first change of it, with a backup of what is there now"
            );
        }
        Failure::UnknownOp { .. } | Failure::NotInForce { by: None, .. } => "`rethread log` lists the ops",
        Failure::NotInForce { by: Some(by), .. } => {
            return format!("`rethread undo {by}` does it again");
        }
        Failure::NewerJournal { .. } => "use that one",
        Failure::NothingKept { .. } => "rethread keeps only what it changes itself; `rethread log` lists it",
        Failure::BackupGone { .. } => "it was pruned or removed by hand; nothing was changed",
        Failure::BrokenPromise { .. } | Failure::Unreadable { .. } | Failure::NothingToUndo => "",
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
