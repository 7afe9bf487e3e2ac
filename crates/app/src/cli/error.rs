//! Error messages, hints and exit codes of the command line.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::core::query::QueryError;
use rethread_engine::{CacheWarning, Error, describe_io_error};
use rethread_lake::LakeError;
use rethread_sql::SqlError;
use unicode_width::UnicodeWidthStr;

use super::clean;
use super::figures::count_noun;
use super::out::Out;
use super::output_path::ProtectedFolder;
use super::style::{BAD, MARK, NAME, QUIET, paint};
use crate::prices::{PriceTableProblem, PricesError};
use crate::text::command::quote_command;
use crate::text::error::{self, error_message, hint, quoted};

/// The outcome of a command that did not stop with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded (exit code 0).
    Done,
    /// Nothing matched, or a check found problems (exit code 1).
    Nothing,
    /// Part of the command failed, which was already reported (exit code 2).
    Failed,
}

impl Exit {
    /// Returns [`Exit::Done`] if a check found no problem, else [`Exit::Nothing`].
    pub(crate) fn from_clean(is_clean: bool) -> Exit {
        Exit::from_found(is_clean)
    }

    /// Returns [`Exit::Done`] if anything was found, else [`Exit::Nothing`].
    pub(crate) fn from_found(any: bool) -> Exit {
        if any { Exit::Done } else { Exit::Nothing }
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The engine failed.
    Engine(Error),
    /// Writing output or a temporary folder failed.
    Io(io::Error),
    /// The port is used by another program.
    PortTaken(u16),
    /// The path of `--root` does not exist.
    MissingRoot(PathBuf),
    /// A file that the user named cannot be read.
    Unreadable(PathBuf, io::Error),
    /// An export with secrets of these kinds, which was not written.
    HasSecrets { kinds: String, is_redacted: bool },
    /// The extension of an output file that is not that of a format.
    UnknownFormat(String),
    /// Another process uses the demo store that must be reset.
    DemoInUse,
    /// `rm` without sessions and without a filter.
    NothingToRemove,
    /// `archive forget` without sessions and without a filter.
    NothingToForget,
    /// A command with sessions and a filter.
    NamesAndFilter { command: &'static str },
    /// A removal that no user has confirmed, because there is no terminal, and the command that confirms it.
    Unconfirmed { action: String, command: String },
    /// The name of a session to remove without a terminal that may match another session tomorrow, and the command with its
    /// id.
    InexactName { name: String, command: String },
    /// A time between two runs that cannot be parsed.
    BadInterval(String),
    /// A path or word that cannot be written to the files of a schedule.
    UnwritablePath(String),
    /// `archive` with an action, and with options of a run.
    FollowUpOfAction,
    /// A time that cannot be parsed.
    BadTime(String),
    /// An unknown time zone.
    BadZone(String),
    /// More than two groupings.
    TooManyGroupings,
    /// A range of turns that cannot be parsed.
    BadTurns(String),
    /// A client version that cannot be parsed.
    BadClient(String),
    /// An amount that cannot be parsed.
    BadAmount(String),
    /// Arguments of `diff` that do not name two branches.
    BadBranches,
    /// An empty search text.
    EmptyText,
    /// A query that cannot be parsed, with the reason.
    BadQuery(String, QueryError),
    /// A hit number that does not exist, with the number of hits.
    NoHit { number: usize, hits: usize },
    /// A side file or subagent file of a session that no longer exists.
    SessionGone(PathBuf),
    /// `install` with the demo store: the settings are those of the user.
    DemoInstall,
    /// Stdin contains no session data for the status line.
    NoStatusInput,
    /// No home folder is set, so there is no default folder of the archive.
    NoArchiveDir,
    /// An operation on a lake failed.
    Lake(LakeError),
    /// This machine did not join the lake.
    NotJoined { lake: String },
    /// No program that copies files to a bucket is installed.
    NoCopyProgram,
    /// A program that copies files to a bucket failed.
    CopyFailed { command: String, reason: String },
    /// There is no search index, because there is no cache or the roots are single files.
    NoIndex,
    /// A regular expression that cannot be parsed, with the reason.
    BadPattern(String, String),
    /// The output file exists already.
    FileExists(PathBuf),
    /// The output path is not a regular file.
    NotAFile(PathBuf),
    /// The output would be inside a folder that only clients or rethread itself write to.
    InsideProtectedFolder { path: PathBuf, folder: PathBuf, content: ProtectedFolder },
    /// A file that cannot be written.
    Unwritable(PathBuf, io::Error),
    /// A price table that cannot be used.
    BadPrices(PricesError),
    /// The configuration file that the user named does not exist.
    MissingConfig(PathBuf),
    /// The configuration file may name other sessions than those that would be changed.
    UnknownRoots,
    /// There is no home folder, so there is no configuration file.
    NoConfigFile,
    /// A statement of `sql` that failed, with the reason.
    Sql { sql: String, error: SqlError },
    /// Bytes for a file would be printed on the terminal.
    BinaryOnTerminal,
    /// A table that does not exist.
    UnknownTable(String),
    /// An example query that does not exist.
    UnknownExample(String),
    /// The editor cannot be started, or it failed.
    NoEditor { command: String, reason: String },
}

impl From<Error> for CliError {
    fn from(error: Error) -> CliError {
        CliError::Engine(error)
    }
}

impl From<LakeError> for CliError {
    fn from(error: LakeError) -> CliError {
        CliError::Lake(error)
    }
}

impl From<PricesError> for CliError {
    fn from(error: PricesError) -> CliError {
        CliError::BadPrices(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Io(error)
    }
}

/// Finishes the output, prints the error, if any, and returns the exit code. A closed pipe is not an error.
pub(crate) fn finish(result: Result<Exit, CliError>, out: &mut Out) -> ExitCode {
    let result = match (result, out.finish()) {
        (Ok(_), Err(error)) => Err(error),
        (result, _) => result,
    };
    match result {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Nothing) => ExitCode::from(1),
        Ok(Exit::Failed) => ExitCode::from(2),
        // The reader of the pipe has exited, which is not an error.
        Err(CliError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error, out);
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Returns 3 for a refusal that protects data, 1 if there is nothing to change, 2 for other errors.
fn exit_code(error: &CliError) -> u8 {
    let engine_error = match error {
        CliError::Engine(error) => error,
        CliError::DemoInUse
        | CliError::HasSecrets { .. }
        | CliError::Unconfirmed { .. }
        | CliError::InexactName { .. }
        | CliError::FileExists(_)
        | CliError::NotAFile(_)
        | CliError::InsideProtectedFolder { .. }
        | CliError::NotJoined { .. }
        | CliError::Lake(
            LakeError::KeyInsideLake(_)
            | LakeError::WrongKey
            | LakeError::NotEmpty(_)
            | LakeError::AlreadyALake(_),
        )
        | CliError::UnknownRoots => return 3,
        _ => return 2,
    };
    match engine_error {
        Error::Busy { .. }
        | Error::Stale { .. }
        | Error::Live { .. }
        | Error::AlreadyExists { .. }
        | Error::VerificationFailed { .. }
        | Error::CannotResumeFrom { .. }
        | Error::OutsideStore { .. }
        | Error::OnlyArchived { .. }
        | Error::ChangedSinceOp { .. } => 3,
        Error::NothingToUndo | Error::NotApplied { .. } | Error::NoBackup { .. } => 1,
        _ => 2,
    }
}

/// Prints warnings about files that could not be read, at most 5, and the number of others.
pub(crate) fn print_warnings(errors: &[Error], out: &mut Out) {
    const MAX_PRINTED: usize = 5;
    for error in errors.iter().take(MAX_PRINTED) {
        out.note(&format!("{} {}", paint(MARK, "warning:"), error_message(error)));
    }
    if errors.len() > MAX_PRINTED {
        let more = errors.len() - MAX_PRINTED;
        out.note(&format!("{} {more} more could not be read", paint(MARK, "warning:")));
    }
}

/// Prints a warning to stderr.
pub(crate) fn print_warning(text: &str, out: &mut Out) {
    out.note(&format!("{} {text}", paint(MARK, "warning:")));
}

/// Prints the next action of the user to stderr.
pub(crate) fn print_hint(text: &str, out: &mut Out) {
    out.note(&format!("{} {text}", paint(QUIET, "hint:")));
}

/// Prints a warning about the cache, which affects only the speed.
pub(crate) fn print_cache_warning(warning: Option<&CacheWarning>, out: &mut Out) {
    if let Some(warning) = warning {
        print_warning(&error::cache_warning_text(warning), out);
    }
}

/// Prints an error to stderr, with candidates for ambiguous names and a hint.
pub(crate) fn print_error(cli_error: &CliError, out: &mut Out) {
    let (error, hint) = match cli_error {
        CliError::Engine(error) => (error_message(error), hint(error)),
        CliError::Io(error) => (format!("cannot write: {}", describe_io_error(error)), String::new()),
        CliError::PortTaken(port) => (
            format!("port {port} is in use by another program"),
            "choose another port, or omit --port to pick a free one".to_owned(),
        ),
        CliError::MissingRoot(path) => (
            format!("{} does not exist", quoted(path)),
            "--root accepts a `.claude` folder, a `projects` folder, any folder or one .jsonl file"
                .to_owned(),
        ),
        CliError::Unreadable(path, error) => {
            (format!("cannot read {}: {}", quoted(path), describe_io_error(error)), String::new())
        }
        CliError::HasSecrets { kinds, is_redacted: false } => (
            format!("nothing was written: the export contains secrets ({kinds})"),
            "use --redact to replace them by tokens, or --keep-secrets to keep them".to_owned(),
        ),
        CliError::HasSecrets { kinds, is_redacted: true } => (
            format!("nothing was written: the export still contains texts that look like secrets ({kinds})"),
            "--keep-secrets writes it with all secrets".to_owned(),
        ),
        CliError::UnknownFormat(extension) => {
            let hint = match extension.to_ascii_lowercase().as_str() {
                "pdf" => "export to .html and print that to PDF in a browser",
                _ => "use .html, .md, .json or .txt, or choose a format with --format",
            };
            (format!("there is no export format for `.{}`", clean::line(extension)), hint.to_owned())
        }
        CliError::DemoInUse => (
            "the demo sessions are in use by another process".to_owned(),
            "stop `rethread --demo serve` first, or try again".to_owned(),
        ),
        CliError::NothingToRemove => (
            "rm needs sessions or a filter".to_owned(),
            "name sessions, or select them as with `ls`: --older-than 90d, --project TEXT, --empty"
                .to_owned(),
        ),
        CliError::NothingToForget => (
            "archive forget needs sessions or a filter".to_owned(),
            "name sessions, or select them: --older-than 365d, --project DIR".to_owned(),
        ),
        CliError::NamesAndFilter { command } => (
            format!("{command} takes either sessions or a filter"),
            "omit the names, or the filter".to_owned(),
        ),
        CliError::Unconfirmed { action, command } => (
            format!("{action} needs a confirmation"),
            format!("run `{command}`, or add --dry-run to see what would change"),
        ),
        CliError::InexactName { name, command } => (
            format!("`{}` is not specific enough to remove a session without a terminal", clean::line(name)),
            format!("use at least four characters of its id: `{command}`"),
        ),
        CliError::BadInterval(text) => (
            format!("`{}` is not a time between two runs", clean::line(text)),
            "use minutes, hours or days: --every 15m, --every 2h, --every 1d".to_owned(),
        ),
        CliError::UnwritablePath(text) => (
            format!("a schedule cannot name `{}` because of its characters", clean::line(text)),
            "rename the folder, or use another one".to_owned(),
        ),
        CliError::FollowUpOfAction => (
            "--sync and --lake are options of a run of `archive`".to_owned(),
            format!(
                "write {} without an action, or the options after `schedule`",
                quote_command(&["archive", "--sync", "DIR"])
            ),
        ),
        CliError::BadTime(text) => (
            format!("cannot parse `{}` as a time", clean::line(text)),
            "use today, yesterday, monday, 7d, 12h, 2w, 2026-01-31 or 2026-01-31T10:00:00Z".to_owned(),
        ),
        CliError::BadAmount(text) => (
            format!("cannot parse `{}` as an amount", clean::line(text)),
            "use a number such as 4096, 4kB or 120k".to_owned(),
        ),
        CliError::BadClient(text) => (
            format!("cannot parse `{}` as a client version", clean::line(text)),
            "use three numbers such as 2.1.325, or `all`".to_owned(),
        ),
        CliError::BadBranches => (
            "diff needs two branches".to_owned(),
            "use SESSION ENTRY ENTRY, SESSION ENTRY, or SESSION[:ENTRY] SESSION[:ENTRY]".to_owned(),
        ),
        CliError::EmptyText => {
            ("the search text is empty".to_owned(), "pass some text, or --regex".to_owned())
        }
        CliError::BadPattern(text, reason) => (
            format!("cannot parse `{}` as a regular expression: {}", clean::line(text), clean::line(reason)),
            "without --regex, the text is matched literally".to_owned(),
        ),
        CliError::Sql { error, .. } => crate::text::sql_result::describe_error(error),
        CliError::BinaryOnTerminal => (
            "a Parquet file cannot be shown on a terminal".to_owned(),
            "redirect the output to a file: rethread sql … --format parquet > result.parquet".to_owned(),
        ),
        CliError::UnknownTable(name) => (
            format!("there is no table `{}`", clean::line(name)),
            "`rethread sql --schema` lists the tables".to_owned(),
        ),
        CliError::UnknownExample(name) => (
            format!("there is no example `{}`", clean::line(name)),
            "`rethread sql --example` lists the examples".to_owned(),
        ),
        CliError::BadQuery(_, error) => (clean::line(&error.message), clean::line(&error.hint)),
        CliError::NoHit { number, hits } => {
            let verb = if *hits == 1 { "there is" } else { "there are" };
            (format!("there is no hit {number}"), format!("{verb} {}", count_noun(*hits as u64, "hit")))
        }
        CliError::SessionGone(path) => (
            "the session of this hit no longer exists".to_owned(),
            format!("its remaining data is in {}", quoted(path)),
        ),
        CliError::DemoInstall => (
            "the demo has no Claude Code to set up".to_owned(),
            format!("{} sets up your own", "`rethread install`"),
        ),
        CliError::NoStatusInput => (
            "stdin contains no session data from Claude Code".to_owned(),
            format!(
                "this command is for the `statusLine` setting; {} shows how to set it up",
                quote_command(&["statusline", "--help"])
            ),
        ),
        CliError::NoArchiveDir => (
            "there is no folder for the archive".to_owned(),
            "name one with --to, or set HOME or XDG_DATA_HOME".to_owned(),
        ),
        CliError::Lake(error) => (clean::line(&error.to_string()), lake_hint(error)),
        CliError::NotJoined { lake } => (
            format!("this machine did not join the lake `{}`", clean::line(lake)),
            format!("{} sets it up", quote_command(&["lake", "join", lake, "--key", "FILE"])),
        ),
        CliError::NoCopyProgram => (
            "no program is installed that copies files to this bucket".to_owned(),
            "install `rclone`, or `aws` for s3://, or mount the bucket as a folder".to_owned(),
        ),
        CliError::CopyFailed { command, reason } => (
            format!("`{}` failed: {}", clean::line(command), clean::line(reason)),
            "nothing is visible in the lake until the last file was copied; try again".to_owned(),
        ),
        CliError::NoIndex => (
            "there is no index".to_owned(),
            "single files, --demo and --no-index use no index; otherwise set HOME or XDG_CACHE_HOME"
                .to_owned(),
        ),
        CliError::TooManyGroupings => {
            ("more than two groupings".to_owned(), "name one or two, as in `--by project,model`".to_owned())
        }
        CliError::BadZone(text) => (
            format!("unknown time zone `{}`", clean::line(text)),
            "use a name such as Europe/Berlin, UTC or +02:00".to_owned(),
        ),
        CliError::FileExists(path) => {
            (format!("{} exists already", quoted(path)), "--force replaces it".to_owned())
        }
        CliError::NotAFile(path) => (
            format!("{} is not a regular file", quoted(path)),
            "choose another file, or omit -o to write to stdout".to_owned(),
        ),
        CliError::InsideProtectedFolder { path, folder, content } => {
            describe_protected_folder(path, folder, *content)
        }
        CliError::Unwritable(path, error) => {
            (format!("cannot write {}: {}", quoted(path), describe_io_error(error)), String::new())
        }
        CliError::BadPrices(error) => describe_prices_error(error),
        CliError::MissingConfig(path) => (
            format!("the configuration file {} does not exist", quoted(path)),
            format!("{} creates it", quote_command(&["config", "edit"])),
        ),
        CliError::UnknownRoots => (
            "the configuration file does not state which sessions to change".to_owned(),
            format!("{} lists what is wrong; --root names the folder", quote_command(&["config", "check"])),
        ),
        CliError::NoConfigFile => (
            "no home folder is set, so there is no configuration file".to_owned(),
            "use --config FILE, or set HOME or RETHREAD_CONFIG".to_owned(),
        ),
        CliError::NoEditor { command, reason } => (
            format!("the editor `{}` failed: {}", clean::line(command), clean::line(reason)),
            format!(
                "set VISUAL or EDITOR, or edit the file that {} prints",
                quote_command(&["config", "path"])
            ),
        ),
        CliError::BadTurns(text) => (
            format!("cannot parse `{}` as a range of turns", clean::line(text)),
            "use 5, 3-9, 3..9, 3.. or ..9".to_owned(),
        ),
    };
    out.error(&format!("{} {error}", paint(BAD, "error:")));
    if let CliError::BadQuery(query, error) = cli_error {
        print_query_error(query, error, out);
    }
    if let CliError::Sql { sql, error: SqlError::Statement { offset: Some(offset), .. } } = cli_error {
        print_sql_error(sql, *offset, out);
    }
    if let CliError::Engine(Error::UnknownSession { nearest: names, .. })
    | CliError::Engine(Error::AmbiguousSession { candidates: names, .. }) = cli_error
    {
        print_candidates(names, out);
    }
    if let CliError::Engine(Error::AmbiguousEntry { candidates, count, .. }) = cli_error {
        for (handle, text) in candidates {
            let max_width = out.width().saturating_sub(handle.len() + 4);
            out.error(&format!(
                "  {}  {}",
                paint(NAME, handle),
                super::table::truncate_to_width(&clean::line(text), max_width)
            ));
        }
        if *count > candidates.len() {
            out.error(&format!("  … and {} more", count - candidates.len()));
        }
    }
    if !hint.is_empty() {
        print_hint(&hint, out);
    }
}

/// Returns the next action after an error of a lake.
fn lake_hint(error: &LakeError) -> String {
    match error {
        LakeError::NotALake(_) => {
            format!("{} creates one", quote_command(&["lake", "init", "DIR", "--key", "FILE"]))
        }
        LakeError::NotEmpty(_) => "choose an empty folder".to_owned(),
        LakeError::KeyInsideLake(_) => {
            "readers of the lake must not have it; move it elsewhere and join again".to_owned()
        }
        LakeError::BadKey(_) | LakeError::WrongKey => "ask a colleague for the key of this lake".to_owned(),
        LakeError::NewerSchema(_) => "install a newer version of rethread".to_owned(),
        _ => String::new(),
    }
}

/// Returns the message and the hint for output inside a protected folder.
fn describe_protected_folder(path: &Path, folder: &Path, content: ProtectedFolder) -> (String, String) {
    let (path, folder) = (quoted(path), quoted(folder));
    let (error, reason) = match content {
        ProtectedFolder::Sessions => {
            (format!("{path} is inside the session folder {folder}"), "only files of clients belong there")
        }
        ProtectedFolder::State => (
            format!("{path} is inside the state folder of rethread, {folder}"),
            "only journal and backups belong there",
        ),
        ProtectedFolder::Cache => (
            format!("{path} is inside the cache folder of rethread, {folder}"),
            "the cache can be deleted at any time",
        ),
    };
    (error, format!("{reason}; choose another folder"))
}

/// Returns the message and the hint for a price table that cannot be used.
fn describe_prices_error(prices_error: &PricesError) -> (String, String) {
    let path = quoted(&prices_error.path);
    let (error, hint) = match &prices_error.problem {
        PriceTableProblem::Unreadable(error) => (
            format!("cannot read the prices in {path}: {}", describe_io_error(error)),
            "make the file readable, or use another with --prices",
        ),
        PriceTableProblem::TooLong => (format!("the price table {path} is too large"), "the limit is 1 MiB"),
        PriceTableProblem::NotText => {
            (format!("the price table {path} is not text"), "a price table is TOML in UTF-8")
        }
        PriceTableProblem::Invalid(problem) => (
            format!(
                "cannot read the prices in {path}, line {}: {}",
                problem.line,
                clean::line(&problem.message)
            ),
            "fix the line, or remove the file to use the built-in prices (--help describes the format)",
        ),
    };
    (error, hint.to_owned())
}

/// Prints the query and underlines the invalid part. Prints nothing if it does not fit the screen.
fn print_query_error(query: &str, error: &QueryError, out: &mut Out) {
    let line = clean::line(query);
    let before = query.get(..error.span.start).unwrap_or_default();
    let ends_with_space = before.trim_start().ends_with(char::is_whitespace);
    let indent = clean::line(before).width() + usize::from(ends_with_space);
    let error_width = clean::line(query.get(error.span.clone()).unwrap_or_default()).width();
    if error_width == 0 || indent + error_width + 2 > out.width() {
        return;
    }
    out.error(&format!("  {}", super::table::truncate_to_width(&line, out.width() - 2)));
    out.error(&format!("  {}{}", " ".repeat(indent), paint(BAD, &"^".repeat(error_width))));
}

/// Prints the line of a statement that contains a byte offset, and marks the place. Prints nothing if it does not fit the screen.
fn print_sql_error(sql: &str, offset: usize, out: &mut Out) {
    let Some((before, after)) = sql.split_at_checked(offset) else { return };
    let line_start = before.rsplit('\n').next().unwrap_or_default();
    let line = format!("{line_start}{}", after.lines().next().unwrap_or_default());
    let indent = clean::line(&format!("{line_start}|")).width().saturating_sub(1);
    if indent + 3 > out.width() {
        return;
    }
    out.error(&format!("  {}", super::table::truncate_to_width(&clean::line(&line), out.width() - 2)));
    out.error(&format!("  {}{}", " ".repeat(indent), paint(BAD, "^")));
}

/// Prints the short ids and titles of at most 12 sessions. `names` are pairs of id and title.
fn print_candidates(names: &[(String, String)], out: &mut Out) {
    const MAX_PRINTED: usize = 12;
    let ids: Vec<&str> = names.iter().map(|(id, _)| id.as_str()).collect();
    for (id, title) in names.iter().take(MAX_PRINTED) {
        let short = clean::line(super::ls::shorten_id(id, &ids));
        let title =
            super::table::truncate_to_width(&clean::line(title), out.width().saturating_sub(short.len() + 4));
        out.error(&format!("  {}  {title}", paint(NAME, &short)));
    }
    if names.len() > MAX_PRINTED {
        out.error(&format!("  … and {} more", names.len() - MAX_PRINTED));
    }
}
