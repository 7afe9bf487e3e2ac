//! What stands in folders, remembered: a folder whose mark is the same holds the same names, and need not be listed again.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rethread_core::id::{Id, IdMap};
use rethread_core::pack_fields;

use super::fingerprint::FileFingerprint;

/// What stands in a folder, of what a walk looks for; no links, which lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    path: PathBuf,
    mark: FileFingerprint,
    /// Names in their order, each with whether it is a folder.
    names: Vec<(PathBuf, bool)>,
}

pack_fields!(Folder { path, mark, names });

/// Folders that are remembered, and those that were listed anew.
#[derive(Debug, Default)]
pub(crate) struct DirCache<'k> {
    known: IdMap<&'k Folder>,
    seen: Vec<&'k Folder>,
    listed: Vec<Folder>,
}

impl<'k> DirCache<'k> {
    /// Takes what is remembered.
    pub(crate) fn of(known: &'k [Folder]) -> DirCache<'k> {
        let by_path = known.iter().map(|folder| (id(&folder.path), folder)).collect();
        DirCache { known: by_path, ..DirCache::default() }
    }

    /// Returns the names in a folder that has not changed.
    pub(super) fn names(&mut self, path: &Path) -> Option<&'k [(PathBuf, bool)]> {
        let known = *self.known.get(&id(path)).filter(|known| known.path.as_os_str() == path.as_os_str())?;
        let meta = std::fs::symlink_metadata(path).ok()?;
        if FileFingerprint::of(&meta) != known.mark {
            return None;
        }
        self.seen.push(known);
        Some(&known.names)
    }

    /// Remembers the names in a folder, given how it looked before they were listed, and when that was.
    pub(super) fn add(
        &mut self,
        path: &Path,
        (meta, now): &(Metadata, SystemTime),
        names: Vec<(PathBuf, bool)>,
    ) {
        let mark = FileFingerprint::of(meta);
        if meta.is_dir() && mark.is_stable(*now) {
            self.listed.push(Folder { path: path.to_owned(), mark, names });
        }
    }

    /// Whether there is more or less to remember than what was known.
    pub(crate) fn has_news(&self) -> bool {
        !self.listed.is_empty() || self.seen.len() != self.known.len()
    }

    /// Returns what is to be remembered.
    pub(crate) fn remembered(self) -> Vec<Folder> {
        self.seen.into_iter().cloned().chain(self.listed).collect()
    }
}

fn id(path: &Path) -> Id {
    Id::of(path.as_os_str().as_encoded_bytes())
}
