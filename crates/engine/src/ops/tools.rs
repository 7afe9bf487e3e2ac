//! Lists the tool calls of a session and its subagents, with their results.

use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Entry, Timestamp, value_text};
use rethread_core::id::IdMap;
use rethread_core::lines::Line;
use rethread_core::turn::{ToolCall, ToolCallRecord, ToolResult, TurnPart, build_turn};

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
        let path = &session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        for call in session.tool_calls.calls() {
            if call.call.is_none() || call.result.is_none() {
                let found = unpaired.entry(call.id).or_default();
                found.0 |= call.call.is_some();
                found.1 |= call.result.is_some();
            }
            if !filter.accepts_name(session.tool_calls.tool_name(call.tool)) {
                continue;
            }
            let row = read_row(&session, call, &mut lines)?;
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

/// Reads the lines of a call and its result. The call is empty if the lines no longer contain it.
fn read_row(session: &Session, call: &ToolCallRecord, lines: &mut LineReader) -> Result<ToolRow, Error> {
    let mut lines_read = Vec::new();
    let spans = [call.call, call.result.filter(|result| Some(*result) != call.call)];
    for span in spans.into_iter().flatten() {
        lines_read.push((span.line, lines.read_span(span).map_err(Error::reading(&session.path))?));
    }
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    for (number, bytes) in &lines_read {
        let line = Line { number: *number, offset: 0, bytes, unterminated: false };
        entry::read_line(&line, &mut Vec::new(), |entry, _| entries.push((*number, entry)));
    }
    let is_wanted =
        |tool_call: &ToolCall| rethread_core::id::Id::from_text(tool_call.id.as_bytes()) == call.id;
    let tool_call = build_turn(&entries).parts.into_iter().find_map(|item| match item.part {
        TurnPart::Tool(tool_call) if is_wanted(&tool_call) => Some(*tool_call),
        _ => None,
    });
    let tool_call = tool_call.unwrap_or_default();
    let extra_result = entries.iter().find_map(|(_, entry)| entry.tool_use_result);
    let has_version = entries.iter().any(|(_, entry)| entry.version.is_some());
    let failure =
        tool_call.result.as_ref().and_then(|result| classify_failure(result, extra_result, has_version));
    Ok(ToolRow {
        failure,
        agent: session.info.agent.clone(),
        duration_ms: call.millis(),
        called_at: call.called_at.or(call.answered_at),
        path: session.path.clone(),
        call: tool_call,
    })
}

/// Returns the reason why a result counts as failed. Returns `None` if it does not. `extra_result` is the JSON of
/// `toolUseResult`.
///
/// The text is searched for error words only in files so old that they have no client version. Every measured client
/// marks its errors.
fn classify_failure(
    result: &ToolResult,
    extra_result: Option<&[u8]>,
    has_version: bool,
) -> Option<&'static str> {
    if result.is_error {
        return Some("is_error");
    }
    if result.text.starts_with("<tool_use_error>") {
        return Some("tool_use_error");
    }
    let exit = result.text.strip_prefix("Exit code ").and_then(|rest| rest.split_whitespace().next());
    if exit.is_some_and(|code| code != "0") {
        return Some("exit code");
    }
    if extra_result.is_some_and(|extra_result| value_text(extra_result).starts_with("Error: ")) {
        return Some("error result");
    }
    let lower = result.text.to_lowercase();
    (!has_version && (lower.contains("error") || lower.contains("failed"))).then_some("error words")
}
