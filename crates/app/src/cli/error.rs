//! Words, hints and exit codes of everything that can go wrong.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use rethread_engine::core::query::QueryError;
use rethread_engine::{CacheWarning, Error};
use unicode_width::UnicodeWidthStr;

use super::clean;
use super::figures::things;
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, paint};
use crate::prices::{BadTable, Why};
use crate::text::error::{self, error_message, hint, quoted, why};

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
pub(crate) enum CliError {
    /// The library could not do it.
    Failure(Error),
    /// Output or a temporary folder failed.
    Io(io::Error),
    /// A port that another program has.
    PortTaken(u16),
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
    BadQuery(String, QueryError),
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
    /// A file that is there already.
    Taken(PathBuf),
    /// What cannot be replaced by a file.
    NoFile(PathBuf),
    /// A file that would lie among the sessions, and where these are.
    InStore(PathBuf, PathBuf),
    /// A file that cannot be written.
    Unwritable(PathBuf, io::Error),
    /// A table of prices that cannot be taken.
    BadTable(BadTable),
}

impl From<Error> for CliError {
    fn from(failure: Error) -> CliError {
        CliError::Failure(failure)
    }
}

impl From<BadTable> for CliError {
    fn from(table: BadTable) -> CliError {
        CliError::BadTable(table)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Io(error)
    }
}

/// Says how it ended and returns the exit code.
pub(crate) fn end(ended: Result<Exit, CliError>, out: &mut Out) -> ExitCode {
    let ended = match (ended, out.finish()) {
        (Ok(_), Err(stop)) => Err(stop),
        (ended, _) => ended,
    };
    match ended {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Nothing) => ExitCode::from(1),
        Ok(Exit::Failed) => ExitCode::from(2),
        // Nobody reads any more: that is not our failure.
        Err(CliError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(stop) => {
            print_error(&stop, out);
            ExitCode::from(code(&stop))
        }
    }
}

/// 3 where something was refused so that nothing is lost, 1 where there is nothing to do it to, 2 for all else.
fn code(stop: &CliError) -> u8 {
    let failure = match stop {
        CliError::Failure(failure) => failure,
        CliError::Taken(_) | CliError::NoFile(_) | CliError::InStore(..) => return 3,
        _ => return 2,
    };
    match failure {
        Error::Busy { .. }
        | Error::Stale { .. }
        | Error::Live { .. }
        | Error::AlreadyExists { .. }
        | Error::VerificationFailed { .. }
        | Error::CannotResumeFrom { .. }
        | Error::OutsideStore { .. }
        | Error::ChangedSinceOp { .. } => 3,
        Error::NothingToUndo | Error::NotApplied { .. } | Error::NoBackup { .. } => 1,
        _ => 2,
    }
}

