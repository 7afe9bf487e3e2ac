//! Explains which entries a client loads when it resumes a session.

mod compare;
mod lost;
mod report;

pub use compare::{ClientRange, group_verdicts};
pub use lost::{LostGroup, UnreachableBranch};
pub use report::{AddedBlock, ClientVerdict, EntryFate, LoadedCompaction, OmittedLines};

use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Kind};
use rethread_core::lines::Line;
use rethread_core::resume::KNOWN_CLIENTS;
use rethread_core::tree::NodeId;
use rethread_core::usage::{PriceTable, ReturnCost};
use rethread_core::version::Version;

use crate::Error;
use crate::disk::LineReader;
use crate::ops::branches::number_turns;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::preview::{PreviewedEntry, UuidTable};

/// Selects the clients for which a resume is simulated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClientSelector {
    /// The client that wrote the newest line.
    #[default]
    Newest,
    /// This client.
    Client(Version),
    /// Every measured client.
    All,
    /// A reader that resumes from the last summary, as some descriptions of the format define it.
    LastSummary,
}

/// Options of [`explain_resume`].
#[derive(Debug, Clone, Default)]
pub struct ExplainRequest {
    /// The session file.
    pub path: PathBuf,
    /// The clients that resume.
    pub client: ClientSelector,
}

/// The results of resuming a session with one or more clients.
#[derive(Debug)]
pub struct Explanation {
    /// The session in short.
    pub header: SessionHeader,
    /// The session.
    pub session: Session,
    /// The number of turns.
    pub turns: usize,
    /// The client that wrote the newest line. `None` if no line names one.
    pub written_by: Option<Version>,
    /// One result per client, oldest client first.
    pub verdicts: Vec<ClientVerdict>,
    uuids: UuidTable,
}

/// Simulates a resume of a session with one or more clients.
pub fn explain_resume(request: &ExplainRequest) -> Result<Explanation, Error> {
    let mut uuids = UuidTable::default();
    let session = load(&request.path, LoadOptions::default(), &mut uuids)?;
    let clients: Vec<Option<Version>> = match &request.client {
        ClientSelector::Newest => vec![Some(session.client())],
        ClientSelector::Client(version) => vec![Some(version.clone())],
        ClientSelector::All => KNOWN_CLIENTS.iter().map(|text| Some(Version::parse_lenient(text))).collect(),
        ClientSelector::LastSummary => vec![None],
    };
    let verdicts = report::build_verdicts(&session, clients);
    let turns = session.tree.turn_starts().count();
    let written_by = session.resume_index.version().map(|_| session.client());
    Ok(Explanation { header: session.header(), turns, written_by, verdicts, uuids, session })
}

impl Explanation {
    /// Returns the uuid of an entry as the file spells it.
    pub fn uuid(&self, id: NodeId) -> String {
        self.uuids.get(&self.session.tree, id)
    }

    /// Estimates what the first request after the resume costs, without the client's own instructions and tools.
    ///
    /// Returns `None` if nothing is loaded, or if the price of the session's newest model is unknown.
    pub fn estimate_return_cost(&self, verdict: &ClientVerdict, prices: &PriceTable) -> Option<ReturnCost> {
        let model = self.session.info.models.last().filter(|_| verdict.tokens > 0)?;
        Some(prices.find_model(model)?.return_cost(verdict.tokens))
    }

    /// Returns the path of the session file.
    pub fn path(&self) -> &Path {
        &self.session.path
    }

    /// Returns the nearest user or assistant entry at or above an entry, or the entry itself if there is none.
    pub fn nearest_message(&self, id: NodeId) -> NodeId {
        let tree = &self.session.tree;
        let mut next = Some(id);
        while let Some(current) = next {
            if matches!(tree.node(current).kind, Kind::User | Kind::Assistant) {
                return current;
            }
            next = tree.node(current).parent();
        }
        id
    }

    /// Opens the session file to read previews of entries.
    pub fn open_entries(&self) -> Result<EntryReader<'_>, Error> {
        let lines = LineReader::open(self.path()).map_err(Error::reading(self.path()))?;
        Ok(EntryReader { session: &self.session, lines, turns: number_turns(&self.session.tree) })
    }
}

/// Reads single entries of a session.
pub struct EntryReader<'a> {
    session: &'a Session,
    lines: LineReader,
    turns: std::collections::HashMap<NodeId, u32>,
}

impl EntryReader<'_> {
    /// Reads a preview of an entry.
    pub fn preview(&mut self, id: NodeId) -> Result<PreviewedEntry, Error> {
        self.session.preview_entry(&mut self.lines, id)
    }

    /// Returns the number of the turn of an entry, from 1. Returns `None` if it belongs to no turn.
    pub fn turn(&self, id: NodeId) -> Option<u32> {
        self.session.tree.turn_of(id).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Reads the parent uuid of an entry from its line. Returns `None` if the line has none.
    pub fn parent_uuid(&mut self, id: NodeId) -> Result<Option<String>, Error> {
        let span = self.session.tree.node(id).span;
        let bytes = self.lines.read_span(span).map_err(Error::reading(&self.session.path))?;
        let line = Line { number: span.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut parent = None;
        entry::read_line(&line, &mut Vec::new(), |entry, _| {
            parent = parent.take().or(entry.parent_uuid.map(|uuid| uuid.decode().into_owned()));
        });
        Ok(parent)
    }
}
