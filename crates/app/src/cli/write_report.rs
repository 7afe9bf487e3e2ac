//! The last lines of every command that changes sessions: expected loads, resume command, undo command.

use std::path::Path;

use rethread_engine::OpId;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::ExpectedLoad;
use rethread_engine::ops::goto::EntryRef;

use super::clean;
use super::error::CliError;
use super::figures::{count_noun, format_tokens};
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::table::truncate_to_width;
use super::{AppContext, time::Clock};
use crate::text::command::build_command;

/// The width of the label column.
const LABEL_WIDTH: usize = 14;

/// Prints a label, padded to 14 columns, and a value.
pub(crate) fn print_field(label: &str, value: &str, out: &mut Out) -> Result<(), CliError> {
    out.line(&format!("{} {value}", paint(QUIET, &format!("{label:<LABEL_WIDTH$}"))))
}

/// Formats an entry by its handle, turn and prompt, truncated to fit a field on a screen of `width` columns.
pub(crate) fn format_entry(entry: &EntryRef, width: usize) -> String {
    let turn = entry.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let name = format!("{}{}", paint(NAME, &entry.handle), paint(QUIET, &turn));
    let prompt = entry.prompt.as_deref().map(clean::line).unwrap_or_default();
    let prompt_width = width.saturating_sub(LABEL_WIDTH + entry.handle.len() + turn.len() + 4);
    format!("{name}  {}", truncate_to_width(&prompt, prompt_width))
}

/// Prints the number of entries and tokens that each client will load.
pub(crate) fn print_loads(loads: &[ExpectedLoad], dry_run: bool, out: &mut Out) -> Result<(), CliError> {
    let label = if dry_run { "would load" } else { "loads" };
    for (idx, load) in loads.iter().enumerate() {
        let entries = count_noun(load.path.len() as u64, "entry");
        let client = clean::line(&load.client.text);
        let value = format!("{entries}, about {} tokens, with client {client}", format_tokens(load.tokens));
        print_field(if idx == 0 { label } else { "" }, &value, out)?;
    }
    Ok(())
}

/// Prints the command that resumes a session.
pub(crate) fn print_resume(id: &str, folder: &str, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let command = app.resume_command(id, folder);
    out.line(&format!("{} {}", paint(QUIET, "resume:"), paint(NAME, &command)))?;
    if let Some(obstacle) = app.resume_obstacle(id, folder) {
        out.note(&format!("note: {obstacle}"));
    }
    Ok(())
}

/// Returns the command that undoes an operation.
pub(crate) fn undo_command(op: OpId) -> String {
    build_command(&["undo", &op.to_string()])
}

/// Prints the command that undoes an operation.
pub(crate) fn print_undo(op: OpId, out: &mut Out) -> Result<(), CliError> {
    out.line(&format!("{}   {}", paint(QUIET, "undo:"), paint(NAME, &undo_command(op))))
}

/// Prints that nothing was written.
pub(crate) fn print_dry_run_note(out: &mut Out) {
    out.note("dry run: nothing was written");
}

/// Returns the time of the clock as a timestamp.
pub(crate) fn now(clock: &Clock) -> Timestamp {
    Timestamp(clock.now().as_millisecond())
}

/// Formats a file path on one line, with `~` for the home folder.
pub(crate) fn format_path(path: &Path, app: &AppContext) -> String {
    app.format_path(&path.display().to_string())
}
