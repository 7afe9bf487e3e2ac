//! Checks one session.

use std::path::{Path, PathBuf};

use rethread_core::check::{
    CheckCollector, CheckInput, Diagnostic, Severity, SizeBreakdown, SuggestedFix, run_checks,
};
use rethread_core::id::Id;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, simulate_resume};
use rethread_core::session::{SessionInfo, SessionInfoBuilder};
use rethread_core::tree::TreeBuilder;
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{ScanEvent, ScanOptions, SystemProcesses, find_live_sessions, scan};
use crate::ops::repair::can_repair;
use crate::session::load::{SessionHeader, derive_session_id, find_title};

/// The diagnostics of a session.
#[derive(Debug)]
pub struct SessionReport {
    /// The session.
    pub header: SessionHeader,
    /// The file.
    pub path: PathBuf,
    /// The client that wrote the newest line, or the newest known client.
    pub client: Version,
    /// The problems, worst first.
    pub findings: Vec<Diagnostic>,
    /// The size of the file by content.
    pub sizes: SizeBreakdown,
    /// The number of entries that the client loads.
    pub loaded: usize,
    /// The number of all entries.
    pub entries: usize,
    /// The number of unreachable entries, without compacted and deliberately skipped ones.
    pub lost: usize,
}

/// The number of entries that a client can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachableEntries {
    /// The number of reachable entries.
    pub reachable: usize,
    /// The number of all entries.
    pub total: usize,
}

impl SessionReport {
    /// Returns the severity of the worst finding. Returns `None` if there are no findings.
    pub fn worst_severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Returns the number of entries that the client can reach, and of all entries.
    pub fn reachable_entries(&self) -> ReachableEntries {
        ReachableEntries { reachable: self.entries.saturating_sub(self.lost), total: self.entries }
    }

    /// Withdraws the suggestions to repair the session if a repair would change nothing.
    pub(super) fn withdraw_impossible_repair(&mut self) {
        if can_repair(&self.path, &self.findings) {
            return;
        }
        for finding in self.findings.iter_mut().filter(|finding| finding.fix == SuggestedFix::Repair) {
            finding.fix = SuggestedFix::Nothing;
        }
    }

    /// Counts the findings with a severity.
    pub fn count_findings(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Returns the newest known client.
pub(crate) fn newest_client() -> Version {
    Version::parse_lenient(KNOWN_CLIENTS.last().copied().unwrap_or_default())
}

/// Returns the client that wrote the newest line, or the newest known client if no line names one.
pub(crate) fn writing_client(resume_index: &ResumeIndex) -> Version {
    let written = resume_index.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    written.map_or_else(newest_client, Version::parse_lenient)
}

/// Checks the session file `path`. A session is live if a running client has registered it.
///
/// A finding suggests a repair only if [`repair`](crate::ops::repair::repair) would change the session.
pub fn check_session(path: &Path) -> Result<SessionReport, Error> {
    let mut report = find_problems(path)?;
    report.withdraw_impossible_repair();
    Ok(report)
}

/// Checks the session file `path` as [`check_session`] does. Also suggests repairs that may turn out to be impossible.
pub(in crate::ops) fn find_problems(path: &Path) -> Result<SessionReport, Error> {
    let store_dir = path.parent().and_then(Path::parent).unwrap_or(path);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_live = find_live_sessions(store_dir, &SystemProcesses).iter().any(|id| id == stem);
    let CheckedFile { mut report, info } = check_file(path, is_live)?;
    report.header.title = find_title(path, &info);
    Ok(report)
}

/// A report without its title, and the metadata from which the title is chosen.
pub(in crate::ops) struct CheckedFile {
    pub(in crate::ops) report: SessionReport,
    pub(in crate::ops) info: SessionInfo,
}

/// Reads a session as a client does, without damaged lines, and checks it. If `is_live` is set, a torn line is harmless.
pub(in crate::ops) fn check_file(path: &Path, is_live: bool) -> Result<CheckedFile, Error> {
    let mut tree = TreeBuilder::with_content_hashes();
    let mut resume_index = ResumeIndex::default();
    let mut collector = CheckCollector::default();
    let mut info_builder = SessionInfoBuilder::default();
    let scan = scan(path, &ScanOptions::default(), |event| match event {
        ScanEvent::Entry(entry, span, true) => {
            tree.add_and_visit(entry, span, &mut (&mut resume_index, &mut collector, &mut info_builder));
        }
        ScanEvent::Entry(entry, span, false) => {
            collector.add_recovered(span);
            info_builder.add(&entry.clone().mark_recovered(), entry.role());
        }
        ScanEvent::Line(_) => {}
    })
    .map_err(Error::reading(path))?;
    let tree = tree.finish();
    collector.finish(&tree, scan.bytes);
    let (client, newest) = (writing_client(&resume_index), newest_client());
    let resume = simulate_resume(&tree, &resume_index, &client);
    let newest_resume =
        (client.numbers() < newest.numbers()).then(|| simulate_resume(&tree, &resume_index, &newest));
    let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    let findings = run_checks(&CheckInput {
        tree: &tree,
        resume_index: &resume_index,
        collector: &collector,
        problems: &scan.problems,
        resume: &resume,
        newest: newest_resume.as_ref().unwrap_or(&resume),
        session: Id::is_uuid(stem).then(|| Id::from_text(stem)),
        live: is_live,
    });
    let info = info_builder.finish(&tree, scan.lines, &scan.problems);
    let report = SessionReport {
        header: SessionHeader {
            id: derive_session_id(path, &info),
            title: info.title(None),
            folder: info.cwd.clone().unwrap_or_default(),
        },
        path: path.to_owned(),
        client,
        findings,
        sizes: collector.size_breakdown(),
        loaded: resume.loaded,
        entries: resume.entries,
        lost: resume.lost_count(),
    };
    Ok(CheckedFile { report, info })
}
