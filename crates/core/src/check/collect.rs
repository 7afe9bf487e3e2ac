//! The fold: what the findings need of each entry beside tree and facts.

use xxhash_rust::xxh3::Xxh3;

use super::image::{Format, sniff_image};
use super::size::SizeBreakdown;
use crate::entry::{Block, BlockKind, Content, Entry, JsonStr, Kind, member};
use crate::id::{Id, IdMap};
use crate::problem::DuplicateUuid;
use crate::tree::{LineSpan, NodeId, Tree};

/// Tokens that most models take.
pub(super) const WINDOW: u64 = 200_000;

/// A block that may be refused, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockLocation<T> {
    pub(super) node: NodeId,
    pub(super) block: u16,
    pub(super) inner: Option<u16>,
    pub(super) what: T,
}

/// How a thought is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    Unsigned,
    Emptied,
}

/// A picture, as far as its beginning tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Picture {
    /// Bytes of base64.
    pub(super) bytes: u64,
    pub(super) says: Format,
    pub(super) is: Format,
    pub(super) size: Option<(u32, u32)>,
}

/// Takes entries in file order, beside a `Weaver`: those that a client can read.
#[derive(Debug, Default)]
pub struct CheckCollector {
    /// By node: a hash of what is said.
    contents: Vec<u64>,
    /// By node: the session that the line names, and whether it says that it was copied.
    sessions: Vec<(u16, bool)>,
    known: IdMap<u16>,
    pub(super) thoughts: Vec<BlockLocation<Thought>>,
    pub(super) pictures: Vec<BlockLocation<Picture>>,
    /// Records that clients do not read, because their line is damaged.
    aside: Vec<LineSpan>,
    /// The largest context that the API counted.
    largest: u64,
    /// Whether a model says that it takes a million tokens.
    long: bool,
    weight: SizeBreakdown,
}

