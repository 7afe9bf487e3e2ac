//! Words, hints and exit codes of everything that can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::core::query::BadQuery;
use rethread_engine::{Drift, Failure, Liveness, Notice};
use unicode_width::UnicodeWidthStr;

use super::clean;
use super::figures::{things, tokens};
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, paint};
use crate::prices::{BadTable, Why};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Nothing matched.
    Nothing,
    /// Some of it could not be done.
    Failed,
}

impl Exit {
    /// Returns [`Exit::Nothing`] where nothing was found.
    pub(crate) fn found(any: bool) -> Exit {
        if any { Exit::Done } else { Exit::Nothing }
    }
}

/// Why a command stopped early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The library could not do it.
    Failure(Failure),
    /// Output or a temporary folder failed.
    Io(io::Error),
    /// A `--root` is not there.
    NoRoot(PathBuf),
    /// A moment that cannot be read.
    BadMoment(String),
    /// A time zone that is not known.
    BadZone(String),
    /// Turns that cannot be read.
    BadTurns(String),
    /// A client that cannot be read.
    BadClient(String),
    /// An amount that cannot be read.
    BadAmount(String),
    /// Branches that cannot be read.
    NoBranches,
    /// Nothing to look for.
    NoWords,
    /// A query that cannot be read, and why.
    BadQuery(String, BadQuery),
    /// A hit that is not there, and how many there are.
    NoHit { no: usize, hits: usize },
    /// A file that belongs to a session which is not there.
    SessionGone(PathBuf),
    /// Nobody says anything about a session.
    NoStatus,
    /// There is no index to look at.
    NoIndex,
    /// A regular expression that cannot be read, and why.
    BadPattern(String, String),
    /// A table of prices that cannot be taken.
    BadTable(BadTable),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failure(failure)
    }
}

