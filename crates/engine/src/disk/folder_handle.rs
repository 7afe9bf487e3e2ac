//! Reads metadata relative to an open folder: the system need not resolve the path of the folder for each file.

use std::io;
use std::path::{Path, PathBuf};

use super::file_stat::FileStat;

/// A folder below which metadata is read.
#[derive(Debug)]
pub(crate) struct FolderHandle {
    path: PathBuf,
    /// `None` if the folder cannot be opened.
    #[cfg(target_os = "linux")]
    handle: Option<rustix::fd::OwnedFd>,
}

impl FolderHandle {
    /// Opens a folder. If it does not exist, every later call returns the error.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(path: &Path) -> FolderHandle {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        FolderHandle { path: path.to_owned(), handle: rustix::fs::open(path, flags, Mode::empty()).ok() }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open(path: &Path) -> FolderHandle {
        FolderHandle { path: path.to_owned() }
    }

    /// Reads the metadata of a path below the folder. Does not follow a symbolic link at its end.
    #[cfg(target_os = "linux")]
    pub(crate) fn read_stat(&self, relative: &Path) -> io::Result<FileStat> {
        match &self.handle {
            Some(handle) if !relative.as_os_str().is_empty() => {
                let stat = rustix::fs::statat(handle, relative, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
                Ok(convert_stat(&stat))
            }
            _ => self.read_metadata(relative),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read_stat(&self, relative: &Path) -> io::Result<FileStat> {
        self.read_metadata(relative)
    }

    fn read_metadata(&self, relative: &Path) -> io::Result<FileStat> {
        let meta = std::fs::symlink_metadata(self.path.join(relative))?;
        Ok(FileStat::from_metadata(&meta))
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_cast, reason = "the types of the fields depend on the processor")]
fn convert_stat(stat: &rustix::fs::Stat) -> FileStat {
    use super::file_stat::FileKind;
    use super::fingerprint::FileFingerprint;
    use rustix::fs::FileType;
    FileStat {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Folder,
            _ => FileKind::Other,
        },
        fingerprint: FileFingerprint::from_parts(
            stat.st_size as u64,
            (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            (stat.st_dev as u64, stat.st_ino as u64),
        ),
        mode: stat.st_mode & 0o7777,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::disk::file_stat::FileKind;

    /// Both ways to read metadata give the same result, so that fingerprints of one are comparable with those of the other.
    #[test]
    fn metadata_equals_that_of_the_whole_path() {
        let folder = tempfile::tempdir().unwrap();
        let sub = tempfile::tempdir_in(folder.path()).unwrap();
        let mut file = tempfile::NamedTempFile::new_in(sub.path()).unwrap();
        file.write_all(b"text").unwrap();
        let handle = FolderHandle::open(folder.path());
        for (path, kind) in [(sub.path(), FileKind::Folder), (file.path(), FileKind::File)] {
            let meta = std::fs::symlink_metadata(path).unwrap();
            let stat = handle.read_stat(path.strip_prefix(folder.path()).unwrap()).unwrap();
            assert_eq!((stat, stat.kind), (FileStat::from_metadata(&meta), kind));
        }
        let missing = handle.read_stat(Path::new("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let nowhere = FolderHandle::open(&folder.path().join("none"));
        assert_eq!(nowhere.read_stat(Path::new("file")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("link")).unwrap();
        let stat = FolderHandle::open(folder.path()).read_stat(Path::new("link")).unwrap();
        assert_eq!(stat.kind, FileKind::Other);
    }
}
