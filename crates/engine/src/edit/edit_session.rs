//! A session opened for editing, and the simulation of what clients would load after an edit.

use std::io::{self, Read};
use std::path::Path;

use rethread_core::edit::{Envelope, MarkerKind, ResumeMarker, SessionStateLines};
use rethread_core::entry::{self, Entry, EntryRole, JsonStr, RESUME_MARKER_TEXT, Timestamp, with_entry};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    KNOWN_CLIENTS, ResumeIndex, SentContext, TrailingEntries, have_same_rules, simulate_sent_context,
    simulate_sent_context_at,
};
use rethread_core::tree::{EntryVisitor, LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{LineReader, ScanEvent, TailFingerprint, open_content, scan_content};
use crate::session::active::find_client;
use crate::session::load::{LoadOptions, Session, load, load_with_builder};
use crate::session::preview::{EntryPreview, UuidTable};

/// A session file opened for editing.
pub(crate) struct EditSession {
    pub(crate) session: Session,
    pub(crate) state_lines: SessionStateLines,
    pub(crate) lines: LineReader,
    /// The fingerprint of the file when it was opened.
    pub(crate) fingerprint: TailFingerprint,
    uuids: UuidTable,
}

/// Collects what an [`EditSession`] needs in addition to the session, while the session is loaded.
struct EditSessionBuilder {
    lines: LineReader,
    fingerprint: TailFingerprint,
    state_lines: SessionStateLines,
    uuids: UuidTable,
}

/// Simulates appends to a session file.
pub(crate) struct AppendSimulator(TreeBuilder);

/// The chooser of the entry from which clients resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LeafChooser {
    /// The user. The pointer is explicit: the user left the branches that the file had before.
    #[default]
    ByUser,
    /// A repair.
    ByRepair,
}

/// Options of the marker lines.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MarkerOptions {
    /// The chooser of the entry from which clients resume.
    pub(crate) chooser: LeafChooser,
    /// The kind of the marker line.
    pub(crate) kind: MarkerKind,
    /// The current time. The marker is always dated after the newest entry.
    pub(crate) now: Timestamp,
}

/// A reference to an entry for display.
#[derive(Debug, Clone)]
pub struct EntryRef {
    /// A short name that the user can type.
    pub handle: String,
    /// The uuid.
    pub uuid: String,
    /// The line number.
    pub line: u32,
    /// The number of its turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
    /// The start of the prompt of its turn, at most 240 characters. `None` if the prompt has no text.
    pub prompt: Option<String>,
}

/// The user and assistant entries that a client is expected to send after a resume, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedLoad {
    /// The version of the client.
    pub client: Version,
    /// The uuids of the entries, root first.
    pub path: Vec<Id>,
    /// The uuids of the loaded queued prompts, notifications and local commands, which are no user or assistant entries.
    pub attached: Vec<Id>,
    /// The estimated number of tokens of the context.
    pub tokens: u64,
}

/// Parsed lines, ready for a resume simulation.
pub(crate) struct ParsedLines {
    pub(crate) tree: Tree,
    pub(crate) resume_index: ResumeIndex,
}

impl EditSessionBuilder {
    fn open(path: &Path) -> Result<EditSessionBuilder, Error> {
        Ok(EditSessionBuilder {
            fingerprint: TailFingerprint::from_content(path).map_err(Error::reading(path))?,
            lines: LineReader::open(path).map_err(Error::reading(path))?,
            state_lines: SessionStateLines::default(),
            uuids: UuidTable::default(),
        })
    }

    fn finish(self, session: Session) -> EditSession {
        let EditSessionBuilder { lines, fingerprint, state_lines, uuids } = self;
        EditSession { session, state_lines, lines, fingerprint, uuids }
    }
}

impl EntryVisitor for EditSessionBuilder {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, role: EntryRole) {
        self.state_lines.visit_entry(entry, span, role);
        self.uuids.visit_entry(entry, span, role);
    }
}

