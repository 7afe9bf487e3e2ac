//! What the client noted of results for itself, read from the lines of a turn.

use std::collections::HashMap;

use rethread_engine::core::entry;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

/// The largest note that is read to draw a call.
const NOTED: usize = 2 << 20;

/// The lines that hold a note: those that answer one call.
#[derive(Default)]
pub(crate) struct ToolUseResults<'a> {
    lines: HashMap<u32, &'a [u8]>,
}

impl<'a> ToolUseResults<'a> {
    /// Finds the lines that answer these calls. One that answers several holds no note, and would be read for each of them.
    pub(crate) fn of<'c>(
        raw: &'a [(u32, Vec<u8>)],
        calls: impl Iterator<Item = &'c ToolCall>,
    ) -> ToolUseResults<'a> {
        let mut answers: HashMap<u32, usize> = HashMap::new();
        for result in calls.filter_map(|call| call.result.as_ref()) {
            *answers.entry(result.line).or_default() += 1;
        }
        let one = raw.iter().filter(|(line, _)| answers.get(line) == Some(&1));
        ToolUseResults { lines: one.map(|(line, bytes)| (*line, bytes.as_slice())).collect() }
    }

    /// Reads what was noted of the result of a call, where its line holds only that one.
    pub(crate) fn read(&self, call: &ToolCall) -> Option<Value> {
        let line = call.result.as_ref()?.line;
        let bytes = self.lines.get(&line)?;
        let mut noted = None;
        entry::read(
            &Line { no: line, offset: 0, bytes, unterminated: false },
            &mut Vec::new(),
            |entry, _| {
                if entry.blocks().len() == 1 {
                    let note = entry.tool_use_result.filter(|note| note.len() <= NOTED);
                    noted = note.and_then(|note| serde_json::from_slice(note).ok());
                }
            },
        );
        noted
    }
}
