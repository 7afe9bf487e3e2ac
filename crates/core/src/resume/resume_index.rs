//! What resume needs of each entry beside the tree: its blocks, in a few bytes.

use std::collections::hash_map::Entry as Slot;

use crate::entry::{Block, BlockKind, Content, Entry, Flags, JsonStr, Kind};
use crate::id::{Id, IdMap};
use crate::tree::{LineSpan, NodeId};

/// The number of a tool call, by its id.
pub(super) type CallNo = u32;

/// A content block, as far as it decides what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockSummary {
    /// Words; a plain string and not a list of blocks.
    Plain(Words),
    /// Words in a list.
    Text(Words),
    Thinking,
    Call(CallNo),
    Result(CallNo),
    /// A picture of so many kilobytes.
    Picture(u32),
    Other,
}

/// What words there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    Some,
    /// White space, or nothing at all.
    Blank,
    /// `(no content)`.
    Placeholder,
}

/// A `last-prompt` line that names an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pin {
    pub(super) leaf: Id,
    pub(super) explicit: bool,
    /// How many entries with a uuid stand before it.
    pub(super) behind: NodeId,
    pub(super) line: u32,
}

/// What one entry with a uuid holds.
#[derive(Debug, Clone, Copy)]
struct EntryBlocks {
    /// Where its pieces begin.
    start: u32,
    /// Bytes of what is said.
    bytes: u32,
    /// Tokens of the context when the answer was made, as the API counted them.
    context: u32,
    /// Whether it is a line of a local command.
    local: bool,
}

/// Takes entries in file order, beside a `Weaver`.
#[derive(Debug, Clone, Default)]
pub struct ResumeIndex {
    pieces: Vec<BlockSummary>,
    held: Vec<EntryBlocks>,
    calls: IdMap<CallNo>,
    pub(super) pin: Option<Pin>,
    /// The last summary and the entry it names.
    pub(super) summary: Option<(Id, u32)>,
    /// Lines of user and assistant that have no uuid.
    pub(super) missing_uuid: Vec<u32>,
    version: Option<String>,
}

impl ResumeIndex {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        if !entry.is(Flags::SALVAGED) {
            self.note_version(entry);
        }
        if entry.uuid.is_some() {
            self.hold(entry, place);
            return;
        }
        match entry.kind {
            Kind::User | Kind::Assistant if !entry.is(Flags::SIDECHAIN) => self.missing_uuid.push(place.line),
            _ if entry.is(Flags::SALVAGED) => {}
            Kind::LastPrompt => {
                // Any later line takes the place of the pin, also one that names nothing.
                self.pin = entry.leaf.map(|leaf| Pin {
                    leaf: leaf.id(),
                    explicit: entry.is(Flags::EXPLICIT),
                    behind: self.held.len() as NodeId,
                    line: place.line,
                });
            }
            Kind::Summary => {
                if let Some(leaf) = entry.leaf {
                    self.summary = Some((leaf.id(), place.line));
                }
            }
            _ => {}
        }
    }

    fn note_version(&mut self, entry: &Entry<'_>) {
        if let Some(version) = entry.version
            && self.version.as_deref().is_none_or(|known| !version.is(known))
        {
            self.version = Some(version.decode().into_owned());
        }
    }

    fn hold(&mut self, entry: &Entry<'_>, place: LineSpan) {
        let start = self.pieces.len() as u32;
        let mut bytes = 0;
        let mut context = 0;
        if let (Kind::User | Kind::Assistant, Some(message)) = (entry.kind, &entry.message) {
            match &message.content {
                Content::None => {}
                Content::Text(text) => {
                    self.pieces.push(BlockSummary::Plain(words(*text)));
                    bytes = text.raw().len();
                }
                Content::Blocks(blocks) => {
                    for block in blocks {
                        let piece = self.piece(block, entry.raw.len(), place);
                        bytes += said_in(block);
                        self.pieces.push(piece);
                    }
                }
            }
            if let Some(usage) = message.usage.filter(|_| entry.kind == Kind::Assistant) {
                let kinds = [usage.input, usage.cache_write, usage.cache_read, usage.output];
                let tokens = kinds.into_iter().fold(0, u64::saturating_add);
                context = u32::try_from(tokens).unwrap_or(u32::MAX);
            }
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let local = entry.kind == Kind::User && is_local(entry);
        self.held.push(EntryBlocks { start, bytes, context, local });
    }

    fn piece(&mut self, block: &Block<'_>, read: usize, place: LineSpan) -> BlockSummary {
        match block.kind {
            BlockKind::Text => BlockSummary::Text(block.words.map_or(Words::Blank, words)),
            BlockKind::Thinking | BlockKind::RedactedThinking => BlockSummary::Thinking,
            BlockKind::ToolUse => BlockSummary::Call(self.call(block.id)),
            BlockKind::ToolResult => BlockSummary::Result(self.call(block.id)),
            BlockKind::Image => {
                // A line too long to hold was shortened: then the picture is what made it long.
                let len = if place.len as usize > read { place.len as usize } else { block.raw.len() };
                BlockSummary::Picture((len / 1024) as u32)
            }
            _ => BlockSummary::Other,
        }
    }

    fn call(&mut self, id: Option<JsonStr<'_>>) -> CallNo {
        let next = self.calls.len() as CallNo;
        match self.calls.entry(id.map_or(Id::NIL, JsonStr::id)) {
            Slot::Occupied(known) => *known.get(),
            Slot::Vacant(free) => *free.insert(next),
        }
    }

    /// Returns the client that wrote the last line that names one.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the blocks of an entry.
    pub(super) fn pieces(&self, no: NodeId) -> &[BlockSummary] {
        let no = no as usize;
        let end = self.held.get(no + 1).map_or(self.pieces.len(), |next| next.start as usize);
        self.held.get(no).map_or(&[], |holding| &self.pieces[holding.start as usize..end])
    }

    /// Returns how many bytes an entry says.
    pub(crate) fn bytes(&self, no: NodeId) -> u64 {
        self.held.get(no as usize).map_or(0, |holding| u64::from(holding.bytes))
    }

    /// Returns the tokens of the context behind an answer, as the API counted them.
    pub(crate) fn context(&self, no: NodeId) -> Option<u64> {
        let context = self.held.get(no as usize)?.context;
        (context > 0).then_some(u64::from(context))
    }

    /// Whether an entry is a line of a local command: its caveat, its name or what it printed.
    pub(super) fn is_local(&self, no: NodeId) -> bool {
        self.held.get(no as usize).is_some_and(|holding| holding.local)
    }

    /// Returns how many calls there are.
    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }
}

