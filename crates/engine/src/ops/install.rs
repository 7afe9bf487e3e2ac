//! `install`: sets up rethread in the settings of the client.
//!
//! The plugin is a folder of its own, which the settings name. Only the members that are needed are set; all other bytes of
//! the settings stay as they are.

use std::path::{Path, PathBuf};

use rethread_core::edit::{JsonEdit, PathSegment, apply_edits, quote_json};
use rethread_core::entry::{members, value_text};

use crate::Error;
use crate::disk::read_small_file;
use crate::edit::tool_files::write_tool_files;
pub use crate::edit::tool_files::{ToolFile, ToolFilesOutcome};
use crate::ops::log;
use crate::ops::undo::{UndoOutcome, UndoRequest, undo};
use crate::writer::{OpStatus, SessionWriter};

/// The name of the command in the journal.
const COMMAND: &str = "install";
/// The name of the plugin and of its marketplace.
const PLUGIN: &str = "rethread";
/// The key under which the settings enable the plugin: plugin and marketplace.
const PLUGIN_KEY: &str = "rethread@rethread";

/// The command of the status line.
#[derive(Debug, Clone)]
pub struct StatuslineCommand {
    /// The command alone.
    pub command: String,
    /// Returns the command that runs another one first.
    pub add_after: fn(&str) -> String,
}

/// Options of [`install`].
#[derive(Debug, Clone, Default)]
pub struct InstallRequest {
    /// The settings file of the client.
    pub settings: PathBuf,
    /// The folder of the plugin's marketplace.
    pub plugin_dir: PathBuf,
    /// The files of the marketplace. `None` does not set up the plugin.
    pub plugin_files: Option<Vec<ToolFile>>,
    /// The status line. `None` does not set it up.
    pub statusline: Option<StatuslineCommand>,
    /// Report the change without making it.
    pub dry_run: bool,
}

/// The result of [`install`].
#[derive(Debug, Clone)]
pub struct InstallOutcome {
    /// The changed files.
    pub files: ToolFilesOutcome,
    /// The command of a status line that the settings had before, which runs first now. `None` if there was none.
    pub kept_statusline: Option<String>,
}

/// The parts that a settings file sets up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallStatus {
    /// Whether the plugin is enabled.
    pub is_plugin_enabled: bool,
    /// The files of the plugin that are missing or differ.
    pub stale_files: Vec<PathBuf>,
    /// The command of the status line. `None` if there is none.
    pub statusline: Option<String>,
}

