//! A cache of directory listings: directories that have not changed are not listed again.

use std::io;
use std::path::Path;

use rethread_core::pack::Pack;

use super::cache_dir::{CacheDir, code_fingerprint, private_options};
use super::lock::CacheLock;
use super::paged_file::{PagedReader, PagedWriter};
use crate::Error;
use crate::disk::{CachedDir, DirCache, Roots, SessionFile, find_sessions, find_sessions_and_results};

const NAME: &str = "dir-listing";

impl CacheDir {
    /// Finds all session files below `roots`, sorted by path. Also returns the errors of files and directories that could
    /// not be read.
    pub(crate) fn find_sessions(&self, roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
        let Some(dir) = self.dir_for(roots) else { return find_sessions(roots) };
        let (mut files, errors) = find_files_cached(&dir, roots);
        files.retain(|file| !file.is_result());
        (files, errors)
    }
}

/// Finds all session files and stored tool results below `roots`, sorted by path, and updates the cached listing.
///
/// `cache_dir` is the cache directory of these roots. Also returns the errors of files and directories that could not be
/// read.
pub(crate) fn find_files_cached(cache_dir: &Path, roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
    let cached = read_listing(&cache_dir.join(NAME)).unwrap_or_default();
    let mut dir_cache = DirCache::new(&cached);
    let found = find_sessions_and_results(roots, &mut dir_cache);
    if dir_cache.is_modified() {
        // A listing that cannot be written is repeated the next time. Callers with more to write report the error.
        let _ = write_listing(cache_dir, dir_cache.into_dirs());
    }
    found
}

/// Reads the cached listing. Returns `None` if it is missing, damaged or written by other code.
fn read_listing(path: &Path) -> Option<Vec<CachedDir>> {
    let bytes = PagedReader::open(path).ok()?.read_section(0).ok()?;
    let (code, dirs) = <(u64, Vec<CachedDir>)>::from_packed(&bytes)?;
    (code == code_fingerprint()).then_some(dirs)
}

/// Replaces the cached listing. Does nothing if another process holds the lock.
fn write_listing(cache_dir: &Path, dirs: Vec<CachedDir>) -> io::Result<()> {
    let Some(_lock) = CacheLock::try_acquire(cache_dir, NAME)? else { return Ok(()) };
    let draft = cache_dir.join(format!("{NAME}.new"));
    let file = private_options().write(true).create(true).truncate(true).open(&draft)?;
    let mut out = PagedWriter::new(file);
    out.start_section();
    out.write(&(code_fingerprint(), dirs).to_packed())?;
    out.finish()?;
    std::fs::rename(&draft, cache_dir.join(NAME))
}
