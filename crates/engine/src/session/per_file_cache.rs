//! Values of many files: from the index where a file has not changed, by reading it where it has.

use rayon::prelude::*;
use rethread_core::pack::Pack;

use crate::Error;
use crate::cache::{CacheDir, CacheWarning, FileCache, NewCacheEntry};
use crate::disk::{Roots, SessionFile, find};

/// Finds all session files under `roots`, in the order of their paths.
pub(crate) fn find_files(roots: &Roots, index: Option<&CacheDir>) -> (Vec<SessionFile>, Vec<Error>) {
    index.map_or_else(|| find(roots), |index| index.find(roots))
}

/// What the index knows, if there is one.
pub(crate) struct PerFileCache<'f> {
    files: &'f [SessionFile],
    facts: Option<FileCache>,
}

impl<'f> PerFileCache<'f> {
    /// Asks for all facts of a kind.
    pub(crate) fn new(
        index: Option<&CacheDir>,
        roots: &Roots,
        kind: &'static str,
        files: &'f [SessionFile],
    ) -> PerFileCache<'f> {
        PerFileCache { files, facts: index.and_then(|index| index.facts(roots, kind, files)) }
    }

    /// Returns what is known of the file with this number.
    pub(crate) fn known<T: Pack>(&self, no: usize) -> Option<T> {
        self.facts.as_ref()?.get(no)
    }

    /// Returns the beginning of what is known of the file with this number.
    pub(crate) fn known_first<T: Pack>(&self, no: usize) -> Option<T> {
        self.facts.as_ref()?.get_first(no)
    }

    /// Returns the value of the file with this number, and what is to be kept of it. `read` also says how many bytes it
    /// had to read.
    pub(crate) fn value<T: Pack>(
        &self,
        no: usize,
        read: impl FnOnce(&SessionFile) -> Result<(T, u64), Error>,
    ) -> (Result<T, Error>, Option<NewCacheEntry>) {
        if let Some(value) = self.facts.as_ref().and_then(|facts| facts.get(no)) {
            return (Ok(value), None);
        }
        let file = &self.files[no];
        match read(file) {
            Ok((value, cost)) => {
                let keeps = self.facts.is_some() && file.settled;
                let fresh = keeps.then(|| NewCacheEntry { no, cost, blob: value.packed() });
                (Ok(value), fresh)
            }
            Err(failure) => (Err(failure), None),
        }
    }

    /// Returns the values of all files, keeps what had to be read, and says what went wrong with that.
    pub(crate) fn all<T: Pack + Send>(
        self,
        read: impl Fn(&SessionFile) -> Result<(T, u64), Error> + Sync,
    ) -> (Vec<Result<T, Error>>, Option<CacheWarning>) {
        let value = |no: usize| self.value(no, &read);
        // Where next to nothing is read, threads cost more than they bring.
        let known = self.facts.as_ref().map_or(0, FileCache::known);
        let found: Vec<_> = if known + 1 >= self.files.len() {
            (0..self.files.len()).map(value).collect()
        } else {
            (0..self.files.len()).into_par_iter().map(value).collect()
        };
        let (values, fresh): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        (values, self.keep(fresh.into_iter().flatten().collect()))
    }

    /// Keeps what had to be read, and says what went wrong with that.
    pub(crate) fn keep(self, fresh: Vec<NewCacheEntry>) -> Option<CacheWarning> {
        self.facts.and_then(|facts| facts.keep(self.files, fresh))
    }
}
