//! Saves an export: writes a temporary file next to the target and renames it once it is complete. Never writes into a
//! store.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::options::ExportError;

/// The cause of a file not being written.
#[derive(Debug)]
pub(crate) enum SaveError {
    /// A file with that name exists.
    Exists,
    /// The file would be inside this store.
    InStore(PathBuf),
    /// The path is not a regular file and cannot be replaced: a folder, a device, a pipe or a dangling link.
    NotAFile,
    /// The file cannot be written.
    Unwritable(io::Error),
    /// The session could not be exported.
    Export(ExportError),
}

impl From<io::Error> for SaveError {
    fn from(error: io::Error) -> SaveError {
        SaveError::Unwritable(error)
    }
}

/// Writes a file outside of all `stores` and returns its size in bytes. `write` produces the content. Replaces an
/// existing file only if `force` is set.
pub(crate) fn save_file(
    path: &Path,
    stores: &[PathBuf],
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<u64, SaveError> {
    let target = resolve_target(path)?;
    let contains_target =
        |store: &&PathBuf| store.canonicalize().is_ok_and(|store| target.starts_with(store));
    if let Some(store) = stores.iter().find(contains_target) {
        return Err(SaveError::InStore(store.clone()));
    }
    match target.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(SaveError::NotAFile),
        Ok(_) if !force => return Err(SaveError::Exists),
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        _ => {}
    }
    let temp = create_temp_file(target.parent().unwrap_or(Path::new(".")))?;
    let mut out = BufWriter::with_capacity(1 << 16, temp);
    match write(&mut out) {
        Ok(()) => {}
        Err(ExportError::Io(error)) => return Err(SaveError::Unwritable(error)),
        Err(error) => return Err(SaveError::Export(error)),
    }
    let temp = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let bytes = temp.as_file().metadata()?.len();
    let persisted = if force { temp.persist(&target) } else { temp.persist_noclobber(&target) };
    match persisted {
        Ok(_) => Ok(bytes),
        Err(persist) if persist.error.kind() == io::ErrorKind::AlreadyExists => Err(SaveError::Exists),
        Err(persist) => Err(SaveError::Unwritable(persist.error)),
    }
}

/// Resolves the symbolic links of a path, also that of the file itself if its target exists. Returns an error if the
/// folder does not exist or the path has no file name.
fn resolve_target(path: &Path) -> io::Result<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let target = folder.canonicalize()?.join(name);
    Ok(target.canonicalize().unwrap_or(target))
}

/// Creates a temporary file that is deleted unless it is persisted. Its permissions follow the umask of the user.
fn create_temp_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rethread-export-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
