//! The directory of a search index: its manifest and its segments.
//!
//! A writer takes the lock, readers need none. Segments are never modified and the manifest names the current ones, so a
//! crash leaves either the old or the new manifest, and at most an unreferenced segment.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rethread_core::query::SearchDocBuilder;

use super::manifest::{IndexedFile, Manifest};
use super::merge::merge_segments;
use super::refresh::{Progress, RefreshPlan, index_pending_files};
use super::segment::{Segment, WORDS, decode_calls};
use crate::Error;
use crate::cache::{CacheDir, CacheLock, CacheWarning, IndexError, find_files_cached, private_options};
use crate::disk::{Roots, SessionFile};

/// The search index of one set of roots.
#[derive(Debug, Clone)]
pub(crate) struct SearchIndex {
    dir: PathBuf,
}

/// An index after a refresh, with the files and problems found on disk.
#[derive(Debug)]
pub(crate) struct RefreshedIndex {
    pub(crate) reader: IndexReader,
    /// The files, sorted by path.
    pub(crate) files: Vec<SessionFile>,
    /// The files and directories that could not be read.
    pub(crate) failures: Vec<Error>,
    pub(crate) warnings: Vec<CacheWarning>,
}

/// An index opened for reading: a manifest and its segments.
#[derive(Debug, Default)]
pub(crate) struct IndexReader {
    pub(crate) manifest: Manifest,
    pub(crate) segments: Vec<Segment>,
    /// Whether this process has just updated the index, so that it is valid even for files that are not stable.
    is_verified: bool,
}

impl IndexReader {
    /// Returns the indexed file for each of `files`, which must be sorted by path.
    ///
    /// A value is `None` if the file is not indexed, has changed since, or may have changed unnoticed.
    pub(crate) fn find_current(&self, files: &[SessionFile]) -> Vec<Option<&IndexedFile>> {
        let is_current = |indexed: &IndexedFile, file: &SessionFile| {
            indexed.fingerprint == file.fingerprint && (indexed.is_stable || self.is_verified)
        };
        let indexed = self.manifest.find_files(files).into_iter().zip(files);
        indexed.map(|(indexed, file)| indexed.filter(|indexed| is_current(indexed, file))).collect()
    }

    /// Returns the number of segments and the number of docs in them, including docs of deleted files.
    pub(crate) fn count_docs(&self) -> (usize, u64) {
        (self.segments.len(), self.segments.iter().map(|segment| u64::from(segment.count)).sum())
    }

    /// Calls `visit` with every word of every segment. Words of several segments are repeated.
    pub(crate) fn for_each_word(&self, mut visit: impl FnMut(&str)) -> Result<(), IndexError> {
        for segment in &self.segments {
            segment.open_dictionary(WORDS)?.for_each_term(&mut visit);
        }
        Ok(())
    }

    /// Returns a builder that contains the tool calls in the indexed lines of the file with this id.
    pub(crate) fn read_calls(&self, file_id: u64) -> Result<SearchDocBuilder, IndexError> {
        let mut builder = SearchDocBuilder::default();
        for segment in &self.segments {
            for range in segment.doc_ranges.iter().filter(|range| range.file == file_id) {
                decode_calls(&segment.read_calls(range)?, |call, tool| builder.add_prior_call(call, tool))
                    .ok_or(IndexError::Corrupt)?;
            }
        }
        Ok(builder)
    }
}

const MANIFEST: &str = "manifest";
/// The name of the lock and the extension of segments.
const SEGMENT_EXTENSION: &str = "words";

impl CacheDir {
    /// Returns the search index of the files below `roots`. Returns `None` if a root is not a directory, because single
    /// files are not indexed, or if there are no roots.
    pub(crate) fn search_index(&self, roots: &Roots) -> Option<SearchIndex> {
        self.dir_for(roots).map(SearchIndex::new)
    }
}

