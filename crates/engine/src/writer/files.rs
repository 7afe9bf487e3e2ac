//! File system helpers: durable directories, files with private permissions, drafts, renames that never overwrite.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::fs;
use super::plan::NewContent;
use crate::disk::TailFingerprint;

/// Flushes the names in a folder to disk.
pub(super) fn sync_dir(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| fs::sync_all(&folder));
    // Windows cannot open directories as files, and makes names durable itself.
    if cfg!(windows) { Ok(()) } else { synced }
}

/// Flushes the name of a file to disk by flushing its folder.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), sync_dir)
}

/// Makes new files readable by the user only.
#[cfg(unix)]
pub(super) fn private_mode(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Does nothing: on other systems new files inherit the permissions of the folder.
#[cfg(not(unix))]
pub(super) fn private_mode(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Creates a folder and its missing parents, readable by the user only.
pub(super) fn create_private_dir(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the missing parent folders of a path, outermost first.
pub(super) fn find_missing_ancestors(path: &Path) -> Vec<PathBuf> {
    let ancestors = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        ancestors.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Creates folders durably, in order. Existing ones are not an error.
pub(super) fn create_dirs(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            result => result?,
        }
        sync_parent(folder)?;
    }
    Ok(())
}

/// Deletes a file if it exists.
pub(super) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if is_not_found(&error) => Ok(()),
        result => result,
    }
}

/// Returns `true` if the error means that nothing exists, or can exist, at the path.
pub(super) fn is_not_found(error: &io::Error) -> bool {
    let is_link_loop = error.raw_os_error() == Some(ELOOP);
    is_link_loop
        || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
}

/// The error number of Linux for a loop of symbolic links. `ErrorKind::FilesystemLoop` is not stable yet.
const ELOOP: i32 = 40;

/// Writes a new file durably and returns its fingerprint. Copies the permissions of the file `like`, else those of the
/// copied file. Returns an error if `draft` exists.
pub(super) fn write_draft(
    draft: &Path,
    content: &NewContent<'_>,
    like: Option<&Path>,
) -> io::Result<TailFingerprint> {
    let file = fs::open(private_mode(OpenOptions::new().read(true).write(true).create_new(true)), draft)?;
    let mut out = BufWriter::with_capacity(256 << 10, fs::FileOutput(&file));
    match content {
        NewContent::Bytes(bytes) => out.write_all(bytes)?,
        NewContent::Copy(from) => copy_file(from, &mut out, &file)?,
        NewContent::Generated(write_content) | NewContent::WithMode(_, write_content) => {
            write_content(&mut out)?;
        }
    }
    out.flush()?;
    drop(out);
    let like = like.or(if let NewContent::Copy(from) = content { Some(from) } else { None });
    if let NewContent::WithMode(mode @ 1.., _) = content {
        set_mode(&file, *mode)?;
    }
    if let Some(like) = like {
        copy_permissions(&file, &std::fs::metadata(like)?)?;
    }
    fs::sync_all(&file)?;
    TailFingerprint::from_file(&file)
}

/// Sets the permission bits of a file.
#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode & 0o777))
}

/// Does nothing: other systems have no permission bits.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "other systems return errors")]
fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Copies the permissions of another file, and its owner if the process is allowed to.
pub(super) fn copy_permissions(file: &File, like: &std::fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only root may change the owner, and only files that root creates need it.
        let _ = std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()));
    }
    file.set_permissions(like.permissions())
}

/// Copies a file with `io::copy`, which uses system calls like `copy_file_range` if it gets two files.
fn copy_file(from: &Path, out: &mut impl Write, file: &File) -> io::Result<()> {
    out.flush()?;
    fs::copy(&fs::open_file(from)?, file).map(|_| ())
}

/// Renames a draft to its final path durably. Returns an error if the final path exists.
pub(super) fn publish_draft(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Ok(()) => fs::remove_file(draft)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // A file system without hard links: check that the path is free, then rename.
        Err(_) if std::fs::symlink_metadata(path).is_ok() => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(draft, path)?,
    }
    sync_parent(path)
}

/// Returns `true` if both belong to the same file, by device and inode.
#[cfg(unix)]
pub(super) fn is_same_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns `true` if length and times are equal: the standard library has no inodes on other systems.
#[cfg(not(unix))]
pub(super) fn is_same_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    a.len() == b.len() && a.modified().ok() == b.modified().ok() && a.created().ok() == b.created().ok()
}
