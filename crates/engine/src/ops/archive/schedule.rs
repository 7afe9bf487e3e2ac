//! `archive schedule`: writes the files with which the system runs `archive` regularly.

use crate::edit::tool_files::{ToolFile, ToolFilesOutcome, write_tool_files};
use crate::error::Error;
use crate::writer::SessionWriter;

/// Writes or removes the files of a schedule, as one op. Files that are as they should be are left alone.
pub fn write_schedule(
    writer: &SessionWriter,
    files: &[ToolFile],
    is_dry_run: bool,
) -> Result<ToolFilesOutcome, Error> {
    write_tool_files(writer, "archive schedule", "schedule", files, is_dry_run)
}
