//! Reads the `toolUseResult` of tool calls from the lines of a turn.

use std::collections::HashMap;

use rethread_engine::core::entry::with_entry;
use rethread_engine::core::turn::ToolCall;
use rethread_engine::ops::show::RawLine;
use serde_json::Value;

/// Maximum size in bytes of a `toolUseResult` that is parsed.
const MAX_BYTES: usize = 2 << 20;

/// The lines of a turn that contain the result of exactly one call.
#[derive(Default)]
pub(crate) struct ToolUseResults<'a> {
    /// The bytes of each line, by line number.
    lines: HashMap<u32, &'a [u8]>,
}

impl<'a> ToolUseResults<'a> {
    /// Selects the lines that contain the result of exactly one of these calls. A line with several results has no
    /// `toolUseResult`.
    pub(crate) fn new<'c>(
        lines: &'a [RawLine],
        calls: impl Iterator<Item = &'c ToolCall>,
    ) -> ToolUseResults<'a> {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for result in calls.filter_map(|call| call.result.as_ref()) {
            *counts.entry(result.line).or_default() += 1;
        }
        let single = lines.iter().filter(|line| counts.get(&line.number) == Some(&1));
        ToolUseResults { lines: single.map(|line| (line.number, line.bytes.as_slice())).collect() }
    }

    /// Parses the `toolUseResult` of a call. Returns `None` if the call has no result, its line has no
    /// `toolUseResult` or several results, or the JSON is invalid or larger than [`MAX_BYTES`].
    pub(crate) fn read(&self, call: &ToolCall) -> Option<Value> {
        let line = call.result.as_ref()?.line;
        let bytes = self.lines.get(&line)?;
        let result = with_entry(bytes, |entry| {
            let result =
                entry.tool_use_result.filter(|result| result.len() <= MAX_BYTES && entry.blocks().len() == 1);
            result.and_then(|result| serde_json::from_slice(result).ok())
        });
        result.flatten()
    }
}
