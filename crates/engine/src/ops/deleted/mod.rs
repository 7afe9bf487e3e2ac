//! Sessions that are gone: neither on disk, nor in the trash, nor in the archive. Other files of the client still have some of
//! their data: prompts, subagents, tool results, backups of edited files, tasks, todos, plans, and copies in other sessions.

mod collect;
mod prompts;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use self::collect::TraceCollector;
pub use self::prompts::{DeletedPrompt, read_deleted_prompts};
use super::list::SessionFilter;
use super::log::{OpRow, OpStatus, log};
use crate::Error;
use crate::cache::CacheDir;
use crate::disk::Roots;
use crate::writer::{OpId, SessionWriter};

/// A session that is gone.
#[derive(Debug, Clone, Default)]
pub struct DeletedSession {
    /// The id.
    pub id: String,
    /// The working folder. If it is unknown, the folder of its files.
    pub project: Option<String>,
    /// The start of the first prompt that is not a command of the client, on one line. Without one, the first command.
    pub first_prompt: Option<String>,
    /// The time of the first trace.
    pub first_time: Option<Timestamp>,
    /// The time of the last trace.
    pub last_time: Option<Timestamp>,
    /// The number of prompts in the history, with commands.
    pub prompts: usize,
    /// The number of those that are commands of the client, such as `/exit`.
    pub commands: usize,
    /// The remaining data, by kind.
    pub traces: Vec<SessionTrace>,
}

/// The remaining data of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTrace {
    /// The kind.
    pub kind: TraceKind,
    /// The number of items: prompts, files, or sessions that refer to it.
    pub count: usize,
    /// The size of the files in bytes. 0 for prompts and for other sessions.
    pub bytes: u64,
    /// The files, folders or sessions with the data, sorted.
    pub paths: Vec<PathBuf>,
}

/// The kinds of data that outlive a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceKind {
    /// Prompts in `history.jsonl`.
    Prompts,
    /// Transcripts of subagents.
    Agents,
    /// Stored tool results.
    ToolResults,
    /// Files as they were before edits.
    FileHistory,
    /// Tasks.
    Tasks,
    /// To-do lists that are not empty.
    Todos,
    /// Plans that a subagent names.
    Plans,
    /// Sessions that were forked from it, with its conversation up to the fork.
    Forks,
    /// Sessions with lines of it: copies by a resume, and lines that the client wrote to another file.
    Copies,
    /// Sessions that its client process continued in.
    Continuations,
    /// Entries of `sessions-index.json`.
    Index,
}

impl TraceKind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TraceKind::Prompts => "prompts",
            TraceKind::Agents => "agents",
            TraceKind::ToolResults => "tool_results",
            TraceKind::FileHistory => "file_history",
            TraceKind::Tasks => "tasks",
            TraceKind::Todos => "todos",
            TraceKind::Plans => "plans",
            TraceKind::Forks => "forks",
            TraceKind::Copies => "copies",
            TraceKind::Continuations => "continuations",
            TraceKind::Index => "index",
        }
    }
}

/// A list of deleted sessions.
#[derive(Debug, Default)]
pub struct DeletedList {
    /// The sessions, the last used first.
    pub rows: Vec<DeletedSession>,
    /// The number of sessions of which only commands of the client are left. Most of them never had a file.
    pub without_prompts: usize,
    /// The number of prompts without a session id. Clients before 2.0.32 wrote none.
    pub unassigned_prompts: usize,
    /// The number of lines of the history that are damaged.
    pub damaged_lines: usize,
    /// The ids of sessions in the trash, with the operation that removed them.
    pub in_trash: Vec<(String, OpId)>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Lists the sessions that are gone and what is left of them. Reads the prompt history and the names of side files once.
///
/// `filter` selects sessions. Git branch and model are unknown and have no effect.
pub fn list_deleted(
    roots: &Roots,
    filter: &SessionFilter,
    writer: &SessionWriter,
    cache: Option<&CacheDir>,
) -> DeletedList {
    let mut collector = TraceCollector::new(roots, cache);
    let mut in_trash: Vec<(String, OpId)> = Vec::new();
    match find_removed(writer) {
        Ok(removed) => in_trash = removed,
        Err(error) => collector.failures.push(error),
    }
    in_trash.retain(|(id, _)| !collector.is_known(id));
    collector.add_known(in_trash.iter().map(|(id, _)| id.clone()));
    collector.collect();
    let (all, mut list) = collector.finish();
    for session in all {
        if !filter.all && !session.has_conversation() {
            list.without_prompts += 1;
        } else if session.matches(filter) {
            list.rows.push(session);
        }
    }
    list.in_trash = in_trash;
    list.rows.sort_by(|a, b| b.last_time.cmp(&a.last_time).then_with(|| a.id.cmp(&b.id)));
    list
}

/// Finds a deleted session by its id or at least four characters of it. Returns `None` if there is none.
///
/// Returns [`Error::AmbiguousSession`] if several ids match, and [`Error::InTrash`] if the session is in the trash.
pub fn find_deleted(
    roots: &Roots,
    name: &str,
    writer: &SessionWriter,
    cache: Option<&CacheDir>,
) -> Result<Option<DeletedSession>, Error> {
    const MIN_PREFIX_LEN: usize = 4;
    let name = name.to_lowercase();
    // A name that cannot be an id costs nothing.
    if name.len() < MIN_PREFIX_LEN || !name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return Ok(None);
    }
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let list = list_deleted(roots, &filter, writer, cache);
    if let Some((id, op)) = list.in_trash.into_iter().find(|(id, _)| id.starts_with(&name)) {
        return Err(Error::InTrash { session: id, op: op.to_string() });
    }
    let mut found: Vec<DeletedSession> =
        list.rows.into_iter().filter(|session| session.id.starts_with(&name)).collect();
    if found.len() > 1 {
        let title = |session: &DeletedSession| session.first_prompt.clone().unwrap_or_default();
        let candidates = found.iter().map(|session| (session.id.clone(), title(session))).collect();
        return Err(Error::AmbiguousSession { name, candidates });
    }
    Ok(found.pop())
}

