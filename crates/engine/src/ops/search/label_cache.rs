//! The labels of many files, from the cache for unchanged files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rethread_core::id::Id;
use rethread_core::pack::Pack;
use rethread_core::tree::LineSpan;

use super::hit::find_session_file;
use super::labels::{EntryLabel, Labels};
use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning, FileCache, NewCacheEntry};
use crate::disk::{FileRole, Roots, SessionFile};

/// The kind of the label files in the cache directory.
const CACHE_KIND: CacheKind = CacheKind::ContextStatuses;

/// The labels of the files that a search has visited.
#[derive(Debug, Default)]
pub(super) struct LabelCache {
    loaded: HashMap<PathBuf, Rc<Labels>>,
    /// Hashes of the file fingerprints in a folder.
    folder_hashes: HashMap<PathBuf, u64>,
    /// The labels on disk.
    stored: LabelStore,
    /// New labels, to be written to disk.
    new_entries: Vec<NewCacheEntry>,
    /// Files that could not be read.
    pub(super) failures: Vec<Error>,
}

/// The labels on disk. They are opened when they are first needed.
#[derive(Debug, Default)]
enum LabelStore {
    #[default]
    Disabled,
    Closed(CacheDir, Roots),
    Open(Box<FileCache>),
}

impl LabelStore {
    /// Opens the labels on disk if necessary. Returns `None` if they are disabled or cannot be opened.
    fn open(&mut self) -> Option<&mut FileCache> {
        if let LabelStore::Closed(cache, roots) = self {
            let file_cache = cache.open_values(roots, CACHE_KIND);
            *self =
                file_cache.map_or(LabelStore::Disabled, |file_cache| LabelStore::Open(Box::new(file_cache)));
        }
        match self {
            LabelStore::Open(file_cache) => Some(file_cache),
            _ => None,
        }
    }
}

impl LabelCache {
    /// Creates the label cache for the files under `roots`.
    pub(super) fn new(cache: Option<&CacheDir>, roots: &Roots) -> LabelCache {
        let cache = cache.filter(|cache| cache.dir_for(roots).is_some());
        let stored =
            cache.map_or(LabelStore::Disabled, |cache| LabelStore::Closed(cache.clone(), roots.clone()));
        LabelCache { stored, ..LabelCache::default() }
    }

    /// Returns `true` if new labels are to be written to disk.
    pub(super) fn is_persistent(&self) -> bool {
        !matches!(self.stored, LabelStore::Disabled)
    }

    /// Drops the labels that were loaded, because the list of files has changed.
    pub(super) fn without_files(self) -> LabelCache {
        LabelCache { stored: self.stored, failures: self.failures, ..LabelCache::default() }
    }

    /// Returns the label of the entry on a line. For a file with a large result, this is the label of the entry that refers
    /// to the file. Returns the default label if the entry is unknown.
    pub(super) fn find_label(
        &mut self,
        files: &[SessionFile],
        file_idx: usize,
        span: LineSpan,
    ) -> EntryLabel {
        let file = &files[file_idx];
        let FileRole::Result { session } = &file.role else {
            return self.load(files, &file.path).label_at(span.offset);
        };
        let Some(main) = find_session_file(&file.path, session) else { return EntryLabel::default() };
        let labels = self.load(files, &main);
        let name = file.path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        labels.result_offset(&name).map_or_else(EntryLabel::default, |offset| labels.label_at(offset))
    }

    /// Returns the labels of a file, from memory if they were loaded before.
    pub(super) fn load(&mut self, files: &[SessionFile], path: &Path) -> Rc<Labels> {
        if let Some(labels) = self.loaded.get(path) {
            return Rc::clone(labels);
        }
        let labels = Rc::new(self.read(files, path));
        self.loaded.insert(path.to_owned(), Rc::clone(&labels));
        labels
    }

    /// Reads the labels from the cache if they are current, else from the file. On an error, records it and returns no
    /// labels. `files` must be sorted by path.
    fn read(&mut self, files: &[SessionFile], path: &Path) -> Labels {
        let file_idx = files.binary_search_by(|file| file.path.as_path().cmp(path)).ok();
        let stored = file_idx
            .zip(self.stored.open())
            .and_then(|(file_idx, file_cache)| file_cache.read_one::<Labels>(&files[file_idx]));
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder_hashes = &mut self.folder_hashes;
        let mut sibling_hash = || match folder_hashes.get(folder) {
            Some(hash) => *hash,
            None => *folder_hashes.entry(folder.to_owned()).or_insert(hash_folder(files, folder)),
        };
        let is_current = |labels: &Labels| labels.sibling_hash.is_none_or(|hash| hash == sibling_hash());
        if let Some(labels) = stored.filter(is_current) {
            return labels;
        }
        match Labels::read(path, sibling_hash) {
            Ok(labels) => {
                if let Some(file_idx) =
                    file_idx.filter(|&file_idx| self.is_persistent() && files[file_idx].is_stable)
                {
                    self.new_entries.push(NewCacheEntry {
                        file_idx,
                        cost: files[file_idx].len,
                        blob: labels.to_bytes(),
                    });
                }
                labels
            }
            Err(failure) => {
                self.failures.push(failure);
                Labels::default()
            }
        }
    }

    /// Writes the new labels to disk. Returns a warning if that fails.
    pub(super) fn write(self, files: &[SessionFile]) -> Option<CacheWarning> {
        match self.stored {
            LabelStore::Open(stored) => stored.store_singles(files, self.new_entries),
            _ => None,
        }
    }
}

/// Hashes names and fingerprints of those `files` that are directly in a folder. Any change gives another hash.
fn hash_folder(files: &[SessionFile], folder: &Path) -> u64 {
    let folder = folder.as_os_str().as_encoded_bytes();
    let mut bytes = Vec::new();
    for file in files {
        let path = file.path.as_os_str().as_encoded_bytes();
        let name = path.strip_prefix(folder).and_then(|rest| rest.get(1..));
        if let Some(name) = name.filter(|name| !name.contains(&b'/')) {
            name.len().pack_into(&mut bytes);
            bytes.extend_from_slice(name);
            file.fingerprint.pack_into(&mut bytes);
        }
    }
    Id::from_text(&bytes).bits() as u64
}
