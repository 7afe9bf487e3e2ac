//! Pairs tool calls with their results by id.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::entry::{BlockKind, Entry, EntryRole, JsonStr, Kind, Timestamp};
use crate::id::{Id, IdMap};
use crate::tree::{EntryVisitor, LineSpan};

/// The index of a tool name in a [`ToolCallIndex`].
pub type ToolId = u32;

/// A tool call and its result.
#[derive(Debug, Clone, Copy)]
pub struct ToolCallRecord {
    /// The id of the call.
    pub id: Id,
    /// The tool; see [`ToolCallIndex::tool_name`].
    pub tool: ToolId,
    /// The first line of the call. `None` if only a result was found.
    pub call: Option<LineSpan>,
    /// The last line with a result. `None` if there is none.
    pub result: Option<LineSpan>,
    /// The time of the call. `None` if unknown.
    pub called_at: Option<Timestamp>,
    /// The time of the result. `None` if unknown.
    pub answered_at: Option<Timestamp>,
    /// Whether any result is marked as an error.
    pub is_error: bool,
}

impl ToolCallRecord {
    /// Returns the duration of the call in milliseconds. Returns `None` if a time is missing or the result is older.
    pub fn millis(&self) -> Option<i64> {
        Some(self.answered_at?.0 - self.called_at?.0).filter(|&millis| millis >= 0)
    }
}

/// Pairs the tool calls and results of a file.
#[derive(Debug, Default)]
pub struct ToolCallIndex {
    calls: Vec<ToolCallRecord>,
    by_id: IdMap<u32>,
    /// The tool names, with the number of blocks that call each.
    tools: Vec<(String, u64)>,
    tool_ids: HashMap<String, ToolId>,
}

impl ToolCallIndex {
    /// Adds the tool calls and results in an entry. `span` is the location of the entry.
    pub fn add(&mut self, entry: &Entry<'_>, span: LineSpan) {
        if !entry.is_message() {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id else { continue };
            match (entry.kind, block.kind) {
                (Kind::Assistant, BlockKind::ToolUse) => {
                    let tool = self.intern_tool(block.tool_name.map(JsonStr::decode).unwrap_or_default());
                    self.tools[tool as usize].1 += 1;
                    let call = self.get_or_add_call(id.to_id());
                    if call.call.is_none() {
                        call.tool = tool;
                        call.call = Some(span);
                        call.called_at = entry.time();
                    }
                }
                (Kind::User, BlockKind::ToolResult) => {
                    let time = entry.time();
                    let call = self.get_or_add_call(id.to_id());
                    call.result = Some(span);
                    call.answered_at = time;
                    call.is_error |= block.is_error;
                }
                _ => {}
            }
        }
    }

    /// Returns the record of the call with this id. Adds an empty one if there is none.
    fn get_or_add_call(&mut self, id: Id) -> &mut ToolCallRecord {
        let next = self.calls.len() as u32;
        let idx = *self.by_id.entry(id).or_insert(next);
        if idx == next {
            let call = ToolCallRecord {
                id,
                tool: 0,
                call: None,
                result: None,
                called_at: None,
                answered_at: None,
                is_error: false,
            };
            self.calls.push(call);
        }
        &mut self.calls[idx as usize]
    }

    fn intern_tool(&mut self, name: Cow<'_, str>) -> ToolId {
        if let Some(&tool) = self.tool_ids.get(&*name) {
            return tool;
        }
        let tool = self.tools.len() as ToolId;
        self.tools.push((name.clone().into_owned(), 0));
        self.tool_ids.insert(name.into_owned(), tool);
        tool
    }

    /// Returns all calls, and results without a call, in the order in which their ids first occur.
    pub fn calls(&self) -> &[ToolCallRecord] {
        &self.calls
    }

    /// Returns the name of a tool. Returns an empty string if the index is unknown.
    pub fn tool_name(&self, tool: ToolId) -> &str {
        self.tools.get(tool as usize).map_or("", |(name, _)| name)
    }

    /// Returns the tools by name with the number of blocks that call them. A call may be written on several lines.
    pub fn tools(&self) -> &[(String, u64)] {
        &self.tools
    }
}

impl EntryVisitor for ToolCallIndex {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add(entry, span);
    }
}
