//! `rethread archive schedule`: lets the system bring the archive up to date regularly.

mod installed;
mod units;

use std::path::Path;
use std::process::Command;

use rethread_engine::ops::archive::{self, ArchiveLocation};
use rethread_engine::ops::install::{ToolFile, ToolFilesOutcome};

use self::installed::parse_words;
use self::units::{
    ScheduleFolders, ScheduledCommand, SystemKind, format_cron_line, format_files, is_writable,
    list_commands, list_paths, parse_interval,
};
use super::follow_up;
use crate::cli::args::{FollowUpArgs, Schedule};
use crate::cli::error::{CliError, Exit, print_warning};
use crate::cli::out::Out;
use crate::cli::{AppContext, clean, effects, env};
use crate::json;
use crate::text::command::list_global_words;
use crate::text::shell::quote;

/// Runs `rethread archive schedule`: writes the files and tells the system about them, or removes both.
///
/// Returns [`Exit::Nothing`] if nothing has to be removed, and [`Exit::Failed`] if the system has no such service.
pub(super) fn run(
    args: &Schedule,
    location: &ArchiveLocation,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let system = SystemKind::current();
    let folders = find_folders().ok_or(CliError::NoArchiveDir)?;
    let paths = list_paths(system, &folders);
    if args.remove {
        return remove(args, system, &paths, app, out);
    }
    let minutes = parse_interval(&args.every).ok_or_else(|| CliError::BadInterval(args.every.clone()))?;
    let follow_up = follow_up::prepare(&args.follow_up, app)?;
    let command = build_scheduled_command(system, minutes, location, &follow_up)?;
    let contents = format_files(system, &command);
    let commands = list_commands(system, &paths[0], false);
    if !args.dry_run && system == SystemKind::Systemd && !has_user_session() {
        print_warning("this user has no systemd session, so nothing was written", out);
        out.line("a line for `crontab -e` does the same:")?;
        out.line(&clean::line(&format_cron_line(&command)))?;
        return Ok(Exit::Failed);
    }
    let files: Vec<ToolFile> = paths
        .into_iter()
        .zip(contents)
        .map(|(path, content)| ToolFile { path, content: Some(content) })
        .collect();
    let outcome = archive::write_schedule(&app.writer, &files, args.dry_run)?;
    if out.is_json() {
        out.json(&json::build_archive_schedule(&files, &commands, outcome.op, args.dry_run))?;
    } else if args.dry_run {
        for file in &files {
            out.line(&format!("{}:", app.format_path(&file.path.display().to_string())))?;
            for line in file.content.iter().flat_map(|content| content.lines()) {
                out.line(&format!("    {}", clean::line(line)))?;
            }
        }
        for words in &commands {
            out.line(&join_words(words))?;
        }
    } else {
        out.line(&format!("the archive is brought up to date every {}", args.every))?;
        for line in follow_up::describe(&follow_up, app) {
            out.line(&format!("    {line}"))?;
        }
        effects::print(&outcome.effects, outcome.op, app, out)?;
    }
    follow_up::print_first_steps(&follow_up, out);
    if args.dry_run {
        return Ok(Exit::Done);
    }
    let exit = run_commands(&commands, out);
    if system == SystemKind::Systemd && exit == Exit::Done {
        out.note("it runs while you are logged in; `loginctl enable-linger` keeps it running");
    }
    Ok(exit)
}

fn remove(
    args: &Schedule,
    system: SystemKind,
    paths: &[std::path::PathBuf],
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    if !paths.iter().any(|path| path.exists()) {
        out.note("there is no schedule");
        return Ok(Exit::Nothing);
    }
    let commands = list_commands(system, &paths[0], true);
    let files: Vec<ToolFile> =
        paths.iter().map(|path| ToolFile { path: path.clone(), content: None }).collect();
    // The system needs the files to stop the schedule.
    let exit = if args.dry_run { Exit::Done } else { run_commands(&commands, out) };
    let ToolFilesOutcome { op, effects } = archive::write_schedule(&app.writer, &files, args.dry_run)?;
    if out.is_json() {
        out.json(&json::build_archive_schedule(&files, &commands, op, args.dry_run))?;
        return Ok(exit);
    }
    out.line(if args.dry_run { "would remove the schedule" } else { "removed the schedule" })?;
    effects::print(&effects, op, app, out)?;
    for words in commands.iter().filter(|_| args.dry_run) {
        out.line(&join_words(words))?;
    }
    Ok(exit)
}

