//! The folder of a word index: its catalog, its segments, and how they change under the eyes of readers.
//!
//! A writer holds the lock; readers need none. A segment is never changed, and the catalog names those that count, so a
//! crash leaves the old catalog or the new one, and at most a segment that nobody names.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rethread_core::query::SearchDocBuilder;

use super::manifest::{IndexedFile, Manifest};
use super::merge;
use super::refresh::{self, Progress, RefreshPlan};
use super::segment::{Segment, take_calls};
use crate::Error;
use crate::cache::cache_dir::{CacheDir, private};
use crate::cache::dir_listing::find_known;
use crate::cache::lock::Lock;
use crate::cache::paged_file::IndexError;
use crate::cache::warning::CacheWarning;
use crate::disk::{Roots, SessionFile};

/// The index of one set of roots.
#[derive(Debug, Clone)]
pub(crate) struct SearchIndex {
    folder: PathBuf,
}

/// An index that was brought up to date, with what was found on the way.
#[derive(Debug)]
pub(crate) struct Refreshed {
    pub(crate) snapshot: IndexReader,
    /// The files, in the order of their paths.
    pub(crate) files: Vec<SessionFile>,
    /// Files and folders that could not be read.
    pub(crate) failures: Vec<Error>,
    pub(crate) notices: Vec<CacheWarning>,
}

/// An index being read: a catalog and its segments, open.
#[derive(Debug, Default)]
pub(crate) struct IndexReader {
    pub(crate) catalog: Manifest,
    pub(crate) segments: Vec<Segment>,
    /// Whether every file was looked at just now, and not only its mark.
    checked: bool,
}

impl IndexReader {
    /// Finds for each file, in the order of their paths, the row that tells what stands in it now.
    pub(crate) fn rows(&self, files: &[SessionFile]) -> Vec<Option<&IndexedFile>> {
        let rows = self.catalog.rows(files).into_iter().zip(files);
        let fresh =
            |row: &IndexedFile, file: &SessionFile| row.mark == file.mark && (row.settled || self.checked);
        rows.map(|(row, file)| row.filter(|row| fresh(row, file))).collect()
    }

    /// Returns how many segments and entries there are.
    pub(crate) fn size(&self) -> (usize, u64) {
        (self.segments.len(), self.segments.iter().map(|segment| u64::from(segment.count)).sum())
    }

    /// Returns the calls in what is indexed of a file.
    pub(crate) fn calls(&self, file: u64) -> Result<SearchDocBuilder, IndexError> {
        let mut cards = SearchDocBuilder::default();
        let stretches =
            self.segments.iter().flat_map(|segment| segment.stretches.iter().map(move |s| (segment, s)));
        for (segment, stretch) in stretches.filter(|(_, stretch)| stretch.file == file) {
            take_calls(&segment.calls(stretch)?, |call, tool| cards.add_prior_call(call, tool))
                .ok_or(IndexError::Changed)?;
        }
        Ok(cards)
    }
}

const CATALOG: &str = "catalog";
/// What the lock is called by, and what segments end in.
const WORDS: &str = "words";

impl CacheDir {
    /// Opens the words of what is below `roots`; none for single files.
    pub(crate) fn shelf(&self, roots: &Roots) -> Option<SearchIndex> {
        self.folder_for(roots).map(SearchIndex::at)
    }
}

