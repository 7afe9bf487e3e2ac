//! `archive status`: what the archive contains, and what only it contains.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use super::forget::collect_forgotten;
use super::{ArchiveDamage, ArchiveLocation, ForgottenSession};
use crate::archive::{Archive, ArchivedFile, find_session_names};
use crate::disk::{FileRole, Roots, SessionFile, find_sessions, is_session_id};
use crate::error::Error;

/// The result of [`archive_status`].
#[derive(Debug)]
pub struct ArchiveStatus {
    /// The folder of the archive.
    pub dir: PathBuf,
    /// The time of the last run. `None` if there is no archive.
    pub last_run: Option<Timestamp>,
    /// The number of archived sessions.
    pub sessions: u64,
    /// The number of archived files.
    pub files: u64,
    /// The total length of the newest state of all files.
    pub content_bytes: u64,
    /// The size of the archive.
    pub stored_bytes: u64,
    /// The sessions that exist only in the archive, newest first.
    pub only_archived: Vec<ArchivedSession>,
    /// The session files below the roots that are not archived in full, newest first.
    pub not_archived: Vec<PathBuf>,
    /// The sessions that the user removed from the archive, newest first.
    pub forgotten: Vec<ForgottenSession>,
    /// The session files of forgotten sessions that exist below the roots. They are not archived.
    pub forgotten_live: Vec<PathBuf>,
    /// Files that became shorter or were rewritten: the number of states that are kept besides the newest.
    pub earlier_states: u64,
    /// The folders that could not be read.
    pub failures: Vec<Error>,
    /// Damage of manifests and catalogs. [`super::verify`] reads the packs, too.
    pub damages: Vec<ArchiveDamage>,
}

/// A session in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSession {
    /// The session id.
    pub id: String,
    /// The name of the machine that archived it.
    pub machine: String,
    /// The path of its file when it was archived.
    pub path: PathBuf,
    /// The length of its file.
    pub bytes: u64,
    /// The modification time of its file.
    pub modified: Timestamp,
}

/// Compares an archive with the session files below the roots.
pub fn archive_status(location: &ArchiveLocation, roots: &Roots) -> ArchiveStatus {
    let archive = Archive::open(location);
    let (live, failures) = find_sessions(&roots.without_archive());
    let mut lengths: BTreeMap<PathBuf, u64> = BTreeMap::new();
    let mut status = ArchiveStatus {
        dir: location.dir.clone(),
        last_run: archive.last_run().map(Timestamp),
        sessions: 0,
        files: 0,
        content_bytes: 0,
        stored_bytes: archive.stored_bytes(),
        only_archived: Vec::new(),
        not_archived: Vec::new(),
        forgotten: collect_forgotten(&archive),
        forgotten_live: Vec::new(),
        earlier_states: 0,
        failures,
        damages: archive.damages.clone(),
    };
    for file in archive.files() {
        let path = file.original_path();
        status.files += 1;
        status.content_bytes += file.newest().bytes;
        status.earlier_states += file.generations.len() as u64 - 1;
        if is_session_file(&file) {
            status.sessions += 1;
            if !path.exists() {
                status.only_archived.push(build_session(&file));
            }
        }
        lengths.insert(path, file.newest().bytes);
    }
    status.only_archived.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let hidden: HashSet<PathBuf> = archive.forgotten_files().map(|(file, _)| file.original_path()).collect();
    let is_forgotten = |file: &SessionFile| {
        let names = find_session_names(&file.path.to_string_lossy());
        names.iter().any(|name| archive.is_forgotten(name)) || hidden.contains(&absolute(&file.path))
    };
    let (forgotten, live): (Vec<_>, Vec<_>) = live.into_iter().partition(is_forgotten);
    let forgotten = forgotten.into_iter().filter(|file| file.role == FileRole::Main);
    status.forgotten_live = forgotten.map(|file| file.path).collect();
    let mut missing: Vec<_> = live
        .into_iter()
        .filter(|file| lengths.get(&absolute(&file.path)).is_none_or(|&archived| archived < file.len))
        .collect();
    missing.sort_by(|a, b| b.mtime.cmp(&a.mtime).then_with(|| a.path.cmp(&b.path)));
    status.not_archived = missing.into_iter().map(|file| file.path).collect();
    status
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns `true` for the transcript of a session, and `false` for its other files.
pub(super) fn is_session_file(file: &ArchivedFile<'_>) -> bool {
    let stem = file.relative.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_transcript = file.relative.extension().is_some_and(|extension| extension == "jsonl");
    let is_in_client_dir = file.relative.starts_with("projects");
    is_transcript && is_session_id(stem) && (!is_in_client_dir || file.relative.components().count() == 3)
}

/// Builds the description of an archived session from its transcript.
pub(super) fn build_session(file: &ArchivedFile<'_>) -> ArchivedSession {
    let newest = file.newest();
    ArchivedSession {
        id: file.relative.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        machine: file.machine_name.to_owned(),
        path: file.original_path(),
        bytes: newest.bytes,
        modified: Timestamp(newest.modified),
    }
}
