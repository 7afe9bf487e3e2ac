//! What follows a run of `archive`: synchronisations with other folders, and pushes to lakes.

use std::path::{Path, PathBuf};

use rethread_engine::Error;
use rethread_engine::ops::archive::{self, ArchiveLocation, PlaceKind};

use crate::cli::args::{ArchiveSyncArgs, FollowUpArgs};
use crate::cli::error::{CliError, Exit, print_error, print_hint};
use crate::cli::out::Out;
use crate::cli::{AppContext, clean, lake};
use crate::text::command::quote_command;

/// Synchronises with the folders, and pushes to the lakes. A failure is printed and does not prevent the others.
///
/// Skips what is not there with a note, because a timer must not fail as long as a disk is not connected. Returns
/// [`Exit::Failed`] if any failed.
pub(super) fn run(
    args: &FollowUpArgs,
    location: &ArchiveLocation,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    for dir in &args.sync {
        let result = match find_obstacle(dir) {
            Some(obstacle) => {
                let dir = app.format_path(&dir.display().to_string());
                out.note(&format!("skipped `{dir}`: {obstacle}"));
                continue;
            }
            None => super::sync(location, &build_sync_args(dir, args), app, out),
        };
        note_failure(result, &mut exit, out)?;
    }
    for lake in &args.lake {
        if lake::is_absent(lake) {
            out.note(&format!("skipped the lake `{}`: it is not there", clean::line(lake)));
            continue;
        }
        note_failure(lake::run_push(lake, false, app, out), &mut exit, out)?;
    }
    Ok(exit)
}

fn build_sync_args(dir: &Path, args: &FollowUpArgs) -> ArchiveSyncArgs {
    ArchiveSyncArgs { dir: dir.to_owned(), encrypt_to: args.encrypt_to.clone(), identity: None, prune: false }
}

/// Prints an error. Returns it if nothing can be printed any more.
fn note_failure(result: Result<Exit, CliError>, exit: &mut Exit, out: &mut Out) -> Result<(), CliError> {
    match result {
        Ok(Exit::Done) => {}
        Err(CliError::Io(error)) => return Err(CliError::Io(error)),
        Err(error) => {
            print_error(&error, out);
            *exit = Exit::Failed;
        }
        Ok(Exit::Nothing | Exit::Failed) => *exit = Exit::Failed,
    }
    Ok(())
}

/// Returns the reason why a folder is skipped. Returns `None` if it has an archive.
///
/// The folder of a disk that is not mounted may exist, but then it is empty.
fn find_obstacle(dir: &Path) -> Option<&'static str> {
    match archive::find_place_kind(dir) {
        Some(_) => None,
        None if dir.is_dir() => Some("it has no archive; its disk may not be mounted"),
        None => Some("it is not there"),
    }
}

/// Returns what a schedule does after each run, a line each.
pub(super) fn describe(follow_up: &FollowUpArgs, app: &AppContext) -> Vec<String> {
    let mut lines = Vec::new();
    for dir in &follow_up.sync {
        let encrypted = if follow_up.encrypt_to.is_empty() { "" } else { ", encrypted" };
        let state = find_obstacle(dir).map(|obstacle| format!(" (skipped now: {obstacle})"));
        let dir = app.format_path(&dir.display().to_string());
        lines.push(format!("then sync with {dir}{encrypted}{}", state.unwrap_or_default()));
    }
    for lake in &follow_up.lake {
        let state = if lake::is_absent(lake) { " (skipped now: it is not there)" } else { "" };
        lines.push(format!("then push to the lake {}{state}", clean::line(lake)));
    }
    lines
}

/// Makes the paths absolute, and verifies the keys, the kinds of the folders, and that this machine joined the lakes.
pub(super) fn prepare(args: &FollowUpArgs, app: &AppContext) -> Result<FollowUpArgs, CliError> {
    if !args.encrypt_to.is_empty() {
        archive::check_public_keys(&args.encrypt_to)?;
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let sync: Vec<PathBuf> = args.sync.iter().map(|dir| absolute(dir)).collect();
    for dir in &sync {
        if dir.to_str().is_none() {
            return Err(CliError::UnwritablePath(dir.display().to_string()));
        }
        match archive::find_place_kind(dir) {
            Some(PlaceKind::Encrypted) if args.encrypt_to.is_empty() => {
                return Err(Error::EncryptedPlace { path: dir.clone() }.into());
            }
            Some(PlaceKind::Plain) if !args.encrypt_to.is_empty() => {
                return Err(Error::PlainPlace { path: dir.clone() }.into());
            }
            _ => {}
        }
    }
    let lake: Vec<String> =
        args.lake.iter().map(|lake| lake::resolve_address(lake, app)).collect::<Result<_, _>>()?;
    for lake in &lake {
        lake::check_membership(lake, app)?;
    }
    Ok(FollowUpArgs { sync, encrypt_to: args.encrypt_to.clone(), lake })
}

/// Prints how to make the first copy in folders that have none.
pub(super) fn print_first_steps(follow_up: &FollowUpArgs, out: &mut Out) {
    for dir in follow_up.sync.iter().filter(|dir| find_obstacle(dir).is_some()) {
        let dir = dir.display().to_string();
        let keys = follow_up.encrypt_to.iter().flat_map(|key| ["--encrypt-to", key.as_str()]);
        let words: Vec<&str> = ["archive", "sync", &dir].into_iter().chain(keys).collect();
        print_hint(&format!("{} makes the first copy; until then it is skipped", quote_command(&words)), out);
    }
}
