//! Reads a session and asks each client about it.

use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Kind};
use rethread_core::lines::Line;
use rethread_core::resume::MEASURED;
use rethread_core::tree::NodeNo;
use rethread_core::version::Version;

use super::super::branches::turn_numbers;
use super::super::gist::{Said, Uuids};
use super::super::load::{Head, Session, load_seeing};
use super::verdict::Verdict;
use crate::Failure;
use crate::disk::Lines;

/// Who resumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// The client that wrote the newest line.
    Newest,
    /// This client.
    Client(Version),
    /// Every client that was measured.
    All,
    /// A reader that goes by the last summary, as some descriptions of the format have it.
    Seed,
}

/// What to explain.
#[derive(Debug, Clone)]
pub struct ExplainRequest {
    /// The session file.
    pub path: PathBuf,
    /// Who resumes.
    pub reader: Reader,
}

/// What clients make of a session.
#[derive(Debug)]
pub struct Explanation {
    /// Which session.
    pub head: Head,
    /// What was read.
    pub session: Session,
    /// All turns of the session.
    pub turns: usize,
    /// The client that wrote the newest line, where a line says so.
    pub written_by: Option<Version>,
    /// By client, in the order of their versions.
    pub verdicts: Vec<Verdict>,
    uuids: Uuids,
}

/// Explains what clients load of a session.
pub fn explain(request: &ExplainRequest) -> Result<Explanation, Failure> {
    let mut uuids = Uuids::default();
    let session = load_seeing(&request.path, |entry, _| uuids.add(entry))?;
    let clients: Vec<Option<Version>> = match &request.reader {
        Reader::Newest => vec![Some(session.client())],
        Reader::Client(version) => vec![Some(version.clone())],
        Reader::All => MEASURED.iter().map(|text| Some(Version::read(text))).collect(),
        Reader::Seed => vec![None],
    };
    let verdicts = clients.into_iter().map(|client| session.verdict(client)).collect();
    let turns = session.tree.turns().count();
    let written_by = session.facts.version().map(|_| session.client());
    Ok(Explanation { head: session.head(), turns, written_by, verdicts, uuids, session })
}

impl Explanation {
    /// Returns the uuid of an entry, as it is written.
    pub fn uuid(&self, no: NodeNo) -> String {
        self.uuids.of(&self.session.tree, no)
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.session.path
    }

    /// Returns the last entry of the user or the model at or above an entry, or the entry where there is none.
    pub fn speaker(&self, no: NodeNo) -> NodeNo {
        let tree = &self.session.tree;
        let mut at = Some(no);
        while let Some(here) = at {
            if matches!(tree.node(here).kind, Kind::User | Kind::Assistant) {
                return here;
            }
            at = tree.node(here).parent();
        }
        no
    }

    /// Opens the file to quote some of its entries.
    pub fn quotes(&self) -> Result<Quotes<'_>, Failure> {
        let lines = Lines::open(self.path()).map_err(Failure::reading(self.path()))?;
        Ok(Quotes { session: &self.session, lines, turns: turn_numbers(&self.session.tree) })
    }
}

/// Reads entries again, one at a time.
pub struct Quotes<'a> {
    session: &'a Session,
    lines: Lines,
    turns: std::collections::HashMap<NodeNo, u32>,
}

impl Quotes<'_> {
    /// Says an entry in short.
    pub fn said(&mut self, no: NodeNo) -> Result<Said, Failure> {
        self.session.said(&mut self.lines, no)
    }

    /// Returns the number of the turn that an entry is part of.
    pub fn turn(&self, no: NodeNo) -> Option<u32> {
        self.session.tree.turn_of(no).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Returns the uuid that an entry names as its parent.
    pub fn parent_uuid(&mut self, no: NodeNo) -> Result<Option<String>, Failure> {
        let place = self.session.tree.node(no).place;
        let bytes = self.lines.read(place).map_err(Failure::reading(&self.session.path))?;
        let line = Line { no: place.line, offset: 0, bytes: &bytes, open: false };
        let mut parent = None;
        entry::read(&line, &mut Vec::new(), |entry, _| {
            parent = parent.take().or(entry.parent.map(|uuid| uuid.decode().into_owned()));
        });
        Ok(parent)
    }
}
