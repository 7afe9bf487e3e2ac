//! The data of each entry that the resume simulation needs in addition to the tree: its blocks, in a few bytes.

use crate::block_table::{BlockTable, ToolCallIds, ToolCallIdx};
use crate::entry::{Block, BlockKind, Content, Entry, EntryRole, Flags, JsonStr, Kind};
use crate::id::Id;
use crate::tree::{EntryVisitor, LineSpan, NodeId};

/// A content block, reduced to the properties that decide whether it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockSummary {
    /// Text as a plain string instead of a list of blocks.
    Plain(TextKind),
    /// A text block.
    Text(TextKind),
    Thinking,
    Call(ToolCallIdx),
    Result(ToolCallIdx),
    /// An image block of this many KiB, rounded down.
    Image(u32),
    Other,
}

/// A classification of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    NonBlank,
    /// Whitespace or the empty string.
    Blank,
    /// `(no content)`.
    Placeholder,
}

/// A `last-prompt` line that points to an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeafPin {
    /// The uuid of the entry that the line points to.
    pub(super) leaf: Id,
    /// The number of entries with a uuid that precede the line, that is, the id of the next node.
    pub(super) node_count: NodeId,
    /// The `node_count` of the last explicit line among the successive lines that point to the same entry. `None` if none of
    /// them is explicit.
    pub(super) explicit_at: Option<NodeId>,
    /// Like `explicit_at`, for lines of a rewind.
    pub(super) rewound_at: Option<NodeId>,
    /// The number of the `last-prompt` line.
    pub(super) line: u32,
}

/// The sizes of an entry with a uuid, and whether it belongs to a local command.
#[derive(Debug, Clone, Copy)]
struct EntryRecord {
    /// The bytes of its message content, images counted as `IMAGE_BYTES`.
    bytes: u32,
    /// The size of the context in tokens that the API reported with the answer. 0 if it reported none.
    context: u32,
    /// Whether the entry is a line of a local command.
    is_local_command: bool,
}

/// The blocks, sizes and resume markers of all entries of a file.
///
/// It must receive the same entries in the same order as the `TreeBuilder`, so that both use the same `NodeId`s.
#[derive(Debug, Clone, Default)]
pub struct ResumeIndex {
    blocks: BlockTable<BlockSummary>,
    entries: Vec<EntryRecord>,
    calls: ToolCallIds,
    pub(super) pin: Option<LeafPin>,
    /// The last summary that points to an entry: the uuid of that entry, and the number of the summary line.
    pub(super) summary: Option<(Id, u32)>,
    /// The numbers of the user and assistant lines without a uuid, except sidechain lines.
    pub(super) missing_uuid: Vec<u32>,
    version: Option<String>,
}

impl ResumeIndex {
    /// Adds the next entry of the file. `span` is the position of its line.
    pub fn add_entry(&mut self, entry: &Entry<'_>, span: LineSpan) {
        if !entry.has_flag(Flags::RECOVERED) {
            self.record_version(entry);
        }
        if entry.uuid.is_some() {
            self.add_blocks(entry, span);
            return;
        }
        match entry.kind {
            Kind::User | Kind::Assistant if !entry.has_flag(Flags::SIDECHAIN) => {
                self.missing_uuid.push(span.line);
            }
            _ if entry.has_flag(Flags::RECOVERED) => {}
            Kind::LastPrompt => {
                // A line without a uuid replaces no pointer; an unknown uuid does.
                if let Some(leaf) = entry.leaf_uuid {
                    self.add_pin(leaf.to_id(), entry, span);
                }
            }
            Kind::Summary => {
                if let Some(leaf) = entry.leaf_uuid {
                    self.summary = Some((leaf.to_id(), span.line));
                }
            }
            _ => {}
        }
    }

    /// Replaces the pointer to the leaf. A line that repeats the pointer keeps it explicit.
    fn add_pin(&mut self, leaf: Id, entry: &Entry<'_>, span: LineSpan) {
        let node_count = self.entries.len() as NodeId;
        let repeated = self.pin.filter(|pin| pin.leaf == leaf);
        let find_place = |flag, repeated| if entry.has_flag(flag) { Some(node_count) } else { repeated };
        self.pin = Some(LeafPin {
            leaf,
            node_count,
            explicit_at: find_place(Flags::EXPLICIT, repeated.and_then(|pin| pin.explicit_at)),
            rewound_at: find_place(Flags::REWOUND, repeated.and_then(|pin| pin.rewound_at)),
            line: span.line,
        });
    }

    fn record_version(&mut self, entry: &Entry<'_>) {
        if let Some(version) = entry.client_version()
            && self.version.as_deref().is_none_or(|last_version| !version.equals(last_version))
        {
            self.version = Some(version.decode().into_owned());
        }
    }

