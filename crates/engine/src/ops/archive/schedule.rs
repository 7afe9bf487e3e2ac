//! `archive schedule`: writes the files with which the system runs `archive` regularly.

use std::path::PathBuf;

use crate::disk::{TailFingerprint, read_small_file};
use crate::edit::effect::{FileEffect, plan_effects};
use crate::error::Error;
use crate::writer::{FileOp, NewContent, OpId, Plan, SessionWriter};

/// A file that tells the system when to run what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleFile {
    /// The path at which the system expects it.
    pub path: PathBuf,
    /// Its content. `None` if it is removed.
    pub content: Option<String>,
}

/// The result of [`write_schedule`].
#[derive(Debug, Clone)]
pub struct ScheduleOutcome {
    /// The number of the op. `None` in a dry run, or if nothing had to be changed.
    pub op: Option<OpId>,
    /// The effects on files.
    pub effects: Vec<FileEffect>,
}

/// Writes or removes the files of a schedule, as one op. Files that are as they should be are left alone.
pub fn write_schedule(
    writer: &SessionWriter,
    files: &[ScheduleFile],
    is_dry_run: bool,
) -> Result<ScheduleOutcome, Error> {
    let mut file_ops = Vec::new();
    for ScheduleFile { path, content } in files {
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
        command: "archive schedule",
        session: "schedule".to_owned(),
        about: format!("files: {}", file_ops.len()),
        file_ops,
        // No session file changes.
        even_if_live: true,
    };
    let effects = plan_effects(&plan);
    let op = if is_dry_run || effects.is_empty() { None } else { Some(writer.commit(plan, || Ok(()))?) };
    Ok(ScheduleOutcome { op, effects })
}