/// Returns the ids of the sessions that `rm` moved to the trash and that are still there, each with the operation.
fn find_removed(writer: &SessionWriter) -> Result<Vec<(String, OpId)>, Error> {
    let mut removed: HashMap<String, OpId> = HashMap::new();
    let is_complete = |op: &&OpRow| matches!(op.status, OpStatus::Done | OpStatus::Undone(_));
    for op in log(writer)?.ops.iter().filter(is_complete) {
        // Every later change of the session means that its file is back.
        let is_removal = op.change.text.starts_with("rm") && !op.change.is_revert && !op.pruned;
        match is_removal {
            true => removed.insert(op.session.clone(), op.id),
            false => removed.remove(&op.session),
        };
    }
    let mut removed: Vec<(String, OpId)> = removed.into_iter().collect();
    removed.sort();
    Ok(removed)
}

impl DeletedSession {
    /// Returns `true` if the data shows that there was a conversation. Otherwise the client may have been closed without
    /// writing a session file.
    pub fn has_conversation(&self) -> bool {
        let has_files = self
            .traces
            .iter()
            .any(|trace| !matches!(trace.kind, TraceKind::Prompts | TraceKind::Continuations));
        self.prompts > self.commands || has_files
    }

    /// Returns the trace of a kind. Returns `None` if there is none.
    pub fn trace(&self, kind: TraceKind) -> Option<&SessionTrace> {
        self.traces.iter().find(|trace| trace.kind == kind)
    }

    /// Returns the size of all remaining files in bytes.
    pub fn bytes(&self) -> u64 {
        self.traces.iter().map(|trace| trace.bytes).sum()
    }

    fn matches(&self, filter: &SessionFilter) -> bool {
        let contains = |text: &Option<String>, part: &str| {
            text.as_ref().is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
        };
        let is_part = |text: &Option<String>, part: &Option<String>| {
            part.as_ref().is_none_or(|part| contains(text, part))
        };
        is_part(&self.project, &filter.project)
            && is_part(&self.first_prompt, &filter.title)
            && filter.since.is_none_or(|since| self.last_time.is_some_and(|last| last >= since))
            && filter.until.is_none_or(|until| self.first_time.is_some_and(|first| first < until))
            && filter.last_before.is_none_or(|before| self.last_time.is_some_and(|last| last < before))
            && filter.words.iter().all(|word| {
                contains(&self.project, word)
                    || contains(&self.first_prompt, word)
                    || self.id.contains(&word.to_lowercase())
            })
    }

    /// Adds data to the trace of a kind. A path is listed once.
    fn add_trace(&mut self, kind: TraceKind, count: usize, bytes: u64, path: &Path) {
        match self.traces.iter_mut().find(|trace| trace.kind == kind) {
            Some(trace) => {
                trace.count += count;
                trace.bytes += bytes;
                if trace.paths.last().is_none_or(|last| last != path) {
                    trace.paths.push(path.to_owned());
                }
            }
            None => self.traces.push(SessionTrace { kind, count, bytes, paths: vec![path.to_owned()] }),
        }
    }

    fn add_time(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        self.first_time = Some(self.first_time.map_or(time, |first| first.min(time)));
        self.last_time = Some(self.last_time.map_or(time, |last| last.max(time)));
    }
}
