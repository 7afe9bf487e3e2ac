//! Lists the tool calls of a session and its subagents, with their results.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Entry, Timestamp};
use rethread_core::id::{Id, IdMap};
use rethread_core::lines::Line;
use rethread_core::tree::LineSpan;
use rethread_core::turn::{
    ToolCall, ToolCallRecord, ToolResult, TurnPart, build_turn, classify_failure, is_error_record,
};

use super::agents::find_agent_paths;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};

/// Selects tool calls.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// The names of the tools, in any case. An empty list selects all.
    pub names: Vec<String>,
    /// Whether to select only calls that failed.
    pub errors_only: bool,
}

/// A tool call in a list.
#[derive(Debug)]
pub struct ToolRow {
    /// The call and its result.
    pub call: ToolCall,
    /// The subagent that made the call. `None` for the session itself.
    pub agent: Option<String>,
    /// The reason why the call counts as failed, such as `is_error`. `None` if it did not fail.
    pub failure: Option<&'static str>,
    /// The time from call to result in milliseconds. `None` if one of the times is unknown.
    pub duration_ms: Option<i64>,
    /// The time of the call, or of its result if the call has none.
    pub called_at: Option<Timestamp>,
    /// The file that contains the call.
    pub path: PathBuf,
}

/// The tool calls of a session.
#[derive(Debug)]
pub struct ToolList {
    /// The session.
    pub header: SessionHeader,
    /// The calls in the order of files and lines.
    pub rows: Vec<ToolRow>,
    /// The number of calls without a result and results without a call, in all files.
    pub unpaired: usize,
    /// The subagent files that could not be read.
    pub failures: Vec<Error>,
}

/// Lists the tool calls that `filter` selects, of the session file `path` and of its subagents.
pub fn list_tool_calls(path: &Path, filter: &ToolFilter) -> Result<ToolList, Error> {
    let options = LoadOptions { tool_calls: true, ..LoadOptions::default() };
    let main = load(path, options, &mut ())?;
    let mut list = ToolList { header: main.header(), rows: Vec::new(), unpaired: 0, failures: Vec::new() };
    // By call id: whether the call was found, and whether its result was found.
    let mut unpaired: IdMap<(bool, bool)> = IdMap::default();
    let mut sessions = vec![main];
    for path in find_agent_paths(path) {
        match load(&path, options, &mut ()) {
            Ok(session) => sessions.push(session),
            Err(error) => list.failures.push(error),
        }
    }
    for session in sessions {
        let is_selected =
            |call: &ToolCallRecord| filter.accepts_name(session.tool_calls.tool_name(call.tool));
        let selected = session.tool_calls.calls().iter().filter(|call| is_selected(call));
        let mut call_lines = CallLines::new(&session, selected)?;
        for call in session.tool_calls.calls() {
            if call.call.is_none() || call.result.is_none() {
                let found = unpaired.entry(call.id).or_default();
                found.0 |= call.call.is_some();
                found.1 |= call.result.is_some();
            }
            if !is_selected(call) {
                continue;
            }
            let row = call_lines.read_row(call)?;
            if !filter.errors_only || row.failure.is_some() {
                list.rows.push(row);
            }
        }
    }
    // A call and its result may be in two files.
    list.unpaired = unpaired.values().filter(|found| **found != (true, true)).count();
    Ok(list)
}

impl ToolFilter {
    /// Returns `true` if the filter selects the tool with this name, in any case. A filter without names selects all.
    fn accepts_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
    }
}

/// Reads the lines of calls and results. A line may have thousands of them, so it is parsed once.
struct CallLines<'a> {
    session: &'a Session,
    lines: LineReader,
    /// By the offset of a line: the number of calls that were not read yet and have their call or result on it.
    uses: HashMap<u64, usize>,
    /// The lines with calls or results that were not read yet, by offset.
    parsed: HashMap<u64, ParsedCallLine>,
    /// The number of lines that were parsed so far.
    parsed_count: usize,
}

/// The calls and results of a line.
#[derive(Default)]
struct ParsedCallLine {
    calls: IdMap<ToolCall>,
    /// Whether the first `toolUseResult` of the line is the text of an error. `None` if there is none.
    is_error_text: Option<bool>,
    has_version: bool,
}

