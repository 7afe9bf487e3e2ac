//! `index`: refreshes, inspects and deletes the search index.

use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{DirCache, Roots, find_sessions_and_results};
use crate::search_index::Progress;

/// The status of a search index.
#[derive(Debug, Default)]
pub struct IndexStatus {
    /// The folder of the index.
    pub folder: std::path::PathBuf,
    /// The number of files with a current index entry.
    pub files: usize,
    /// The number of files below the roots.
    pub files_found: usize,
    /// The number of indexed bytes of these files.
    pub bytes: u64,
    /// The total size in bytes of all files below the roots.
    pub bytes_found: u64,
    /// The number of entries in all segments, also of files that have changed since.
    pub entries: u64,
    /// The number of segments.
    pub segments: usize,
    /// The size of the folder on disk in bytes, including the caches.
    pub size: u64,
    /// Problems with the index or its folder.
    pub warnings: Vec<CacheWarning>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Refreshes the index. With `rebuild`, deletes it first, so that all files are read again. Returns `None` if a root
/// is not a directory, because single files are not indexed, or if there are no roots.
pub fn refresh_index(
    roots: &Roots,
    cache: &CacheDir,
    rebuild: bool,
    on_progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<IndexStatus>, Error> {
    let Some(search_index) = cache.search_index(roots) else { return Ok(None) };
    if rebuild {
        search_index.delete_all().map_err(Error::writing(search_index.dir()))?;
    }
    let warnings = search_index.refresh(roots, u64::MAX, on_progress).warnings;
    let mut status = index_status(roots, cache).unwrap_or_default();
    status.warnings.extend(warnings);
    Ok(Some(status))
}

/// Returns the status of the index; its counts are 0 if there is no index yet. Returns `None` if a root is not a directory,
/// because single files are not indexed, or if there are no roots.
pub fn index_status(roots: &Roots, cache: &CacheDir) -> Option<IndexStatus> {
    let search_index = cache.search_index(roots)?;
    let (found, failures) = find_sessions_and_results(roots, &mut DirCache::default());
    let mut status = IndexStatus {
        folder: search_index.dir().to_owned(),
        files_found: found.len(),
        bytes_found: found.iter().map(|file| file.len).sum(),
        size: crate::disk::total_size(search_index.dir()),
        failures,
        ..IndexStatus::default()
    };
    match search_index.open() {
        Ok(reader) => {
            for row in reader.find_current(&found).into_iter().flatten() {
                status.files += 1;
                status.bytes += row.bytes;
            }
            (status.segments, status.entries) = reader.count_docs();
        }
        Err(_) => status.warnings.push(CacheWarning::Damaged { path: search_index.dir().to_owned() }),
    }
    Some(status)
}

/// Deletes the index of the roots. Returns `false` if there was nothing to delete.
pub fn drop_index(roots: &Roots, cache: &CacheDir) -> Result<bool, Error> {
    let Some(search_index) = cache.search_index(roots) else { return Ok(false) };
    search_index.delete_all().map_err(Error::writing(search_index.dir()))
}
