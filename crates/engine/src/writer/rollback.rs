//! Rolls back a change at any stage of its application. Lines that other processes appended since are kept.
//!
//! Every step can be interrupted and repeated. No file is deleted that another process may have written to.

use std::io;
use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::change_error::ChangeError;
use super::files::{
    create_private_dir, is_same_file, publish_draft, remove_if_exists, sync_parent, write_draft,
};
use super::fs;
use super::lines::{merge_lines, strip_own_bytes};
use super::plan::NewContent;
use super::record::{ChangeRecord, FileOpKind, FileState, OpId};
use super::replace::{
    OldFileStatus, Replacement, append_durably, carry_lines, ensure_len, link_old_file, merge_draft_path,
};
use super::trash::{copy_missing, move_back, move_path, move_to_trash, read_file_state, remove_path};
use crate::Error;
use crate::disk::{ProcessTable, hash_tail_at};

/// The number of attempts to replace a file that grows at the same time.
const TRIES: u32 = 100;

/// Rolls back changes of an op.
pub(super) struct Rollback<'a> {
    pub(super) backups: &'a BackupStore,
    pub(super) processes: &'a dyn ProcessTable,
    /// The trash, for files that the op created.
    pub(super) trash_dir: PathBuf,
    pub(super) op: OpId,
}

