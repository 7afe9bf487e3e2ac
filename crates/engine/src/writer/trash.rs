//! Moves files and folders into and out of the trash, within a file system or between two.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::files::{copy_permissions, is_same_file, private_mode, sync_dir, sync_parent};
use super::fs;
use super::record::FileState;
use crate::Error;
use crate::disk::{ProcessTable, SystemProcesses, TailFingerprint};

/// The number of attempts to copy a file or folder that changes at the same time.
const COPY_TRIES: u32 = 20;
/// The number of checks for writers, with [`WAIT_PAUSE`] between them: 2 seconds in all.
const WAIT_TRIES: u32 = 100;
const WAIT_PAUSE: Duration = Duration::from_millis(20);

/// Reads the state of a file or folder, without a backup. Returns `None` if it does not exist.
pub(super) fn read_file_state(path: &Path) -> io::Result<Option<FileState>> {
    let Some(meta) = fs::link_metadata(path)? else { return Ok(None) };
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
    Ok(Some(FileState { folder: true, len, tail, hash: None, link: None, trash: None, digest: None }))
}

/// Moves a file or folder to a path that does not exist. Between file systems, copies it to `part` first.
pub(super) fn move_path(from: &Path, to: &Path, part: &Path) -> io::Result<()> {
    match move_path_on_device(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            copy_path(from, to, part)?;
            remove_path(from)?;
            sync_parent(from)
        }
        result => result,
    }
}

/// Does the same as [`move_path`] with a file or folder that other processes may be writing to.
///
/// Between file systems, renames it to `aside` first. A process that then appends to the path creates a new file, so no line
/// is lost between the copy and the deletion. An interrupted move is continued.
pub(super) fn move_to_trash(from: &Path, to: &Path, part: &Path, aside: &Path) -> io::Result<()> {
    if fs::link_metadata(aside)?.is_none() {
        match move_path_on_device(from, to) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => fs::rename(from, aside)?,
            result => return result,
        }
        sync_parent(aside)?;
    }
    if fs::link_metadata(to)?.is_none() {
        copy_path(aside, to, part)?;
    }
    remove_path(aside)
}

/// Moves a file or folder to a path on the same file system that does not exist.
fn move_path_on_device(from: &Path, to: &Path) -> io::Result<()> {
    if fs::link_metadata(to)?.is_some() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    rename_no_replace(from, to)?;
    sync_parent(to)?;
    sync_parent(from)
}

/// Copies a file or folder to `part` and renames the copy to `to`. Returns an error if it keeps changing.
fn copy_path(from: &Path, to: &Path, part: &Path) -> io::Result<()> {
    for _ in 0..COPY_TRIES {
        remove_path(part)?;
        copy_missing(from, part)?;
        sync_parent(part)?;
        wait_for_writers(from)?;
        // A process that had a file open may have added data that is not in the copy.
        if read_file_state(part)? == read_file_state(from)? {
            rename_no_replace(part, to)?;
            return sync_parent(to);
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

/// Waits until no process has a file at or below `path` open for writing, as far as the system reveals it. Returns an error
/// after 2 seconds.
fn wait_for_writers(path: &Path) -> io::Result<()> {
    let entries = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    let files: Vec<std::fs::Metadata> =
        entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file).collect();
    for _ in 0..WAIT_TRIES {
        if SystemProcesses.find_writer(&files).is_none() {
            return Ok(());
        }
        std::thread::sleep(WAIT_PAUSE);
    }
    Err(ErrorKind::ResourceBusy.into())
}

/// Renames a file or folder. Links and unlinks a file if possible, because a rename could overwrite an existing one.
fn rename_no_replace(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(from)?.is_file() {
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::CrossesDevices) => {
                return Err(error);
            }
            // A file system without hard links.
            Err(_) => {}
        }
    }
    fs::rename(from, to)
}

/// Reverts a [`move_path`] from `from` to `to`, even if it was interrupted. `part` is a temporary path next to `from`, and
/// `state` is the state before the move.
pub(super) fn move_back(from: &Path, to: &Path, part: &Path, state: &FileState) -> io::Result<()> {
    let Some(to_meta) = fs::link_metadata(to)? else { return Ok(()) };
    match fs::link_metadata(from)? {
        None => return move_path(to, from, part),
        // The move was interrupted between its link and its unlink. Other processes may have appended since.
        Some(from_meta) if from_meta.is_file() && is_same_file(&from_meta, &to_meta) => {
            return remove_path(to);
        }
        // The copy is complete, but the original may be partly deleted.
        Some(from_meta) if from_meta.is_dir() && to_meta.is_dir() => copy_missing(to, from)?,
        Some(_) => {}
    }
    // If another process has created something else at `from`, the moved data stays at `to`.
    let is_restored = read_file_state(from)?.is_some_and(|current| current.is_same_content(state));
    if is_restored { remove_path(to) } else { Ok(()) }
}

/// Copies all files, folders and links below `from` that do not exist below `to`.
pub(super) fn copy_missing(from: &Path, to: &Path) -> io::Result<()> {
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
        fs::create_dir(to)?;
        return sync_dir(to);
    }
    #[cfg(unix)]
    if kind.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    let source = fs::open_file(from)?;
    let file = fs::open(private_mode(OpenOptions::new().write(true).create_new(true)), to)?;
    fs::copy(&source, &file)?;
    let meta = source.metadata()?;
    copy_permissions(&file, &meta)?;
    file.set_modified(meta.modified()?)?;
    fs::sync_all(&file)
}

/// Hashes the names and contents of a file or of everything in a folder.
pub(super) fn full_digest(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = entry.map_err(io::Error::from)?;
        let relative = entry.path().strip_prefix(path).unwrap_or(entry.path());
        hasher.update(relative.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        if entry.file_type().is_file() {
            let file = fs::open_file(entry.path())?;
            hasher.update(&file.metadata()?.len().to_le_bytes());
            hasher.update_reader(file)?;
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Returns [`Error::DamagedTrash`] if a file or folder in the trash is not the one that was removed. Lines that another
/// process appended to it are not damage.
pub(crate) fn ensure_undamaged(trash: &Path, before: &FileState) -> Result<(), Error> {
    let Some(digest) = &before.digest else { return Ok(()) };
    let damaged = || Error::DamagedTrash { path: trash.to_owned() };
    let current = read_file_state(trash).map_err(Error::reading(trash))?.ok_or_else(damaged)?;
    if current.folder == before.folder && current.len > before.len {
        return Ok(());
    }
    if full_digest(trash).map_err(Error::reading(trash))? == *digest { Ok(()) } else { Err(damaged()) }
}

/// Deletes a file or folder if it exists.
pub(super) fn remove_path(path: &Path) -> io::Result<()> {
    match fs::link_metadata(path)? {
        Some(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
        None => Ok(()),
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
