//! Examines every session of a store, and the store itself.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;
use rethread_core::check::{Code, Severity, SizeBreakdown};
use rethread_core::id::Id;

use super::retention::{DEFAULT, Retention, SOON, days_left, homes};
use super::session::{SessionReport, examine_file};
use crate::Error;
use crate::disk::{FileRole, Roots, SessionFile, find, live_sessions};

/// What to examine.
#[derive(Debug, Clone, Copy)]
pub struct DoctorRequest {
    /// Whether sessions with harmless findings are kept in the outcome.
    pub everything: bool,
    /// The present.
    pub now: SystemTime,
}

/// What can be wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreCode {
    /// Sessions are kept for no day at all.
    RetentionZero,
    /// The setting cannot be read.
    RetentionUnreadable,
    /// Sessions are kept for a shorter time than the client's own.
    RetentionShort,
    /// Nothing is set: the client's own time holds.
    RetentionUnset,
    /// Sessions will be deleted within days.
    ExpiresSoon,
    /// The folder of a session that is gone.
    OrphanedFolder,
    /// Sessions whose project folder is gone.
    ProjectGone,
}

impl StoreCode {
    /// Returns its stable name.
    pub fn name(self) -> &'static str {
        match self {
            StoreCode::RetentionZero => "retention-zero",
            StoreCode::RetentionUnreadable => "retention-unreadable",
            StoreCode::RetentionShort => "retention-short",
            StoreCode::RetentionUnset => "retention-unset",
            StoreCode::ExpiresSoon => "expires-soon",
            StoreCode::OrphanedFolder => "orphaned-folder",
            StoreCode::ProjectGone => "project-gone",
        }
    }
}

/// Something that is wrong with a store.
#[derive(Debug, Clone)]
pub struct StoreFinding {
    /// What.
    pub code: StoreCode,
    /// How bad.
    pub severity: Severity,
    /// What it is about: settings, session files or folders.
    pub paths: Vec<PathBuf>,
    /// Days: of the setting, or until the first is deleted.
    pub days: Option<u64>,
    /// How many of them are due already.
    pub due: usize,
    /// Bytes of it all.
    pub bytes: u64,
}

/// Bytes beside the session files.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideFileSizes {
    /// Of subagents.
    pub agents: u64,
    /// Of large tool results.
    pub results: u64,
    /// Of files as they were before edits.
    pub history: u64,
}

/// What was found in a store.
#[derive(Debug, Default)]
pub struct StoreReport {
    /// Sessions with findings, the worst first, then in the order of their files.
    pub sessions: Vec<SessionReport>,
    /// How many sessions were examined.
    pub examined: usize,
    /// How many of them are that bad at worst: harmless, costs, blocks.
    pub by_severity: [usize; 3],
    /// By code and severity, in how many sessions.
    pub by_code: BTreeMap<(Code, Severity), usize>,
    /// What is wrong with the store.
    pub store: Vec<StoreFinding>,
    /// Where the bytes of the session files are.
    pub weight: SizeBreakdown,
    /// What is beside them.
    pub beside: SideFileSizes,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Examines every session under `roots`.
pub fn doctor(roots: &Roots, request: &DoctorRequest) -> StoreReport {
    let (files, failures) = find(roots);
    let live: HashSet<String> = {
        let folders: HashSet<&Path> = files.iter().map(|file| &*file.root).collect();
        folders.into_iter().flat_map(live_sessions).collect()
    };
    let mains: Vec<&SessionFile> = files.iter().filter(|file| file.role == FileRole::Main).collect();
    let examine = |file: &&SessionFile| examine_file(&file.path, live.contains(file.stem()));
    let examined: Vec<Result<SessionReport, Error>> = mains.par_iter().map(examine).collect();
    let mut round = StoreReport { failures, ..StoreReport::default() };
    let mut folders: Vec<(PathBuf, String)> = Vec::new();
    for outcome in examined {
        match outcome {
            Ok(diagnosis) => {
                folders.push((diagnosis.path.clone(), diagnosis.head.folder.clone()));
                round.take(diagnosis, request.everything);
            }
            Err(failure) => round.failures.push(failure),
        }
    }
    round.sessions.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.worst()));
    round.beside = SideFileSizes::of(roots, &files);
    for home in homes(roots) {
        round.store.extend(retention(&home, &mains, request.now));
        round.store.extend(orphans(&home, &mains));
        round.store.extend(gone(&home, &folders));
    }
    round.store.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    round
}

impl StoreReport {
    /// Returns how bad the worst finding is.
    pub fn worst(&self) -> Option<Severity> {
        let sessions = [Severity::Harmless, Severity::Warning, Severity::Blocks];
        let sessions = sessions.into_iter().filter(|severity| self.by_severity[*severity as usize] > 0);
        sessions.chain(self.store.iter().map(|finding| finding.severity)).max()
    }

