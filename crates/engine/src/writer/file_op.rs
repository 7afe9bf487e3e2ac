//! Executes one file operation: backup, draft, visible change, clean-up.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Seek};
use std::path::Path;

use super::backup::BackupStore;
use super::change_error::ChangeError;
use super::files::{
    create_dirs, create_private_dir, find_missing_ancestors, publish_draft, remove_if_exists, write_draft,
};
use super::fs;
use super::plan::FileOp;
use super::precondition::ensure_unchanged;
use super::record::{ChangeRecord, FileState, OpId};
use super::replace::{OldFileStatus, Replacement, carry_lines, link_old_file, merge_draft_path};
use super::rollback::read_growth;
use super::trash::{full_digest, move_path, move_to_trash, read_file_state, touch_files};
use crate::disk::{ProcessTable, hash_tail_at};
use crate::error::{Error, FileChange};

/// A file operation after its backup, and its journal record.
pub(super) struct PreparedOp<'a> {
    file_op: FileOp<'a>,
    pub(super) change: ChangeRecord,
    /// Whether another process may still have the replaced file open. `None` if no file was replaced.
    old_status: Option<OldFileStatus>,
}

impl<'a> PreparedOp<'a> {
    /// Backs up the file durably and checks that the operation is possible. Changes nothing outside the state folder. `idx`
    /// is the index of the file operation in the op.
    pub(super) fn prepare(
        file_op: FileOp<'a>,
        op: OpId,
        idx: usize,
        backups: &BackupStore,
        state_dir: &Path,
    ) -> Result<PreparedOp<'a>, Error> {
        let path = file_op.path().to_owned();
        let sibling = |extension: &str| {
            path.with_file_name(format!(".rethread-{op}-{idx}-{}.{extension}", std::process::id()))
        };
        let mut change = ChangeRecord {
            kind: file_op.kind(),
            path: path.clone(),
            before: None,
            after: None,
            draft: Some(sibling("tmp")),
            old: None,
            bytes: None,
            from: None,
            folders: Vec::new(),
            carried: None,
        };
        match &file_op {
            FileOp::Append { fingerprint, bytes, .. } => {
                change.before = Some(
                    backups
                        .back_up_for_append(&path, fingerprint, op, idx)
                        .map_err(Error::writing(state_dir))?,
                );
                change.bytes = Some(backups.chunks.store(&bytes[..]).map_err(Error::writing(state_dir))?);
                change.old = Some(sibling("old"));
            }
            FileOp::Replace { fingerprint, .. } => {
                change.before = Some(backups.back_up(&path, fingerprint).map_err(Error::writing(state_dir))?);
                change.old = Some(sibling("old"));
            }
            FileOp::Create { .. } => {
                ensure_absent(&path)?;
                change.folders = find_missing_ancestors(&path);
            }
            FileOp::Remove { .. } => {
                let current = read_file_state(&path).map_err(Error::reading(&path))?;
                let gone_error = || Error::Stale { path: path.clone(), change: FileChange::Gone };
                let trash_dir = state_dir.join("trash").join(format!("{op}-{idx}"));
                let trash = trash_dir.join(path.file_name().unwrap_or_default());
                let digest = full_digest(&path).map_err(Error::reading(&path))?;
                let current = current.ok_or_else(gone_error)?;
                change.before = Some(FileState { trash: Some(trash), digest: Some(digest), ..current });
                change.draft = Some(state_dir.join("trash").join(format!("{op}-{idx}.part")));
                change.old = Some(sibling("old"));
            }
            FileOp::Return { from, .. } => {
                ensure_absent(&path)?;
                if std::fs::symlink_metadata(from).is_err() {
                    return Err(Error::BackupGone { path });
                }
                change.from = Some(from.clone());
                change.old = Some(state_dir.join("trash").join(format!("{op}-{idx}.part")));
                change.folders = find_missing_ancestors(&path);
            }
        }
        Ok(PreparedOp { file_op, change, old_status: None })
    }

    /// Returns an error if the file has changed since the plan was made, or if a new path exists. Never fails for `Remove`.
    pub(super) fn check_precondition(&self) -> Result<(), Error> {
        match &self.file_op {
            FileOp::Append { path, fingerprint, .. } | FileOp::Replace { path, fingerprint, .. } => {
                ensure_unchanged(path, fingerprint)
            }
            FileOp::Create { path, .. } | FileOp::Return { path, .. } => ensure_absent(path),
            FileOp::Remove { .. } => Ok(()),
        }
    }

    /// Writes the draft, if the operation has one, and records the expected state. For an append, checks the disk space.
    pub(super) fn write_draft(&mut self) -> Result<(), Error> {
        let path = self.change.path.clone();
        let draft = self.change.draft.clone().unwrap_or_default();
        create_dirs(&self.change.folders).map_err(Error::writing(&path))?;
        let draft_error = |error: io::Error| match error.kind() {
            // The source of the draft was shorter than planned.
            ErrorKind::UnexpectedEof => Error::Changed { path: path.clone() },
            _ => Error::Unwritable { path: draft.clone(), source: error },
        };
        match &self.file_op {
            FileOp::Replace { content, .. } => {
                let fingerprint = write_draft(&draft, content, Some(&path)).map_err(draft_error)?;
                self.change.after = Some(FileState::from_fingerprint(&fingerprint));
            }
            FileOp::Create { content, .. } => {
                let fingerprint = write_draft(&draft, content, None).map_err(draft_error)?;
                self.change.after = Some(FileState::from_fingerprint(&fingerprint));
            }
            FileOp::Append { bytes, .. } => check_space(&draft, bytes).map_err(Error::writing(&path))?,
            FileOp::Remove { .. } => {}
            FileOp::Return { from, .. } => {
                self.change.after = read_file_state(from).map_err(Error::reading(from))?;
            }
        }
        Ok(())
    }

    /// Applies the change that other processes can see. If `is_strict`, a file is not replaced where lines that another
    /// process appends to the old one would go unnoticed.
    pub(super) fn apply(&mut self, processes: &dyn ProcessTable, is_strict: bool) -> Result<(), ChangeError> {
        let change = &mut self.change;
        let path = change.path.clone();
        let draft = change.draft.clone().unwrap_or_default();
        match &self.file_op {
            FileOp::Append { fingerprint, bytes, .. } => {
                if append_at_end(&path, fingerprint.len, bytes)? {
                    let file = fs::open_file(&path)?;
                    let len = fingerprint.len + bytes.len() as u64;
                    let tail = hash_tail_at(&file, len)?.to_hex().to_string();
                    change.after = Some(FileState { len, tail, ..FileState::from_fingerprint(fingerprint) });
                } else {
                    return Err(Error::Stale { path, change: FileChange::Grew(1) }.into());
                }
            }
            FileOp::Replace { fingerprint, .. } => {
                let old = change.old.clone().unwrap_or_default();
                link_old_file(&path, &old)?;
                let new_len = change.after.as_ref().map_or(0, |after| after.len);
                let old_len = fingerprint.len;
                let replacement =
                    Replacement { path: &path, new: &draft, new_len, old: &old, old_len, is_strict };
                let check = || ensure_unchanged(&path, fingerprint);
                self.old_status = Some(replacement.execute(processes, check)?);
            }
            FileOp::Create { .. } => {
                publish_draft(&draft, &path).map_err(|error| publish_error(&path, error))?;
            }
            FileOp::Remove { .. } => {
                let trash =
                    change.before.as_ref().and_then(|before| before.trash.clone()).unwrap_or_default();
                create_private_dir(trash.parent().unwrap_or(&trash))?;
                let aside = change.old.clone().unwrap_or_default();
                move_to_trash(&path, &trash, &draft, &aside)?;
            }
            FileOp::Return { from, .. } => {
                move_path(from, &path, &draft).map_err(|error| publish_error(&path, error))?;
                touch_files(&path)?;
            }
        }
        Ok(())
    }

    /// Removes the link to the replaced file. Keeps it if another process may have the file open; then lines that appeared
    /// in it are copied. Called after the verification.
    pub(super) fn finish(&mut self, processes: &dyn ProcessTable) -> Result<OldFileStatus, ChangeError> {
        let ChangeRecord { path, before: Some(before), after: Some(after), old: Some(old), .. } =
            &self.change
        else {
            return Ok(OldFileStatus::Closed);
        };
        if self.old_status == Some(OldFileStatus::MaybeOpen) && old.exists() {
            let lines = read_growth(old, before.len)?;
            carry_lines(path, after.len, &lines, &merge_draft_path(old), processes)?;
            return Ok(OldFileStatus::MaybeOpen);
        }
        remove_if_exists(old)?;
        Ok(OldFileStatus::Closed)
    }
}