impl EditSession {
    /// Opens a session file and passes every entry to `visitor`.
    pub(crate) fn open(path: &Path, visitor: &mut impl EntryVisitor) -> Result<EditSession, Error> {
        let mut builder = EditSessionBuilder::open(path)?;
        let session = load(path, LoadOptions::default(), &mut (&mut builder, visitor))?;
        Ok(builder.finish(session))
    }

    /// Opens a session file to append lines to it. Also returns a simulator of appends.
    pub(crate) fn open_for_append(path: &Path) -> Result<(EditSession, AppendSimulator), Error> {
        let mut builder = EditSessionBuilder::open(path)?;
        let (session, tree_builder) = load_with_builder(path, &mut builder)?;
        Ok((builder.finish(session), AppendSimulator(tree_builder)))
    }

    /// Returns the clients to verify against: the one that wrote the session and the newest known one.
    pub(crate) fn clients(&self) -> Vec<Version> {
        list_verified_clients(&self.session.resume_index)
    }

    /// Returns the entry from which the client resumes. Returns [`Error::NothingToLoad`] if there is none, or for the file
    /// of a subagent, which is never resumed.
    pub(crate) fn active_leaf(&self) -> Result<NodeId, Error> {
        let leaf = self.session.active_path().leaf.filter(|_| !self.session.tree.is_sidechain_file());
        leaf.ok_or_else(|| Error::NothingToLoad { path: self.session.path.clone() })
    }

    /// Returns the uuid of a node exactly as the file spells it.
    pub(crate) fn uuid(&self, node_id: NodeId) -> String {
        self.uuids.get(&self.session.tree, node_id)
    }

    /// Reads the bytes of a line from the file.
    pub(crate) fn read_line(&mut self, span: LineSpan) -> Result<Vec<u8>, Error> {
        self.lines.read_span(span).map_err(Error::reading(&self.session.path))
    }

    /// Returns a timestamp for a new line: later than every entry of the session, and not before `now`.
    pub(crate) fn timestamp_after_all(&self, now: Timestamp) -> Timestamp {
        let newest = self.session.tree.nodes().iter().filter_map(Node::time).max();
        newest.map_or(now, |newest| now.max(Timestamp(newest.0.saturating_add(1))))
    }

    /// Simulates a resume from `leaf` with each of [`Self::clients`], with the entries `trailing` below `leaf`. Returns `None`
    /// if a client cannot resume from it.
    pub(crate) fn simulate_loads_at(
        &self,
        leaf: NodeId,
        trailing: TrailingEntries,
    ) -> Option<Vec<ExpectedLoad>> {
        let Session { tree, resume_index, .. } = &self.session;
        ExpectedLoad::try_for_each_client(&self.clients(), |client| {
            let context = simulate_sent_context_at(tree, resume_index, client, leaf, trailing)?;
            Some(ExpectedLoad::from_context(client, tree, &context))
        })
    }

