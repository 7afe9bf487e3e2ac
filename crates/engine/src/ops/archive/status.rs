//! `archive status`: what the archive contains, and what only it contains.

use std::path::PathBuf;
use std::time::SystemTime;

use rethread_core::entry::Timestamp;

use super::coverage::{ArchiveCoverage, FileCoverage};
use super::forget::collect_forgotten;
use super::removal::{DeletionCause, RemovalFinder};
use super::{ArchiveDamage, ArchiveLocation, ForgottenSession};
use crate::archive::{Archive, ArchivedFile};
use crate::disk::{FileRole, Roots, SessionFile, find_sessions, is_session_id};
use crate::error::Error;
use crate::ops::retention::{Retention, WARNING_DAYS, deletion_time, find_client_dirs, to_duration};
use crate::writer::SessionWriter;

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
    /// The other sessions that exist only in the archive, newest first.
    pub only_archived: Vec<ArchivedSession>,
    /// The sessions that exist only in the archive because they were removed on purpose, newest first.
    pub removed: Vec<(ArchivedSession, DeletionCause)>,
    /// The session files below the roots of excluded projects.
    pub excluded: Vec<PathBuf>,
    /// The session files below the roots that are not archived in full, newest first.
    pub not_archived: Vec<PathBuf>,
    /// The sessions that the user removed from the archive, newest first.
    pub forgotten: Vec<ForgottenSession>,
    /// The session files of forgotten sessions that exist below the roots. They are not archived.
    pub forgotten_live: Vec<PathBuf>,
    /// How long the clients keep sessions.
    pub retention: Vec<RetentionPeriod>,
    /// The sessions that a client deletes within 7 days, the first one first. If there are none, the first one after that.
    pub deletions: Vec<DueDeletion>,
    /// Files that became shorter or were rewritten: the number of states that are kept besides the newest.
    pub earlier_states: u64,
    /// The folders that could not be read.
    pub failures: Vec<Error>,
    /// Damage of manifests and catalogs. [`super::verify`] reads the packs, too.
    pub damages: Vec<ArchiveDamage>,
}

/// How long a client keeps sessions.
#[derive(Debug, Clone)]
pub struct RetentionPeriod {
    /// The folder of the client, usually `~/.claude`.
    pub client_dir: PathBuf,
    /// The number of days after the last change of a session. `None` if the setting cannot be read.
    pub days: Option<u64>,
    /// Whether the setting is missing, so that this is the default of the client.
    pub is_default: bool,
}

/// A session that a client deletes at its first start after a time.
#[derive(Debug, Clone)]
pub struct DueDeletion {
    /// The session id.
    pub id: String,
    /// The session file.
    pub path: PathBuf,
    /// The time.
    pub due: Timestamp,
    /// Whether the time has passed.
    pub is_due: bool,
    /// Whether the archive has all of the session file.
    pub is_archived: bool,
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

/// Options of [`archive_status`].
#[derive(Debug, Clone)]
pub struct ArchiveStatusRequest {
    /// The settings file of the administrator of the machine, which has precedence.
    pub managed_settings: Option<PathBuf>,
    /// The folders whose sessions are not archived.
    pub excluded: Vec<PathBuf>,
    /// The current time.
    pub now: SystemTime,
}

/// Compares an archive with the session files below the roots.
///
/// Returns an error if the journal, which knows what `rm` removed, cannot be read.
pub fn archive_status(
    location: &ArchiveLocation,
    roots: &Roots,
    writer: &SessionWriter,
    request: &ArchiveStatusRequest,
) -> Result<ArchiveStatus, Error> {
    let archive = Archive::open(location);
    let (live, failures) = find_sessions(&roots.without_archive());
    let coverage = ArchiveCoverage::new(&archive, &request.excluded);
    let mut removals = RemovalFinder::new(location, writer)?;
    let mut status = ArchiveStatus {
        dir: location.dir.clone(),
        last_run: archive.last_run().map(Timestamp),
        sessions: 0,
        files: 0,
        content_bytes: 0,
        stored_bytes: archive.stored_bytes(),
        only_archived: Vec::new(),
        removed: Vec::new(),
        excluded: Vec::new(),
        not_archived: Vec::new(),
        forgotten: collect_forgotten(&archive),
        forgotten_live: Vec::new(),
        retention: Vec::new(),
        deletions: Vec::new(),
        earlier_states: 0,
        failures,
        damages: archive.damages.clone(),
    };
    for file in archive.files() {
        status.files += 1;
        status.content_bytes += file.newest().bytes;
        status.earlier_states += file.generations.len() as u64 - 1;
        if is_session_file(&file) {
            status.sessions += 1;
            if !file.original_path().exists() {
                match removals.find_cause(&file) {
                    Some(cause) => status.removed.push((build_session(&file), cause)),
                    None => status.only_archived.push(build_session(&file)),
                }
            }
        }
    }
    status.only_archived.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    status.removed.sort_by(|(a, _), (b, _)| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    status.find_deletions(roots, &live, &coverage, request);
    let mut missing: Vec<SessionFile> = Vec::new();
    for file in live {
        match coverage.find(&file) {
            FileCoverage::Complete => {}
            FileCoverage::Incomplete => missing.push(file),
            FileCoverage::Forgotten if file.role == FileRole::Main => status.forgotten_live.push(file.path),
            FileCoverage::Excluded if file.role == FileRole::Main => status.excluded.push(file.path),
            FileCoverage::Forgotten | FileCoverage::Excluded => {}
        }
    }
    missing.sort_by(|a, b| b.mtime.cmp(&a.mtime).then_with(|| a.path.cmp(&b.path)));
    status.not_archived = missing.into_iter().map(|file| file.path).collect();
    Ok(status)
}

impl ArchiveStatus {
    /// Finds the sessions that clients delete next.
    fn find_deletions(
        &mut self,
        roots: &Roots,
        live: &[SessionFile],
        coverage: &ArchiveCoverage<'_>,
        request: &ArchiveStatusRequest,
    ) {
        for dir in find_client_dirs(roots) {
            let retention = Retention::read(&dir, request.managed_settings.as_deref());
            let (days, is_default) = (retention.days(), retention == Retention::Unset);
            for file in live.iter().filter(|file| file.role == FileRole::Main && file.path.starts_with(&dir))
            {
                let due = days.zip(file.mtime).and_then(|(days, modified)| deletion_time(modified, days));
                self.deletions.extend(due.and_then(|due| {
                    Some(DueDeletion {
                        id: file.stem().to_owned(),
                        path: file.path.clone(),
                        due: to_timestamp(due)?,
                        is_due: due <= request.now,
                        is_archived: coverage.find(file) == FileCoverage::Complete,
                    })
                }));
            }
            self.retention.push(RetentionPeriod { client_dir: dir, days, is_default });
        }
        self.deletions.sort_by(|a, b| a.due.cmp(&b.due).then_with(|| a.path.cmp(&b.path)));
        let soon = to_timestamp(request.now + to_duration(WARNING_DAYS));
        let soon_count =
            self.deletions.partition_point(|deletion| soon.is_some_and(|soon| deletion.due < soon));
        self.deletions.truncate(soon_count.max(1));
    }
}

fn to_timestamp(time: SystemTime) -> Option<Timestamp> {
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_millis()).ok().map(Timestamp)
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