/// What a picture costs at most.
pub(crate) const PICTURE: usize = 6400;

/// How many bytes a block says: a picture counts as what it costs at most, and not as its data.
pub(crate) fn said_in(block: &Block<'_>) -> usize {
    match block.kind {
        BlockKind::Image => PICTURE,
        // Only a list can hold pictures, and only a long one is wrongly counted by its bytes.
        BlockKind::ToolResult
            if block.raw.len() > PICTURE && block.body.is_some_and(|body| body.first() == Some(&b'[')) =>
        {
            let result = block.result();
            let pictures = result.blocks().iter().filter(|inside| inside.kind == BlockKind::Image);
            pictures.fold(block.raw.len(), |bytes, inside| bytes - inside.raw.len() + PICTURE)
        }
        _ => block.raw.len(),
    }
}

/// Whether a text has no words.
pub(crate) fn is_blank(text: JsonStr<'_>) -> bool {
    words(text) == Words::Blank
}

/// How the lines of a local command begin.
const LOCAL: [&[u8]; 4] =
    [b"<local-command-caveat>", b"<local-command-stdout>", b"<local-command-stderr>", b"<command-name>"];

fn is_local(entry: &Entry<'_>) -> bool {
    let first = entry.message.as_ref().and_then(|message| message.content.texts().next());
    first.is_some_and(|text| LOCAL.iter().any(|start| text.raw().starts_with(start)))
}

fn words(text: JsonStr<'_>) -> Words {
    let raw = text.raw();
    // Nearly all words begin with what is neither white space nor an escape nor a bracket.
    match raw.first() {
        Some(b' ' | b'\t' | b'\\' | b'(' | 0x80..) | None => {}
        Some(_) => return Words::Some,
    }
    if raw.len() > 4096 {
        return Words::Some;
    }
    let decoded = text.decode();
    let trimmed = decoded.trim_matches(|c: char| c.is_whitespace() && c != '\u{85}' || c == '\u{feff}');
    match trimmed {
        "" => Words::Blank,
        "(no content)" => Words::Placeholder,
        _ => Words::Some,
    }
}
