//! Writes files of other programs, such as a schedule or the settings of the client, through the journal.

use std::path::PathBuf;

use super::effect::{FileEffect, plan_effects};
use crate::Error;
use crate::disk::{TailFingerprint, read_small_file};
use crate::writer::{FileOp, NewContent, OpId, Plan, SessionWriter};

/// A file of another program that is written or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFile {
    /// The path at which the program expects it.
    pub path: PathBuf,
    /// Its content. `None` if it is removed.
    pub content: Option<String>,
}

/// The result of writing files of other programs.
#[derive(Debug, Clone)]
pub struct ToolFilesOutcome {
    /// The number of the op. `None` in a dry run, or if nothing had to be changed.
    pub op: Option<OpId>,
    /// The effects on files.
    pub effects: Vec<FileEffect>,
}

/// Writes or removes files as one op of `command`. Files that are as they should be are left alone.
pub(crate) fn write_tool_files(
    writer: &SessionWriter,
    command: &'static str,
    session: &str,
    files: &[ToolFile],
    is_dry_run: bool,
) -> Result<ToolFilesOutcome, Error> {
    let mut file_ops = Vec::new();
    for ToolFile { path, content } in files {
        let exists = std::fs::symlink_metadata(path).is_ok();
        let path = path.clone();
        match content {
            None if exists => file_ops.push(FileOp::Remove { path }),
            None => {}
            Some(content) if exists => {
                if read_small_file(&path).as_deref() == Some(content.as_bytes()) {
                    continue;
                }
                let fingerprint = TailFingerprint::from_path(&path).map_err(Error::reading(&path))?;
                let content = NewContent::Bytes(content.clone().into_bytes());
                file_ops.push(FileOp::Replace { path, fingerprint, content });
            }
            Some(content) => {
                let content = NewContent::Bytes(content.clone().into_bytes());
                file_ops.push(FileOp::Create { path, content });
            }
        }
    }
    let plan = Plan {
        command,
        session: session.to_owned(),
        about: format!("files: {}", file_ops.len()),
        file_ops,
        // No session file changes.
        even_if_live: true,
    };
    let effects = plan_effects(&plan);
    let op = if is_dry_run || effects.is_empty() { None } else { Some(writer.commit(plan, || Ok(()))?) };
    Ok(ToolFilesOutcome { op, effects })
}
