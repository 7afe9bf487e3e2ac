//! Moving files and folders into the trash and out of it, within a file system or between two.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::SystemTime;

use super::files::{give, is_nowhere, private, same_file, sync_folder, sync_name};
use super::record::FileState;
use crate::disk::TailFingerprint;

/// Looks at a file or folder; nothing where it is not there.
pub(super) fn file_state(path: &Path) -> io::Result<Option<FileState>> {
    let meta = match std::fs::symlink_metadata(path) {
        Err(error) if is_nowhere(&error) => return Ok(None),
        meta => meta?,
    };
    if meta.is_file() {
        return TailFingerprint::of(path).map(|stamp| Some(FileState::file(&stamp)));
    }
    let mut names = blake3::Hasher::new();
    let mut len = 0;
    for found in walkdir::WalkDir::new(path).sort_by_file_name() {
        let found = found.map_err(io::Error::from)?;
        let below = found.path().strip_prefix(path).unwrap_or(found.path());
        let size = if found.file_type().is_file() { found.metadata()?.len() } else { 0 };
        names.update(below.as_os_str().as_encoded_bytes());
        names.update(&[0]);
        names.update(&size.to_le_bytes());
        len += size;
    }
    let tail = names.finalize().to_hex().to_string();
    Ok(Some(FileState { folder: true, len, tail, hash: None, link: None, trash: None }))
}

/// Moves a file or folder to a name that is free; a move between file systems copies first and removes then.
/// `part` is where the copy grows.
pub(super) fn move_over(from: &Path, to: &Path, part: &Path, step: impl Fn(&'static str)) -> io::Result<()> {
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    match rename_new(from, to) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            clear(part)?;
            fill(from, part)?;
            sync_name(part)?;
            // What somebody added meanwhile is not in the copy.
            if file_state(part)? != file_state(from)? {
                return Err(ErrorKind::ResourceBusy.into());
            }
            rename_new(part, to)?;
            sync_name(to)?;
            step("copied to another file system");
            clear(from)?;
        }
        moved => moved?,
    }
    sync_name(to)?;
    sync_name(from)
}

/// Renames without overwriting: a file gets its second name before it loses the first.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
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

/// Brings something back that was moved with [`move_over`], also from the middle of it. `what` it was.
pub(super) fn move_back(from: &Path, to: &Path, part: &Path, what: &FileState) -> io::Result<()> {
    let Ok(there) = std::fs::symlink_metadata(to) else { return Ok(()) };
    match std::fs::symlink_metadata(from) {
        Err(_) => return move_over(to, from, part, |_| ()),
        Ok(here) if here.is_file() && same_file(&here, &there) => {}
        // The copy is whole, the original is perhaps not any more: what lacks is put in its place.
        Ok(here) if here.is_dir() && there.is_dir() => fill(to, from)?,
        Ok(_) => {}
    }
    // Where somebody else's stands in its place, it stays where it is.
    if file_state(from)?.is_some_and(|now| now.same(what)) { clear(to) } else { Ok(()) }
}

/// Copies what is missing.
fn fill(from: &Path, to: &Path) -> io::Result<()> {
    for found in walkdir::WalkDir::new(from) {
        let found = found.map_err(io::Error::from)?;
        let below = found.path().strip_prefix(from).unwrap_or(found.path());
        let target = if below.as_os_str().is_empty() { to.to_owned() } else { to.join(below) };
        if std::fs::symlink_metadata(&target).is_err() {
            copy_one(found.path(), found.file_type(), &target)?;
        }
    }
    Ok(())
}

fn copy_one(from: &Path, kind: std::fs::FileType, to: &Path) -> io::Result<()> {
    if kind.is_dir() {
        std::fs::create_dir(to)?;
        return sync_folder(to);
    }
    #[cfg(unix)]
    if kind.is_symlink() {
        return std::os::unix::fs::symlink(std::fs::read_link(from)?, to);
    }
    let mut source = crate::disk::open(from)?;
    let file = private(OpenOptions::new().write(true).create_new(true)).open(to)?;
    io::copy(&mut source, &mut &file)?;
    let meta = source.metadata()?;
    give(&file, &meta)?;
    file.set_modified(meta.modified()?)?;
    file.sync_all()
}

/// Removes a file or folder for good, if it is there.
pub(super) fn clear(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) if is_nowhere(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Dates a file, or all files in a folder, now: the client deletes what looks old.
pub(super) fn date_now(path: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for found in walkdir::WalkDir::new(path) {
        let found = found.map_err(io::Error::from)?;
        if found.file_type().is_file() || found.file_type().is_dir() {
            // Whose file it is may differ; that it is back matters more than its date.
            let _ = File::open(found.path()).and_then(|file| file.set_modified(now));
        }
    }
    Ok(())
}
