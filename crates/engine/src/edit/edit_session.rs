//! A session opened to be changed: what it holds, and what clients would make of it with other lines.

use std::path::Path;

use rethread_core::edit::SessionStateLines;
use rethread_core::entry::{self, Entry, Timestamp};
use rethread_core::id::Id;
use rethread_core::lines::{Line, LineSplitter};
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, ResumeOutcome, resume_at, simulate_resume};
use rethread_core::tree::{LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{LineReader, TailFingerprint, open};
use crate::session::load::{Session, load_to_edit};
use crate::session::preview::{EntryPreview, Uuids};

/// A session file, read to be changed.
pub(crate) struct EditSession {
    pub(crate) session: Session,
    pub(crate) states: SessionStateLines,
    pub(crate) lines: LineReader,
    /// What the file was when it was read.
    pub(crate) stamp: TailFingerprint,
    uuids: Uuids,
}

/// What is needed to go on reading a session where its file ended.
pub(crate) struct AppendSimulator(TreeBuilder);

/// What a client is to load: the entries of user and assistant that it sends, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedLoad {
    /// The client.
    pub client: Version,
    /// The uuids of the entries.
    pub path: Vec<Id>,
    /// The tokens of the context, as far as they can be told.
    pub tokens: u64,
}

/// Lines as the rooms know them.
pub(crate) struct ParsedLines {
    pub(crate) tree: Tree,
    pub(crate) facts: ResumeIndex,
}

impl EditSession {
    /// Reads a session file.
    pub(crate) fn open(path: &Path) -> Result<EditSession, Error> {
        EditSession::open_seeing(path, |_, _| {})
    }

    /// Reads a session file, and shows every entry as it passes.
    pub(crate) fn open_seeing(
        path: &Path,
        each: impl FnMut(&Entry<'_>, LineSpan),
    ) -> Result<EditSession, Error> {
        Ok(EditSession::open_with(path, |weaver| (weaver.finish(), ()), each)?.0)
    }

    /// Reads a session file that is to grow.
    pub(crate) fn open_to_grow(path: &Path) -> Result<(EditSession, AppendSimulator), Error> {
        EditSession::open_with(path, |weaver| (weaver.clone().finish(), AppendSimulator(weaver)), |_, _| {})
    }

    fn open_with<W>(
        path: &Path,
        finish: impl FnOnce(TreeBuilder) -> (Tree, W),
        mut each: impl FnMut(&Entry<'_>, LineSpan),
    ) -> Result<(EditSession, W), Error> {
        let stamp = TailFingerprint::of(path).map_err(Error::reading(path))?;
        let lines = LineReader::open(path).map_err(Error::reading(path))?;
        let mut states = SessionStateLines::default();
        let mut uuids = Uuids::default();
        let (session, woven) = load_to_edit(path, finish, |entry, place| {
            states.add(entry, place);
            uuids.add(entry);
            each(entry, place);
        })?;
        Ok((EditSession { session, states, lines, stamp, uuids }, woven))
    }

    /// Returns the clients that a promise is made for: the one that wrote the session, and the newest that is known.
    pub(crate) fn clients(&self) -> Vec<Version> {
        let mut clients = vec![self.session.client()];
        let newest = KNOWN_CLIENTS.last().map(|newest| Version::read(newest));
        clients.extend(newest.filter(|newest| *newest != clients[0]));
        clients
    }

    /// Finds where the client goes on; a file of a subagent is never resumed.
    pub(crate) fn leaf(&self) -> Result<NodeId, Error> {
        let leaf = self.session.active().leaf.filter(|_| !self.session.tree.is_sidechain_file());
        leaf.ok_or_else(|| Error::NothingToLoad { path: self.session.path.clone() })
    }

    /// Returns the uuid of a node as it is written.
    pub(crate) fn uuid(&self, no: NodeId) -> String {
        self.uuids.of(&self.session.tree, no)
    }

    /// Reads the bytes of a line again.
    pub(crate) fn read(&mut self, place: LineSpan) -> Result<Vec<u8>, Error> {
        self.lines.read(place).map_err(Error::reading(&self.session.path))
    }

    /// Returns a moment that is later than every line and not before now.
    pub(crate) fn after_all(&self, now: Timestamp) -> Timestamp {
        let newest = self.session.tree.nodes().iter().filter_map(Node::time).max();
        newest.map_or(now, |newest| now.max(Timestamp(newest.0.saturating_add(1))))
    }

    /// Says what clients would load that go on from `leaf`; `None` where one of them does not hold it or loads nothing.
    pub(crate) fn promise_at(&self, leaf: NodeId) -> Option<Vec<ExpectedLoad>> {
        let Session { tree, facts, .. } = &self.session;
        let at = |client: Version| {
            let resume = resume_at(tree, facts, &client, leaf).filter(|resume| resume.halt.is_none())?;
            Some(ExpectedLoad::of(client, tree, facts, &resume))
        };
        self.clients().into_iter().map(at).collect()
    }

    /// Reads what was added to the file since it was opened.
    pub(crate) fn added_since(&self) -> std::io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = open(&self.session.path)?;
        file.seek(SeekFrom::Start(self.stamp.len))?;
        let mut added = Vec::new();
        file.read_to_end(&mut added)?;
        Ok(added)
    }

    /// Returns the words of the prompt that an entry belongs to.
    pub(crate) fn prompt_of(&mut self, no: NodeId) -> Option<String> {
        let turn = self.session.tree.turn_of(no)?;
        match self.session.said(&mut self.lines, turn).ok()?.gist {
            EntryPreview::Words(words) => Some(words),
            _ => None,
        }
    }
}

impl AppendSimulator {
    /// Reads the file as it would be with these bytes behind it.
    pub(crate) fn with(&self, source: &EditSession, added: &[u8]) -> ParsedLines {
        let mut weaver = self.0.clone();
        let mut facts = source.session.facts.clone();
        let bytes = source.session.bytes;
        let line = u32::try_from(source.session.sketch.lines).unwrap_or(u32::MAX);
        each_entry(added, |entry, place| {
            let place =
                LineSpan { offset: bytes + place.offset, line: line.saturating_add(place.line), ..place };
            weaver.add(entry, place);
            facts.add(entry, place);
        });
        ParsedLines { tree: weaver.finish(), facts }
    }
}

impl ParsedLines {
    /// Reads lines that are in no file yet.
    pub(crate) fn of(bytes: &[u8]) -> ParsedLines {
        let mut weaver = TreeBuilder::default();
        let mut facts = ResumeIndex::default();
        each_entry(bytes, |entry, place| {
            weaver.add(entry, place);
            facts.add(entry, place);
        });
        ParsedLines { tree: weaver.finish(), facts }
    }

