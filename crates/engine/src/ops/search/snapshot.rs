//! What there is to look through: all files, and the index of their words.

use std::sync::Arc;

use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, SessionFile};
use crate::search_index::{IndexReader, Refreshed, SearchIndex};

/// An index that is behind by more than this is not brought up to date by a search, which must not wait for it.
pub(super) const AT_ONCE: u64 = 32 << 20;

/// All files, and the index of their words, as they were at one moment.
#[derive(Debug, Clone)]
pub struct SearchSnapshot {
    files: Arc<Vec<SessionFile>>,
    snapshot: Arc<IndexReader>,
    pub(super) shelf: SearchIndex,
    failures: Arc<Vec<Error>>,
    notices: Arc<Vec<CacheWarning>>,
}

/// What there is to look through, and what went wrong on the way.
pub(super) struct SnapshotParts {
    pub(super) files: Arc<Vec<SessionFile>>,
    pub(super) snapshot: Arc<IndexReader>,
    pub(super) failures: Vec<Error>,
    pub(super) notices: Vec<CacheWarning>,
}

impl From<Refreshed> for SnapshotParts {
    fn from(Refreshed { snapshot, files, failures, notices }: Refreshed) -> SnapshotParts {
        SnapshotParts { files: Arc::new(files), snapshot: Arc::new(snapshot), failures, notices }
    }
}

/// Looks which files there are, and brings the index up to date where that does not take long; nothing without an index.
pub fn stacks(roots: &Roots, index: Option<&CacheDir>) -> Option<SearchSnapshot> {
    let shelf = index.and_then(|index| index.shelf(roots))?;
    let SnapshotParts { files, snapshot, failures, notices } = shelf.refresh(roots, AT_ONCE, &|_| {}).into();
    Some(SearchSnapshot { files, snapshot, shelf, failures: Arc::new(failures), notices: Arc::new(notices) })
}

impl SearchSnapshot {
    /// Returns the files and folders that could not be read.
    pub fn failures(&self) -> &[Error] {
        &self.failures
    }

    /// Returns what is wrong with the index, or its folder.
    pub fn notices(&self) -> &[CacheWarning] {
        &self.notices
    }

    /// Takes it to look through it, without what went wrong, which was told.
    pub(super) fn stock(&self) -> SnapshotParts {
        let (files, snapshot) = (self.files.clone(), self.snapshot.clone());
        SnapshotParts { files, snapshot, failures: Vec::new(), notices: Vec::new() }
    }
}
