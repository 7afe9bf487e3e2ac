//! Checks every session of a store, and the store itself.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;
use rethread_core::check::{Code, Severity, SizeBreakdown};
use rethread_core::id::Id;
use rethread_core::session::SummaryTitles;

use super::session::{CheckedFile, SessionReport, check_file};
use crate::Error;
use crate::archive::{Archive, ArchiveLocation};
use crate::disk::{
    FileRole, ReadReporter, Roots, SessionFile, SystemProcesses, find_live_sessions, find_sessions,
    total_size,
};
use crate::ops::archive::{ArchiveCoverage, FileCoverage};
use crate::ops::retention::{
    DEFAULT_DAYS, ERROR_DAYS, Retention, WARNING_DAYS, deletion_time, find_client_dirs, to_duration,
};

/// Options of [`check_store`].
#[derive(Debug, Clone)]
pub struct DoctorRequest {
    /// Whether to report sessions that have only harmless findings.
    pub include_harmless: bool,
    /// The current time.
    pub now: SystemTime,
    /// The archive of the user. `None` if there is no folder for it.
    pub archive: Option<ArchiveLocation>,
    /// The folders whose sessions are not archived.
    pub excluded: Vec<PathBuf>,
    /// The settings file of the administrator of the machine, which has precedence.
    pub managed_settings: Option<PathBuf>,
}

impl Default for DoctorRequest {
    fn default() -> DoctorRequest {
        DoctorRequest {
            include_harmless: false,
            now: SystemTime::now(),
            archive: None,
            excluded: Vec::new(),
            managed_settings: None,
        }
    }
}

/// A kind of problem of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreCode {
    /// The retention setting makes the client keep sessions for 0 days.
    RetentionZero,
    /// The retention setting is not a number of days, or the settings file cannot be read.
    RetentionUnreadable,
    /// Sessions are kept for a shorter time than the client's default.
    RetentionShort,
    /// The retention time is not set: the client's default applies.
    RetentionUnset,
    /// The desktop application deletes its sessions.
    DesktopRetention,
    /// The client will delete sessions within the next 7 days that are not in the archive.
    ExpiresSoon,
    /// The client will delete sessions within the next 7 days, and the archive has all of them.
    ExpiresArchived,
    /// There is no archive.
    ArchiveMissing,
    /// The last run of `archive` was more than 7 days ago.
    ArchiveOld,
    /// A side folder without a session file.
    OrphanedFolder,
    /// Sessions without an existing project folder.
    ProjectGone,
}

impl StoreCode {
    /// Returns the stable name of the code, as in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            StoreCode::RetentionZero => "retention-zero",
            StoreCode::RetentionUnreadable => "retention-unreadable",
            StoreCode::RetentionShort => "retention-short",
            StoreCode::RetentionUnset => "retention-unset",
            StoreCode::DesktopRetention => "desktop-retention",
            StoreCode::ExpiresSoon => "expires-soon",
            StoreCode::ExpiresArchived => "expires-archived",
            StoreCode::ArchiveMissing => "archive-missing",
            StoreCode::ArchiveOld => "archive-old",
            StoreCode::OrphanedFolder => "orphaned-folder",
            StoreCode::ProjectGone => "project-gone",
        }
    }
}

/// A problem of a store.
#[derive(Debug, Clone)]
pub struct StoreFinding {
    /// The kind of problem.
    pub code: StoreCode,
    /// How serious the problem is.
    pub severity: Severity,
    /// The affected settings, session files or folders.
    pub paths: Vec<PathBuf>,
    /// For the retention codes, the number of days that sessions are kept, if known. For `ExpiresSoon` and
    /// `ExpiresArchived`, the days until the first deletion. For `ArchiveOld`, the days since the last run. Else `None`.
    pub days: Option<u64>,
    /// The number of sessions that the client may delete now. 0 for all codes except `ExpiresSoon` and `ExpiresArchived`.
    pub due_count: usize,
    /// The size in bytes of the expiring session files or orphaned folders. 0 for all other codes.
    pub bytes: u64,
}

