//! Which entry makes which tool call, and which answers it.

use crate::entry::{BlockKind, Entry, Flags, JsonStr};
use crate::id::{Id, IdMap};
use crate::tree::NodeId;

/// Takes entries in file order, beside a `Weaver`; lines of subagents are only counted.
#[derive(Debug, Default)]
pub struct Calls {
    nodes: NodeId,
    made: IdMap<NodeId>,
    answered: IdMap<NodeId>,
    /// The first call that each entry answers, by entry.
    answers: Vec<(NodeId, Id)>,
}

impl Calls {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>) {
        if entry.uuid.is_none() {
            return;
        }
        let no = self.nodes;
        self.nodes += 1;
        if entry.is(Flags::SIDECHAIN) {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id.map(JsonStr::id) else { continue };
            match block.kind {
                BlockKind::ToolUse => {
                    self.made.entry(id).or_insert(no);
                }
                BlockKind::ToolResult => {
                    self.answered.entry(id).or_insert(no);
                    if self.answers.last().is_none_or(|&(last, _)| last != no) {
                        self.answers.push((no, id));
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the entry that makes the call which `no` answers.
    pub(super) fn call_of(&self, no: NodeId) -> Option<NodeId> {
        let at = self.answers.binary_search_by_key(&no, |&(no, _)| no).ok()?;
        self.made.get(&self.answers[at].1).copied()
    }

    /// Whether some entry answers a call.
    pub(super) fn is_answered(&self, call: Id) -> bool {
        self.answered.contains_key(&call)
    }
}