    /// Adds the block summaries and sizes of an entry with a uuid.
    fn add_blocks(&mut self, entry: &Entry<'_>, span: LineSpan) {
        self.blocks.start_node();
        let mut bytes = 0;
        let mut context = 0;
        if let (Kind::User | Kind::Assistant, Some(message)) = (entry.kind, &entry.message) {
            match &message.content {
                Content::None => {}
                Content::Text(text) => {
                    self.blocks.push(BlockSummary::Plain(classify_text(*text)));
                    bytes = text.raw().len();
                }
                Content::Blocks(blocks) => {
                    for block in blocks {
                        let summary = self.summarize_block(block, entry.raw.len(), span);
                        bytes += block_bytes(block);
                        self.blocks.push(summary);
                    }
                }
            }
            if let Some(usage) = message.usage.filter(|_| entry.kind == Kind::Assistant) {
                let counts = [usage.input, usage.cache_write, usage.cache_read, usage.output];
                let tokens = counts.into_iter().fold(0, u64::saturating_add);
                context = u32::try_from(tokens).unwrap_or(u32::MAX);
            }
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let is_local_command = entry.kind == Kind::User && is_local_command(entry);
        self.entries.push(EntryRecord { bytes, context, is_local_command });
    }

    /// Reduces a block to its summary. `read_len` is the length of the line as read, which may be truncated.
    fn summarize_block(&mut self, block: &Block<'_>, read_len: usize, span: LineSpan) -> BlockSummary {
        match block.kind {
            BlockKind::Text => BlockSummary::Text(block.text.map_or(TextKind::Blank, classify_text)),
            BlockKind::Thinking | BlockKind::RedactedThinking => BlockSummary::Thinking,
            BlockKind::ToolUse => BlockSummary::Call(self.intern_call(block.id)),
            BlockKind::ToolResult => BlockSummary::Result(self.intern_call(block.id)),
            BlockKind::Image => {
                // The strings of an overlong line are truncated. Assume that the image made it long.
                let len = if span.len as usize > read_len { span.len as usize } else { block.raw.len() };
                BlockSummary::Image((len / 1024) as u32)
            }
            _ => BlockSummary::Other,
        }
    }

    fn intern_call(&mut self, id: Option<JsonStr<'_>>) -> ToolCallIdx {
        self.calls.intern(id.map_or(Id::NIL, JsonStr::to_id))
    }

    /// Returns the client version of the last undamaged line that has one. Returns `None` if no line has one.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns the summaries of the message blocks of an entry. Empty for entries other than user and assistant lines.
    pub(super) fn blocks(&self, node_id: NodeId) -> &[BlockSummary] {
        self.blocks.blocks_of(node_id)
    }

    /// Returns the bytes of the message content of an entry. An image counts as `IMAGE_BYTES`. 0 for other entries.
    pub(crate) fn text_bytes(&self, node_id: NodeId) -> u64 {
        self.entries.get(node_id as usize).map_or(0, |record| u64::from(record.bytes))
    }

    /// Returns the size of the context in tokens that the API reported with an answer, its output included.
    ///
    /// Returns `None` if the entry is not an assistant line or has no token counts.
    pub(crate) fn context_tokens(&self, node_id: NodeId) -> Option<u64> {
        let context = self.entries.get(node_id as usize)?.context;
        (context > 0).then_some(u64::from(context))
    }

    /// Returns `true` if an entry is a line of a local command: its caveat, its name or its output.
    pub(super) fn is_local_command(&self, node_id: NodeId) -> bool {
        self.entries.get(node_id as usize).is_some_and(|record| record.is_local_command)
    }

    /// Returns the number of distinct tool call ids in calls and results, that is, the bound of `ToolCallIdx`.
    pub(super) fn call_count(&self) -> usize {
        self.calls.len()
    }
}

impl EntryVisitor for ResumeIndex {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add_entry(entry, span);
    }
}

/// The maximum cost of an image in the context, as an equivalent number of text bytes.
pub(crate) const IMAGE_BYTES: usize = 6400;

/// Returns the bytes of a block as written. An image, also one in a tool result, counts as `IMAGE_BYTES` instead.
pub(crate) fn block_bytes(block: &Block<'_>) -> usize {
    match block.kind {
        BlockKind::Image => IMAGE_BYTES,
        // Only an array can contain images, and only a long one would be counted wrongly.
        BlockKind::ToolResult
            if block.raw.len() > IMAGE_BYTES
                && block.body.is_some_and(|body| body.first() == Some(&b'[')) =>
        {
            let result = block.result_content();
            let images = result.blocks().iter().filter(|inner| inner.kind == BlockKind::Image);
            images.fold(block.raw.len(), |bytes, inner| bytes - inner.raw.len() + IMAGE_BYTES)
        }
        _ => block.raw.len(),
    }
}

/// Returns `true` if a text is empty or whitespace only. Texts over 4096 bytes count as not blank.
pub(crate) fn is_blank(text: JsonStr<'_>) -> bool {
    classify_text(text) == TextKind::Blank
}

/// The prefixes of the lines of a local command.
const LOCAL_COMMAND_PREFIXES: [&[u8]; 4] =
    [b"<local-command-caveat>", b"<local-command-stdout>", b"<local-command-stderr>", b"<command-name>"];

/// Returns `true` if the first text of the message starts like a line of a local command.
fn is_local_command(entry: &Entry<'_>) -> bool {
    let first = entry.message.as_ref().and_then(|message| message.content.texts().next());
    first.is_some_and(|text| LOCAL_COMMAND_PREFIXES.iter().any(|start| text.raw().starts_with(start)))
}

/// Classifies a text after trimming whitespace and byte order marks. Texts over 4096 bytes are `NonBlank`.
fn classify_text(text: JsonStr<'_>) -> TextKind {
    let raw = text.raw();
    // Nearly all texts start with neither whitespace nor an escape nor a bracket.
    match raw.first() {
        Some(b' ' | b'\t' | b'\\' | b'(' | 0x80..) | None => {}
        Some(_) => return TextKind::NonBlank,
    }
    if raw.len() > 4096 {
        return TextKind::NonBlank;
    }
    let decoded = text.decode();
    let trimmed = decoded.trim_matches(|c: char| c.is_whitespace() && c != '\u{85}' || c == '\u{feff}');
    match trimmed {
        "" => TextKind::Blank,
        "(no content)" => TextKind::Placeholder,
        _ => TextKind::NonBlank,
    }
}