impl SearchIndex {
    /// Returns the index in a directory. Creates nothing yet.
    pub(crate) fn new(dir: PathBuf) -> SearchIndex {
        SearchIndex { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn segment_path(&self, id: u64) -> PathBuf {
        self.dir.join(format!("{id}.{SEGMENT_EXTENSION}"))
    }

    /// Opens the index. Returns an empty reader if it does not exist or other code wrote it.
    ///
    /// Returns an error if a file is damaged or cannot be read, or if segments are missing after eight attempts.
    pub(crate) fn open(&self) -> Result<IndexReader, IndexError> {
        // Another process may merge the segments between reading the manifest and opening them.
        for _ in 0..8 {
            let manifest = match Manifest::open(&self.dir.join(MANIFEST)) {
                Err(IndexError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(IndexReader::default());
                }
                manifest => manifest?,
            };
            let segments = manifest.segments.iter().map(|(id, size)| self.open_segment(*id, *size));
            match segments.collect() {
                Err(IndexError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                segments => return Ok(IndexReader { segments: segments?, manifest, is_verified: false }),
            }
        }
        Err(IndexError::Corrupt)
    }

    /// Opens a segment. Returns an error if its file does not have the size that the manifest records, is damaged or cannot
    /// be read.
    fn open_segment(&self, id: u64, expected_size: u64) -> Result<Segment, IndexError> {
        let path = self.segment_path(id);
        if fs::metadata(&path)?.len() != expected_size {
            return Err(IndexError::Corrupt);
        }
        Segment::open(&path)
    }

    /// Opens the index, finds the files below `roots`, and indexes up to `max_bytes` bytes of changed files. If another
    /// process holds the lock or the index cannot be written, it is returned as it is. A damaged index is rebuilt or, if
    /// its segments are damaged, returned empty.
    pub(crate) fn refresh(
        &self,
        roots: &Roots,
        max_bytes: u64,
        on_progress: &(dyn Fn(Progress) + Sync),
    ) -> RefreshedIndex {
        let mut warnings = Vec::new();
        let current = self.open().unwrap_or_else(|_| {
            warnings.push(CacheWarning::Damaged { path: self.dir.join(MANIFEST) });
            IndexReader::default()
        });
        let (files, failures) = find_files_cached(&self.dir, roots);
        // With some of the files, the others would be taken for deleted.
        let is_read_only = warnings.is_empty() && roots.is_filtered();
        let is_current = || RefreshPlan::new(&current.manifest, &files).limit_to(max_bytes).is_empty();
        if is_read_only || warnings.is_empty() && is_current() {
            return RefreshedIndex { reader: current, files, failures, warnings };
        }
        let reader = match self.update(&files, max_bytes, on_progress) {
            Ok(updated) => updated.unwrap_or(current),
            Err(source) if source.kind() == io::ErrorKind::InvalidData => {
                warnings = vec![self.invalidate()];
                IndexReader::default()
            }
            Err(source) => {
                warnings = vec![CacheWarning::Unwritable { path: self.dir.clone(), source }];
                current
            }
        };
        RefreshedIndex { reader, files, failures, warnings }
    }

    /// Updates the index. Returns `None` if another process holds the lock, or if the new index cannot be opened.
    ///
    /// Returns an error of kind `InvalidData` if a segment is damaged.
    fn update(
        &self,
        files: &[SessionFile],
        max_bytes: u64,
        on_progress: &(dyn Fn(Progress) + Sync),
    ) -> io::Result<Option<IndexReader>> {
        let Some(_lock) = CacheLock::try_acquire(&self.dir, SEGMENT_EXTENSION)? else { return Ok(None) };
        // Another process may have updated it meanwhile.
        let current = self.open().unwrap_or_default();
        let plan = RefreshPlan::new(&current.manifest, files).limit_to(max_bytes);
        if plan.is_empty() {
            return Ok(Some(current));
        }
        let manifest = index_pending_files(self, &current.manifest, plan, on_progress)?;
        let manifest = merge_segments(self, manifest)?;
        self.write_file(MANIFEST, |file| manifest.write(file))?;
        self.remove_unreferenced(&manifest);
        Ok(self.open().ok().map(|reader| IndexReader { is_verified: true, ..reader }))
    }

    /// Deletes the manifest of a damaged index, so that the next refresh rebuilds it. Returns the warning to report.
    pub(crate) fn invalidate(&self) -> CacheWarning {
        // If it cannot be removed, the next search reports it again.
        let _ = fs::remove_file(self.dir.join(MANIFEST));
        CacheWarning::Damaged { path: self.dir.join(MANIFEST) }
    }

    /// Deletes the index and all other cache files of these roots except lock files and drafts. Returns whether anything
    /// was deleted.
    ///
    /// Returns an error of kind `WouldBlock` if another process is writing the index.
    pub(crate) fn delete_all(&self) -> io::Result<bool> {
        if !self.dir.is_dir() {
            return Ok(false);
        }
        let Some(_lock) = CacheLock::try_acquire(&self.dir, SEGMENT_EXTENSION)? else {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is writing it"));
        };
        // The manifest is removed first, so that no process opens segments that are gone. Files with an extension other
        // than that of segments belong to processes that hold another lock.
        let mut paths = vec![self.dir.join(MANIFEST)];
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            paths.extend(path.extension().is_none_or(|ext| ext == SEGMENT_EXTENSION).then_some(path));
        }
        let mut deleted = false;
        for path in paths {
            match fs::remove_file(path) {
                Ok(()) => deleted = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }

    /// Writes the file of a segment with `write`, which returns its size in bytes. Returns that size.
    pub(crate) fn write_segment(
        &self,
        id: u64,
        write: impl FnOnce(File) -> io::Result<u64>,
    ) -> io::Result<u64> {
        self.write_file(&format!("{id}.{SEGMENT_EXTENSION}"), write)
    }

    /// Writes a file of the index under a temporary name, then renames it to `name`. Returns the result of `write`.
    fn write_file<T>(&self, name: &str, write: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
        let draft = self.dir.join(format!("{name}.new"));
        let file = private_options().write(true).create(true).truncate(true).open(&draft);
        let written = file.and_then(write);
        let result = written.and_then(|value| fs::rename(&draft, self.dir.join(name)).map(|()| value));
        if result.is_err() {
            // An incomplete draft must not fill the disk. The first error is reported.
            let _ = fs::remove_file(&draft);
        }
        result
    }

    /// Removes the segments that the manifest does not name, and unfinished ones. Ignores errors.
    fn remove_unreferenced(&self, manifest: &Manifest) {
        let referenced: Vec<PathBuf> =
            manifest.segments.iter().map(|(id, _)| self.segment_path(*id)).collect();
        let files = fs::read_dir(&self.dir).into_iter().flatten().filter_map(Result::ok);
        let is_segment = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            [".words", ".words.new"].iter().any(|suffix| name.ends_with(suffix))
        };
        let paths = files.map(|file| file.path());
        for path in paths.filter(|path| is_segment(path) && !referenced.contains(path)) {
            // If it cannot be removed, the next refresh tries again.
            let _ = fs::remove_file(path);
        }
    }
}
