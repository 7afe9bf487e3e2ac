//! Collects the data that the checks need in addition to the tree and the resume index.

use xxhash_rust::xxh3::Xxh3;

use super::image::{ImageFormat, sniff_image};
use super::size::SizeBreakdown;
use crate::entry::{Block, BlockKind, Content, Entry, EntryRole, JsonStr, Kind, find_member};
use crate::id::{Id, IdMap};
use crate::problem::DuplicateUuid;
use crate::tree::{EntryVisitor, LineSpan, NodeId, Tree};

/// The context window of most models, in tokens.
pub(super) const DEFAULT_WINDOW: u64 = 200_000;

/// A value with the location of its block: the entry, the index of the block, and the index of a block inside of it if
/// that is a tool result.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockLocation<T> {
    pub(super) node: NodeId,
    pub(super) block: u16,
    pub(super) inner: Option<u16>,
    pub(super) value: T,
}

/// A defect of a thinking block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingIssue {
    /// The block has no signature.
    Unsigned,
    /// The block has a signature but no text.
    Emptied,
}

/// The properties of an image that can be read from its first bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageInfo {
    /// The length of the base64 data.
    pub(super) bytes: u64,
    /// The format that the media type states.
    pub(super) declared: ImageFormat,
    /// The format of the data.
    pub(super) actual: ImageFormat,
    /// Width and height in pixels. `None` if the first bytes do not contain them.
    pub(super) size: Option<(u32, u32)>,
}

/// Collects data from entries in file order. Runs next to a `TreeBuilder` and gets only entries that clients
/// can read.
#[derive(Debug, Default)]
pub struct CheckCollector {
    /// A hash of the content of each node.
    content_hashes: Vec<u64>,
    /// For each node, the number of the session that the line names (0 for none), and whether the line states that it
    /// was copied.
    sessions: Vec<(u16, bool)>,
    /// The number of each session id, from 1 in the order of the file.
    session_numbers: IdMap<u16>,
    pub(super) thinking_issues: Vec<BlockLocation<ThinkingIssue>>,
    pub(super) images: Vec<BlockLocation<ImageInfo>>,
    /// Records in damaged lines, which clients do not read.
    recovered: Vec<LineSpan>,
    /// The largest context reported by the API, in tokens.
    max_context: u64,
    /// Whether a model name indicates a context window of a million tokens.
    has_long_context: bool,
    sizes: SizeBreakdown,
    /// The number of entries, with those that have no uuid and those that were recovered.
    entry_count: usize,
}

impl CheckCollector {
    /// Adds the next entry.
    pub fn add_entry(&mut self, entry: &Entry<'_>, span: LineSpan) {
        self.entry_count += 1;
        let node = self.content_hashes.len() as NodeId;
        let images = self.add_blocks(entry, span, node);
        self.sizes.add_entry(entry, span, images);
        if entry.uuid.is_none() {
            return;
        }
        self.content_hashes.push(hash_content(entry));
        let next_number = u16::try_from(self.session_numbers.len() + 1).unwrap_or(u16::MAX);
        let session = entry
            .session_id
            .map_or(0, |session| *self.session_numbers.entry(session.to_id()).or_insert(next_number));
        self.sessions.push((session, entry.forked_from.is_some()));
        if let Some(message) = entry.message.as_ref().filter(|_| entry.kind == Kind::Assistant) {
            if let Some(usage) = message.usage {
                self.max_context = self.max_context.max(usage.input + usage.cache_write + usage.cache_read);
            }
            self.has_long_context |=
                message.model.is_some_and(|model| memchr::memmem::find(model.raw(), b"[1m]").is_some());
        }
    }

    /// Adds a record that was recovered from a damaged line. Clients do not read it.
    pub fn add_recovered(&mut self, span: LineSpan) {
        self.entry_count += 1;
        self.recovered.push(span);
    }

    /// Returns `true` if no line contains an entry.
    pub(super) fn is_empty(&self) -> bool {
        self.entry_count == 0
    }

    /// Completes the size breakdown after the last entry. `file_size` is in bytes.
    pub fn finish(&mut self, tree: &Tree, file_size: u64) {
        self.sizes.add_unread(file_size);
        let same_content = tree.duplicates.iter().filter(|(.., how)| *how == DuplicateUuid::SameContent);
        self.sizes.repeated =
            same_content.map(|&(node_id, ..)| u64::from(tree.node(node_id).span.len) + 1).sum();
    }

    /// Returns the bytes of the file by category.
    pub fn size_breakdown(&self) -> SizeBreakdown {
        self.sizes
    }

    /// Returns the records that can be recovered from damaged lines, in file order.
    pub fn recovered_spans(&self) -> &[LineSpan] {
        &self.recovered
    }

    /// Returns the context window of the model in tokens: a million if a model name or a reported context indicates it,
    /// else 200,000.
    pub fn context_window(&self) -> u64 {
        if self.has_long_context || self.max_context > DEFAULT_WINDOW { 1_000_000 } else { DEFAULT_WINDOW }
    }

