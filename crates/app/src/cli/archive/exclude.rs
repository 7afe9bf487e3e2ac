//! `rethread archive exclude`: leaves projects out of the archive.

use std::path::PathBuf;

use crate::cli::AppContext;
use crate::cli::args::Exclude;
use crate::cli::error::{CliError, Exit};
use crate::cli::out::Out;
use crate::json;
use crate::text::command::quote_command;

/// The private file with the list: a JSON array of paths.
const FILE_NAME: &str = "archive-exclude.json";

/// Runs `rethread archive exclude`: adds a folder to the list, removes one, or prints the list.
///
/// Returns [`Exit::Nothing`] if nothing changes.
pub(super) fn run(args: &Exclude, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let mut dirs = read_list(app);
    let Some(dir) = &args.dir else { return print_list(app, out) };
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
    let shown = app.format_path(&dir.display().to_string());
    let is_listed = dirs.contains(&dir);
    if is_listed != args.remove {
        let state = if args.remove { "is not excluded with this command" } else { "is excluded already" };
        out.note(&format!("`{shown}` {state}"));
        return Ok(Exit::Nothing);
    }
    if args.remove {
        dirs.retain(|known| *known != dir);
    } else {
        dirs.push(dir.clone());
    }
    if !args.dry_run {
        let paths: Vec<&str> = dirs.iter().filter_map(|dir| dir.to_str()).collect();
        let text = serde_json::to_string(&paths).map_err(std::io::Error::from)?;
        app.writer.private_file(FILE_NAME)?.write(&text)?;
    }
    if out.is_json() {
        out.json(&json::build_archive_exclude(&super::list_excluded(app), args.dry_run))?;
        return Ok(Exit::Done);
    }
    let would = if args.dry_run { "would be" } else { "is" };
    if args.remove {
        out.line(&format!("`{shown}` {would} archived again"))?;
    } else {
        out.line(&format!("sessions in `{shown}` and below: {would} left out of the archive from now on"))?;
        let forget = quote_command(&["archive", "forget", "--project", &dir.display().to_string()]);
        out.note(&format!("{forget} removes what was archived before"));
    }
    Ok(Exit::Done)
}

fn print_list(app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let dirs = super::list_excluded(app);
    if out.is_json() {
        out.json(&json::build_archive_exclude(&dirs, false))?;
        return Ok(Exit::Done);
    }
    for dir in &dirs {
        out.line(&app.format_path(&dir.display().to_string()))?;
    }
    if dirs.is_empty() {
        out.note("no folder is excluded");
    }
    Ok(Exit::from_found(!dirs.is_empty()))
}

/// Reads the folders that this command added. Returns an empty list if there are none.
pub(super) fn read_list(app: &AppContext) -> Vec<PathBuf> {
    let text = app.writer.private_file(FILE_NAME).ok().and_then(|file| file.read()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
