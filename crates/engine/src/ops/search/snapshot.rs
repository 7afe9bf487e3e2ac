//! Snapshots of the files and the index, for several searches in a row.

use std::sync::Arc;

use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::Roots;
use crate::search_index::{RefreshedIndex, SearchIndex};

/// The maximum number of bytes that a search indexes itself. It does not refresh a staler index: the user is waiting.
pub(super) const MAX_REFRESH_BYTES: u64 = 32 << 20;

/// All files and their index at one moment.
#[derive(Debug, Clone)]
pub struct SearchSnapshot {
    pub(super) content: Arc<RefreshedIndex>,
    pub(super) index: SearchIndex,
}

/// Lists the files, and refreshes the index if at most 32 MB must be read. Returns `None` without a cache, or if the
/// roots are single files.
#[doc(hidden)] // Public only because the web server keeps a snapshot between requests.
pub fn open_snapshot(roots: &Roots, cache: Option<&CacheDir>) -> Option<SearchSnapshot> {
    let index = cache.and_then(|cache| cache.search_index(roots))?;
    let content = Arc::new(index.refresh(roots, MAX_REFRESH_BYTES, &|_| {}));
    Some(SearchSnapshot { content, index })
}

impl SearchSnapshot {
    /// Returns the errors of files and folders that could not be read.
    pub fn failures(&self) -> &[Error] {
        &self.content.failures
    }

    /// Returns the problems with the index or its folder.
    pub fn warnings(&self) -> &[CacheWarning] {
        &self.content.warnings
    }
}
