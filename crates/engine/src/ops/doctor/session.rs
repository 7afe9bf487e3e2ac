//! Examines one session.

use std::path::{Path, PathBuf};

use rethread_core::check::{CheckCollector, CheckInput, Diagnostic, Severity, SizeBreakdown, run_checks};
use rethread_core::id::Id;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, simulate_resume};
use rethread_core::session::SessionInfoBuilder;
use rethread_core::tree::TreeBuilder;
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{ScanEvent, live_sessions, scan};
use crate::session::load::{SessionHeader, id_of};

/// What is wrong with a session.
#[derive(Debug)]
pub struct SessionReport {
    /// Which session.
    pub head: SessionHeader,
    /// Its file.
    pub path: PathBuf,
    /// The client that wrote its newest line, or the newest that is known.
    pub client: Version,
    /// What is wrong, the worst first.
    pub findings: Vec<Diagnostic>,
    /// Where its bytes are.
    pub weight: SizeBreakdown,
    /// How many entries its client loads, and how many there are.
    pub reach: (usize, usize),
    /// How many entries are out of its reach: what is summed up or left out on purpose is not.
    pub lost: usize,
}

impl SessionReport {
    /// Returns how bad the worst finding is.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Returns how many entries its client has within reach, and how many there are.
    pub fn within_reach(&self) -> (usize, usize) {
        (self.reach.1.saturating_sub(self.lost), self.reach.1)
    }

    /// Counts the findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Returns the newest client that is known.
pub(crate) fn newest() -> Version {
    Version::read(KNOWN_CLIENTS.last().copied().unwrap_or_default())
}

/// Returns the client that wrote the newest line; the newest that is known, where none is named.
pub(crate) fn client_of(facts: &ResumeIndex) -> Version {
    let written = facts.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    written.map_or_else(newest, Version::read)
}

/// Examines the session in a file.
pub fn diagnose(path: &Path) -> Result<SessionReport, Error> {
    let store = path.parent().and_then(Path::parent).unwrap_or(path);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let live = live_sessions(store).iter().any(|id| id == stem);
    examine_file(path, live)
}

/// Reads a session as a client does, whole lines only, and examines it.
pub(super) fn examine_file(path: &Path, live: bool) -> Result<SessionReport, Error> {
    let mut weaver = TreeBuilder::with_content_hashes();
    let mut facts = ResumeIndex::default();
    let mut checkup = CheckCollector::default();
    let mut sketcher = SessionInfoBuilder::default();
    let scan = scan(path, |seen| match seen {
        ScanEvent::Entry(entry, place, true) => {
            let voice = weaver.add(entry, place);
            facts.add(entry, place);
            checkup.add(entry, place);
            sketcher.add(entry, voice);
        }
        ScanEvent::Entry(_, place, false) => checkup.add_recovered(place),
        ScanEvent::Line(_) => {}
    })
    .map_err(Error::reading(path))?;
    let tree = weaver.finish();
    checkup.finish(&tree, scan.bytes);
    let (client, newest) = (client_of(&facts), newest());
    let resumed = simulate_resume(&tree, &facts, &client);
    let latest = (client.numbers() < newest.numbers()).then(|| simulate_resume(&tree, &facts, &newest));
    let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    let findings = run_checks(&CheckInput {
        tree: &tree,
        facts: &facts,
        checkup: &checkup,
        problems: &scan.problems,
        resume: &resumed,
        newest: latest.as_ref().unwrap_or(&resumed),
        session: Id::is_uuid(stem).then(|| Id::of(stem)),
        live,
    });
    let sketch = sketcher.finish(&tree, scan.lines, &scan.problems);
    Ok(SessionReport {
        head: SessionHeader {
            id: id_of(path, &sketch),
            title: sketch.title(None),
            folder: sketch.cwd.clone().unwrap_or_default(),
        },
        path: path.to_owned(),
        client,
        findings,
        weight: checkup.weight(),
        reach: (resumed.loaded, resumed.entries),
        lost: resumed.lost(),
    })
}
