//! What there is to look through: all files, and the index of their words.

use std::sync::Arc;

use crate::Failure;
use crate::disk::{Roots, SessionFile};
use crate::index::{Index, Notice, Refreshed, Shelf, Snapshot};

/// An index that is behind by more than this is not brought up to date by a search, which must not wait for it.
pub(super) const AT_ONCE: u64 = 32 << 20;

/// All files, and the index of their words, as they were at one moment.
#[derive(Debug, Clone)]
pub struct Stacks {
    files: Arc<Vec<SessionFile>>,
    snapshot: Arc<Snapshot>,
    pub(super) shelf: Shelf,
    failures: Arc<Vec<Failure>>,
    notices: Arc<Vec<Notice>>,
}

/// What there is to look through, and what went wrong on the way.
pub(super) struct Stock {
    pub(super) files: Arc<Vec<SessionFile>>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) failures: Vec<Failure>,
    pub(super) notices: Vec<Notice>,
}

impl From<Refreshed> for Stock {
    fn from(Refreshed { snapshot, files, failures, notices }: Refreshed) -> Stock {
        Stock { files: Arc::new(files), snapshot: Arc::new(snapshot), failures, notices }
    }
}

/// Looks which files there are, and brings the index up to date where that does not take long; nothing without an index.
pub fn stacks(roots: &Roots, index: Option<&Index>) -> Option<Stacks> {
    let shelf = index.and_then(|index| index.shelf(roots))?;
    let Stock { files, snapshot, failures, notices } = shelf.refresh(roots, AT_ONCE, &|_| {}).into();
    Some(Stacks { files, snapshot, shelf, failures: Arc::new(failures), notices: Arc::new(notices) })
}

impl Stacks {
    /// Returns the files and folders that could not be read.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Returns what is wrong with the index, or its folder.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Takes it to look through it, without what went wrong, which was told.
    pub(super) fn stock(&self) -> Stock {
        let (files, snapshot) = (self.files.clone(), self.snapshot.clone());
        Stock { files, snapshot, failures: Vec::new(), notices: Vec::new() }
    }
}
