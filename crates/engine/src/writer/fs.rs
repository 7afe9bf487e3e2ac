//! The file system calls of the writer. Tests can make each of them fail ([`super::fault`]).

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::fault;

pub(super) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    fault::check()?;
    options.open(path)
}

/// Opens a regular file for reading. Returns an error for anything else.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    fault::check()?;
    crate::disk::open_file(path)
}

/// Opens a regular file for reading and appending. Returns an error for anything else, without blocking on a pipe.
pub(super) fn open_for_append(path: &Path) -> io::Result<File> {
    drop(open_file(path)?);
    open(OpenOptions::new().read(true).append(true), path)
}

pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fault::check()?;
    std::fs::read(path)
}

pub(super) fn read_to_string(path: &Path) -> io::Result<String> {
    fault::check()?;
    std::fs::read_to_string(path)
}

/// Reads a file from an offset to its end.
pub(super) fn read_from_offset(mut file: &File, offset: u64) -> io::Result<Vec<u8>> {
    fault::check()?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Lists the paths in a folder. A missing folder is empty.
pub(super) fn list_dir(dir: &Path) -> io::Result<Vec<PathBuf>> {
    fault::check()?;
    match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// Reads the metadata of a path, or of the link at the path. Returns `None` if nothing exists there.
pub(super) fn link_metadata(path: &Path) -> io::Result<Option<Metadata>> {
    fault::check()?;
    match std::fs::symlink_metadata(path) {
        Err(error) if super::files::is_not_found(&error) => Ok(None),
        meta => meta.map(Some),
    }
}

pub(super) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    if let Err((len, error)) = fault::check_write(bytes.len()) {
        file.write_all(&bytes[..len])?;
        return Err(error);
    }
    file.write_all(bytes)
}

pub(super) fn sync_all(file: &File) -> io::Result<()> {
    fault::check()?;
    file.sync_all()
}

pub(super) fn sync_data(file: &File) -> io::Result<()> {
    fault::check()?;
    file.sync_data()
}

/// Copies all bytes of `source` to `target`, with system calls like `copy_file_range` if possible.
pub(super) fn copy(source: &File, target: &File) -> io::Result<u64> {
    fault::check()?;
    io::copy(&mut &*source, &mut &*target)
}

pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::rename(from, to)
}

pub(super) fn hard_link(from: &Path, to: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::hard_link(from, to)
}

pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::remove_file(path)
}

pub(super) fn remove_dir(path: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::remove_dir(path)
}

pub(super) fn remove_dir_all(path: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::remove_dir_all(path)
}

pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    fault::check()?;
    std::fs::create_dir(path)
}

/// A file as the target of a buffered writer.
pub(super) struct FileOutput<'f>(pub(super) &'f File);

impl Write for FileOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_all(self.0, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
