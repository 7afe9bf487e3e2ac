//! How long calls wait for their results.

use std::collections::HashMap;

use rethread_core::entry::{BlockKind, Entry};
use rethread_core::id::IdMap;
use rethread_core::tree::LineSpan;

/// By line of calls, the line of the last of their results.
#[derive(Debug, Default)]
pub(super) struct ResultLines {
    /// Calls that have no result yet.
    open: IdMap<u32>,
    until: HashMap<u32, u32>,
}

impl ResultLines {
    /// Takes the next entry.
    pub(super) fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        if !entry.is_message() {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id else { continue };
            match block.kind {
                BlockKind::ToolUse => {
                    self.open.insert(id.id(), place.line);
                }
                BlockKind::ToolResult => {
                    if let Some(call) = self.open.remove(&id.id()) {
                        self.until.insert(call, place.line);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the line of the last result of the calls on a line.
    pub(super) fn result_of(&self, call: u32) -> Option<u32> {
        self.until.get(&call).copied()
    }
}
