//! Files of the state directory that only the user can read, such as keys of a server.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{create_private_dir, private_mode, remove_if_exists, sync_parent};
use super::session_writer::SessionWriter;
use crate::Error;
use crate::disk::read_small_file;

/// A file in the state directory that only the user can read. It may not exist.
#[derive(Debug, Clone)]
pub struct PrivateFile {
    path: PathBuf,
}

impl SessionWriter {
    /// Returns the private file with this name, which may contain a folder: `web/key`.
    ///
    /// Returns [`Error::NoStateDir`] if there is no state directory.
    pub fn private_file(&self, name: &str) -> Result<PrivateFile, Error> {
        Ok(PrivateFile { path: self.state_dir()?.join(name) })
    }
}

impl PrivateFile {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. Returns `None` if it is missing, unreadable or not text, or if other users can access it.
    pub fn read(&self) -> Option<String> {
        let meta = std::fs::symlink_metadata(&self.path).ok()?;
        let bytes = if is_private(&meta) { read_small_file(&self.path)? } else { return None };
        String::from_utf8(bytes).ok()
    }

    /// Writes the file durably, and its folder if it is missing. Replaces an existing file.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        self.replace(text).map_err(Error::writing(&self.path))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            create_private_dir(folder)?;
        }
        let draft = self.path.with_added_extension(format!("{}.new", std::process::id()));
        remove_if_exists(&draft)?;
        let mut file = private_mode(OpenOptions::new().write(true).create_new(true)).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, &self.path)?;
        sync_parent(&self.path)
    }

    /// Deletes the file. A missing file is not an error.
    pub fn remove(&self) -> Result<(), Error> {
        remove_if_exists(&self.path).map_err(Error::writing(&self.path))
    }
}

/// Returns `true` if it is a file that only its owner can read and change.
#[cfg(unix)]
fn is_private(meta: &std::fs::Metadata) -> bool {
    meta.is_file() && std::os::unix::fs::MetadataExt::mode(meta) & 0o077 == 0
}

/// Returns `true` if it is a file: other systems have no such permissions.
#[cfg(not(unix))]
fn is_private(meta: &std::fs::Metadata) -> bool {
    meta.is_file()
}

#[cfg(test)]
mod tests {
    use super::SessionWriter;

    #[test]
    fn written_text_is_read_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = SessionWriter::new(folder.path().join("state")).private_file("web/key").unwrap();
        assert_eq!(file.read(), None);
        file.write("one").unwrap();
        file.write("two").unwrap();
        assert_eq!(file.read().as_deref(), Some("two"));
        assert_eq!(std::fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1, "no draft remains");
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read(), None);
        assert!(SessionWriter::read_only().private_file("web/key").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = SessionWriter::new(folder.path().join("state")).private_file("web/key").unwrap();
        file.write("secret").unwrap();
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(file.path()), mode(file.path().parent().unwrap())), (0o600, 0o700));
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(file.read(), None, "other users may have read or changed it: {mode:o}");
        }
        file.write("new").unwrap();
        assert_eq!((mode(file.path()), file.read().as_deref()), (0o600, Some("new")));
        let link = folder.path().join("state/web/link");
        std::os::unix::fs::symlink(file.path(), &link).unwrap();
        let link = SessionWriter::new(folder.path().join("state")).private_file("web/link").unwrap();
        assert_eq!(link.read(), None, "a link is not a file of ours");
    }
}
