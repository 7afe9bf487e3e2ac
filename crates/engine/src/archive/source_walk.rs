//! Walks the folders below a root. A folder that did not change since the last run is not listed again.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::seen_files::{SeenEntry, SeenFile, SeenFolder, SeenPlace};
use super::source::SourceFile;
use crate::Error;
use crate::disk::{FileKind, FileStat, FolderHandle};

/// A walk over the regular files at and below some paths. Symbolic links are not followed, except a link that is itself one of
/// the paths and leads to a folder.
pub(super) struct SourceWalk<'w> {
    root: PathBuf,
    handle: FolderHandle,
    /// Whether only files with the names of session data are listed.
    is_filtered: bool,
    seen: &'w mut SeenPlace,
    /// Whether a listing differs from the last one.
    is_changed: bool,
    /// The time of the run, in milliseconds since 1970.
    now: i64,
    failures: &'w mut Vec<Error>,
    files: Vec<SourceFile>,
}

/// A path that the walk still has to visit.
struct WalkItem {
    relative: PathBuf,
    is_folder: bool,
    seen: Option<SeenFile>,
}

impl<'w> SourceWalk<'w> {
    pub(super) fn new(
        root: &Path,
        is_filtered: bool,
        seen: &'w mut SeenPlace,
        now: i64,
        failures: &'w mut Vec<Error>,
    ) -> SourceWalk<'w> {
        seen.set_filtered(is_filtered);
        SourceWalk {
            root: root.to_owned(),
            handle: FolderHandle::open(root),
            is_filtered,
            seen,
            is_changed: false,
            now,
            failures,
            files: Vec::new(),
        }
    }

    /// Returns the files, and whether a listing differs from the last one.
    pub(super) fn finish(self) -> (Vec<SourceFile>, bool) {
        (self.files, self.is_changed)
    }

    /// Visits everything at and below a path. Does nothing if it does not exist.
    pub(super) fn visit(&mut self, path: &Path) {
        let Ok(link_stat) = self.handle.read_stat(path) else { return };
        let is_link_to_folder =
            || std::fs::metadata(self.root.join(path)).ok().filter(std::fs::Metadata::is_dir);
        let stat = match link_stat.kind {
            FileKind::Other => is_link_to_folder().map(|meta| FileStat::from_metadata(&meta)),
            _ => Some(link_stat),
        };
        match stat {
            Some(stat) if stat.kind == FileKind::Folder => self.visit_folders(path, &stat),
            Some(stat) if stat.kind == FileKind::File => {
                let seen = self.seen.find(path);
                self.add_file(path.to_owned(), &stat, seen);
            }
            _ => {}
        }
    }

    fn visit_folders(&mut self, path: &Path, stat: &FileStat) {
        let mut visited = Vec::new();
        let mut stack = Vec::new();
        self.visit_folder(path.to_owned(), stat, &mut stack, &mut visited);
        while let Some(item) = stack.pop() {
            let stat = match self.handle.read_stat(&item.relative) {
                Ok(stat) => stat,
                // It vanished after its folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => {
                    self.add_failure(&item.relative, source);
                    continue;
                }
            };
            match (stat.kind, item.is_folder) {
                (FileKind::Folder, true) => {
                    self.visit_folder(item.relative, &stat, &mut stack, &mut visited);
                }
                (FileKind::File, false) => self.add_file(item.relative, &stat, item.seen),
                _ => {}
            }
        }
        self.is_changed |= self.seen.replace_below(path, visited);
    }

    /// Pushes the content of a folder onto the stack, the first name on top.
    fn visit_folder(
        &mut self,
        relative: PathBuf,
        stat: &FileStat,
        stack: &mut Vec<WalkItem>,
        visited: &mut Vec<(PathBuf, SeenFolder)>,
    ) {
        let known = self.seen.take(&relative, &stat.fingerprint, self.now);
        let folder = if known.listing.is_some() {
            known
        } else {
            match self.list_folder(&relative, stat, &known) {
                Ok(folder) => {
                    self.is_changed |= folder != known;
                    folder
                }
                Err(source) => {
                    self.add_failure(&relative, source);
                    known
                }
            }
        };
        let to_item = |entry: &SeenEntry| WalkItem {
            relative: relative.join(&entry.name),
            is_folder: entry.is_folder,
            seen: entry.file,
        };
        stack.extend(folder.entries.iter().rev().map(to_item));
        visited.push((relative, folder));
    }

    /// Lists a folder. `known` has the archived states of files.
    fn list_folder(
        &mut self,
        relative: &Path,
        stat: &FileStat,
        known: &SeenFolder,
    ) -> io::Result<SeenFolder> {
        // Read before the names, so that a later change invalidates the listing.
        let read_at = SystemTime::now();
        let mut entries = Vec::new();
        let mut is_complete = true;
        let folder = self.root.join(relative);
        for entry in std::fs::read_dir(&folder)? {
            let typed_entry = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
            let (kind, entry) = match typed_entry {
                Ok(typed_entry) => typed_entry,
                Err(error) => {
                    is_complete = false;
                    self.add_failure(relative, error);
                    continue;
                }
            };
            let name = entry.file_name();
            if kind.is_dir() || kind.is_file() && (!self.is_filtered || is_session_data(&folder, &name)) {
                entries.push(SeenEntry { name: name.into(), is_folder: kind.is_dir(), file: None });
            }
        }
        entries.sort_by(SeenEntry::compare_name);
        for entry in &mut entries {
            entry.file = known.find_file(entry);
        }
        let is_stable = is_complete && stat.fingerprint.is_stable(read_at);
        Ok(SeenFolder { listing: is_stable.then_some((stat.fingerprint, self.now)), entries })
    }

    fn add_file(&mut self, relative: PathBuf, stat: &FileStat, seen: Option<SeenFile>) {
        let (fingerprint, mode) = (stat.fingerprint, stat.mode);
        self.files.push(SourceFile { relative, fingerprint, mode, seen });
    }

    fn add_failure(&mut self, relative: &Path, source: io::Error) {
        self.failures.push(Error::Unreadable { path: self.root.join(relative), source });
    }
}

/// Returns `true` if a file of a folder that is not a client's belongs to a session.
fn is_session_data(folder: &Path, name: &OsStr) -> bool {
    let is_result_folder = || folder.file_name() == Some(OsStr::new("tool-results"));
    let name = name.as_encoded_bytes();
    let is_result = || name.ends_with(b".txt") && is_result_folder();
    name.ends_with(b".jsonl") || name.ends_with(b".meta.json") || is_result()
}
