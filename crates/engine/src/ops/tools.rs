//! Every tool call of a session's family, with its result.

use std::path::{Path, PathBuf};

use rethread_core::entry::{self, Entry, Timestamp, value_text};
use rethread_core::id::IdMap;
use rethread_core::lines::Line;
use rethread_core::turn::{Call, ToolCall, ToolResult as Answer, TurnPart, build_turn};

use super::agents::family_of;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load};

/// Which calls to list.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// Tools by name, in any case; none means all.
    pub names: Vec<String>,
    /// Only calls that failed.
    pub errors: bool,
}

/// A tool call in a list.
#[derive(Debug)]
pub struct ToolRow {
    /// The call and what came of it.
    pub call: ToolCall,
    /// The agent that made it; `None` for the session itself.
    pub agent: Option<String>,
    /// Why it counts as failed.
    pub failed: Option<&'static str>,
    /// Milliseconds from call to result.
    pub millis: Option<i64>,
    /// When it was called.
    pub called: Option<Timestamp>,
    /// The file it stands in.
    pub path: PathBuf,
}

/// What was found.
#[derive(Debug)]
pub struct Tools {
    /// Which session it is.
    pub head: SessionHeader,
    /// The calls, in the order of their files and lines.
    pub rows: Vec<ToolRow>,
    /// Calls without a result and results without a call, in the whole family.
    pub unpaired: usize,
    /// Files that could not be read.
    pub failures: Vec<Error>,
}

/// Lists the tool calls of the session in `path` and its subagents.
pub fn tools(path: &Path, filter: &ToolFilter) -> Result<Tools, Error> {
    let main = load(path)?;
    let mut tools = Tools { head: main.head(), rows: Vec::new(), unpaired: 0, failures: Vec::new() };
    // Halves by call: the call itself, its result.
    let mut orphans: IdMap<(bool, bool)> = IdMap::default();
    let mut sessions = vec![main];
    for path in family_of(path) {
        match load(&path) {
            Ok(session) => sessions.push(session),
            Err(failure) => tools.failures.push(failure),
        }
    }
    for session in sessions {
        let path = &session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        for call in session.pairs.calls() {
            if call.call.is_none() || call.result.is_none() {
                let halves = orphans.entry(call.id).or_default();
                halves.0 |= call.call.is_some();
                halves.1 |= call.result.is_some();
            }
            if !filter.takes_name(session.pairs.tool(call.tool)) {
                continue;
            }
            let row = row(&session, call, &mut lines)?;
            if !filter.errors || row.failed.is_some() {
                tools.rows.push(row);
            }
        }
    }
    // A call and its result may stand in two files of one family.
    tools.unpaired = orphans.values().filter(|halves| **halves != (true, true)).count();
    Ok(tools)
}

impl ToolFilter {
    fn takes_name(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
    }
}

fn row(session: &Session, call: &Call, lines: &mut LineReader) -> Result<ToolRow, Error> {
    let mut raw = Vec::new();
    let places = [call.call, call.result.filter(|result| Some(*result) != call.call)];
    for place in places.into_iter().flatten() {
        raw.push((place.line, lines.read(place).map_err(Error::reading(&session.path))?));
    }
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    for (no, bytes) in &raw {
        let line = Line { no: *no, offset: 0, bytes, unterminated: false };
        entry::read(&line, &mut Vec::new(), |entry, _| entries.push((*no, entry)));
    }
    let known = |told: &ToolCall| rethread_core::id::Id::of(told.id.as_bytes()) == call.id;
    let told = build_turn(&entries).parts.into_iter().find_map(|piece| match piece.part {
        TurnPart::Tool(told) if known(&told) => Some(*told),
        _ => None,
    });
    let told = told.unwrap_or_default();
    let extra = entries.iter().find_map(|(_, entry)| entry.tool_use_result);
    let has_version = entries.iter().any(|(_, entry)| entry.version.is_some());
    let failed = told.result.as_ref().and_then(|answer| failure(answer, extra, has_version));
    Ok(ToolRow {
        failed,
        agent: session.sketch.agent.clone(),
        millis: call.millis(),
        called: call.called.or(call.answered),
        path: session.path.clone(),
        call: told,
    })
}

/// Says why a result counts as failed. The search for words is for files so old that they do not name their client;
/// every measured client marks its errors.
fn failure(answer: &Answer, extra: Option<&[u8]>, has_version: bool) -> Option<&'static str> {
    if answer.is_error {
        return Some("is_error");
    }
    if answer.text.starts_with("<tool_use_error>") {
        return Some("tool_use_error");
    }
    let exit = answer.text.strip_prefix("Exit code ").and_then(|rest| rest.split_whitespace().next());
    if exit.is_some_and(|code| code != "0") {
        return Some("exit code");
    }
    if extra.is_some_and(|extra| value_text(extra).starts_with("Error: ")) {
        return Some("error result");
    }
    let lower = answer.text.to_lowercase();
    (!has_version && (lower.contains("error") || lower.contains("failed"))).then_some("words")
}
