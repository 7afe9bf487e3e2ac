//! One entry in a few words, read from disk when it is shown.

use std::collections::HashMap;

use rethread_core::entry::{self, value_text};
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::tree::{NodeId, Tree};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::load::Session;
use crate::Error;
use crate::disk::LineReader;

/// Longest text that is kept of an entry.
const LONGEST: usize = 240;

/// What an entry says, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EntryPreview {
    /// Words, cut where they are long.
    Words(String),
    /// A picture or document without words, as media type.
    Media(String),
    /// Thoughts, cut where they are long; empty where only the signature was kept.
    Thinking(String),
    /// A call of a tool.
    Call(Box<ToolCall>),
    /// The context was compacted: trigger, tokens before and after.
    Compaction(String, Option<u64>, Option<u64>),
    /// Nothing that a reader could use.
    #[default]
    Nothing,
}

/// An entry, read.
#[derive(Debug, Clone, Default)]
pub struct PreviewedEntry {
    /// Its uuid.
    pub uuid: String,
    /// The subtype of a system line, or the kind of an attachment or progress line.
    pub subtype: String,
    /// What it says.
    pub gist: EntryPreview,
}

/// Uuids as they are written: nearly all can be told from their keys, the others are kept.
#[derive(Debug, Default)]
pub(crate) struct Uuids {
    odd: HashMap<NodeId, String>,
    nodes: NodeId,
}

impl Uuids {
    /// Takes the next entry of the file.
    pub(crate) fn add(&mut self, entry: &entry::Entry<'_>) {
        let Some(uuid) = entry.uuid else { return };
        if !Id::is_uuid(uuid.raw()) {
            self.odd.insert(self.nodes, uuid.decode().into_owned());
        }
        self.nodes += 1;
    }

    /// Returns the uuid of a node.
    pub(crate) fn of(&self, tree: &Tree, no: NodeId) -> String {
        self.odd.get(&no).cloned().unwrap_or_else(|| tree.node(no).id.hyphenated())
    }
}

impl Session {
    /// Names a node so that [`Session::entry`] finds it.
    pub fn handle(&self, no: NodeId) -> String {
        let nodes = self.tree.nodes();
        let (k, line) = (no as usize, nodes[no as usize].place.line);
        // Two entries may stand on one line, which then names the first.
        let is_first = k.checked_sub(1).is_none_or(|before| nodes[before].place.line != line);
        if is_first {
            return format!("L{line}");
        }
        nodes[k].id.hyphenated()
    }

    /// Reads an entry again and says it in short.
    pub(crate) fn said(&self, lines: &mut LineReader, no: NodeId) -> Result<PreviewedEntry, Error> {
        let place = self.tree.node(no).place;
        let bytes = lines.read(place).map_err(Error::reading(&self.path))?;
        let line = Line { no: place.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut said = None;
        entry::read(&line, &mut Vec::new(), |entry, _| {
            let text = |text: Option<entry::JsonStr<'_>>| {
                text.map(|text| text.decode().into_owned()).unwrap_or_default()
            };
            let gist = match (gist(&entry, place.line), entry.content) {
                (EntryPreview::Nothing, Some(content)) => words(&value_text(content)),
                (gist, _) => gist,
            };
            said.get_or_insert(PreviewedEntry {
                uuid: text(entry.uuid),
                subtype: text(entry.subtype.or(entry.part)),
                gist,
            });
        });
        said.ok_or_else(|| Error::Changed { path: self.path.clone() })
    }
}

fn gist(entry: &entry::Entry<'_>, line: u32) -> EntryPreview {
    let turn = build_turn(&[(line, entry.clone())]);
    if let Some(prompt) = turn.prompt {
        return match (words(&prompt.text), prompt.media.into_iter().next()) {
            (EntryPreview::Nothing, Some(media)) => EntryPreview::Media(media.kind),
            (gist, _) => gist,
        };
    }
    let mut gists =
        turn.parts.into_iter().map(|piece| said(piece.part)).filter(|gist| *gist != EntryPreview::Nothing);
    // Words say more than thoughts, wherever they stand.
    let first = gists.next().unwrap_or_default();
    match first {
        EntryPreview::Thinking(_) => {
            gists.find(|gist| !matches!(gist, EntryPreview::Thinking(_))).unwrap_or(first)
        }
        first => first,
    }
}

fn said(part: TurnPart) -> EntryPreview {
    match part {
        TurnPart::Thinking(text) => match words(&text) {
            EntryPreview::Words(text) => EntryPreview::Thinking(text),
            _ => EntryPreview::Thinking(String::new()),
        },
        TurnPart::Tool(call) if call.name.is_empty() => match call.result {
            Some(result) => words(&result.text),
            None => EntryPreview::Nothing,
        },
        TurnPart::Tool(call) => EntryPreview::Call(call),
        TurnPart::Compaction { trigger, before, after, .. } => {
            EntryPreview::Compaction(trigger, before, after)
        }
        TurnPart::Other(text) => words(&text),
        part => words(part.words().unwrap_or_default()),
    }
}

fn words(text: &str) -> EntryPreview {
    let text = text.trim();
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    if text.is_empty() { EntryPreview::Nothing } else { EntryPreview::Words(text[..end].to_owned()) }
}