    /// Reads the bytes that were appended to the file after it was opened.
    pub(crate) fn read_appended(&self) -> std::io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = open_content(&self.session.path)?;
        file.seek(SeekFrom::Start(self.fingerprint.len))?;
        let mut appended = Vec::new();
        file.read_to_end(&mut appended)?;
        Ok(appended)
    }

    /// Returns the start of the prompt of the turn of an entry, at most 240 characters. Returns `None` if the entry belongs
    /// to no turn, or if the prompt has no text or cannot be read.
    pub(crate) fn read_prompt_text(&mut self, node_id: NodeId) -> Option<String> {
        let turn = self.session.tree.turn_of(node_id)?;
        match self.session.preview_entry(&mut self.lines, turn).ok()?.preview {
            EntryPreview::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Reads a reference to an entry for display.
    pub(crate) fn read_entry_ref(&mut self, node_id: NodeId) -> EntryRef {
        let turn = self.session.tree.turn_of(node_id);
        let turn_number =
            |turn| self.session.tree.turn_starts().position(|start| start == turn).map(|idx| idx as u32 + 1);
        EntryRef {
            handle: self.session.entry_handle(node_id),
            uuid: self.uuid(node_id),
            line: self.session.tree.node(node_id).span.line,
            turn: turn.and_then(turn_number),
            prompt: self.read_prompt_text(node_id),
        }
    }

    /// Returns the newline that is missing after the last line. Returns an empty slice if none is missing.
    pub(crate) fn missing_newline(&self) -> &'static [u8] {
        if self.fingerprint.unterminated { b"\n" } else { b"" }
    }

    /// Builds the two lines that make clients resume this session from the entry with the uuid `leaf`.
    ///
    /// Metadata is taken from the entry `at`, which is the leaf itself or the entry that the leaf is a copy of.
    pub(crate) fn build_marker_lines(
        &mut self,
        at: NodeId,
        leaf: &str,
        options: MarkerOptions,
    ) -> Result<Vec<u8>, Error> {
        let envelope = Envelope { session: self.session.id.clone(), ..Envelope::default() };
        self.build_marker_lines_in(&envelope, at, leaf, options)
    }

    /// Builds the lines of [`EditSession::build_marker_lines`] for the session of `envelope`.
    pub(crate) fn build_marker_lines_in(
        &mut self,
        envelope: &Envelope,
        at: NodeId,
        leaf: &str,
        options: MarkerOptions,
    ) -> Result<Vec<u8>, Error> {
        let prompt = self.read_prompt_text(at);
        let time = self.timestamp_after_all(options.now);
        let line = self.read_line(self.session.tree.node(at).span)?;
        let version = self.session.resume_index.version().map(str::to_owned);
        let uuid = uuid::Uuid::new_v4().to_string();
        let render = |cwd: Option<&str>, git_branch: Option<&str>, entrypoint: Option<&str>| {
            let marker = ResumeMarker {
                kind: options.kind,
                is_explicit: options.chooser == LeafChooser::ByUser,
                leaf,
                uuid: &uuid,
                session: &envelope.session,
                time: Some(time),
                text: RESUME_MARKER_TEXT,
                prompt: prompt.as_deref(),
                cwd,
                version: version.as_deref(),
                git_branch,
                entrypoint,
            };
            [marker.marker_line(), marker.leaf_pointer_line(), Vec::new()].join(&b'\n')
        };
        let lines = with_entry(&line, |entry| {
            let decode = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
            let (git_branch, entrypoint) = (decode(entry.git_branch), decode(entry.entrypoint));
            let cwd = decode(entry.cwd).map(|cwd| envelope.relocate_path(&cwd).unwrap_or(cwd));
            render(cwd.as_deref(), git_branch.as_deref(), entrypoint.as_deref())
        });
        lines.ok_or_else(|| Error::Changed { path: self.session.path.clone() })
    }
}

impl AppendSimulator {
    /// Parses the file as it would be with `added` appended.
    pub(crate) fn simulate_append(&self, source: &EditSession, added: &[u8]) -> ParsedLines {
        let mut builder = self.0.clone();
        let mut resume_index = source.session.resume_index.clone();
        let bytes = source.session.bytes;
        let lines = u32::try_from(source.session.info.lines).unwrap_or(u32::MAX);
        for_each_entry(added, |entry, span| {
            let span =
                LineSpan { offset: bytes + span.offset, line: lines.saturating_add(span.line), ..span };
            builder.add_and_visit(entry, span, &mut resume_index);
        });
        ParsedLines { tree: builder.finish(), resume_index }
    }
}

impl ParsedLines {
    /// Parses lines that are not in a file yet.
    pub(crate) fn from_bytes(bytes: &[u8]) -> ParsedLines {
        let mut builder = TreeBuilder::default();
        let mut resume_index = ResumeIndex::default();
        for_each_entry(bytes, |entry, span| {
            builder.add_and_visit(entry, span, &mut resume_index);
        });
        ParsedLines { tree: builder.finish(), resume_index }
    }