/// Writes the plugin and enables it and the status line in the settings, as one op.
///
/// A status line of another program is wrapped: it runs first. Returns an error if the settings are not a JSON object.
pub fn install(request: &InstallRequest, writer: &SessionWriter) -> Result<InstallOutcome, Error> {
    let old_settings = read_settings(&request.settings)?;
    let mut edits = Vec::new();
    let mut files = Vec::new();
    if let Some(plugin_files) = &request.plugin_files {
        files.extend(plugin_files.iter().cloned());
        let path = quote_json(&request.plugin_dir.display().to_string());
        let marketplace = format!(r#"{{"source":{{"source":"directory","path":{path}}}}}"#);
        edits.push(set_member(&old_settings, "extraKnownMarketplaces", PLUGIN, &marketplace));
        edits.push(set_member(&old_settings, "enabledPlugins", PLUGIN_KEY, "true"));
    }
    let present = find_statusline(&old_settings);
    let mut kept_statusline = None;
    if let Some(statusline) = &request.statusline {
        let other = present.as_deref().filter(|present| !is_own_statusline(present));
        let edit = match (other, present.is_some()) {
            (Some(other), _) => {
                kept_statusline = Some(other.to_owned());
                Some(set_statusline(&old_settings, &(statusline.add_after)(other)))
            }
            // It may have options, and the program may have moved.
            (None, true) => present
                .as_deref()
                .and_then(split_own_statusline)
                .zip(statusline.command.strip_suffix("statusline"))
                .map(|(arguments, program)| set_statusline(&old_settings, &format!("{program}{arguments}"))),
            (None, false) => Some(set_statusline(&old_settings, &statusline.command)),
        };
        edits.extend(edit);
    }
    let settings = apply_settings_edits(request, &old_settings, &edits)?;
    files.push(ToolFile { path: request.settings.clone(), content: Some(settings) });
    let files = write_tool_files(writer, COMMAND, COMMAND, &files, request.dry_run)?;
    Ok(InstallOutcome { files, kept_statusline })
}

/// Removes what an installation added to the settings, and moves the files of the plugin to the trash, as one op. Changes that
/// the user made since stay.
///
/// A status line that runs another one first becomes that other one, which `unwrap` returns. Returns an error if nothing is set
/// up, or if the settings are not a JSON object.
pub fn remove_installation(
    request: &InstallRequest,
    unwrap: impl Fn(&str) -> Option<String>,
    writer: &SessionWriter,
) -> Result<ToolFilesOutcome, Error> {
    let old_settings = read_settings(&request.settings)?;
    let member = |object: &str, key: &str| JsonEdit::remove([object.into(), key.into()]);
    let mut edits = Vec::new();
    for (object, key) in [("enabledPlugins", PLUGIN_KEY), ("extraKnownMarketplaces", PLUGIN)] {
        if find_member(&old_settings, object).and_then(|value| find_member(value, key)).is_some() {
            edits.push(member(object, key));
        }
    }
    if let Some(command) = find_statusline(&old_settings).filter(|command| is_own_statusline(command)) {
        edits.push(match unwrap(&command) {
            Some(other) => JsonEdit::set_string(["statusLine".into(), "command".into()], &other),
            None => JsonEdit::remove(["statusLine".into()]),
        });
    }
    let has_plugin = std::fs::symlink_metadata(&request.plugin_dir).is_ok();
    if edits.is_empty() && !has_plugin {
        return Err(Error::NothingToUndo);
    }
    let settings = apply_settings_edits(request, &old_settings, &edits)?;
    let mut files = vec![ToolFile { path: request.plugin_dir.clone(), content: None }];
    if !edits.is_empty() {
        files.push(ToolFile { path: request.settings.clone(), content: Some(settings) });
    }
    write_tool_files(writer, COMMAND, COMMAND, &files, request.dry_run)
}

/// Undoes the newest installation. Returns an error if there is none, or if a file changed since.
pub fn undo_install(writer: &SessionWriter, is_dry_run: bool) -> Result<UndoOutcome, Error> {
    let log = log::log(writer)?;
    let is_in_effect = |row: &&log::OpRow| row.command == COMMAND && row.status == OpStatus::Done;
    let op = log.ops.iter().rev().find(is_in_effect).map(|row| row.id.0).ok_or(Error::NothingToUndo)?;
    undo(writer, &UndoRequest { op: Some(op), even_if_live: true, dry_run: is_dry_run })
}

/// Reports what is set up. `files` are the files that the plugin should have.
pub fn find_install_status(settings: &Path, files: &[ToolFile]) -> InstallStatus {
    let settings = read_small_file(settings).unwrap_or_default();
    let is_current = |file: &&ToolFile| {
        read_small_file(&file.path).as_deref() == file.content.as_ref().map(String::as_bytes)
    };
    InstallStatus {
        is_plugin_enabled: find_member(&settings, "enabledPlugins")
            .and_then(|plugins| find_member(plugins, PLUGIN_KEY))
            .is_some_and(|value| value == b"true"),
        stale_files: files.iter().filter(|file| !is_current(file)).map(|file| file.path.clone()).collect(),
        statusline: find_statusline(&settings),
    }
}

/// Returns `true` if a command is the status line of rethread.
pub fn is_own_statusline(command: &str) -> bool {
    split_own_statusline(command).is_some()
}

/// Returns the arguments of a status line of rethread, from its subcommand on. Returns `None` for another command.
pub fn split_own_statusline(command: &str) -> Option<&str> {
    let (program, _) = command.split_once(" statusline")?;
    let name = program.trim_end_matches(['\'', '"']).rsplit(['/', '\\']).next()?;
    (name == "rethread" || name == "rethread.exe").then(|| &command[program.len() + 1..])
}

/// Applies edits to the settings. Returns an error if the settings are not a JSON object.
fn apply_settings_edits(
    request: &InstallRequest,
    settings: &[u8],
    edits: &[JsonEdit],
) -> Result<String, Error> {
    let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(settings).is_ok();
    is_object
        .then(|| apply_edits(settings, edits))
        .flatten()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Error::UnusableSettings { path: request.settings.clone() })
}

/// Reads a settings file. A file that does not exist is an empty object.
fn read_settings(path: &Path) -> Result<Vec<u8>, Error> {
    match std::fs::read(path) {
        Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => Ok(b"{}\n".to_vec()),
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(b"{}\n".to_vec()),
        Err(error) => Err(Error::reading(path)(error)),
    }
}

/// Returns the edit that sets a member of an object in the settings, which may not exist.
fn set_member(settings: &[u8], object: &str, key: &str, value: &str) -> JsonEdit {
    let object_key = PathSegment::Key(object.to_owned());
    match find_member(settings, object) {
        Some(_) => JsonEdit::set([object_key, PathSegment::Key(key.to_owned())], value),
        None => JsonEdit::set([object_key], format!("{{{}:{value}}}", quote_json(key))),
    }
}

/// Returns the edit that sets the command of the status line and keeps its other members.
fn set_statusline(settings: &[u8], command: &str) -> JsonEdit {
    match find_statusline(settings) {
        Some(_) => JsonEdit::set_string(["statusLine".into(), "command".into()], command),
        None => {
            let value = format!(r#"{{"type":"command","command":{}}}"#, quote_json(command));
            JsonEdit::set(["statusLine".into()], value)
        }
    }
}

fn find_member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).find(|(key, _)| key.equals(name)).map(|(_, value)| value)
}

fn find_statusline(settings: &[u8]) -> Option<String> {
    let command = find_member(settings, "statusLine").and_then(|line| find_member(line, "command"))?;
    Some(value_text(command).into_owned())
}
