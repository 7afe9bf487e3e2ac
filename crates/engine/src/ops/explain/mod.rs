//! What a client will load when it resumes a session, and what it will not.

mod compare;
mod lost;
mod report;

use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Kind};
use rethread_core::lines::Line;
use rethread_core::resume::KNOWN_CLIENTS;
use rethread_core::tree::NodeId;
use rethread_core::version::Version;

use super::branches::turn_numbers;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_with_visitor};
use crate::session::preview::{PreviewedEntry, Uuids};

pub use compare::{ClientRange, ranges_by};
pub use lost::{LostGroup, UnreachableBranch};

pub use report::{Compaction, Fate, SyntheticMessage, Verdict};

/// Who resumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientSelector {
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
    pub reader: ClientSelector,
}

/// What clients make of a session.
#[derive(Debug)]
pub struct Explanation {
    /// Which session.
    pub head: SessionHeader,
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
pub fn explain(request: &ExplainRequest) -> Result<Explanation, Error> {
    let mut uuids = Uuids::default();
    let session = load_with_visitor(&request.path, |entry, _| uuids.add(entry))?;
    let clients: Vec<Option<Version>> = match &request.reader {
        ClientSelector::Newest => vec![Some(session.client())],
        ClientSelector::Client(version) => vec![Some(version.clone())],
        ClientSelector::All => KNOWN_CLIENTS.iter().map(|text| Some(Version::read(text))).collect(),
        ClientSelector::Seed => vec![None],
    };
    let verdicts = clients.into_iter().map(|client| session.verdict(client)).collect();
    let turns = session.tree.turns().count();
    let written_by = session.facts.version().map(|_| session.client());
    Ok(Explanation { head: session.head(), turns, written_by, verdicts, uuids, session })
}

impl Explanation {
    /// Returns the uuid of an entry, as it is written.
    pub fn uuid(&self, no: NodeId) -> String {
        self.uuids.of(&self.session.tree, no)
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.session.path
    }

    /// Returns the last entry of the user or the model at or above an entry, or the entry where there is none.
    pub fn speaker(&self, no: NodeId) -> NodeId {
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
    pub fn quotes(&self) -> Result<EntryReader<'_>, Error> {
        let lines = LineReader::open(self.path()).map_err(Error::reading(self.path()))?;
        Ok(EntryReader { session: &self.session, lines, turns: turn_numbers(&self.session.tree) })
    }
}

/// Reads entries again, one at a time.
pub struct EntryReader<'a> {
    session: &'a Session,
    lines: LineReader,
    turns: std::collections::HashMap<NodeId, u32>,
}

impl EntryReader<'_> {
    /// Says an entry in short.
    pub fn said(&mut self, no: NodeId) -> Result<PreviewedEntry, Error> {
        self.session.said(&mut self.lines, no)
    }

    /// Returns the number of the turn that an entry is part of.
    pub fn turn(&self, no: NodeId) -> Option<u32> {
        self.session.tree.turn_of(no).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Returns the uuid that an entry names as its parent.
    pub fn parent_uuid(&mut self, no: NodeId) -> Result<Option<String>, Error> {
        let place = self.session.tree.node(no).place;
        let bytes = self.lines.read(place).map_err(Error::reading(&self.session.path))?;
        let line = Line { no: place.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut parent = None;
        entry::read(&line, &mut Vec::new(), |entry, _| {
            parent = parent.take().or(entry.parent.map(|uuid| uuid.decode().into_owned()));
        });
        Ok(parent)
    }
}
