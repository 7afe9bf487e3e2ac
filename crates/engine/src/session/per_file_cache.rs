//! Values derived from session files. Unchanged files are served from the cache, other files are read.

use rayon::prelude::*;
use rethread_core::pack::Pack;

use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning, FileCache, NewCacheEntry};
use crate::disk::{ReadReporter, Roots, SessionFile, find_sessions};

/// Finds the files of all sessions and subagents below `roots`, sorted by path. Also returns the errors of unreadable
/// folders.
pub(crate) fn find_files(roots: &Roots, cache: Option<&CacheDir>) -> (Vec<SessionFile>, Vec<Error>) {
    cache.map_or_else(|| find_sessions(roots), |cache| cache.find_sessions(roots))
}

/// Values of one kind for a list of files, backed by the cache if there is one.
pub(crate) struct PerFileCache<'f> {
    files: &'f [SessionFile],
    cache: Option<FileCache>,
    /// Whether nothing is stored: with some of the files, the values of the others would be dropped.
    is_read_only: bool,
    reporter: ReadReporter,
}

impl<'f> PerFileCache<'f> {
    /// Loads the cached values of a kind.
    pub(crate) fn new(
        cache: Option<&CacheDir>,
        roots: &Roots,
        kind: CacheKind,
        files: &'f [SessionFile],
    ) -> PerFileCache<'f> {
        let cache = cache.and_then(|cache| cache.load_values(roots, kind, files));
        let is_read_only = roots.is_filtered();
        let has_value = |idx: usize| cache.as_ref().is_some_and(|cache| cache.has_value(idx));
        let unread = files.iter().enumerate().filter(|(idx, _)| !has_value(*idx));
        let reporter = ReadReporter::new(unread.map(|(_, file)| file));
        PerFileCache { files, cache, is_read_only, reporter }
    }

    /// Returns the cached value of a file. Returns `None` if there is no valid one.
    pub(crate) fn get_cached<T: Pack>(&self, file_idx: usize) -> Option<T> {
        self.cache.as_ref()?.get(file_idx)
    }

    /// Decodes only the first field of the cached value of a file. Returns `None` if there is no valid value.
    pub(crate) fn get_cached_prefix<T: Pack>(&self, file_idx: usize) -> Option<T> {
        self.cache.as_ref()?.get_first(file_idx)
    }

    /// Returns the value of a file and, if it had to be read and can be cached, the new cache entry. `read` also returns the
    /// number of bytes that it read.
    pub(crate) fn get_or_read<T: Pack>(
        &self,
        file_idx: usize,
        read: impl FnOnce(&SessionFile) -> Result<(T, u64), Error>,
    ) -> (Result<T, Error>, Option<NewCacheEntry>) {
        if let Some(value) = self.cache.as_ref().and_then(|cache| cache.get(file_idx)) {
            return (Ok(value), None);
        }
        let file = &self.files[file_idx];
        match self.reporter.count(file, read) {
            Ok((value, cost)) => {
                let is_cacheable = self.cache.is_some() && file.is_stable;
                let new_entry =
                    is_cacheable.then(|| NewCacheEntry { file_idx, cost, blob: value.to_packed() });
                (Ok(value), new_entry)
            }
            Err(error) => (Err(error), None),
        }
    }

    /// Returns the entry that stores a value, if there is a cache, the file can be cached and it has another value. `cost` is the
    /// number of bytes that were read for the value.
    pub(crate) fn new_entry<T: Pack>(&self, file_idx: usize, value: &T, cost: u64) -> Option<NewCacheEntry> {
        let is_cacheable = self.cache.is_some() && self.files[file_idx].is_stable;
        let is_new = self.cache.as_ref().is_some_and(|cache| !cache.has_value(file_idx));
        (is_cacheable && is_new).then(|| NewCacheEntry { file_idx, cost, blob: value.to_packed() })
    }

    /// Returns the values of all files, in the order of the files, and stores the new ones. Also returns a warning if
    /// storing failed.
    pub(crate) fn read_all<T: Pack + Send>(
        self,
        read: impl Fn(&SessionFile) -> Result<(T, u64), Error> + Sync,
    ) -> (Vec<Result<T, Error>>, Option<CacheWarning>) {
        let get_or_read = |file_idx: usize| self.get_or_read(file_idx, &read);
        // With at most one file to read, threads cost more than they save.
        let cached_count = self.cache.as_ref().map_or(0, FileCache::loaded_count);
        let results: Vec<_> = if cached_count + 1 >= self.files.len() {
            (0..self.files.len()).map(get_or_read).collect()
        } else {
            (0..self.files.len()).into_par_iter().map(get_or_read).collect()
        };
        let (values, new_entries): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        (values, self.store_entries(new_entries.into_iter().flatten().collect()))
    }

    /// Stores new entries. Returns a warning if that failed.
    pub(crate) fn store_entries(self, entries: Vec<NewCacheEntry>) -> Option<CacheWarning> {
        self.cache.filter(|_| !self.is_read_only).and_then(|cache| cache.store(self.files, entries))
    }
}
