//! Maps tool calls to the entries that make and answer them.

use crate::entry::{BlockKind, Entry, EntryRole, Flags, JsonStr};
use crate::id::{Id, IdMap};
use crate::tree::{EntryVisitor, LineSpan, NodeId};

/// Collects tool calls and results from entries in file order. Runs next to a `TreeBuilder` and skips sidechain
/// lines.
#[derive(Debug, Default)]
pub struct ToolCallLinks {
    node_count: NodeId,
    /// By call id: the first entry that makes the call, and the first entry with a result for it.
    calls: IdMap<NodeId>,
    results: IdMap<NodeId>,
    /// The first call that each entry answers, sorted by entry.
    answers: Vec<(NodeId, Id)>,
}

impl ToolCallLinks {
    /// Adds the next entry.
    pub fn add_entry(&mut self, entry: &Entry<'_>) {
        if entry.uuid.is_none() {
            return;
        }
        let node_id = self.node_count;
        self.node_count += 1;
        if entry.has_flag(Flags::SIDECHAIN) {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id.map(JsonStr::to_id) else { continue };
            match block.kind {
                BlockKind::ToolUse => {
                    self.calls.entry(id).or_insert(node_id);
                }
                BlockKind::ToolResult => {
                    self.results.entry(id).or_insert(node_id);
                    if self.answers.last().is_none_or(|&(last, _)| last != node_id) {
                        self.answers.push((node_id, id));
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the entry that makes the first call answered by `node_id`.
    ///
    /// Returns `None` if the entry has no tool result, or if its call is not in the file.
    pub(super) fn call_of(&self, node_id: NodeId) -> Option<NodeId> {
        let at = self.answers.binary_search_by_key(&node_id, |&(node_id, _)| node_id).ok()?;
        self.calls.get(&self.answers[at].1).copied()
    }

    /// Returns `true` if any entry contains a result for the call.
    pub(super) fn is_answered(&self, call: Id) -> bool {
        self.results.contains_key(&call)
    }
}

impl EntryVisitor for ToolCallLinks {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        self.add_entry(entry);
    }
}