    /// Returns the hash of the kind and the content of a node. Returns 0 if the node is unknown.
    pub(super) fn content_hash_of(&self, node: NodeId) -> u64 {
        self.content_hashes.get(node as usize).copied().unwrap_or(0)
    }

    /// Returns whether a line names this session. Returns `None` if it names no session or states that it was copied.
    pub(super) fn names_session(&self, node: NodeId, session: Id) -> Option<bool> {
        let &(named, copied) = self.sessions.get(node as usize)?;
        (named != 0 && !copied).then(|| self.session_numbers.get(&session) == Some(&named))
    }

    /// Collects the thinking issues and images of an entry. Returns the length of its image blocks in bytes.
    fn add_blocks(&mut self, entry: &Entry<'_>, span: LineSpan, node: NodeId) -> u64 {
        let Some(message) = &entry.message else {
            return 0;
        };
        let mut images = 0;
        let first_image = self.images.len();
        for (idx, block) in message.content.blocks().iter().enumerate() {
            let block_idx = u16::try_from(idx).unwrap_or(u16::MAX);
            match block.kind {
                BlockKind::Thinking => {
                    let value = match block.text {
                        _ if !block.signed => ThinkingIssue::Unsigned,
                        Some(text) if !text.is_empty() => continue,
                        _ => ThinkingIssue::Emptied,
                    };
                    self.thinking_issues.push(BlockLocation { node, block: block_idx, inner: None, value });
                }
                BlockKind::Image => {
                    images += block.raw.len() as u64;
                    self.add_image(block, node, block_idx, None);
                }
                // A plain string contains no images, nor does a list without the word.
                BlockKind::ToolResult if block.body.is_some_and(may_contain_image) => {
                    let Content::Blocks(inner) = block.result_content() else { continue };
                    for (inner_idx, image) in
                        inner.iter().enumerate().filter(|(_, b)| b.kind == BlockKind::Image)
                    {
                        images += image.raw.len() as u64;
                        self.add_image(
                            image,
                            node,
                            block_idx,
                            Some(u16::try_from(inner_idx).unwrap_or(u16::MAX)),
                        );
                    }
                }
                _ => {}
            }
        }
        if entry.uuid.is_none() {
            self.images.truncate(first_image);
        }
        self.add_truncated_bytes(entry, span, first_image);
        images
    }

    /// Distributes the bytes that are missing from a truncated line equally among its images, which are those from
    /// index `first_image` on.
    fn add_truncated_bytes(&mut self, entry: &Entry<'_>, span: LineSpan, first_image: usize) {
        let truncated_bytes = u64::from(span.len).saturating_sub(entry.raw.len() as u64);
        let images = &mut self.images[first_image..];
        if truncated_bytes == 0 || images.is_empty() {
            return;
        }
        // A line contains the image of a tool result twice.
        let copies = if entry.tool_use_result.is_some() { 2 } else { 1 };
        let bytes_each = truncated_bytes / (copies * images.len() as u64);
        images.iter_mut().for_each(|image| image.value.bytes += bytes_each);
    }

    /// Records the format and the size of an image. Skips images without base64 data in the line.
    fn add_image(&mut self, block: &Block<'_>, node: NodeId, block_idx: u16, inner: Option<u16>) {
        let source = block.body.unwrap_or_default();
        let Some(data) = find_member(source, "data").and_then(JsonStr::from_value) else {
            return;
        };
        let declared = find_member(source, "media_type").and_then(JsonStr::from_value);
        let declared =
            declared.map_or(ImageFormat::Other, |declared| ImageFormat::from_media_type(&declared.decode()));
        // Base64 needs no escapes, but the writer may have used some.
        let is_unescaped = memchr::memchr(b'\\', data.raw()).is_none();
        let (actual, size) =
            if is_unescaped { sniff_image(data.raw()) } else { sniff_image(data.decode().as_bytes()) };
        let value = ImageInfo { bytes: data.raw().len() as u64, declared, actual, size };
        self.images.push(BlockLocation { node, block: block_idx, inner, value });
    }
}

impl EntryVisitor for CheckCollector {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add_entry(entry, span);
    }
}

fn may_contain_image(body: &[u8]) -> bool {
    body.first() == Some(&b'[') && memchr::memmem::find(body, b"\"image\"").is_some()
}

/// Hashes the kind and the content of a line.
fn hash_content(entry: &Entry<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(entry.kind.name().as_bytes());
    match entry.message.as_ref().map(|message| &message.content) {
        Some(Content::Text(text)) => hash.update(text.raw()),
        Some(Content::Blocks(blocks)) => blocks.iter().for_each(|block| hash.update(block.raw)),
        _ => hash.update(entry.content.or(entry.payload).unwrap_or_default()),
    }
    hash.digest()
}
