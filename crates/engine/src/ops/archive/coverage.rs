//! Compares session files on disk with an archive.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::archive::{Archive, find_session_names};
use crate::disk::SessionFile;

/// What an archive has of a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum FileCoverage {
    /// All of its bytes.
    Complete,
    /// Not all of its bytes.
    Incomplete,
    /// The user removed its session from the archive.
    Forgotten,
}

/// The archived files by the path that they had.
pub(in crate::ops) struct ArchiveCoverage<'a> {
    archive: &'a Archive,
    lengths: HashMap<PathBuf, u64>,
    forgotten: HashSet<PathBuf>,
}

impl<'a> ArchiveCoverage<'a> {
    pub(in crate::ops) fn new(archive: &'a Archive) -> ArchiveCoverage<'a> {
        let lengths = archive.files().map(|file| (file.original_path(), file.newest().bytes));
        let forgotten = archive.forgotten_files().map(|(file, _)| file.original_path());
        ArchiveCoverage { archive, lengths: lengths.collect(), forgotten: forgotten.collect() }
    }

    /// Returns what the archive has of a session file.
    pub(in crate::ops) fn find(&self, file: &SessionFile) -> FileCoverage {
        let path = absolute(&file.path);
        let names = find_session_names(&path.to_string_lossy());
        if names.iter().any(|name| self.archive.is_forgotten(name)) || self.forgotten.contains(&path) {
            return FileCoverage::Forgotten;
        }
        match self.lengths.get(&path) {
            Some(&archived) if archived >= file.len => FileCoverage::Complete,
            _ => FileCoverage::Incomplete,
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
