//! The index itself: made, looked at, taken away.

use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{DirCache, Roots, find_all};
use crate::search_index::Progress;

/// How an index stands.
#[derive(Debug, Default)]
pub struct IndexStatus {
    /// Where it lies.
    pub folder: std::path::PathBuf,
    /// How many files it knows, and of how many.
    pub files: usize,
    /// How many files there are.
    pub files_found: usize,
    /// Bytes of them that it knows.
    pub bytes: u64,
    /// Bytes that there are.
    pub bytes_found: u64,
    /// Entries that it knows.
    pub entries: u64,
    /// How many files it is made of.
    pub segments: usize,
    /// How large it is, all that is kept beside it included.
    pub size: u64,
    /// What is wrong with it.
    pub notices: Vec<CacheWarning>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Brings the index up to date; `None` where these roots have none. With `rebuild` all is read again.
pub fn refresh_index(
    roots: &Roots,
    index: &CacheDir,
    rebuild: bool,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<Option<IndexStatus>, Error> {
    let Some(shelf) = index.shelf(roots) else { return Ok(None) };
    if rebuild {
        shelf.drop_all().map_err(Error::writing(shelf.folder()))?;
    }
    let notices = shelf.refresh(roots, u64::MAX, watch).notices;
    let mut status = index_status(roots, index).unwrap_or_default();
    status.notices.extend(notices);
    Ok(Some(status))
}

/// Says how the index of some roots stands; `None` where they have none.
pub fn index_status(roots: &Roots, index: &CacheDir) -> Option<IndexStatus> {
    let shelf = index.shelf(roots)?;
    let (found, failures) = find_all(roots, &mut DirCache::default());
    let mut status = IndexStatus {
        folder: shelf.folder().to_owned(),
        files_found: found.len(),
        bytes_found: found.iter().map(|file| file.len).sum(),
        size: crate::disk::size_of(shelf.folder()),
        failures,
        ..IndexStatus::default()
    };
    match shelf.open() {
        Ok(snapshot) => {
            for row in snapshot.rows(&found).into_iter().flatten() {
                status.files += 1;
                status.bytes += row.bytes;
            }
            (status.segments, status.entries) = snapshot.size();
        }
        Err(_) => status.notices.push(CacheWarning::Damaged { path: shelf.folder().to_owned() }),
    }
    Some(status)
}

/// Takes the index of some roots away; says whether there was one.
pub fn drop_index(roots: &Roots, index: &CacheDir) -> Result<bool, Error> {
    let Some(shelf) = index.shelf(roots) else { return Ok(false) };
    shelf.drop_all().map_err(Error::writing(shelf.folder()))
}