/// The sizes of the files next to session files, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideFileSizes {
    /// The size of subagent files.
    pub agents: u64,
    /// The size of large tool results.
    pub results: u64,
    /// The size of the backups of edited files.
    pub history: u64,
}

/// The diagnostics of a store.
#[derive(Debug, Default)]
pub struct StoreReport {
    /// Sessions with findings, worst first, then in the order of their files. Sessions with only harmless findings are
    /// included on request.
    pub sessions: Vec<SessionReport>,
    /// The number of sessions that were checked.
    pub session_count: usize,
    /// The number of sessions by worst severity: info, warning, error. Sessions without findings are not counted.
    pub by_severity: [usize; 3],
    /// The number of sessions by code and severity.
    pub by_code: BTreeMap<(Code, Severity), usize>,
    /// The problems of the store itself.
    pub store_findings: Vec<StoreFinding>,
    /// The size of the session files by content.
    pub sizes: SizeBreakdown,
    /// The sizes of the files next to session files.
    pub side_files: SideFileSizes,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Checks every session under `roots`, the retention settings, and the folders of the store.
pub fn check_store(roots: &Roots, request: &DoctorRequest) -> StoreReport {
    let (files, failures) = find_sessions(&roots.without_archive());
    let live: HashSet<String> = {
        let folders: HashSet<&Path> = files.iter().map(|file| &*file.root).collect();
        folders.into_iter().flat_map(|folder| find_live_sessions(folder, &SystemProcesses)).collect()
    };
    let mains: Vec<&SessionFile> = files.iter().filter(|file| file.role == FileRole::Main).collect();
    let reporter = ReadReporter::new(mains.iter().copied());
    let check_one = |file: &&SessionFile| {
        let is_live = live.contains(file.stem());
        let mut checked = reporter.count(file, |file| check_file(&file.path, is_live))?;
        checked.report.withdraw_impossible_repair();
        Ok(checked)
    };
    let results: Vec<Result<CheckedFile, Error>> = mains.par_iter().map(check_one).collect();
    let infos = results.iter().flatten().map(|checked| &checked.info);
    let titles = SummaryTitles::from_sessions(infos);
    let mut report = StoreReport { failures, ..StoreReport::default() };
    let mut folders: Vec<(PathBuf, String)> = Vec::new();
    for result in results {
        match result {
            Ok(CheckedFile { report: mut session, info }) => {
                session.header.title = info.title(info.find_summary(&titles));
                folders.push((session.path.clone(), session.header.folder.clone()));
                report.add_session(session, request.include_harmless);
            }
            Err(failure) => report.failures.push(failure),
        }
    }
    report.sessions.sort_by_key(|session| std::cmp::Reverse(session.worst_severity()));
    report.side_files = SideFileSizes::measure(roots, &files);
    let archive = request.archive.as_ref().map(Archive::open).unwrap_or_default();
    let coverage = ArchiveCoverage::new(&archive, &request.excluded);
    report.store_findings.extend(check_archive(&archive, request, &mains));
    for client_dir in find_client_dirs(roots) {
        report.store_findings.extend(check_retention(&client_dir, request));
        report.store_findings.extend(find_expiring(&client_dir, &mains, &coverage, request));
        report.store_findings.extend(find_orphaned_folders(&client_dir, &mains));
        report.store_findings.extend(find_missing_projects(&client_dir, &folders));
    }
    report.store_findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    report
}

impl StoreReport {
    /// Returns the severity of the worst finding of all sessions and the store. Returns `None` without findings.
    pub fn worst_severity(&self) -> Option<Severity> {
        let sessions = [Severity::Info, Severity::Warning, Severity::Error];
        let sessions = sessions.into_iter().filter(|severity| self.by_severity[*severity as usize] > 0);
        sessions.chain(self.store_findings.iter().map(|finding| finding.severity)).max()
    }

