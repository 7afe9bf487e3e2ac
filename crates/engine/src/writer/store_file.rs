//! Writes files of rethread's own stores durably. A file has its final name only if all of its bytes are on disk.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::files::{create_private_dir, private_mode, remove_if_exists, sync_dir, sync_parent};
use super::fs;

/// The extension of a file that is not complete.
const DRAFT_EXTENSION: &str = "part";

/// A new file without its final name. It is deleted if it is dropped before that.
#[derive(Debug)]
pub(crate) struct NewFile {
    file: File,
    draft: PathBuf,
    is_published: bool,
}

impl NewFile {
    /// Creates a file in a folder, under a temporary name. Only one process may do so at a time.
    pub(crate) fn create(dir: &Path) -> io::Result<NewFile> {
        NewFile::create_as(dir, "new")
    }

    /// Creates a file in a folder that several machines write to. `owner` distinguishes them.
    pub(crate) fn create_as(dir: &Path, owner: &str) -> io::Result<NewFile> {
        create_private_dir(dir)?;
        let draft = dir.join(owner).with_extension(DRAFT_EXTENSION);
        let options = &mut OpenOptions::new();
        let file = fs::open(private_mode(options.write(true).create(true).truncate(true)), &draft)?;
        Ok(NewFile { file, draft, is_published: false })
    }

    /// Appends bytes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        fs::write_all(&self.file, bytes)
    }

    /// Flushes the file to disk and gives it its final name in the same folder. Replaces a file with that name.
    pub(crate) fn publish(mut self, name: &str) -> io::Result<()> {
        fs::sync_all(&self.file)?;
        let path = self.draft.with_file_name(name);
        fs::rename(&self.draft, &path)?;
        self.is_published = true;
        sync_parent(&path)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            // The next draft replaces a file that cannot be deleted.
            let _ = remove_if_exists(&self.draft);
        }
    }
}

/// Creates a folder and its missing parents durably, readable by the user only.
pub(crate) fn create_store_dir(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    create_private_dir(dir)?;
    sync_parent(dir)
}

/// Replaces the content of a file durably: readers see the old or the new content.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file_as(path, bytes, "new")
}

/// Replaces a file in a folder that several machines write to. `owner` distinguishes them.
pub(crate) fn replace_file_as(path: &Path, bytes: &[u8], owner: &str) -> io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = NewFile::create_as(path.parent().unwrap_or(Path::new(".")), owner)?;
    file.write_all(bytes)?;
    file.publish(name)
}

/// Deletes a file durably, if it exists.
pub(crate) fn delete_file(path: &Path) -> io::Result<()> {
    remove_if_exists(path)?;
    path.parent().map_or(Ok(()), sync_dir)
}
