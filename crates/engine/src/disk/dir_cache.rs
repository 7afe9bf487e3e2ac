//! Caches the names in directories. A directory with an unchanged fingerprint contains the same names.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rethread_core::id::{Id, IdMap};
use rethread_core::pack_fields;

use super::fingerprint::FileFingerprint;

/// The cached listing of a directory: its subdirectories and session files. Directories with symbolic links are not
/// cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CachedDir {
    path: PathBuf,
    fingerprint: FileFingerprint,
    /// The names in sorted order, each with whether it is a directory.
    names: Vec<(PathBuf, bool)>,
}

pack_fields!(CachedDir { path, fingerprint, names });

/// The cached directory listings of a previous walk, and those that the current walk adds.
#[derive(Debug, Default)]
pub(crate) struct DirCache<'c> {
    cached: IdMap<&'c CachedDir>,
    /// The cached listings that the current walk used.
    reused: Vec<&'c CachedDir>,
    /// The listings that the current walk read.
    listed: Vec<CachedDir>,
}

impl<'c> DirCache<'c> {
    /// Creates a cache from the listings of a previous walk.
    pub(crate) fn new(dirs: &'c [CachedDir]) -> DirCache<'c> {
        let by_path = dirs.iter().map(|dir| (path_id(&dir.path), dir)).collect();
        DirCache { cached: by_path, ..DirCache::default() }
    }

    /// Returns the cached names in a directory, each with whether it is a directory. Returns `None` if the directory is not
    /// cached or its metadata `meta` has changed.
    pub(super) fn reuse_listing(&mut self, path: &Path, meta: &Metadata) -> Option<&'c [(PathBuf, bool)]> {
        let dir = *self.cached.get(&path_id(path)).filter(|dir| dir.path.as_os_str() == path.as_os_str())?;
        if FileFingerprint::from_metadata(meta) != dir.fingerprint {
            return None;
        }
        self.reused.push(dir);
        Some(&dir.names)
    }

    /// Adds the listing of a directory, unless it may have changed since. `meta` is the metadata of the directory and `now`
    /// the current time, both read before the names.
    pub(super) fn add_listing(
        &mut self,
        path: &Path,
        meta: &Metadata,
        now: SystemTime,
        names: Vec<(PathBuf, bool)>,
    ) {
        let fingerprint = FileFingerprint::from_metadata(meta);
        if meta.is_dir() && fingerprint.is_stable(now) {
            self.listed.push(CachedDir { path: path.to_owned(), fingerprint, names });
        }
    }

    /// Returns `true` if the listings of the current walk differ from the cached ones, so that they must be stored again.
    pub(crate) fn is_modified(&self) -> bool {
        !self.listed.is_empty() || self.reused.len() != self.cached.len()
    }

    /// Returns the listings to store for the next walk.
    pub(crate) fn into_dirs(self) -> Vec<CachedDir> {
        self.reused.into_iter().cloned().chain(self.listed).collect()
    }
}

fn path_id(path: &Path) -> Id {
    Id::from_text(path.as_os_str().as_encoded_bytes())
}