/// Returns what the installed schedule does after each run. Returns `None` if there is no schedule.
pub(super) fn find_installed() -> Option<FollowUpArgs> {
    let system = SystemKind::current();
    let paths = list_paths(system, &find_folders()?);
    if !paths[0].exists() {
        return None;
    }
    let words = paths.iter().find_map(|path| parse_words(system, &std::fs::read_to_string(path).ok()?));
    Some(parse_follow_up(&words.unwrap_or_default()))
}

/// The words before the folder of the archive in a scheduled command.
const RUN_WORDS: [&str; 3] = ["--quiet", "archive", "--to"];

/// Returns what follows a run, from the arguments of [`build_scheduled_command`].
fn parse_follow_up(words: &[String]) -> FollowUpArgs {
    let mut follow_up = FollowUpArgs::default();
    let Some(start) = words.windows(RUN_WORDS.len()).position(|window| window == RUN_WORDS) else {
        return follow_up;
    };
    let options = words.get(start + RUN_WORDS.len() + 1..).unwrap_or_default();
    for [option, value] in options.as_chunks().0 {
        match option.as_str() {
            "--sync" => follow_up.sync.push(value.into()),
            "--encrypt-to" => follow_up.encrypt_to.push(value.clone()),
            "--lake" => follow_up.lake.push(value.clone()),
            _ => {}
        }
    }
    follow_up
}

fn find_folders() -> Option<ScheduleFolders> {
    let config_home = env::config_dir()?.parent().map(Path::to_owned)?;
    Some(ScheduleFolders { home: env::home_dir()?, config_home })
}

/// Builds the command that the system runs: this program, with the options in force.
///
/// Returns an error if a word cannot be written to the files of all systems.
fn build_scheduled_command(
    system: SystemKind,
    minutes: u32,
    location: &ArchiveLocation,
    follow_up: &FollowUpArgs,
) -> Result<ScheduledCommand, CliError> {
    let program = env::current_program().ok_or(CliError::NoArchiveDir)?;
    let mut args = list_global_words();
    args.extend(RUN_WORDS.map(str::to_owned));
    args.push(location.dir.display().to_string());
    let dirs = follow_up.sync.iter().map(|dir| ("--sync", dir.display().to_string()));
    let keys = follow_up.encrypt_to.iter().map(|key| ("--encrypt-to", key.trim().to_owned()));
    let lakes = follow_up.lake.iter().map(|lake| ("--lake", lake.clone()));
    args.extend(dirs.chain(keys).chain(lakes).flat_map(|(option, value)| [option.to_owned(), value]));
    let state = env::state_dir().ok_or(CliError::NoArchiveDir)?;
    let state_home = state.parent().unwrap_or(&state).display().to_string();
    let program = program.display().to_string();
    for word in [&program, &state_home].into_iter().chain(&args) {
        if !is_writable(system, word) {
            return Err(CliError::UnwritablePath(word.clone()));
        }
    }
    Ok(ScheduledCommand { program, args, state_home, minutes })
}

/// Returns `true` if systemd runs services for this user.
fn has_user_session() -> bool {
    let output = Command::new("systemctl").args(["--user", "show-environment"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs commands of the system. Prints a warning if one fails, with the command to repeat.
fn run_commands(commands: &[Vec<String>], out: &mut Out) -> Exit {
    let mut exit = Exit::Done;
    for words in commands {
        let Some((program, args)) = words.split_first() else { continue };
        let output = Command::new(program).args(args).output();
        if !output.is_ok_and(|output| output.status.success()) {
            print_warning(&format!("`{}` failed", clean::line(&join_words(words))), out);
            exit = Exit::Failed;
        }
    }
    exit
}

/// Joins the words of a command, each quoted for a shell.
fn join_words(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}
