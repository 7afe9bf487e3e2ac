//! Where the index lies.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Roots;

/// The version of everything in the folder: files of another are neither read nor touched.
const FORMAT: u32 = 2;

/// Where rethread keeps what saves it from reading all files again. In the hands of a face it is only the name of a
/// folder.
#[derive(Debug, Clone)]
pub struct CacheDir {
    cache: PathBuf,
}

impl CacheDir {
    /// Takes the cache folder; it is made when there is something to keep.
    pub fn at(cache: PathBuf) -> CacheDir {
        CacheDir { cache }
    }

    /// Returns the folder for what is below `roots`; none for single files, which are read as quickly.
    pub(crate) fn folder_for(&self, roots: &Roots) -> Option<PathBuf> {
        let real = |root: &PathBuf| root.canonicalize().ok().filter(|root| root.is_dir());
        let mut paths = roots.paths.iter().map(real).collect::<Option<Vec<PathBuf>>>()?;
        paths.sort();
        paths.dedup();
        let mut hasher = blake3::Hasher::new();
        for path in &paths {
            let path = path.as_os_str().as_encoded_bytes();
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path);
        }
        let name = &hasher.finalize().to_hex()[..16];
        (!paths.is_empty()).then(|| self.cache.join(FORMAT.to_string()).join(name))
    }
}

/// Makes a folder with those above it, readable by the user only.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns by what code things are kept: those kept by any other may mean something else.
pub(crate) fn code_fingerprint() -> u64 {
    u64::from_str_radix(env!("RETHREAD_CODE"), 16).unwrap_or_default()
}

/// Lets only the user read what is made.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
