//! The turn and the context status of every entry of one file.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::entry::{BlockKind, Entry, JsonStr};
use rethread_core::id::IdMap;
use rethread_core::resume::ContextStatus;
use rethread_core::session::{Title, TitleSource};
use rethread_core::tree::{LineSpan, NodeId, VisitFn};
use rethread_core::{pack::Pack, pack_fields};

use crate::Error;
use crate::session::load::{LoadOptions, Session, load};
use crate::session::match_context::compute_context_statuses;

/// Labels of the entries of one file, as stored in the cache.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    /// The title of the session, and the position of its source in `TITLE_SOURCES`.
    title: (String, u64),
    /// The folder in which the session was started.
    pub(super) folder: String,
    /// The byte offsets of the entries in ascending order, each as the distance to the one before.
    offsets: Vec<u64>,
    /// The turn (0 for none) and the context status of each entry.
    labels: Vec<(u32, ContextStatus)>,
    /// The byte offsets of the entries with a call whose result failed, in ascending order.
    failed_calls: Vec<u64>,
    /// Names of side files with large results, and the offset of the entry that refers to each.
    results: Vec<(String, u64)>,
    /// The hash of the folder, if the title may be in another file of it.
    pub(super) sibling_hash: Option<u64>,
}

pack_fields!(Labels { title, folder, offsets, labels, failed_calls, results, sibling_hash });

const RESULT_FOLDER: &str = "tool-results/";
const TITLE_SOURCES: [TitleSource; 5] =
    [TitleSource::Custom, TitleSource::Ai, TitleSource::Summary, TitleSource::Prompt, TitleSource::None];

/// The turn and the context status of one entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryLabel {
    /// The number of the turn. `None` outside of turns.
    pub(super) turn: Option<u32>,
    pub(super) status: ContextStatus,
    /// Whether the result of one of its tool calls is an error.
    pub(super) has_failed_call: bool,
}

impl Default for EntryLabel {
    fn default() -> EntryLabel {
        EntryLabel { turn: None, status: ContextStatus::Unlinked, has_failed_call: false }
    }
}

impl Labels {
    /// Reads the labels of a file. `sibling_hash` computes the hash of its folder.
    pub(super) fn read(path: &Path, sibling_hash: impl FnOnce() -> u64) -> Result<Labels, Error> {
        let finder = memchr::memmem::Finder::new(RESULT_FOLDER);
        let mut results = HashMap::new();
        let mut calls: IdMap<u64> = IdMap::default();
        let mut failed_calls = Vec::new();
        let mut visitor = VisitFn(|entry: &Entry<'_>, span: LineSpan| {
            for block in entry.blocks() {
                let Some(id) = block.id.map(JsonStr::to_id) else { continue };
                match block.kind {
                    BlockKind::ToolUse | BlockKind::ServerToolUse => {
                        calls.insert(id, span.offset);
                    }
                    BlockKind::ToolResult if block.is_error => failed_calls.extend(calls.get(&id)),
                    _ => {}
                }
            }
            for start in finder.find_iter(entry.raw) {
                let rest = &entry.raw[start + RESULT_FOLDER.len()..];
                let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
                let name: String = name.map(|&byte| char::from(byte)).collect();
                results.entry(name).or_insert(span.offset);
            }
        });
        let session = load(path, LoadOptions::default(), &mut visitor)?;
        let mut results: Vec<(String, u64)> = results.into_iter().collect();
        results.sort();
        failed_calls.sort_unstable();
        failed_calls.dedup();
        let sibling_hash = session.title_may_be_elsewhere().then(sibling_hash);
        Ok(Labels { failed_calls, results, sibling_hash, ..Labels::from_session(&session) })
    }

    /// Computes title, folder and labels. `failed_calls`, `results` and `sibling_hash` are empty.
    fn from_session(session: &Session) -> Labels {
        let tree = &session.tree;
        let turns: HashMap<NodeId, u32> = tree.turn_starts().zip(1..).collect();
        let statuses = compute_context_statuses(session, &session.active_path());
        let turn = |id: NodeId| tree.turn_of(id).and_then(|turn| turns.get(&turn).copied());
        let mut entries: Vec<(u64, (u32, ContextStatus))> = tree
            .nodes()
            .iter()
            .zip(0..)
            .map(|(node, id)| (node.span.offset, (turn(id).unwrap_or_default(), statuses[id as usize])))
            .collect();
        entries.sort_unstable();
        let mut previous = 0;
        let mut labels = Labels {
            folder: session.info.cwd.clone().unwrap_or_default(),
            title: (
                session.title.text.clone(),
                TITLE_SOURCES.iter().position(|source| *source == session.title.source).unwrap_or_default()
                    as u64,
            ),
            ..Labels::default()
        };
        for (offset, label) in entries {
            labels.offsets.push(offset - previous);
            labels.labels.push(label);
            previous = offset;
        }
        labels
    }

    /// Returns the title of the session.
    pub(super) fn title(&self) -> Title {
        let source = TITLE_SOURCES.get(self.title.1 as usize).copied().unwrap_or(TitleSource::None);
        Title { text: self.title.0.clone(), source }
    }

    /// Returns the label of the entry that starts at a byte offset. Returns the default label if no entry starts there.
    pub(super) fn label_at(&self, offset: u64) -> EntryLabel {
        let mut entry_offset = 0;
        let idx = self.offsets.iter().position(|distance| {
            entry_offset += distance;
            entry_offset >= offset
        });
        let label = idx.filter(|_| entry_offset == offset).and_then(|idx| self.labels.get(idx));
        let has_failed_call = self.failed_calls.binary_search(&offset).is_ok();
        label.map_or(EntryLabel { has_failed_call, ..EntryLabel::default() }, |&(turn, status)| EntryLabel {
            turn: (turn > 0).then_some(turn),
            status,
            has_failed_call,
        })
    }

    /// Returns the offset of the first entry that refers to the side file `name`. Returns `None` if there is none.
    pub(super) fn result_offset(&self, name: &str) -> Option<u64> {
        self.results.iter().find(|(file_name, _)| file_name == name).map(|(_, offset)| *offset)
    }

    /// Encodes the labels for the cache.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.to_packed()
    }
}