    /// Adds a session to the counts. Keeps its report if it has a warning, an error or, on request, any finding.
    fn add_session(&mut self, session: SessionReport, include_harmless: bool) {
        self.session_count += 1;
        self.sizes += session.sizes;
        let Some(worst) = session.worst_severity() else { return };
        self.by_severity[worst as usize] += 1;
        let kinds: HashSet<(Code, Severity)> =
            session.findings.iter().map(|finding| (finding.code, finding.severity)).collect();
        for kind in kinds {
            *self.by_code.entry(kind).or_default() += 1;
        }
        if include_harmless || worst > Severity::Info {
            self.sessions.push(session);
        }
    }
}

impl StoreFinding {
    fn new(code: StoreCode, severity: Severity, paths: Vec<PathBuf>) -> StoreFinding {
        StoreFinding { code, severity, paths, days: None, due_count: 0, bytes: 0 }
    }
}

/// Checks how long the clients keep sessions.
fn check_retention(client_dir: &Path, request: &DoctorRequest) -> Vec<StoreFinding> {
    let managed = request.managed_settings.as_deref();
    let retention = Retention::read(client_dir, managed);
    let settings = || vec![client_dir.join("settings.json")];
    let new = |code, severity, days| StoreFinding { days, ..StoreFinding::new(code, severity, settings()) };
    let (code, severity) = match retention {
        Retention::Unset => (Some(StoreCode::RetentionUnset), Severity::Warning),
        Retention::Days(0) => (Some(StoreCode::RetentionZero), Severity::Error),
        Retention::Days(days) if days < DEFAULT_DAYS => (Some(StoreCode::RetentionShort), Severity::Warning),
        Retention::Days(_) => (None, Severity::Info),
        Retention::Unreadable => (Some(StoreCode::RetentionUnreadable), Severity::Warning),
    };
    let mut findings: Vec<StoreFinding> =
        code.map(|code| new(code, severity, retention.days())).into_iter().collect();
    // Sessions of the desktop application are kept, unless a number of days is set.
    if let Retention::Days(days @ 1..) = Retention::read_desktop(client_dir, managed) {
        findings.push(new(StoreCode::DesktopRetention, Severity::Info, Some(days)));
    }
    findings
}

/// Finds the sessions that the client will delete soon: first those that are not in the archive, then those that are.
fn find_expiring(
    client_dir: &Path,
    mains: &[&SessionFile],
    coverage: &ArchiveCoverage<'_>,
    request: &DoctorRequest,
) -> Vec<StoreFinding> {
    let Some(days) = Retention::read(client_dir, request.managed_settings.as_deref()).days() else {
        return Vec::new();
    };
    let mut lost: Vec<(Duration, &SessionFile)> = Vec::new();
    let mut kept = Vec::new();
    for &file in mains.iter().filter(|file| file.path.starts_with(client_dir)) {
        let due = file.mtime.and_then(|modified| deletion_time(modified, days));
        let Some(due) = due else { continue };
        let remaining = due.duration_since(request.now).unwrap_or_default();
        if remaining >= to_duration(WARNING_DAYS) {
            continue;
        }
        match coverage.find(file) {
            FileCoverage::Incomplete => lost.push((remaining, file)),
            FileCoverage::Complete => kept.push((remaining, file)),
            FileCoverage::Forgotten | FileCoverage::Excluded => {}
        }
    }
    let is_urgent = lost.iter().any(|(remaining, _)| *remaining <= to_duration(ERROR_DAYS));
    let severity = if is_urgent { Severity::Error } else { Severity::Warning };
    let groups =
        [(StoreCode::ExpiresSoon, severity, lost), (StoreCode::ExpiresArchived, Severity::Info, kept)];
    let findings = groups.into_iter().filter_map(|(code, severity, mut files)| {
        files.sort_by_key(|(remaining, _)| *remaining);
        let (first, _) = files.first()?;
        Some(StoreFinding {
            days: Some(first.as_secs() / to_duration(1).as_secs()),
            due_count: files.iter().filter(|(remaining, _)| remaining.is_zero()).count(),
            bytes: files.iter().map(|(_, file)| file.len).sum(),
            ..StoreFinding::new(code, severity, files.iter().map(|(_, file)| file.path.clone()).collect())
        })
    });
    findings.collect()
}

/// Checks that there is an archive, and when it was last brought up to date. Returns `None` if that was recently.
///
/// A last run in the future is recent: the clock went backwards since.
fn check_archive(archive: &Archive, request: &DoctorRequest, mains: &[&SessionFile]) -> Option<StoreFinding> {
    let location = request.archive.as_ref().filter(|_| !mains.is_empty())?;
    let paths = vec![location.dir.clone()];
    let Some(last_run) = archive.last_run() else {
        return Some(StoreFinding::new(StoreCode::ArchiveMissing, Severity::Info, paths));
    };
    let last_run = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(last_run).ok()?);
    let days = request.now.duration_since(last_run).ok()?.as_secs() / to_duration(1).as_secs();
    let finding = StoreFinding::new(StoreCode::ArchiveOld, Severity::Warning, paths);
    (days >= WARNING_DAYS).then_some(StoreFinding { days: Some(days), ..finding })
}

