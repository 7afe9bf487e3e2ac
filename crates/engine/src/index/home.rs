//! Where an index lies: in a folder of the cache, by what it is an index of.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::shelf::Shelf;
use crate::disk::Roots;

/// Changes with every change of what is written.
const FORMAT: &str = "1";

/// A folder for what can be made again from the sessions. In the hands of a face it is no more than a name.
#[derive(Debug, Clone)]
pub struct Index {
    cache: PathBuf,
}

impl Index {
    /// Names the folder; nothing is made yet.
    pub fn at(cache: PathBuf) -> Index {
        Index { cache }
    }

    /// Returns the folder for what is found under some roots; none where one of them is a single file.
    pub(crate) fn folder_for(&self, roots: &Roots) -> Option<PathBuf> {
        let mut hasher = blake3::Hasher::new();
        for root in &roots.paths {
            let root = root.canonicalize().ok().filter(|root| root.is_dir())?;
            hasher.update(root.as_os_str().as_encoded_bytes());
            hasher.update(&[0]);
        }
        Some(self.cache.join(FORMAT).join(&hasher.finalize().to_hex()[..16]))
    }

    pub(crate) fn shelf(&self, roots: &Roots) -> Option<Shelf> {
        self.folder_for(roots).map(Shelf::at)
    }
}

/// Makes a folder that only its owner can look into.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file that only its owner can read.
pub(super) fn make_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
