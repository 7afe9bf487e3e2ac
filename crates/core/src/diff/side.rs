//! One side of a diff: the turns after the last common entry, and their totals.

use std::collections::HashMap;

use crate::entry::{Timestamp, find_member, value_text};
use crate::turn::{ToolCall, ToolResult, Turn, TurnPart};
use crate::usage::TokenTotals;

/// One of two paths, after the last common entry.
#[derive(Debug, Clone, Default)]
pub struct DiffSide {
    /// The turns after the last common entry, in path order.
    pub turns: Vec<SideTurn>,
    /// The totals of these turns.
    pub totals: SideTotals,
    /// The index of each tool in `totals.tools`.
    tool_indices: HashMap<String, usize>,
    /// The index of each file in `totals.files`.
    file_indices: HashMap<String, usize>,
}

/// A turn of one side of a diff, or the rest of one, reduced to its prompt, last answer and tool calls.
#[derive(Debug, Clone, Default)]
pub struct SideTurn {
    /// The number of the turn in its file. `None` for entries that belong to no turn.
    pub number: Option<u32>,
    /// Whether the turn started before the last common entry.
    pub is_continuation: bool,
    /// The number of its first line on this side.
    pub line: u32,
    /// The time of its first line on this side.
    pub started_at: Option<Timestamp>,
    /// The prompt, or else the first queued prompt or command. `None` if there is none on this side.
    pub prompt: Option<String>,
    /// The last text of the model that is not blank. `None` if there is none.
    pub answer: Option<String>,
    /// The tool calls, without the text and media of their results.
    pub calls: Vec<ToolCall>,
    /// Whether the user interrupted the model.
    pub interrupted: bool,
    /// Whether the context was compacted.
    pub compacted: bool,
    /// The last error of the API or the client. `None` if there was none.
    pub error: Option<String>,
}

/// The totals of a side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideTotals {
    /// The number of turns that started on this side.
    pub turns: usize,
    /// Responses and their tokens, each counted once.
    pub tokens: TokenTotals,
    /// The name of each tool, the number of its calls and of its failed calls, most used first.
    pub tools: Vec<(String, usize, usize)>,
    /// The path of each file changed by tools and the number of changes, in order of the first change.
    pub files: Vec<(String, usize)>,
    /// The earliest time of a line. `None` if no line has a time.
    pub first_time: Option<Timestamp>,
    /// The latest time of a line. `None` if no line has a time.
    pub last_time: Option<Timestamp>,
}

impl DiffSide {
    /// Adds a turn, or the rest of one, with its number in the file and the number of its first line.
    pub fn add(&mut self, number: Option<u32>, is_continuation: bool, line: u32, turn: Turn) {
        let totals = &mut self.totals;
        totals.turns += usize::from(number.is_some() && !is_continuation);
        totals.first_time = totals.first_time.into_iter().chain(turn.started_at).min();
        totals.last_time = totals.last_time.max(turn.ended_at);
        let prompt = turn.prompt.map(|prompt| prompt.text);
        let mut side_turn = SideTurn {
            number,
            is_continuation,
            line,
            started_at: turn.started_at,
            prompt,
            ..SideTurn::default()
        };
        let mut calls = Vec::new();
        for part in turn.parts.into_iter().map(|item| item.part) {
            match part {
                TurnPart::Text(text) if !text.trim().is_empty() => side_turn.answer = Some(text),
                TurnPart::Tool(call) if !call.name.is_empty() => {
                    calls.push((find_changed_file(&call), without_result_text(*call)));
                }
                TurnPart::Queued(text) | TurnPart::Command(text) if side_turn.prompt.is_none() => {
                    side_turn.prompt = Some(text);
                }
                TurnPart::Interrupt(_) => side_turn.interrupted = true,
                TurnPart::Compaction { .. } => side_turn.compacted = true,
                TurnPart::Error(text) => side_turn.error = Some(text),
                _ => {}
            }
        }
        for (changed_file, call) in calls {
            self.count_call(&call, changed_file);
            side_turn.calls.push(call);
        }
        self.turns.push(side_turn);
    }

    /// Adds a tool call to the totals. A changed file counts only if the call did not fail.
    fn count_call(&mut self, call: &ToolCall, changed_file: Option<String>) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        let tools = &mut self.totals.tools;
        let idx = *self.tool_indices.entry(call.name.clone()).or_insert_with(|| {
            tools.push((call.name.clone(), 0, 0));
            tools.len() - 1
        });
        tools[idx].1 += 1;
        tools[idx].2 += usize::from(failed);
        if let Some(path) = changed_file.filter(|_| !failed) {
            let files = &mut self.totals.files;
            let idx = *self.file_indices.entry(path.clone()).or_insert_with(|| {
                files.push((path, 0));
                files.len() - 1
            });
            files[idx].1 += 1;
        }
    }

    /// Sets the token totals, sorts the tools by number of calls, and returns the side.
    pub fn finish(mut self, tokens: TokenTotals) -> DiffSide {
        self.totals.tokens = tokens;
        // The sort is stable: tools with equal counts keep their order.
        self.totals.tools.sort_by_key(|(_, calls, _)| std::cmp::Reverse(*calls));
        self
    }
}

fn without_result_text(call: ToolCall) -> ToolCall {
    let result = call.result.map(|result| ToolResult { text: String::new(), media: Vec::new(), ..result });
    ToolCall { result, ..call }
}

/// Returns the path of the file that a call changes. Returns `None` if the tool edits no files or names no path.
fn find_changed_file(call: &ToolCall) -> Option<String> {
    let field = match call.name.as_str() {
        "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    let path = find_member(call.input.as_bytes(), field).map(|value| value_text(value).into_owned())?;
    (!path.is_empty()).then_some(path)
}