/// Finds the side folders and file histories without a session file. Returns `None` if there are none.
fn find_orphaned_folders(client_dir: &Path, mains: &[&SessionFile]) -> Option<StoreFinding> {
    let session_ids: HashSet<&str> = mains.iter().map(|file| file.stem()).collect();
    let projects =
        list_folders(&client_dir.join("projects")).into_iter().flat_map(|folder| list_folders(&folder));
    let candidates = projects.chain(list_folders(&client_dir.join("file-history")));
    let is_orphan = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Id::is_uuid(name.as_bytes()) && !session_ids.contains(name)
    };
    let mut paths: Vec<PathBuf> = candidates.filter(is_orphan).collect();
    paths.sort();
    let bytes = paths.iter().map(|folder| total_size(folder)).sum();
    let finding = StoreFinding::new(StoreCode::OrphanedFolder, Severity::Info, paths);
    (!finding.paths.is_empty()).then_some(StoreFinding { bytes, ..finding })
}

/// Finds the sessions without an existing project folder. Returns `None` if there are none.
///
/// `folders` contains the session files and their project folders. An empty project folder is skipped.
fn find_missing_projects(client_dir: &Path, folders: &[(PathBuf, String)]) -> Option<StoreFinding> {
    let mut exists_by_folder: BTreeMap<&str, bool> = BTreeMap::new();
    let mut paths = Vec::new();
    for (path, folder) in
        folders.iter().filter(|(path, folder)| path.starts_with(client_dir) && !folder.is_empty())
    {
        if !*exists_by_folder.entry(folder).or_insert_with(|| Path::new(folder).exists()) {
            paths.push(path.clone());
        }
    }
    let finding = StoreFinding::new(StoreCode::ProjectGone, Severity::Warning, paths);
    (!finding.paths.is_empty()).then_some(finding)
}

impl SideFileSizes {
    /// Adds up the sizes of the files on disk. Unreadable files count as 0.
    fn measure(roots: &Roots, files: &[SessionFile]) -> SideFileSizes {
        let agents = files.iter().filter(|file| file.role != FileRole::Main).map(|file| file.len).sum();
        let mains = files.iter().filter(|file| file.role == FileRole::Main);
        let results = mains.map(|file| total_size(&file.side_dir().join("tool-results"))).sum();
        let history = find_client_dirs(roots)
            .iter()
            .map(|client_dir| total_size(&client_dir.join("file-history")))
            .sum();
        SideFileSizes { agents, results, history }
    }
}

/// Lists the direct subfolders of a folder. Returns an empty list if it cannot be read.
fn list_folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}