/// Says what could not be read while the rest went on.
pub(crate) fn warn(failures: &[Error], out: &mut Out) {
    const MOST: usize = 5;
    for failure in failures.iter().take(MOST) {
        out.note(&format!("{} {}", paint(MARK, "warning:"), error_message(failure)));
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
pub(crate) fn notice(notice: Option<&CacheWarning>, out: &mut Out) {
    if let Some(notice) = notice {
        caution(&error::notice(notice), out);
    }
}

/// Says what went wrong, and what to do about it.
pub(crate) fn print_error(stop: &CliError, out: &mut Out) {
    let (error, hint) = match stop {
        CliError::Failure(failure) => (error_message(failure), hint(failure)),
        CliError::Io(error) => (format!("cannot write: {}", why(error)), String::new()),
        CliError::PortTaken(port) => (
            format!("another program has port {port}"),
            "name another, or none: then one that is free is taken".to_owned(),
        ),
        CliError::NoRoot(path) => (
            format!("there is nothing at {}", quoted(path)),
            "--root takes a `.claude` folder, a `projects` folder, any folder or one .jsonl file".to_owned(),
        ),
        CliError::BadMoment(text) => (
            format!("cannot read `{}` as a moment", clean::line(text)),
            "write 7d, 12h, 2w, yesterday, 2026-01-31 or 2026-01-31T10:00:00Z".to_owned(),
        ),
        CliError::BadAmount(text) => {
            (format!("`{}` is no amount", clean::line(text)), "type one like 4096, 4kB or 120k".to_owned())
        }
        CliError::BadClient(text) => (
            format!("cannot read `{}` as a client version", clean::line(text)),
            "write three numbers such as 2.1.325, or all".to_owned(),
        ),
        CliError::NoBranches => (
            "two branches are needed".to_owned(),
            "write SESSION ENTRY ENTRY, SESSION ENTRY, or SESSION[:ENTRY] SESSION[:ENTRY]".to_owned(),
        ),
        CliError::NoWords => ("nothing to look for".to_owned(), "name some words, or --regex".to_owned()),
        CliError::BadPattern(text, why) => (
            format!("cannot read `{}` as a regular expression: {}", clean::line(text), clean::line(why)),
            "without --regex the words are taken as they are".to_owned(),
        ),
        CliError::BadQuery(_, bad) => (clean::line(&bad.what), clean::line(&bad.hint)),
        CliError::NoHit { no, hits } => {
            let there = if *hits == 1 { "there is" } else { "there are" };
            (format!("there is no hit {no}"), format!("{there} {}", things(*hits as u64, "hit")))
        }
        CliError::SessionGone(path) => (
            "the session of this hit is gone".to_owned(),
            format!("what is left of it is in {}", quoted(path)),
        ),
        CliError::NoStatus => (
            "nothing came on stdin, where Claude Code tells about the session".to_owned(),
            "this is for its setting `statusLine`; `rethread statusline --help` shows how to set it"
                .to_owned(),
        ),
        CliError::NoIndex => (
            "there is no index here".to_owned(),
            "single files, --demo and --no-index do without; otherwise set HOME or XDG_CACHE_HOME".to_owned(),
        ),
        CliError::BadZone(text) => (
            format!("no time zone is called `{}`", clean::line(text)),
            "write it like Europe/Berlin, UTC or +02:00".to_owned(),
        ),
        CliError::Taken(path) => {
            (format!("{} is already there", quoted(path)), "--force replaces it".to_owned())
        }
        CliError::NoFile(path) => (
            format!("{} is no file, and none can take its place", quoted(path)),
            "name a file; without -o it goes to stdout, and from there anywhere".to_owned(),
        ),
        CliError::InStore(path, store) => (
            format!("{} would lie among the sessions in {}", quoted(path), quoted(store)),
            "clients would take it for one of theirs: write it elsewhere".to_owned(),
        ),
        CliError::Unwritable(path, error) => {
            (format!("cannot write {}: {}", quoted(path), why(error)), String::new())
        }
        CliError::BadTable(table) => bad_table(table),
        CliError::BadTurns(text) => {
            (format!("cannot read `{}` as turns", clean::line(text)), "write 5, 3..9, 3.. or ..9".to_owned())
        }
    };
    out.note(&format!("{} {error}", paint(BAD, "error:")));
    if let CliError::BadQuery(typed, bad) = stop {
        point_at(typed, bad, out);
    }
    if let CliError::Failure(Error::UnknownSession { nearest: names, .. })
    | CliError::Failure(Error::AmbiguousSession { candidates: names, .. }) = stop
    {
        candidates(names, out);
    }
    if let CliError::Failure(Error::AmbiguousEntry { candidates, count, .. }) = stop {
        for (handle, words) in candidates {
            let room = out.width().saturating_sub(handle.len() + 4);
            out.note(&format!(
                "  {}  {}",
                paint(NAME, handle),
                super::table::truncate_to_width(&clean::line(words), room)
            ));
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
fn point_at(typed: &str, bad: &QueryError, out: &mut Out) {
    let line = clean::line(typed);
    let before = typed.get(..bad.at.start).unwrap_or_default();
    let space = before.trim_start().ends_with(char::is_whitespace);
    let indent = clean::line(before).width() + usize::from(space);
    let long = clean::line(typed.get(bad.at.clone()).unwrap_or_default()).width();
    if long == 0 || indent + long + 2 > out.width() {
        return;
    }
    out.note(&format!("  {}", super::table::truncate_to_width(&line, out.width() - 2)));
    out.note(&format!("  {}{}", " ".repeat(indent), paint(BAD, &"^".repeat(long))));
}

fn candidates(names: &[(String, String)], out: &mut Out) {
    const MOST: usize = 12;
    let ids: Vec<&str> = names.iter().map(|(id, _)| id.as_str()).collect();
    for (id, title) in names.iter().take(MOST) {
        let short = clean::line(super::ls::short_id(id, &ids));
        let title =
            super::table::truncate_to_width(&clean::line(title), out.width().saturating_sub(short.len() + 4));
        out.note(&format!("  {}  {title}", paint(NAME, &short)));
    }
    if names.len() > MOST {
        out.note(&format!("  … and {} more", names.len() - MOST));
    }
}
