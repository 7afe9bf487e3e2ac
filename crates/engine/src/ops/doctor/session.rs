//! Examines one session.

use std::path::{Path, PathBuf};

use rethread_core::health::{Checkup, Finding, Patient, Severity, Weight, examine};
use rethread_core::id::Id;
use rethread_core::resume::{Facts, MEASURED, resume};
use rethread_core::session::Sketcher;
use rethread_core::tree::Weaver;
use rethread_core::version::Version;

use super::super::load::{Head, id_of};
use crate::Failure;
use crate::disk::{Seen, live_sessions, scan};

/// What is wrong with a session.
#[derive(Debug)]
pub struct Diagnosis {
    /// Which session.
    pub head: Head,
    /// Its file.
    pub path: PathBuf,
    /// The client that wrote its newest line, or the newest that is known.
    pub client: Version,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// Where its bytes are.
    pub weight: Weight,
    /// How many entries its client loads, and how many there are.
    pub reach: (usize, usize),
    /// How many entries are out of its reach: what is summed up or left out on purpose is not.
    pub lost: usize,
}

impl Diagnosis {
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
    Version::read(MEASURED.last().copied().unwrap_or_default())
}

/// Returns the client that wrote the newest line; the newest that is known, where none is named.
pub(crate) fn client_of(facts: &Facts) -> Version {
    let written = facts.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    written.map_or_else(newest, Version::read)
}

/// Examines the session in a file.
pub fn diagnose(path: &Path) -> Result<Diagnosis, Failure> {
    let store = path.parent().and_then(Path::parent).unwrap_or(path);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let live = live_sessions(store).iter().any(|id| id == stem);
    examine_file(path, live)
}

/// Reads a session as a client does, whole lines only, and examines it.
pub(super) fn examine_file(path: &Path, live: bool) -> Result<Diagnosis, Failure> {
    let mut weaver = Weaver::comparing();
    let mut facts = Facts::default();
    let mut checkup = Checkup::default();
    let mut sketcher = Sketcher::default();
    let scan = scan(path, |seen| match seen {
        Seen::Entry(entry, place, true) => {
            let voice = weaver.add(entry, place);
            facts.add(entry, place);
            checkup.add(entry, place);
            sketcher.add(entry, voice);
        }
        Seen::Entry(_, place, false) => checkup.set_aside(place),
        Seen::Line(_) => {}
    })
    .map_err(Failure::reading(path))?;
    let tree = weaver.finish();
    checkup.finish(&tree, scan.bytes);
    let (client, newest) = (client_of(&facts), newest());
    let resumed = resume(&tree, &facts, &client);
    let latest = (client.numbers() < newest.numbers()).then(|| resume(&tree, &facts, &newest));
    let stem = path.file_stem().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    let findings = examine(&Patient {
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
    Ok(Diagnosis {
        head: Head {
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
