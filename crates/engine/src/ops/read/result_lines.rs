//! Maps tool calls to the lines of their results.

use std::collections::HashMap;

use rethread_core::entry::{BlockKind, Entry, EntryRole};
use rethread_core::id::IdMap;
use rethread_core::tree::{EntryVisitor, LineSpan};

/// Maps the line of tool calls to the line of their last result.
#[derive(Debug, Default)]
pub(super) struct ResultLines {
    /// The lines of calls that have no result yet.
    open_calls: IdMap<u32>,
    /// The line of the last result by the line of its call.
    by_call_line: HashMap<u32, u32>,
}

impl EntryVisitor for ResultLines {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        if !entry.is_message() {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id else { continue };
            match block.kind {
                BlockKind::ToolUse => {
                    self.open_calls.insert(id.to_id(), span.line);
                }
                BlockKind::ToolResult => {
                    if let Some(call_line) = self.open_calls.remove(&id.to_id()) {
                        self.by_call_line.insert(call_line, span.line);
                    }
                }
                _ => {}
            }
        }
    }
}

impl ResultLines {
    /// Returns the line number of the last result of the calls on a line. Returns `None` if no call on it has a result.
    pub(super) fn result_line(&self, call_line: u32) -> Option<u32> {
        self.by_call_line.get(&call_line).copied()
    }
}
