//! The effects of a write plan on files, for display, and file contents that a plan restores from backups.

use std::path::PathBuf;

use crate::writer::{BackupStore, FileOp, FileOpKind, FileState, NewContent, Plan};

/// The effect of a plan on a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEffect {
    /// The path that changes.
    pub path: PathBuf,
    /// The kind of change.
    pub kind: FileOpKind,
    /// The number of appended bytes. `None` for other kinds.
    pub appended: Option<u64>,
}

/// Lists the effects of a plan, in the order of its file operations.
pub(crate) fn plan_effects(plan: &Plan<'_>) -> Vec<FileEffect> {
    let effect = |file_op: &FileOp<'_>| {
        let appended = match file_op {
            FileOp::Append { bytes, .. } => Some(bytes.len() as u64),
            _ => None,
        };
        FileEffect { path: file_op.path().to_owned(), kind: file_op.kind(), appended }
    };
    plan.file_ops.iter().map(effect).collect()
}

/// Returns the content that a file had in `state`. It is read from the backup only when the plan is executed.
pub(crate) fn backup_content(backups: &BackupStore, state: FileState) -> NewContent<'_> {
    NewContent::Generated(Box::new(move |out| backups.write_content(&state, out)))
}