impl Rollback<'_> {
    /// Rolls back one change, however far it was applied. A file that another process has changed is kept. `idx` is the
    /// index of the change in the op.
    pub(super) fn roll_back(&self, change: &ChangeRecord, idx: usize) -> Result<OldFileStatus, ChangeError> {
        match change.kind {
            FileOpKind::Append => return self.roll_back_append(change),
            FileOpKind::Replace => return self.roll_back_replace(change),
            FileOpKind::Create => self.roll_back_create(change, idx)?,
            FileOpKind::Remove => self.roll_back_remove(change)?,
            FileOpKind::Return => roll_back_return(change)?,
        }
        Ok(OldFileStatus::Closed)
    }

    /// Moves the created file to the trash, unless another process has changed it.
    fn roll_back_create(&self, change: &ChangeRecord, idx: usize) -> io::Result<()> {
        let draft = change.draft.clone().unwrap_or_default();
        remove_if_exists(&draft)?;
        let aside = draft.with_extension("aside");
        let is_unchanged = change.after.is_some() && read_file_state(&change.path)? == change.after;
        if is_unchanged || fs::link_metadata(&aside)?.is_some() {
            let dir = self.trash_dir.join(format!("{}-{idx}", self.op));
            create_private_dir(&dir)?;
            let trash = dir.join(change.path.file_name().unwrap_or_default());
            move_to_trash(&change.path, &trash, &dir.with_extension("part"), &aside)?;
        }
        remove_created_dirs(change);
        Ok(())
    }

    fn roll_back_remove(&self, change: &ChangeRecord) -> Result<(), ChangeError> {
        let ChangeRecord { path, before: Some(before), draft: Some(draft), old: Some(aside), .. } = change
        else {
            return Ok(());
        };
        let part = aside.with_extension("part");
        remove_path(draft)?;
        remove_path(&part)?;
        let Some(trash) = &before.trash else { return Ok(()) };
        if fs::link_metadata(aside)?.is_some() {
            // The move to another file system was interrupted. The copy in the trash, if any, is complete, and the original
            // at `aside` may be partly deleted.
            if before.folder && fs::link_metadata(trash)?.is_some() {
                copy_missing(trash, aside)?;
            }
            self.put_back(path, aside, before.len)?;
            remove_path(trash)?;
        }
        let (restored, created) = (aside.with_extension("restored"), aside.with_extension("created"));
        let exists = |path: &Path| fs::link_metadata(path).map(|meta| meta.is_some());
        let has_new_file = fs::link_metadata(path)?.is_some_and(|meta| meta.is_file());
        if has_new_file && starts_with_file(path, trash)? {
            // An earlier rollback was interrupted after it had restored the file.
            remove_path(trash)?;
        }
        if !exists(&restored)?
            && exists(trash)?
            && has_new_file
            && !before.folder
            && !is_same_path_file(path, trash)?
        {
            // Another process has created a file at the path.
            move_path(trash, &restored, &part)?;
        }
        if exists(&restored)? {
            self.put_back(path, &restored, before.len)?;
            remove_path(trash)?;
        }
        move_back(path, trash, &part, before)?;
        if exists(&created)? {
            // An earlier rollback was interrupted after it had replaced the file of another process.
            if !is_same_path_file(&created, path)? {
                let lines = read_growth(&created, 0)?;
                carry_lines(path, before.len, &lines, &merge_draft_path(aside), self.processes)?;
            }
            remove_if_exists(&created)?;
        }
        settle_merge(path, before.len, aside, self.processes)
    }

    /// Moves a file or folder from `aside` to `path` in the same folder. If another process has created a file at `path`, its
    /// lines follow those of `aside`. `len` is the length of the file before the op.
    fn put_back(&self, path: &Path, aside: &Path, len: u64) -> Result<(), ChangeError> {
        match fs::link_metadata(path)? {
            None => Ok(publish_any(aside, path)?),
            Some(meta) if meta.is_file() && aside.is_file() => {
                self.swap_back(path, 0, aside, len, &aside.with_extension("created")).map(|_| ())
            }
            // Another process has created something else: both stay.
            Some(_) => Ok(()),
        }
    }

    /// Removes the appended bytes. Replaces the file instead of truncating it, which could remove bytes of other processes.
    fn roll_back_append(&self, change: &ChangeRecord) -> Result<OldFileStatus, ChangeError> {
        let ChangeRecord { path, before: Some(before), draft: Some(draft), old: Some(old), .. } = change
        else {
            return Ok(OldFileStatus::Closed);
        };
        remove_if_exists(draft)?;
        let ours = match self.backups.chunks.read_all(change.bytes.as_deref().unwrap_or_default()) {
            // The appended bytes are unknown, so nothing can be removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(OldFileStatus::Closed),
            bytes => bytes?,
        };
        if fs::link_metadata(path)?.is_none() {
            // Another process has removed the file. Its link, if any, keeps the lines of the interrupted rollback.
            return Ok(OldFileStatus::Closed);
        }
        if fs::link_metadata(old)?.is_some() {
            if !is_same_path_file(old, path)? {
                // An earlier rollback replaced the file but was interrupted before it copied the appended lines.
                let added = read_growth(old, before.len)?;
                let others = strip_own_bytes(&added, &ours);
                carry_lines(path, before.len, &others, &merge_draft_path(old), self.processes)?;
            }
            remove_if_exists(old)?;
        }
        for _ in 0..TRIES {
            match self.remove_bytes(change, before.len, &ours) {
                Err(ChangeError::Refused(Error::Stale { .. })) => {}
                status => return status,
            }
        }
        Err(Error::Stale { path: path.clone(), change: crate::error::FileChange::Grew(1) }.into())
    }

    /// Replaces a file by one without the bytes `ours`. Returns [`Error::Stale`] if the file grows meanwhile.
    fn remove_bytes(
        &self,
        change: &ChangeRecord,
        before: u64,
        ours: &[u8],
    ) -> Result<OldFileStatus, ChangeError> {
        let ChangeRecord { path, draft: Some(draft), old: Some(old), .. } = change else {
            return Ok(OldFileStatus::Closed);
        };
        let added = read_growth(path, before)?;
        let rest = strip_own_bytes(&added, ours);
        if rest.len() == added.len() {
            return Ok(OldFileStatus::Closed);
        }
        let write_content = |out: &mut dyn io::Write| {
            io::copy(&mut io::Read::take(fs::open_file(path)?, before), out)?;
            out.write_all(&rest)
        };
        remove_if_exists(draft)?;
        write_draft(draft, &NewContent::Generated(Box::new(write_content)), Some(path))?;
        link_old_file(path, old)?;
        let (new_len, old_len) = (before + rest.len() as u64, before + added.len() as u64);
        let replacement = Replacement { path, new: draft, new_len, old, old_len, is_strict: false };
        let status = replacement.execute(self.processes, || ensure_len(path, old_len))?;
        if status == OldFileStatus::Closed {
            remove_if_exists(old)?;
        }
        Ok(status)
    }

    /// Restores the old file, followed by the lines that other processes appended to the new one.
    fn roll_back_replace(&self, change: &ChangeRecord) -> Result<OldFileStatus, ChangeError> {
        let ChangeRecord { path, before: Some(before), draft: Some(draft), old: Some(old), .. } = change
        else {
            return Ok(OldFileStatus::Closed);
        };
        let Some(after) = &change.after else {
            // The draft was not complete, so the file was not replaced.
            remove_if_exists(draft)?;
            remove_if_exists(old)?;
            return Ok(OldFileStatus::Closed);
        };
        let mut status = OldFileStatus::Closed;
        let has_old = fs::link_metadata(old)?.is_some();
        match read_file_state(path)? {
            None if has_old => publish_draft(old, path)?,
            None => {}
            Some(_) if has_old && is_same_path_file(old, path)? => {}
            Some(current) if is_new_content(path, &current, Some(before), after)? => {
                status = if has_old {
                    self.swap_back(path, after.len, old, before.len, draft)?
                } else {
                    self.restore_from_backup(change, before, after)?
                };
            }
            Some(current) if !has_prefix(path, &current, before)? => {
                // The path names a file of another process. The old file keeps its temporary name.
                return Ok(OldFileStatus::Closed);
            }
            Some(_) => {}
        }
        // The draft is a link to the new file if an earlier rollback was interrupted.
        for (displaced, len) in [(draft, after.len), (old, before.len)] {
            let is_displaced =
                fs::link_metadata(displaced)?.is_some() && !is_same_path_file(displaced, path)?;
            if is_displaced {
                let lines = read_growth(displaced, len)?;
                carry_lines(path, before.len, &lines, &merge_draft_path(old), self.processes)?;
            }
            if displaced == old || status == OldFileStatus::Closed {
                remove_if_exists(displaced)?;
            }
        }
        settle_merge(path, before.len, old, self.processes)?;
        Ok(status)
    }

    /// Replaces the file at `path` by the file `back`, which is the older one. Lines that other processes appended to the
    /// file at `path` after `path_len` bytes follow those of `back`. Afterwards `link` is a hard link to the replaced file.
    fn swap_back(
        &self,
        path: &Path,
        path_len: u64,
        back: &Path,
        back_len: u64,
        link: &Path,
    ) -> Result<OldFileStatus, ChangeError> {
        for _ in 0..TRIES {
            let visible = read_growth(path, path_len)?;
            let own = read_growth(back, back_len)?;
            let merged = merge_lines(&own, &visible);
            let rest = merged.strip_prefix(&own[..]).unwrap_or(&visible);
            append_durably(back, rest)?;
            let back_file = fs::open_file(back)?;
            back_file.set_modified(std::time::SystemTime::now())?;
            drop(back_file);
            link_old_file(path, link)?;
            let old_len = path_len + visible.len() as u64;
            let replacement =
                Replacement { path, new: back, new_len: back_len, old: link, old_len, is_strict: false };
            match replacement.execute(self.processes, || ensure_len(path, old_len)) {
                Err(ChangeError::Refused(Error::Stale { .. })) => {}
                Err(error) => return Err(error),
                Ok(status) => {
                    if status == OldFileStatus::Closed {
                        remove_if_exists(link)?;
                    }
                    return Ok(status);
                }
            }
        }
        Err(Error::Stale { path: path.to_owned(), change: crate::error::FileChange::Grew(1) }.into())
    }

    /// Restores the old file from its backup, for file systems without hard links.
    fn restore_from_backup(
        &self,
        change: &ChangeRecord,
        before: &FileState,
        after: &FileState,
    ) -> Result<OldFileStatus, ChangeError> {
        let ChangeRecord { path, draft: Some(draft), old: Some(old), .. } = change else {
            return Ok(OldFileStatus::Closed);
        };
        remove_if_exists(draft)?;
        let appended = read_growth(path, after.len)?;
        let write_content = |out: &mut dyn io::Write| {
            self.backups.write_content(before, out)?;
            out.write_all(&appended)
        };
        write_draft(draft, &NewContent::Generated(Box::new(write_content)), Some(path))?;
        let (new_len, old_len) = (before.len + appended.len() as u64, after.len + appended.len() as u64);
        let replacement = Replacement { path, new: draft, new_len, old, old_len, is_strict: false };
        replacement.execute(self.processes, || ensure_len(path, old_len))
    }
}

