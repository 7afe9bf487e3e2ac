//! Small steps on files: durable folders, private files, drafts, names that are never overwritten.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::plan::Content;
use crate::disk::TailFingerprint;

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    // Where folders cannot be opened, the system cares for their names itself.
    if cfg!(windows) { Ok(()) } else { synced }
}

/// Makes the name of a file durable.
pub(super) fn sync_name(path: &Path) -> io::Result<()> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// Lets only the user read what is made.
#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

/// Elsewhere the folder decides.
#[cfg(not(unix))]
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Makes a folder with those above it, readable by the user only.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the folders above a path that are missing, the uppermost first.
pub(super) fn missing_above(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> = above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Makes those folders.
pub(super) fn make_missing(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        sync_name(folder)?;
    }
    Ok(())
}

/// Removes a file that may be gone already.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if is_nowhere(&error) => Ok(()),
        removed => removed,
    }
}

/// Whether nothing is, or could ever be, at the path that gave this error.
pub(super) fn is_nowhere(error: &io::Error) -> bool {
    let circle = error.raw_os_error() == Some(CIRCLE);
    circle
        || matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
}

/// The number by which Linux says that links lead in a circle; the standard library has no name for it yet.
const CIRCLE: i32 = 40;

/// Writes a draft durably and looks at it. It gets the rights of the file that it is to replace or copies.
pub(super) fn write_draft(
    draft: &Path,
    content: &Content<'_>,
    like: Option<&Path>,
) -> io::Result<TailFingerprint> {
    let file = private(OpenOptions::new().read(true).write(true).create_new(true)).open(draft)?;
    let mut out = BufWriter::with_capacity(256 << 10, &file);
    match content {
        Content::Bytes(bytes) => out.write_all(bytes)?,
        Content::Copy(from) => copy_from(from, &mut out, &file)?,
        Content::Generated(make) => make(&mut out)?,
    }
    out.flush()?;
    drop(out);
    let like = like.or(if let Content::Copy(from) = content { Some(from) } else { None });
    if let Some(like) = like {
        give(&file, &std::fs::metadata(like)?)?;
    }
    file.sync_all()?;
    TailFingerprint::of_file(&file)
}

/// Gives a file the rights of another, and its owner where that may be.
pub(super) fn give(file: &File, like: &std::fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only root may do that, and only then is it needed.
        let _ = std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()));
    }
    file.set_permissions(like.permissions())
}

/// Copies a file as the system does it fastest.
fn copy_from(from: &Path, out: &mut impl Write, mut file: &File) -> io::Result<()> {
    out.flush()?;
    io::copy(&mut crate::disk::open(from)?, &mut file).map(|_| ())
}

/// Gives a draft its name, unless something has it already.
pub(super) fn publish(draft: &Path, path: &Path) -> io::Result<()> {
    match std::fs::hard_link(draft, path) {
        Ok(()) => std::fs::remove_file(draft)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // A file system without hard links: look first, then rename.
        Err(_) if std::fs::symlink_metadata(path).is_ok() => return Err(ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(draft, path)?,
    }
    sync_name(path)
}

/// Whether two names are of one file.
#[cfg(unix)]
pub(super) fn same_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere what is known of them must do.
#[cfg(not(unix))]
pub(super) fn same_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    a.len() == b.len() && a.modified().ok() == b.modified().ok() && a.created().ok() == b.created().ok()
}
