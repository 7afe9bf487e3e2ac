//! Short previews of entries, read from disk on demand.

use std::collections::HashMap;

use rethread_core::entry::{self, EntryRole, value_text};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::tree::{EntryVisitor, LineSpan, NodeId, Tree};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::load::Session;
use crate::Error;
use crate::disk::LineReader;

/// The maximum number of characters of a preview.
const MAX_PREVIEW_CHARS: usize = 240;

/// A short preview of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EntryPreview {
    /// Text of at most 240 characters.
    Text(String),
    /// The media type of an image or document without text.
    Media(String),
    /// Thinking of at most 240 characters. Empty if the file has only the signature.
    Thinking(String),
    /// A tool call.
    ToolCall(Box<ToolCall>),
    /// A compaction: trigger, tokens before and after.
    Compaction(String, Option<u64>, Option<u64>),
    /// The entry has no content to show.
    #[default]
    Empty,
}

/// An entry with its preview.
#[derive(Debug, Clone, Default)]
pub struct PreviewedEntry {
    /// The uuid. Empty if the entry has none.
    pub uuid: String,
    /// The subtype of a system line, or the kind of an attachment or progress line. Else empty.
    pub subtype: String,
    /// The preview of its text, call or media.
    pub preview: EntryPreview,
}

/// The uuids exactly as the file spells them. Nearly all can be derived from the node; the others are stored.
#[derive(Debug, Default)]
pub(crate) struct UuidTable {
    non_standard: HashMap<NodeId, String>,
    next_node: NodeId,
}

impl EntryVisitor for UuidTable {
    fn visit_entry(&mut self, entry: &entry::Entry<'_>, _: LineSpan, _: EntryRole) {
        let Some(uuid) = entry.uuid else { return };
        if !Id::is_uuid(uuid.raw()) {
            self.non_standard.insert(self.next_node, uuid.decode().into_owned());
        }
        self.next_node += 1;
    }
}

impl UuidTable {
    /// Returns the uuid of a node exactly as the file spells it.
    pub(crate) fn get(&self, tree: &Tree, node_id: NodeId) -> String {
        self.non_standard.get(&node_id).cloned().unwrap_or_else(|| tree.node(node_id).uuid.to_hyphenated())
    }
}

impl Session {
    /// Returns a name by which [`Session::find_entry`] finds the node: its line (`L118`), or its uuid if it is not the first
    /// entry of the line.
    pub fn entry_handle(&self, node_id: NodeId) -> String {
        let nodes = self.tree.nodes();
        let (idx, line) = (node_id as usize, nodes[node_id as usize].span.line);
        // If two entries are on one line, the line number names the first.
        let is_first = idx.checked_sub(1).is_none_or(|before| nodes[before].span.line != line);
        if is_first {
            return format!("L{line}");
        }
        nodes[idx].uuid.to_hyphenated()
    }

    /// Reads an entry from the file and builds its preview. Returns an error if its line cannot be read or has no entry.
    pub(crate) fn preview_entry(
        &self,
        lines: &mut LineReader,
        node_id: NodeId,
    ) -> Result<PreviewedEntry, Error> {
        let span = self.tree.node(node_id).span;
        let bytes = lines.read_truncated(span).map_err(Error::reading(&self.path))?;
        let line = Line { number: span.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut previewed = None;
        entry::read_line(&line, &mut Vec::new(), |entry, _| {
            let decode = |text: Option<entry::JsonStr<'_>>| {
                text.map(|text| text.decode().into_owned()).unwrap_or_default()
            };
            let preview = match (build_preview(&entry, span.line), entry.content) {
                (EntryPreview::Empty, Some(content)) => preview_text(&value_text(content)),
                (preview, _) => preview,
            };
            previewed.get_or_insert(PreviewedEntry {
                uuid: decode(entry.uuid),
                subtype: decode(entry.subtype.or(entry.payload_type)),
                preview,
            });
        });
        previewed.ok_or_else(|| Error::Changed { path: self.path.clone() })
    }
}

/// Builds the preview of the prompt, or of the first part that is not empty. Prefers any other part to thinking.
fn build_preview(entry: &entry::Entry<'_>, line: u32) -> EntryPreview {
    let turn = build_turn(&[(line, entry.clone())]);
    if let Some(prompt) = turn.prompt {
        return match (preview_text(&prompt.text), prompt.media.into_iter().next()) {
            (EntryPreview::Empty, Some(media)) => EntryPreview::Media(media.kind),
            (preview, _) => preview,
        };
    }
    let mut previews = turn
        .parts
        .into_iter()
        .map(|part| preview_part(part.part))
        .filter(|preview| *preview != EntryPreview::Empty);
    // Text is preferred to thinking, regardless of the order.
    let first = previews.next().unwrap_or_default();
    match first {
        EntryPreview::Thinking(_) => {
            previews.find(|preview| !matches!(preview, EntryPreview::Thinking(_))).unwrap_or(first)
        }
        first => first,
    }
}

/// Builds the preview of one part of a turn. A result without its call is shown as text.
fn preview_part(part: TurnPart) -> EntryPreview {
    match part {
        TurnPart::Thinking(text) => match preview_text(&text) {
            EntryPreview::Text(text) => EntryPreview::Thinking(text),
            _ => EntryPreview::Thinking(String::new()),
        },
        TurnPart::Tool(call) if call.name.is_empty() => match call.result {
            Some(result) => preview_text(&result.text),
            None => EntryPreview::Empty,
        },
        TurnPart::Tool(call) => EntryPreview::ToolCall(call),
        TurnPart::Compaction { trigger, before, after, .. } => {
            EntryPreview::Compaction(trigger, before, after)
        }
        TurnPart::Other(text) => preview_text(&text),
        part => preview_text(part.text().unwrap_or_default()),
    }
}

/// Returns the first 240 characters of a trimmed text.
fn preview_text(text: &str) -> EntryPreview {
    let text = text.trim();
    let end = text.char_indices().nth(MAX_PREVIEW_CHARS).map_or(text.len(), |(at, _)| at);
    if text.is_empty() { EntryPreview::Empty } else { EntryPreview::Text(text[..end].to_owned()) }
}
