//! Saves an export: writes a temporary file next to the target and renames it once it is complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::options::ExportError;

/// The start of the names of temporary files.
const TEMP_PREFIX: &str = ".rethread-export-";

/// The cause of a file not being written.
#[derive(Debug)]
pub(crate) enum SaveError {
    /// A file with that name exists.
    Exists,
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

/// Writes a file and returns its size in bytes. `write` produces the content from the files `sources`. Replaces an existing
/// file only if `force` is set.
///
/// Group and others get no access to the file that they do not have to all sources.
pub(crate) fn save_file(
    target: &Path,
    sources: &[PathBuf],
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<u64, SaveError> {
    match target.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(SaveError::NotAFile),
        Ok(_) if !force => return Err(SaveError::Exists),
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        _ => {}
    }
    let temp = create_temp_file(target.parent().unwrap_or(Path::new(".")), sources)?;
    let mut out = BufWriter::with_capacity(1 << 16, temp);
    match write(&mut out) {
        Ok(()) => {}
        Err(ExportError::Io(error)) => return Err(SaveError::Unwritable(error)),
        Err(error) => return Err(SaveError::Export(error)),
    }
    let temp = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let bytes = temp.as_file().metadata()?.len();
    let persisted = if force { temp.persist(target) } else { temp.persist_noclobber(target) };
    match persisted {
        Ok(_) => Ok(bytes),
        Err(persist) if persist.error.kind() == io::ErrorKind::AlreadyExists => Err(SaveError::Exists),
        Err(persist) => Err(SaveError::Unwritable(persist.error)),
    }
}

/// The permission bits to read and write a file, for its owner.
#[cfg(unix)]
const OWNER_BITS: u32 = 0o600;

/// Creates a temporary file that is deleted unless it is persisted. Its permissions follow the umask of the user, limited
/// to those of the sources.
#[cfg(unix)]
fn create_temp_file(folder: &Path, sources: &[PathBuf]) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let create = |mode: u32| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMP_PREFIX).permissions(std::fs::Permissions::from_mode(mode));
        builder.tempfile_in(folder)
    };
    let private_file = create(OWNER_BITS)?;
    // The system chooses the group: that of the process or of the folder.
    let group = private_file.as_file().metadata()?.gid();
    match sources.iter().map(|source| shared_bits(source, group)).fold(0o066, |all, bits| all & bits) {
        0 => Ok(private_file),
        // The umask applies only when a file is created.
        bits => create(OWNER_BITS | bits),
    }
}

/// Returns the permission bits of group and others that a copy of `source` with the group `group` may have. Returns 0 if
/// the metadata of the source cannot be read.
///
/// If the group differs, only permissions that both the group and others have are returned, once for each.
#[cfg(unix)]
fn shared_bits(source: &Path, group: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    let Ok(metadata) = source.metadata() else { return 0 };
    let bits = metadata.mode() & 0o066;
    let common_bits = (bits >> 3) & bits;
    if metadata.gid() == group { bits } else { common_bits << 3 | common_bits }
}

/// Creates a temporary file that is deleted unless it is persisted.
#[cfg(not(unix))]
fn create_temp_file(folder: &Path, _sources: &[PathBuf]) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(folder)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::shared_bits;

    #[test]
    fn another_group_gets_only_the_permissions_that_all_users_have() {
        let source = tempfile::NamedTempFile::new().unwrap();
        let group = source.as_file().metadata().unwrap().gid();
        for (mode, same_group, other_group) in [
            (0o640, 0o040, 0),
            (0o664, 0o064, 0o044),
            (0o604, 0o004, 0),
            (0o777, 0o066, 0o066),
            (0o600, 0, 0),
        ] {
            source.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(shared_bits(source.path(), group), same_group, "{mode:o}");
            assert_eq!(shared_bits(source.path(), group + 1), other_group, "{mode:o}");
        }
        assert_eq!(shared_bits(&source.path().with_extension("missing"), group), 0);
    }
}