/// Completes the merge of lines into a file if it was interrupted: copies lines that were appended to the merged file
/// before it was replaced. `sibling` is a temporary file of the op.
pub(super) fn settle_merge(
    path: &Path,
    path_len: u64,
    sibling: &Path,
    processes: &dyn ProcessTable,
) -> Result<(), ChangeError> {
    let draft = merge_draft_path(sibling);
    let link = draft.with_extension("merged");
    if fs::link_metadata(&link)?.is_some() {
        if !is_same_path_file(&link, path)? {
            let lines = read_growth(&link, path_len)?;
            carry_lines(path, path_len, &lines, &draft, processes)?;
        }
        remove_if_exists(&link)?;
    }
    Ok(remove_if_exists(&draft)?)
}

/// Reverts a move out of the trash. A file that another process has appended to stays, and its copy in the trash is removed.
fn roll_back_return(change: &ChangeRecord) -> io::Result<()> {
    change.draft.as_deref().map_or(Ok(()), remove_path)?;
    if let (Some(from), Some(after), Some(part)) = (&change.from, &change.after, &change.old) {
        remove_path(part)?;
        if read_file_state(&change.path)?.is_some_and(|current| current.is_same_content(after)) {
            move_back(from, &change.path, part, after)?;
        } else if starts_with_file(&change.path, from)? {
            remove_path(from)?;
        }
    }
    remove_created_dirs(change);
    Ok(())
}

