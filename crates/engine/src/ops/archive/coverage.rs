//! Compares session files on disk with an archive.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::archive::{Archive, ExclusionSet, find_session_names};
use crate::disk::{SessionFile, find_client_dir};

/// The part of a session file that an archive has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum FileCoverage {
    /// All of its bytes.
    Complete,
    /// Not all of its bytes.
    Incomplete,
    /// The user removed its session from the archive.
    Forgotten,
    /// It belongs to an excluded project.
    Excluded,
}

/// The archived files by the path that they had.
pub(in crate::ops) struct ArchiveCoverage<'a> {
    archive: &'a Archive,
    lengths: HashMap<PathBuf, u64>,
    forgotten: HashSet<PathBuf>,
    exclusions: ExclusionSet,
}

impl<'a> ArchiveCoverage<'a> {
    pub(in crate::ops) fn new(archive: &'a Archive, excluded: &[PathBuf]) -> ArchiveCoverage<'a> {
        let lengths = archive.files().map(|file| (file.original_path(), file.newest().bytes));
        let forgotten = archive.forgotten_files().map(|(file, _)| file.original_path());
        ArchiveCoverage {
            archive,
            lengths: lengths.collect(),
            forgotten: forgotten.collect(),
            exclusions: ExclusionSet::new(excluded),
        }
    }

    /// Returns what the archive has of a session file.
    pub(in crate::ops) fn find(&self, file: &SessionFile) -> FileCoverage {
        let path = absolute(&file.path);
        let names = find_session_names(&path.to_string_lossy());
        if names.iter().any(|name| self.archive.is_forgotten(name)) || self.forgotten.contains(&path) {
            return FileCoverage::Forgotten;
        }
        let client_dir = find_client_dir(&path);
        let relative = client_dir.and_then(|dir| path.strip_prefix(dir).ok()).unwrap_or(&path);
        match self.lengths.get(&path) {
            Some(&archived) if archived >= file.len => FileCoverage::Complete,
            _ if self.exclusions.excludes_session(&path, relative) => FileCoverage::Excluded,
            _ => FileCoverage::Incomplete,
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
