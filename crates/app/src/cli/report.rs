//! Words, hints and exit codes of everything that can go wrong.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::Failure;

use super::clean;
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, paint};

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
    /// Turns that cannot be read.
    BadTurns(String),
    /// A client that cannot be read.
    BadClient(String),
    /// Branches that cannot be read.
    NoBranches,
    /// Nothing to look for.
    NoWords,
    /// A regular expression that cannot be read, and why.
    BadPattern(String, String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failure(failure)
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
            ExitCode::from(2)
        }
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

fn tell(stop: &Stop, out: &mut Out) {
    let (error, hint) = match stop {
        Stop::Failure(failure) => (message(failure), hint(failure).to_owned()),
        Stop::Io(error) => (format!("cannot write: {}", why(error)), String::new()),
        Stop::NoRoot(path) => (
            format!("there is nothing at {}", quoted(path)),
            "--root takes a `.claude` folder, a `projects` folder, any folder or one .jsonl file".to_owned(),
        ),
        Stop::BadMoment(text) => (
            format!("cannot read `{}` as a moment", clean::line(text)),
            "write 7d, 12h, 2w, yesterday, 2026-01-31 or 2026-01-31T10:00:00Z".to_owned(),
        ),
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
        Stop::BadTurns(text) => {
            (format!("cannot read `{}` as turns", clean::line(text)), "write 5, 3..9, 3.. or ..9".to_owned())
        }
    };
    out.note(&format!("{} {error}", paint(BAD, "error:")));
    if let Stop::Failure(Failure::UnknownSession { nearest: names, .. })
    | Stop::Failure(Failure::AmbiguousSession { candidates: names, .. }) = stop
    {
        candidates(names, out);
    }
    if !hint.is_empty() {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
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
        Failure::Changed { path } => format!("{} changed while it was read", quoted(path)),
    }
}

fn hint(failure: &Failure) -> &'static str {
    match failure {
        Failure::Unreadable { .. } => "",
        Failure::UnknownSession { nearest, .. } if nearest.is_empty() => "`rethread ls` shows what there is",
        Failure::UnknownSession { .. } => {
            "name a session by its id or its beginning, words of its title, a path, or `last`"
        }
        Failure::AmbiguousSession { .. } => "type more of it, or one of these",
        Failure::UnknownEntry { .. } => {
            "name an entry by its uuid or its beginning, L118 (line) or t9 (turn)"
        }
        Failure::Changed { .. } => "a client is writing to it: try again",
    }
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