/// Returns `true` if both paths name regular files, and the first one starts with all bytes of the second one.
pub(super) fn starts_with_file(path: &Path, prefix: &Path) -> io::Result<bool> {
    let is_file = |path| Ok::<bool, io::Error>(fs::link_metadata(path)?.is_some_and(|meta| meta.is_file()));
    if !is_file(path)? || !is_file(prefix)? {
        return Ok(false);
    }
    let prefix = fs::read(prefix)?;
    Ok(fs::read(path)?.starts_with(&prefix))
}

/// Removes the folders that the change created, if they are empty.
pub(super) fn remove_created_dirs(change: &ChangeRecord) {
    for folder in change.folders.iter().rev() {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Reads the bytes of a file after the first `len`.
pub(super) fn read_growth(path: &Path, len: u64) -> io::Result<Vec<u8>> {
    fs::read_from_offset(&fs::open_file(path)?, len)
}

/// Returns `true` if both paths name the same file.
pub(super) fn is_same_path_file(a: &Path, b: &Path) -> io::Result<bool> {
    Ok(is_same_file(&std::fs::metadata(a)?, &std::fs::metadata(b)?))
}

/// Renames a file or folder to a path that does not exist, durably.
fn publish_any(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_file() {
        return publish_draft(from, to);
    }
    fs::rename(from, to)?;
    sync_parent(to)
}

/// Returns `true` if a file has the new content, possibly followed by appended bytes. If a change removes only lines at
/// the end, the old content starts with the new content: then a file that starts with the old content is the old file.
pub(super) fn is_new_content(
    path: &Path,
    current: &FileState,
    before: Option<&FileState>,
    after: &FileState,
) -> io::Result<bool> {
    let longer_before = before.filter(|before| before.len > after.len);
    Ok(has_prefix(path, current, after)?
        && !longer_before.is_some_and(|before| has_prefix(path, current, before).unwrap_or(true)))
}

/// Returns `true` if a file starts with the content of a state, by the hash of its last 64 kB. Folders never do.
fn has_prefix(path: &Path, current: &FileState, state: &FileState) -> io::Result<bool> {
    if current.folder || state.folder || current.len < state.len {
        return Ok(false);
    }
    Ok(hash_tail_at(&fs::open_file(path)?, state.len)?.to_hex().as_str() == state.tail)
}