impl From<BadTable> for Stop {
    fn from(table: BadTable) -> Stop {
        Stop::BadTable(table)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}

/// Says how it ended and returns the exit code.
pub(crate) fn end(ended: Result<Exit, Stop>, out: &mut Out) -> ExitCode {
    let ended = match (ended, out.finish()) {
        (Ok(_), Err(stop)) => Err(stop),
        (ended, _) => ended,
    };
    match ended {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Nothing) => ExitCode::from(1),
        Ok(Exit::Failed) => ExitCode::from(2),
        // Nobody reads any more: that is not our failure.
        Err(Stop::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(stop) => {
            tell(&stop, out);
            ExitCode::from(code(&stop))
        }
    }
}

/// 3 where something was refused so that nothing is lost, 1 where there is nothing to do it to, 2 for all else.
fn code(stop: &Stop) -> u8 {
    let Stop::Failure(failure) = stop else { return 2 };
    match failure {
        Failure::Busy { .. }
        | Failure::Stale { .. }
        | Failure::Live { .. }
        | Failure::Occupied { .. }
        | Failure::BrokenPromise { .. }
        | Failure::NoWay { .. }
        | Failure::OutsideStore { .. }
        | Failure::NotAsLeft { .. } => 3,
        Failure::NothingToUndo | Failure::NotInForce { .. } | Failure::NothingKept { .. } => 1,
        _ => 2,
    }
}

/// Says what could not be read while the rest went on.
pub(crate) fn warn(failures: &[Failure], out: &mut Out) {
    const MOST: usize = 5;
    for failure in failures.iter().take(MOST) {
        out.note(&format!("{} {}", paint(MARK, "warning:"), message(failure)));
    }
    if failures.len() > MOST {
        let more = failures.len() - MOST;
        out.note(&format!("{} {more} more could not be read", paint(MARK, "warning:")));
    }
}

/// Says what is odd while the rest went on.
pub(crate) fn caution(said: &str, out: &mut Out) {
    out.note(&format!("{} {said}", paint(MARK, "warning:")));
}

/// Says what is wrong with the cache, which costs time and nothing else.
pub(crate) fn notice(notice: Option<&Notice>, out: &mut Out) {
    let said = match notice {
        None => return,
        Some(Notice::Damaged { path }) => {
            format!("the cache {} was damaged: the files were read instead", quoted(path))
        }
        Some(Notice::Unwritable { path, source }) => {
            format!("cannot write the cache {}: {} (--no-index does without)", quoted(path), why(source))
        }
    };
    out.note(&format!("{} {said}", paint(MARK, "warning:")));
}

/// Says what went wrong, and what to do about it.
pub(crate) fn tell(stop: &Stop, out: &mut Out) {
    let (error, hint) = match stop {
        Stop::Failure(failure) => (message(failure), hint(failure)),
        Stop::Io(error) => (format!("cannot write: {}", why(error)), String::new()),
        Stop::NoRoot(path) => (
            format!("there is nothing at {}", quoted(path)),
            "--root takes a `.claude` folder, a `projects` folder, any folder or one .jsonl file".to_owned(),
        ),
        Stop::BadMoment(text) => (
            format!("cannot read `{}` as a moment", clean::line(text)),
            "write 7d, 12h, 2w, yesterday, 2026-01-31 or 2026-01-31T10:00:00Z".to_owned(),
        ),
        Stop::BadAmount(text) => {
            (format!("`{}` is no amount", clean::line(text)), "type one like 4096, 4kB or 120k".to_owned())
        }
        Stop::BadClient(text) => (
            format!("cannot read `{}` as a client version", clean::line(text)),
            "write three numbers such as 2.1.325, or all".to_owned(),
        ),
        Stop::NoBranches => (
            "two branches are needed".to_owned(),
            "write SESSION ENTRY ENTRY, SESSION ENTRY, or SESSION[:ENTRY] SESSION[:ENTRY]".to_owned(),
        ),
        Stop::NoWords => ("nothing to look for".to_owned(), "name some words, or --regex".to_owned()),
        Stop::BadPattern(text, why) => (
            format!("cannot read `{}` as a regular expression: {}", clean::line(text), clean::line(why)),
            "without --regex the words are taken as they are".to_owned(),
        ),
        Stop::BadQuery(_, bad) => (clean::line(&bad.what), clean::line(&bad.hint)),
        Stop::NoHit { no, hits } => {
            let there = if *hits == 1 { "there is" } else { "there are" };
            (format!("there is no hit {no}"), format!("{there} {}", things(*hits as u64, "hit")))
        }
        Stop::SessionGone(path) => (
            "the session of this hit is gone".to_owned(),
            format!("what is left of it is in {}", quoted(path)),
        ),
        Stop::NoStatus => (
            "nothing came on stdin, where Claude Code tells about the session".to_owned(),
            "this is for its setting `statusLine`; `rethread statusline --help` shows how to set it"
                .to_owned(),
        ),
        Stop::NoIndex => (
            "there is no index here".to_owned(),
            "single files, --demo and --no-index do without; otherwise set HOME or XDG_CACHE_HOME".to_owned(),
        ),
        Stop::BadZone(text) => (
            format!("no time zone is called `{}`", clean::line(text)),
            "write it like Europe/Berlin, UTC or +02:00".to_owned(),
        ),
        Stop::BadTable(table) => bad_table(table),
        Stop::BadTurns(text) => {
            (format!("cannot read `{}` as turns", clean::line(text)), "write 5, 3..9, 3.. or ..9".to_owned())
        }
    };
    out.note(&format!("{} {error}", paint(BAD, "error:")));
    if let Stop::BadQuery(typed, bad) = stop {
        point_at(typed, bad, out);
    }
    if let Stop::Failure(Failure::UnknownSession { nearest: names, .. })
    | Stop::Failure(Failure::AmbiguousSession { candidates: names, .. }) = stop
    {
        candidates(names, out);
    }
    if let Stop::Failure(Failure::AmbiguousEntry { candidates, count, .. }) = stop {
        for (handle, words) in candidates {
            let room = out.width().saturating_sub(handle.len() + 4);
            out.note(&format!("  {}  {}", paint(NAME, handle), super::table::fit(&clean::line(words), room)));
        }
        if *count > candidates.len() {
            out.note(&format!("  … and {} more", count - candidates.len()));
        }
    }
    if !hint.is_empty() {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
}

fn bad_table(table: &BadTable) -> (String, String) {
    let path = quoted(&table.path);
    let (error, hint) = match &table.why {
        Why::Unreadable(error) => (
            format!("cannot read the prices in {path}: {}", why(error)),
            "make it readable, or name another with --prices",
        ),
        Why::TooLong => (format!("{path} is too long for a table of prices"), "a table has at most 1 MiB"),
        Why::NotText => (format!("{path} is no text"), "a table of prices is TOML in UTF-8"),
        Why::Wrong(problem) => (
            format!(
                "cannot read the prices in {path}, line {}: {}",
                problem.line,
                clean::line(&problem.what)
            ),
            "mend the line; without the table the built-in prices hold (--help says how one is written)",
        ),
    };
    (error, hint.to_owned())
}

/// Shows the query and underlines what is wrong in it.
fn point_at(typed: &str, bad: &BadQuery, out: &mut Out) {
    let line = clean::line(typed);
    let before = typed.get(..bad.at.start).unwrap_or_default();
    let space = before.trim_start().ends_with(char::is_whitespace);
    let indent = clean::line(before).width() + usize::from(space);
    let long = clean::line(typed.get(bad.at.clone()).unwrap_or_default()).width();
    if long == 0 || indent + long + 2 > out.width() {
        return;
    }
    out.note(&format!("  {}", super::table::fit(&line, out.width() - 2)));
    out.note(&format!("  {}{}", " ".repeat(indent), paint(BAD, &"^".repeat(long))));
}

fn message(failure: &Failure) -> String {
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

fn hint(failure: &Failure) -> String {
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

fn candidates(names: &[(String, String)], out: &mut Out) {
    const MOST: usize = 12;
    let ids: Vec<&str> = names.iter().map(|(id, _)| id.as_str()).collect();
    for (id, title) in names.iter().take(MOST) {
        let short = clean::line(super::ls::short_id(id, &ids));
        let title = super::table::fit(&clean::line(title), out.width().saturating_sub(short.len() + 4));
        out.note(&format!("  {}  {title}", paint(NAME, &short)));
    }
    if names.len() > MOST {
        out.note(&format!("  … and {} more", names.len() - MOST));
    }
}

fn quoted(path: &Path) -> String {
    format!("`{}`", clean::line(&path.display().to_string()))
}

/// Says why in lower case, without the number that the system adds.
fn why(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