impl SearchIndex {
    /// Names the folder of an index; nothing is made yet.
    pub(crate) fn at(folder: PathBuf) -> SearchIndex {
        SearchIndex { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn segment(&self, no: u64) -> PathBuf {
        self.folder.join(format!("{no}.{WORDS}"))
    }

    /// Opens what there is; an empty one where there is none.
    pub(crate) fn open(&self) -> Result<IndexReader, IndexError> {
        // Between reading the catalog and opening its segments, another process may have put them together.
        for _ in 0..8 {
            let catalog = match Manifest::open(&self.folder.join(CATALOG)) {
                Err(IndexError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(IndexReader::default());
                }
                catalog => catalog?,
            };
            let segments = catalog.segments.iter().map(|(no, size)| self.open_segment(*no, *size));
            match segments.collect() {
                Err(IndexError::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => {}
                segments => return Ok(IndexReader { segments: segments?, catalog, checked: false }),
            }
        }
        Err(IndexError::Changed)
    }

    fn open_segment(&self, no: u64, size: u64) -> Result<Segment, IndexError> {
        let path = self.segment(no);
        // A segment of another size is another segment.
        if fs::metadata(&path)?.len() != size {
            return Err(IndexError::Changed);
        }
        Segment::open(&path)
    }

    /// Opens the index, finds the files under some roots, and brings the index up to date with them, as far as `most` bytes
    /// to read allow. Whoever finds another process at it takes what there is.
    pub(crate) fn refresh(&self, roots: &Roots, most: u64, watch: &(dyn Fn(Progress) + Sync)) -> Refreshed {
        let mut notices = Vec::new();
        let known = self.open().unwrap_or_else(|_| {
            notices.push(CacheWarning::Damaged { path: self.folder.join(CATALOG) });
            IndexReader::default()
        });
        let (files, failures) = find_known(&self.folder, roots);
        if notices.is_empty() && RefreshPlan::of(&known.catalog, &files).fits(most).is_empty() {
            return Refreshed { snapshot: known, files, failures, notices };
        }
        let snapshot = match self.update(&files, most, watch) {
            Ok(newer) => newer.unwrap_or(known),
            Err(source) if source.kind() == io::ErrorKind::InvalidData => {
                notices = vec![self.invalidate()];
                IndexReader::default()
            }
            Err(source) => {
                notices = vec![CacheWarning::Unwritable { path: self.folder.clone(), source }];
                known
            }
        };
        Refreshed { snapshot, files, failures, notices }
    }

    fn update(
        &self,
        files: &[SessionFile],
        most: u64,
        watch: &(dyn Fn(Progress) + Sync),
    ) -> io::Result<Option<IndexReader>> {
        let Some(_lock) = Lock::take(&self.folder, WORDS)? else { return Ok(None) };
        // Another process may have done the work meanwhile.
        let known = self.open().unwrap_or_default();
        let agenda = RefreshPlan::of(&known.catalog, files).fits(most);
        if agenda.is_empty() {
            return Ok(Some(known));
        }
        let built = refresh::build(self, &known.catalog, agenda, watch)?;
        let catalog = merge::merge_segments(self, built)?;
        self.write(CATALOG, |file| catalog.write(file))?;
        self.remove_unreferenced(&catalog);
        Ok(self.open().ok().map(|snapshot| IndexReader { checked: true, ..snapshot }))
    }

    /// Takes away what turned out to be damaged.
    pub(crate) fn invalidate(&self) -> CacheWarning {
        // Where it cannot be removed, the next search says so again.
        let _ = fs::remove_file(self.folder.join(CATALOG));
        CacheWarning::Damaged { path: self.folder.join(CATALOG) }
    }

    /// Takes everything away but the locks, by which others know each other; says whether there was something.
    pub(crate) fn drop_all(&self) -> io::Result<bool> {
        if !self.folder.is_dir() {
            return Ok(false);
        }
        let Some(_lock) = Lock::take(&self.folder, WORDS)? else {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is writing it"));
        };
        // The catalog goes first, so that nobody looks for segments that are gone; what others are just writing under
        // another lock is theirs.
        let mut paths = vec![self.folder.join(CATALOG)];
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            paths.extend(path.extension().is_none_or(|ext| ext == WORDS).then_some(path));
        }
        let mut found = false;
        for path in paths {
            match fs::remove_file(path) {
                Ok(()) => found = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Writes a segment; returns how large it is.
    pub(crate) fn write_segment(
        &self,
        no: u64,
        write: impl FnOnce(File) -> io::Result<u64>,
    ) -> io::Result<u64> {
        self.write(&format!("{no}.{WORDS}"), write)
    }

    /// Writes a file under another name and then gives it its own.
    fn write<T>(&self, name: &str, write: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
        let draft = self.folder.join(format!("{name}.new"));
        let written = private().write(true).create(true).truncate(true).open(&draft).and_then(write);
        let named = written.and_then(|written| fs::rename(&draft, self.folder.join(name)).map(|()| written));
        if named.is_err() {
            // What could not be finished must not fill the disk; that it cannot be removed either is told by the first error.
            let _ = fs::remove_file(&draft);
        }
        named
    }

    /// Removes the segments that no catalog names.
    fn remove_unreferenced(&self, catalog: &Manifest) {
        let named: Vec<PathBuf> = catalog.segments.iter().map(|(no, _)| self.segment(*no)).collect();
        let files = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let name = |path: &Path| {
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let ours = |path: &Path| [".words", ".words.new"].iter().any(|end| name(path).ends_with(end));
        for path in files.map(|file| file.path()).filter(|path| ours(path) && !named.contains(path)) {
            // What stays behind is removed the next time.
            let _ = fs::remove_file(path);
        }
    }
}
