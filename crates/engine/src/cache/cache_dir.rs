//! The location of the cache files, and how they are created.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Roots;

/// The version of the directory layout. Files of other versions are neither read nor deleted.
const FORMAT: u32 = 2;

/// The cache directory. Frontends can only name it; all reads and writes are done by the engine.
#[derive(Debug, Clone)]
pub struct CacheDir {
    path: PathBuf,
}

impl CacheDir {
    /// Names the cache directory. It is created on the first write.
    pub fn new(path: PathBuf) -> CacheDir {
        CacheDir { path }
    }

    /// Returns the directory of the cache files for `roots`. It depends on the set of roots, not on their order.
    ///
    /// Returns `None` if a root is not an existing directory, because reading a single file is as fast, or if there are no
    /// roots.
    pub(crate) fn dir_for(&self, roots: &Roots) -> Option<PathBuf> {
        let canonical_dir = |root: &PathBuf| root.canonicalize().ok().filter(|root| root.is_dir());
        let mut paths = roots.paths.iter().map(canonical_dir).collect::<Option<Vec<PathBuf>>>()?;
        paths.sort();
        paths.dedup();
        let mut hasher = blake3::Hasher::new();
        for path in &paths {
            let path = path.as_os_str().as_encoded_bytes();
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path);
        }
        let name = &hasher.finalize().to_hex()[..16];
        (!paths.is_empty()).then(|| self.path.join(FORMAT.to_string()).join(name))
    }
}

/// Creates a directory and its ancestors, readable only by the user.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(dir)
}

/// Returns the fingerprint of the code that writes the cache. Data written by other code is ignored: it may mean something
/// else.
pub(crate) fn code_fingerprint() -> u64 {
    let engine = u64::from_str_radix(env!("RETHREAD_SOURCE_HASH"), 16).unwrap_or_default();
    engine ^ rethread_core::source_hash().rotate_left(1)
}

/// Returns options for opening files that only the user can read if they are created. The caller sets the access mode.
pub(crate) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
