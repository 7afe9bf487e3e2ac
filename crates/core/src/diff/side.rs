//! What one path did behind the last common entry: its turns, and their sums.

use std::collections::HashMap;

use crate::entry::{Timestamp, member, value_text};
use crate::turn::{ToolCall, ToolResult, Turn, TurnPart};
use crate::usage::TokenTotals;

/// One of two paths, from where they part.
#[derive(Debug, Clone, Default)]
pub struct DiffSide {
    /// Its turns, in order.
    pub turns: Vec<SideTurn>,
    /// Their sums.
    pub totals: Totals,
    /// Where tools and files stand in the sums.
    tools: HashMap<String, usize>,
    files: HashMap<String, usize>,
}

/// A turn in few words.
#[derive(Debug, Clone, Default)]
pub struct SideTurn {
    /// Its number in its file.
    pub no: Option<u32>,
    /// Whether it began before the paths parted.
    pub goes_on: bool,
    /// Its first line.
    pub line: u32,
    /// When it began, or went on.
    pub from: Option<Timestamp>,
    /// What was asked.
    pub prompt: Option<String>,
    /// The last words of the model.
    pub answer: Option<String>,
    /// Its calls, without what the tools answered.
    pub calls: Vec<ToolCall>,
    /// Whether the user stopped the model.
    pub stopped: bool,
    /// Whether the context was compacted.
    pub compacted: bool,
    /// What failed at the API or in the client.
    pub error: Option<String>,
}

/// Sums of a side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Turns that began on this side.
    pub turns: usize,
    /// Responses and their tokens, each counted once.
    pub spent: TokenTotals,
    /// Calls and failed calls by tool, the most used first.
    pub tools: Vec<(String, usize, usize)>,
    /// Files that tools for it changed, and how often, in the order of their first change.
    pub files: Vec<(String, usize)>,
    /// When it began.
    pub first: Option<Timestamp>,
    /// When its last line was written.
    pub last: Option<Timestamp>,
}

impl DiffSide {
    /// Adds a turn, or the rest of one, by its number and first line.
    pub fn add(&mut self, no: Option<u32>, goes_on: bool, line: u32, turn: Turn) {
        let totals = &mut self.totals;
        totals.turns += usize::from(no.is_some() && !goes_on);
        totals.first = totals.first.into_iter().chain(turn.from).min();
        totals.last = totals.last.max(turn.to);
        let prompt = turn.prompt.map(|prompt| prompt.text);
        let mut told = SideTurn { no, goes_on, line, from: turn.from, prompt, ..SideTurn::default() };
        let mut calls = Vec::new();
        for part in turn.parts.into_iter().map(|piece| piece.part) {
            match part {
                TurnPart::Text(text) if !text.trim().is_empty() => told.answer = Some(text),
                TurnPart::Tool(call) if !call.name.is_empty() => {
                    calls.push((changed_file(&call), bare(*call)));
                }
                TurnPart::Queued(text) | TurnPart::Command(text) if told.prompt.is_none() => {
                    told.prompt = Some(text)
                }
                TurnPart::Interrupt(_) => told.stopped = true,
                TurnPart::Compaction { .. } => told.compacted = true,
                TurnPart::Error(text) => told.error = Some(text),
                _ => {}
            }
        }
        for (file, call) in calls {
            self.count(&call, file);
            told.calls.push(call);
        }
        self.turns.push(told);
    }

    fn count(&mut self, call: &ToolCall, file: Option<String>) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        let tools = &mut self.totals.tools;
        let k = *self.tools.entry(call.name.clone()).or_insert_with(|| {
            tools.push((call.name.clone(), 0, 0));
            tools.len() - 1
        });
        tools[k].1 += 1;
        tools[k].2 += usize::from(failed);
        if let Some(path) = file.filter(|_| !failed) {
            let files = &mut self.totals.files;
            let k = *self.files.entry(path.clone()).or_insert_with(|| {
                files.push((path, 0));
                files.len() - 1
            });
            files[k].1 += 1;
        }
    }

    /// Ends the side with what its responses cost.
    pub fn finish(mut self, spent: TokenTotals) -> DiffSide {
        self.totals.spent = spent;
        // A stable order: names of equal use stay as they came.
        self.totals.tools.sort_by_key(|(_, calls, _)| std::cmp::Reverse(*calls));
        self
    }
}

fn bare(call: ToolCall) -> ToolCall {
    let result = call.result.map(|result| ToolResult { text: String::new(), media: Vec::new(), ..result });
    ToolCall { result, ..call }
}

/// Returns the file that a call changes, where its tool is one for changing files.
fn changed_file(call: &ToolCall) -> Option<String> {
    let field = match call.name.as_str() {
        "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    let path = member(call.input.as_bytes(), field).map(|value| value_text(value).into_owned())?;
    (!path.is_empty()).then_some(path)
}