impl<'a> CallLines<'a> {
    /// Prepares reading the selected calls of a session, each once.
    fn new(
        session: &'a Session,
        selected: impl Iterator<Item = &'a ToolCallRecord>,
    ) -> Result<CallLines<'a>, Error> {
        let mut uses: HashMap<u64, usize> = HashMap::new();
        for span in selected.flat_map(list_spans) {
            *uses.entry(span.offset).or_default() += 1;
        }
        let lines = LineReader::open(&session.path).map_err(Error::reading(&session.path))?;
        Ok(CallLines { session, lines, uses, parsed: HashMap::new(), parsed_count: 0 })
    }

    /// Reads a call and its result. The call is empty if the lines no longer contain it.
    fn read_row(&mut self, call: &ToolCallRecord) -> Result<ToolRow, Error> {
        let mut tool_call: Option<ToolCall> = None;
        let mut is_error_text = None;
        let mut has_version = false;
        for span in list_spans(call) {
            let line = self.parse_line(span)?;
            is_error_text = is_error_text.or(line.is_error_text);
            has_version |= line.has_version;
            match (tool_call.as_mut(), line.calls.remove(&call.id)) {
                (Some(tool_call), Some(answered)) => {
                    tool_call.result = answered.result.or(tool_call.result.take());
                }
                (_, taken) => tool_call = tool_call.or(taken),
            }
            self.release_line(span);
        }
        let tool_call = tool_call.unwrap_or_default();
        let classify = |result: &ToolResult| {
            classify_failure(&result.text, result.is_error, is_error_text == Some(true), has_version)
        };
        Ok(ToolRow {
            failure: tool_call.result.as_ref().and_then(classify),
            agent: self.session.info.agent.clone(),
            duration_ms: call.millis(),
            called_at: call.called_at.or(call.answered_at),
            path: self.session.path.clone(),
            call: tool_call,
        })
    }

    /// Returns the calls and results of a line that were not read yet.
    fn parse_line(&mut self, span: LineSpan) -> Result<&mut ParsedCallLine, Error> {
        let slot = match self.parsed.entry(span.offset) {
            Slot::Occupied(slot) => return Ok(slot.into_mut()),
            Slot::Vacant(slot) => slot,
        };
        let bytes = self.lines.read_span(span).map_err(Error::reading(&self.session.path))?;
        self.parsed_count += 1;
        Ok(slot.insert(ParsedCallLine::from_bytes(span, &bytes)))
    }

    /// Drops a line after its last call.
    fn release_line(&mut self, span: LineSpan) {
        let uses = self.uses.entry(span.offset).or_default();
        *uses = uses.saturating_sub(1);
        if *uses == 0 {
            self.parsed.remove(&span.offset);
        }
    }
}

impl ParsedCallLine {
    fn from_bytes(span: LineSpan, bytes: &[u8]) -> ParsedCallLine {
        let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
        let line = Line { number: span.line, offset: 0, bytes, unterminated: false };
        entry::read_line(&line, &mut Vec::new(), |entry, _| entries.push((span.line, entry)));
        let mut parsed = ParsedCallLine {
            is_error_text: entries.iter().find_map(|(_, entry)| entry.tool_use_result).map(is_error_record),
            has_version: entries.iter().any(|(_, entry)| entry.version.is_some()),
            ..ParsedCallLine::default()
        };
        for item in build_turn(&entries).parts {
            if let TurnPart::Tool(tool_call) = item.part {
                parsed.calls.entry(Id::from_text(tool_call.id.as_bytes())).or_insert(*tool_call);
            }
        }
        parsed
    }
}

/// Returns the lines of a call and its result, each once.
fn list_spans(call: &ToolCallRecord) -> impl Iterator<Item = LineSpan> + use<> {
    [call.call, call.result.filter(|result| Some(*result) != call.call)].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use rethread_testkit::home::Home;
    use rethread_testkit::script;

    use super::{CallLines, LoadOptions, load};

    #[test]
    fn each_line_is_parsed_once() {
        let home = Home::new("unused");
        let calls: Vec<String> = (0..50).map(|idx| format!("!Bash ls {idx}")).collect();
        let script = format!("u1: go\n  a1: {}\n    u2: =a1 yes\n      a2: done", calls.join(" | "));
        let path = home.write("session.jsonl", script::bytes(&script));
        let options = LoadOptions { tool_calls: true, ..LoadOptions::default() };
        let session = load(&path, options, &mut ()).expect("a session");
        let records = session.tool_calls.calls();
        assert_eq!(records.len(), 50);
        let mut call_lines = CallLines::new(&session, records.iter()).expect("a file");
        for (idx, record) in records.iter().enumerate() {
            let row = call_lines.read_row(record).expect("a call");
            assert!(row.call.input.contains(&format!("ls {idx}\"")), "{}", row.call.input);
        }
        let lines_with_calls = 2;
        assert_eq!((call_lines.parsed_count, call_lines.parsed.len()), (lines_with_calls, 0));
    }
}
