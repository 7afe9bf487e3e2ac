//! Moves files and folders into and out of the trash, within a file system or between two.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::SystemTime;

use super::files::{copy_permissions, is_not_found, is_same_file, private_mode, sync_dir, sync_parent};
use super::record::FileState;
use crate::disk::TailFingerprint;

/// Reads the state of a file or folder, without a backup. Returns `None` if it does not exist.
pub(super) fn read_file_state(path: &Path) -> io::Result<Option<FileState>> {
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if is_not_found(&error) => return Ok(None),
        meta => meta?,
    };
    if meta.is_file() {
        return TailFingerprint::from_path(path)
            .map(|fingerprint| Some(FileState::from_fingerprint(&fingerprint)));
    }
    let mut hasher = blake3::Hasher::new();
    let mut len = 0;
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(io::Error::from)?;
        let relative = entry.path().strip_prefix(path).unwrap_or(entry.path());
        let size = if entry.file_type().is_file() { entry.metadata()?.len() } else { 0 };
        hasher.update(relative.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(&size.to_le_bytes());
        len += size;
    }
    let tail = hasher.finalize().to_hex().to_string();
    Ok(Some(FileState { folder: true, len, tail, hash: None, link: None, trash: None }))
}

/// Moves a file or folder to a path that does not exist. Between file systems, copies it to `part`, renames the copy
/// to `to` and then deletes the original.
pub(super) fn move_path(from: &Path, to: &Path, part: &Path, step: impl Fn(&'static str)) -> io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    match rename_no_replace(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            remove_path(part)?;
            copy_missing(from, part)?;
            sync_parent(part)?;
            // Another process may have added data that is not in the copy.
            if read_file_state(part)? != read_file_state(from)? {
                return Err(ErrorKind::ResourceBusy.into());
            }
            rename_no_replace(part, to)?;
            sync_parent(to)?;
            step("copied to another file system");
            remove_path(from)?;
        }
        result => result?,
    }
    sync_parent(to)?;
    sync_parent(from)
}

/// Renames a file or folder. Links and unlinks a file if possible, because a rename could overwrite an existing one.
fn rename_no_replace(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(from)?.is_file() {
        match std::fs::hard_link(from, to) {
            Ok(()) => return std::fs::remove_file(from),
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::CrossesDevices) => {
                return Err(error);
            }
            // A file system without hard links.
            Err(_) => {}
        }
    }
    std::fs::rename(from, to)
}

/// Reverts a [`move_path`] from `from` to `to`, even if it was interrupted. `state` is the state before the move.
pub(super) fn move_back(from: &Path, to: &Path, part: &Path, state: &FileState) -> io::Result<()> {
    let Ok(to_meta) = std::fs::symlink_metadata(to) else { return Ok(()) };
    match std::fs::symlink_metadata(from) {
        Err(_) => return move_path(to, from, part, |_| ()),
        Ok(from_meta) if from_meta.is_file() && is_same_file(&from_meta, &to_meta) => {}
        // The copy is complete, but the original may be partly deleted.
        Ok(from_meta) if from_meta.is_dir() && to_meta.is_dir() => copy_missing(to, from)?,
        Ok(_) => {}
    }
    // If another process has created something else at `from`, the moved data stays at `to`.
    let is_restored = read_file_state(from)?.is_some_and(|current| current.is_same_content(state));
    if is_restored { remove_path(to) } else { Ok(()) }
}

/// Copies all files, folders and links below `from` that do not exist below `to`.
fn copy_missing(from: &Path, to: &Path) -> io::Result<()> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.map_err(io::Error::from)?;
        let relative = entry.path().strip_prefix(from).unwrap_or(entry.path());
        let target = if relative.as_os_str().is_empty() { to.to_owned() } else { to.join(relative) };
        if std::fs::symlink_metadata(&target).is_err() {
            copy_entry(entry.path(), entry.file_type(), &target)?;
        }
    }
    Ok(())
}

/// Copies one file, symbolic link or folder without its children. Keeps permissions and modification time of a file.
fn copy_entry(from: &Path, kind: std::fs::FileType, to: &Path) -> io::Result<()> {
    if kind.is_dir() {
        std::fs::create_dir(to)?;
        return sync_dir(to);
    }
    #[cfg(unix)]
    if kind.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    let mut source = crate::disk::open_file(from)?;
    let file = private_mode(OpenOptions::new().write(true).create_new(true)).open(to)?;
    io::copy(&mut source, &mut &file)?;
    let meta = source.metadata()?;
    copy_permissions(&file, &meta)?;
    file.set_modified(meta.modified()?)?;
    file.sync_all()
}

/// Deletes a file or folder if it exists.
pub(super) fn remove_path(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if is_not_found(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sets the modification time of a file, or of everything in a folder, to now, because the client deletes old files.
///
/// Symlinks in a folder are skipped. Returns an error only if the files cannot be listed.
pub(super) fn touch_files(path: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for entry in walkdir::WalkDir::new(path) {
        let entry = entry.map_err(io::Error::from)?;
        if entry.file_type().is_file() || entry.file_type().is_dir() {
            // Ignore errors: another user may own the file, and the move matters more than the time.
            let _ = File::open(entry.path()).and_then(|file| file.set_modified(now));
        }
    }
    Ok(())
}