/// Returns [`Error::AlreadyExists`] if the path exists, even as a broken link.
fn ensure_absent(path: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(Error::AlreadyExists { path: path.to_owned() }),
        Err(_) => Ok(()),
    }
}

/// Converts an error of publishing a file at `path`.
fn publish_error(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::AlreadyExists => Error::AlreadyExists { path: path.to_owned() },
        _ => Error::Unwritable { path: path.to_owned(), source: error },
    }
}

/// Checks that the disk has room for an append, by writing `bytes` to the temporary file `draft`. A partial append could
/// not be rolled back on a full disk.
fn check_space(draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = fs::open(super::files::private_mode(OpenOptions::new().write(true).create_new(true)), draft);
    // A file can be writable in a folder that does not allow new files.
    let Ok(file) = file else { return Ok(()) };
    let result = fs::write_all(&file, bytes);
    remove_if_exists(draft)?;
    result
}

/// Appends bytes to a file durably. Returns `false` if another process appended before, so its length was not `len`.
fn append_at_end(path: &Path, len: u64, bytes: &[u8]) -> io::Result<bool> {
    let mut file = fs::open_for_append(path)?;
    fs::write_all(&file, bytes)?;
    // An append of no bytes does not move the file position to the end.
    let end = if bytes.is_empty() { file.metadata()?.len() } else { file.stream_position()? };
    fs::sync_all(&file)?;
    Ok(end == len + bytes.len() as u64)
}
