//! Tool calls and their results, paired by id.

use crate::entry::{BlockKind, Entry, Kind, Timestamp};
use crate::id::{Id, IdMap};
use crate::tree::LineSpan;

/// The number of a tool name, within one file.
pub type Tool = u16;

/// A tool call.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The id of the call.
    pub id: Id,
    /// Which tool: see [`Pairs::tool`].
    pub tool: Tool,
    /// The line of the call; `None` where only a result was found.
    pub call: Option<LineSpan>,
    /// The line of its result.
    pub result: Option<LineSpan>,
    /// When it was called.
    pub called: Option<Timestamp>,
    /// When it answered.
    pub answered: Option<Timestamp>,
    /// Whether it reported an error.
    pub is_error: bool,
}

impl Call {
    /// Returns how long the call took, in milliseconds.
    pub fn millis(&self) -> Option<i64> {
        Some(self.answered?.0 - self.called?.0).filter(|&millis| millis >= 0)
    }
}

/// Pairs calls and results while entries come in.
#[derive(Debug, Default)]
pub struct ToolCallIndex {
    calls: Vec<Call>,
    by_id: IdMap<u32>,
    tools: Vec<(String, u64)>,
}

impl ToolCallIndex {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        if !entry.is_message() {
            return;
        }
        for block in entry.blocks() {
            let Some(id) = block.id else { continue };
            match (entry.kind, block.kind) {
                (Kind::Assistant, BlockKind::ToolUse) => {
                    let tool = self.tool_no(block.tool.map_or(&b""[..], |name| name.raw()));
                    self.tools[usize::from(tool)].1 += 1;
                    let call = self.call(id.id());
                    if call.call.is_none() {
                        call.tool = tool;
                        call.call = Some(place);
                        call.called = entry.time();
                    }
                }
                (Kind::User, BlockKind::ToolResult) => {
                    let time = entry.time();
                    let call = self.call(id.id());
                    call.result = Some(place);
                    call.answered = time;
                    call.is_error |= block.is_error;
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, id: Id) -> &mut Call {
        let next = self.calls.len() as u32;
        let no = *self.by_id.entry(id).or_insert(next);
        if no == next {
            let call =
                Call { id, tool: 0, call: None, result: None, called: None, answered: None, is_error: false };
            self.calls.push(call);
        }
        &mut self.calls[no as usize]
    }

    fn tool_no(&mut self, name: &[u8]) -> Tool {
        let known = self.tools.iter().position(|(known, _)| known.as_bytes() == name);
        known.unwrap_or_else(|| {
            self.tools.push((String::from_utf8_lossy(name).into_owned(), 0));
            self.tools.len() - 1
        }) as Tool
    }

    /// Returns all calls, and results without a call, in file order.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Finds a call by its id.
    pub fn find(&self, id: Id) -> Option<&Call> {
        self.by_id.get(&id).map(|&no| &self.calls[no as usize])
    }

    /// Returns the name of a tool.
    pub fn tool(&self, tool: Tool) -> &str {
        self.tools.get(usize::from(tool)).map_or("", |(name, _)| name)
    }

    /// Returns the tools by name with how many blocks call them, on however many lines.
    pub fn tools(&self) -> &[(String, u64)] {
        &self.tools
    }
}