impl CheckCollector {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        let node = self.contents.len() as NodeId;
        let pictures = self.blocks(entry, place, node);
        self.weight.add(entry, place, pictures);
        if entry.uuid.is_none() {
            return;
        }
        self.contents.push(content_hash(entry));
        let next = u16::try_from(self.known.len() + 1).unwrap_or(u16::MAX);
        let session = entry.session.map_or(0, |session| *self.known.entry(session.id()).or_insert(next));
        self.sessions.push((session, entry.forked_from.is_some()));
        if let Some(message) = entry.message.as_ref().filter(|_| entry.kind == Kind::Assistant) {
            if let Some(usage) = message.usage {
                self.largest = self.largest.max(usage.input + usage.cache_write + usage.cache_read);
            }
            self.long |=
                message.model.is_some_and(|model| memchr::memmem::find(model.raw(), b"[1m]").is_some());
        }
    }

    /// Takes a record that was salvaged from a damaged line: clients pass over it.
    pub fn add_recovered(&mut self, place: LineSpan) {
        self.aside.push(place);
    }

    /// Takes the tree and the size of the file, once all entries were taken.
    pub fn finish(&mut self, tree: &Tree, bytes: u64) {
        self.weight.fill(bytes);
        let same = tree.repeats.iter().filter(|(.., how)| *how == DuplicateUuid::Same);
        self.weight.repeated = same.map(|&(no, ..)| u64::from(tree.node(no).place.len) + 1).sum();
    }

    /// Returns where the bytes are.
    pub fn weight(&self) -> SizeBreakdown {
        self.weight
    }

    /// Returns the records that can be salvaged from damaged lines, in the order of the file.
    pub fn salvage(&self) -> &[LineSpan] {
        &self.aside
    }

    /// Returns how many tokens the model takes, as far as the file tells.
    pub fn window(&self) -> u64 {
        if self.long || self.largest > WINDOW { 1_000_000 } else { WINDOW }
    }

    pub(super) fn content(&self, node: NodeId) -> u64 {
        self.contents.get(node as usize).copied().unwrap_or(0)
    }

    /// Whether a line names the session, another one, or none; a line that says it was copied names none.
    pub(super) fn is_of(&self, node: NodeId, session: Id) -> Option<bool> {
        let &(named, copied) = self.sessions.get(node as usize)?;
        (named != 0 && !copied).then(|| self.known.get(&session) == Some(&named))
    }

    /// Looks at the blocks; returns how many bytes of pictures there are.
    fn blocks(&mut self, entry: &Entry<'_>, place: LineSpan, node: NodeId) -> u64 {
        let Some(message) = &entry.message else {
            return 0;
        };
        let mut pictures = 0;
        let before = self.pictures.len();
        for (k, block) in message.content.blocks().iter().enumerate() {
            let at = u16::try_from(k).unwrap_or(u16::MAX);
            match block.kind {
                BlockKind::Thinking => {
                    let what = match block.words {
                        _ if !block.signed => Thought::Unsigned,
                        Some(words) if !words.is_empty() => continue,
                        _ => Thought::Emptied,
                    };
                    self.thoughts.push(BlockLocation { node, block: at, inner: None, what });
                }
                BlockKind::Image => {
                    pictures += block.raw.len() as u64;
                    self.picture(block, node, at, None);
                }
                // A plain string holds no pictures; nor does a list that never says the word.
                BlockKind::ToolResult if block.body.is_some_and(may_show) => {
                    let Content::Blocks(inner) = block.result() else { continue };
                    for (j, image) in inner.iter().enumerate().filter(|(_, b)| b.kind == BlockKind::Image) {
                        pictures += image.raw.len() as u64;
                        self.picture(image, node, at, Some(u16::try_from(j).unwrap_or(u16::MAX)));
                    }
                }
                _ => {}
            }
        }
        if entry.uuid.is_none() {
            self.pictures.truncate(before);
        }
        self.lengthen(entry, place, before);
        pictures
    }

    /// Gives pictures of a line too long to hold back what was cut out of them.
    fn lengthen(&mut self, entry: &Entry<'_>, place: LineSpan, from: usize) {
        let cut = u64::from(place.len).saturating_sub(entry.raw.len() as u64);
        let pictures = &mut self.pictures[from..];
        if cut == 0 || pictures.is_empty() {
            return;
        }
        // What a tool shows stands in the line twice.
        let copies = if entry.tool_use_result.is_some() { 2 } else { 1 };
        let share = cut / (copies * pictures.len() as u64);
        pictures.iter_mut().for_each(|picture| picture.what.bytes += share);
    }

    fn picture(&mut self, block: &Block<'_>, node: NodeId, at: u16, inner: Option<u16>) {
        let source = block.body.unwrap_or_default();
        let Some(data) = member(source, "data").and_then(JsonStr::of_value) else {
            return;
        };
        let says = member(source, "media_type").and_then(JsonStr::of_value);
        let says = says.map_or(Format::Other, |says| Format::named(&says.decode()));
        // Base64 needs no escapes, but a writer may have put some.
        let plain = memchr::memchr(b'\\', data.raw()).is_none();
        let (is, size) = if plain { sniff_image(data.raw()) } else { sniff_image(data.decode().as_bytes()) };
        let what = Picture { bytes: data.raw().len() as u64, says, is, size };
        self.pictures.push(BlockLocation { node, block: at, inner, what });
    }
}

fn may_show(body: &[u8]) -> bool {
    body.first() == Some(&b'[') && memchr::memmem::find(body, b"\"image\"").is_some()
}

/// Hashes what a line says, its kind included.
fn content_hash(entry: &Entry<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(entry.kind.name().as_bytes());
    match entry.message.as_ref().map(|message| &message.content) {
        Some(Content::Text(text)) => hash.update(text.raw()),
        Some(Content::Blocks(blocks)) => blocks.iter().for_each(|block| hash.update(block.raw)),
        _ => hash.update(entry.content.or(entry.payload).unwrap_or_default()),
    }
    hash.digest()
}