    /// Says what each client makes of the lines.
    pub(crate) fn promises(&self, clients: &[Version]) -> Vec<ExpectedLoad> {
        let told = |client: &Version| {
            let resume = simulate_resume(&self.tree, &self.facts, client);
            ExpectedLoad::of(client.clone(), &self.tree, &self.facts, &resume)
        };
        clients.iter().map(told).collect()
    }
}

impl ExpectedLoad {
    /// Notes what a client loads.
    pub(crate) fn of(
        client: Version,
        tree: &Tree,
        facts: &ResumeIndex,
        resume: &ResumeOutcome,
    ) -> ExpectedLoad {
        let path = resume.path.iter().map(|&no| tree.node(no).id).collect();
        ExpectedLoad { client, path, tokens: resume.tokens(facts) }
    }
}

/// Whether every promise is kept: each client loads the very entries, in the very order.
pub(crate) fn matches_expected(promised: &[ExpectedLoad], found: &[ExpectedLoad]) -> bool {
    let pairs = || promised.iter().zip(found);
    promised.len() == found.len() && pairs().all(|(a, b)| a.client == b.client && a.path == b.path)
}

/// Shows every entry of some lines.
pub(crate) fn each_entry(bytes: &[u8], mut each: impl FnMut(&Entry<'_>, LineSpan)) {
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            each(&entry, LineSpan { offset, len, line: line.no });
        });
    });
}

/// Reads the one entry in some bytes.
pub(crate) fn with_entry<T>(bytes: &[u8], each: impl FnOnce(&Entry<'_>) -> T) -> Option<T> {
    let line = Line { no: 1, offset: 0, bytes, unterminated: false };
    let mut each = Some(each);
    let mut found = None;
    entry::read(&line, &mut Vec::new(), |entry, _| {
        if let Some(each) = each.take() {
            found = Some(each(&entry));
        }
    });
    found
}
