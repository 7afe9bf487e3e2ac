//! The file of an export: written beside its place and moved there once it is whole, never among the sessions themselves.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::options::ExportError;

/// Why a file was not written.
#[derive(Debug)]
pub(crate) enum SaveError {
    /// There is one of that name.
    Taken,
    /// It would stand among the sessions in this folder.
    InStore(PathBuf),
    /// What stands there is no file that another could take the place of: a folder, a device, a pipe, a link to nothing.
    NoFile,
    /// The place cannot be written to.
    Unwritable(io::Error),
    /// The session could not be told.
    Trouble(ExportError),
}

impl From<io::Error> for SaveError {
    fn from(error: io::Error) -> SaveError {
        SaveError::Unwritable(error)
    }
}

/// Writes a file outside of all stores; one that is there is replaced only by force. Returns how long it is.
pub(crate) fn save(
    path: &Path,
    stores: &[PathBuf],
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<u64, SaveError> {
    let target = place(path)?;
    let within = |store: &&PathBuf| store.canonicalize().is_ok_and(|store| target.starts_with(store));
    if let Some(store) = stores.iter().find(within) {
        return Err(SaveError::InStore(store.clone()));
    }
    match target.symlink_metadata() {
        Ok(there) if !there.is_file() => return Err(SaveError::NoFile),
        Ok(_) if !force => return Err(SaveError::Taken),
        Ok(there) if there.permissions().readonly() => {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        _ => {}
    }
    let draft = draft(target.parent().unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::with_capacity(1 << 16, draft);
    match write(&mut out) {
        Ok(()) => {}
        Err(ExportError::Io(error)) => return Err(SaveError::Unwritable(error)),
        Err(trouble) => return Err(SaveError::Trouble(trouble)),
    }
    let draft = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let bytes = draft.as_file().metadata()?.len();
    let kept = if force { draft.persist(&target) } else { draft.persist_noclobber(&target) };
    match kept {
        Ok(_) => Ok(bytes),
        Err(kept) if kept.error.kind() == io::ErrorKind::AlreadyExists => Err(SaveError::Taken),
        Err(kept) => Err(SaveError::Unwritable(kept.error)),
    }
}

/// Says where a file would really stand: behind links, those of its folders and its own.
fn place(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let target = folder.canonicalize()?.join(name);
    Ok(target.canonicalize().unwrap_or(target))
}

/// Makes a file that goes away by itself unless it is kept; as open to others as any file that the user makes.
fn draft(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rethread-export-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