    fn take(&mut self, diagnosis: SessionReport, everything: bool) {
        self.examined += 1;
        self.weight += diagnosis.weight;
        let Some(worst) = diagnosis.worst() else { return };
        self.by_severity[worst as usize] += 1;
        let kinds: HashSet<(Code, Severity)> =
            diagnosis.findings.iter().map(|finding| (finding.code, finding.severity)).collect();
        for kind in kinds {
            *self.by_code.entry(kind).or_default() += 1;
        }
        if everything || worst > Severity::Harmless {
            self.sessions.push(diagnosis);
        }
    }
}

impl StoreFinding {
    fn new(code: StoreCode, severity: Severity, paths: Vec<PathBuf>) -> StoreFinding {
        StoreFinding { code, severity, paths, days: None, due: 0, bytes: 0 }
    }
}

/// Says how long sessions are kept, and which will be deleted within days.
fn retention(home: &Path, mains: &[&SessionFile], now: SystemTime) -> Vec<StoreFinding> {
    let retention = Retention::read(home);
    let settings = vec![home.join("settings.json")];
    let (code, severity) = match retention {
        Retention::Unset => (Some(StoreCode::RetentionUnset), Severity::Harmless),
        Retention::Days(0) => (Some(StoreCode::RetentionZero), Severity::Blocks),
        Retention::Days(days) if days < DEFAULT => (Some(StoreCode::RetentionShort), Severity::Warning),
        Retention::Days(_) => (None, Severity::Harmless),
        Retention::Unreadable => (Some(StoreCode::RetentionUnreadable), Severity::Warning),
    };
    let days = retention.days();
    let set = code.map(|code| StoreFinding { days, ..StoreFinding::new(code, severity, settings) });
    let mut found: Vec<StoreFinding> = set.into_iter().collect();
    let Some(days) = days else { return found };
    let mut soon: Vec<(u64, &SessionFile)> = Vec::new();
    for file in mains.iter().filter(|file| file.path.starts_with(home)) {
        let left = file.mtime.and_then(|changed| days_left(changed, days, now));
        soon.extend(left.filter(|left| *left < SOON).map(|left| (left, *file)));
    }
    soon.sort_by_key(|(left, _)| *left);
    if let Some(&(first, _)) = soon.first() {
        found.push(StoreFinding {
            days: Some(first),
            due: soon.iter().filter(|(left, _)| *left == 0).count(),
            bytes: soon.iter().map(|(_, file)| file.len).sum(),
            paths: soon.iter().map(|(_, file)| file.path.clone()).collect(),
            ..StoreFinding::new(StoreCode::ExpiresSoon, Severity::Warning, Vec::new())
        });
    }
    found
}

/// Finds folders that belong to sessions that are no more.
fn orphans(home: &Path, mains: &[&SessionFile]) -> Option<StoreFinding> {
    let known: HashSet<&str> = mains.iter().map(|file| file.stem()).collect();
    let projects = folders_in(&home.join("projects")).into_iter().flat_map(|folder| folders_in(&folder));
    let candidates = projects.chain(folders_in(&home.join("file-history")));
    let is_orphan = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        Id::is_uuid(name.as_bytes()) && !known.contains(name)
    };
    let mut paths: Vec<PathBuf> = candidates.filter(is_orphan).collect();
    paths.sort();
    let bytes = paths.iter().map(|folder| weigh(folder)).sum();
    let finding = StoreFinding::new(StoreCode::OrphanedFolder, Severity::Harmless, paths);
    (!finding.paths.is_empty()).then_some(StoreFinding { bytes, ..finding })
}

/// Finds sessions whose project folder is not there.
fn gone(home: &Path, folders: &[(PathBuf, String)]) -> Option<StoreFinding> {
    let mut there: BTreeMap<&str, bool> = BTreeMap::new();
    let mut paths = Vec::new();
    for (path, folder) in folders.iter().filter(|(path, folder)| path.starts_with(home) && !folder.is_empty())
    {
        if !*there.entry(folder).or_insert_with(|| Path::new(folder).exists()) {
            paths.push(path.clone());
        }
    }
    let finding = StoreFinding::new(StoreCode::ProjectGone, Severity::Harmless, paths);
    (!finding.paths.is_empty()).then_some(finding)
}

impl SideFileSizes {
    fn of(roots: &Roots, files: &[SessionFile]) -> SideFileSizes {
        let agents = files.iter().filter(|file| file.role != FileRole::Main).map(|file| file.len).sum();
        let mains = files.iter().filter(|file| file.role == FileRole::Main);
        let results = mains.map(|file| weigh(&file.side_folder().join("tool-results"))).sum();
        let history = homes(roots).iter().map(|home| weigh(&home.join("file-history"))).sum();
        SideFileSizes { agents, results, history }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Adds up the files below a folder.
fn weigh(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok);
    files
        .filter_map(|file| file.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|meta| meta.len())
        .sum()
}