    /// Parses the content of a session file, which may be in no file, and passes every entry to `visitor`.
    pub(crate) fn read(content: &mut impl Read, visitor: &mut impl EntryVisitor) -> io::Result<ParsedLines> {
        let mut builder = TreeBuilder::default();
        let mut visitors = (ResumeIndex::default(), visitor);
        scan_content(content, |event| {
            if let ScanEvent::Entry(entry, span, is_whole) = event {
                let recovered = if is_whole { None } else { Some(entry.clone().mark_recovered()) };
                builder.add_and_visit(recovered.as_ref().unwrap_or(entry), span, &mut visitors);
            }
        })?;
        Ok(ParsedLines { tree: builder.finish(), resume_index: visitors.0 })
    }

    /// Simulates a resume with the client that wrote the lines and with the newest known one.
    pub(crate) fn verified_loads(&self) -> Vec<ExpectedLoad> {
        self.expected_loads(&list_verified_clients(&self.resume_index))
    }

    /// Simulates a resume with each of `clients`, in their order. A client that fails has an empty path.
    pub(crate) fn expected_loads(&self, clients: &[Version]) -> Vec<ExpectedLoad> {
        let expected_load = |client: &Version| {
            let context = simulate_sent_context(&self.tree, &self.resume_index, client);
            Some(ExpectedLoad::from_context(client, &self.tree, &context))
        };
        ExpectedLoad::try_for_each_client(clients, expected_load).unwrap_or_default()
    }
}

impl ExpectedLoad {
    fn from_context(client: &Version, tree: &Tree, context: &SentContext) -> ExpectedLoad {
        let uuids = |nodes: &[NodeId]| nodes.iter().map(|&node_id| tree.node(node_id).uuid).collect();
        let (path, attached) = (uuids(&context.path), uuids(&context.attached));
        ExpectedLoad { client: client.clone(), path, attached, tokens: context.tokens }
    }

    /// Calls `simulate` once for each set of rules and returns a load for each of `clients`, in their order. Returns `None` if
    /// `simulate` does.
    fn try_for_each_client(
        clients: &[Version],
        simulate: impl Fn(&Version) -> Option<ExpectedLoad>,
    ) -> Option<Vec<ExpectedLoad>> {
        let mut loads: Vec<ExpectedLoad> = Vec::with_capacity(clients.len());
        for client in clients {
            let equal = loads.iter().find(|load| have_same_rules(&load.client, client));
            let load = match equal {
                Some(equal) => ExpectedLoad { client: client.clone(), ..equal.clone() },
                None => simulate(client)?,
            };
            loads.push(load);
        }
        Some(loads)
    }
}

/// Returns the clients to verify against: the one that wrote the lines and the newest known one.
fn list_verified_clients(resume_index: &ResumeIndex) -> Vec<Version> {
    let mut clients = vec![find_client(resume_index)];
    let newest = KNOWN_CLIENTS.last().map(|newest| Version::parse_lenient(newest));
    clients.extend(newest.filter(|newest| *newest != clients[0]));
    clients
}

/// Returns `true` if every client loads exactly the expected entries in the expected order.
pub(crate) fn matches_expected(expected: &[ExpectedLoad], actual: &[ExpectedLoad]) -> bool {
    let mut pairs = expected.iter().zip(actual);
    expected.len() == actual.len() && pairs.all(|(a, b)| a.client == b.client && a.path == b.path)
}

/// Returns `true` if every client also loads exactly the expected queued prompts, notifications and local commands.
pub(crate) fn matches_exactly(expected: &[ExpectedLoad], actual: &[ExpectedLoad]) -> bool {
    let is_same = |(a, b): (&ExpectedLoad, &ExpectedLoad)| a.attached == b.attached;
    matches_expected(expected, actual) && expected.iter().zip(actual).all(is_same)
}

/// Calls `visit` with every entry in `bytes`.
fn for_each_entry(bytes: &[u8], mut visit: impl FnMut(&Entry<'_>, LineSpan)) {
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, problems| {
        entry::read_line(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            visit(&entry, LineSpan { offset, len, line: line.number });
        });
    });
}
