//! The clients that run on this machine, as they have registered themselves, and what they do.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_core::context::{ContextCollector, ContextHistory};
use rethread_core::entry::{EntryRole, Timestamp};
use rethread_core::tree::NodeId;

use crate::Error;
use crate::cache::CacheDir;
pub use crate::disk::RegisteredClient;
use crate::disk::{
    FileRole, LineReader, ProcessTable, Roots, SystemProcesses, find_process_start, find_registered_clients,
    find_registrations, list_ancestor_processes,
};
use crate::ops::list::{SessionFilter, SessionRow, list_sessions};
use crate::session::load::{LoadOptions, Session, load};
use crate::session::per_file_cache::find_files;
use crate::session::preview::EntryPreview;

/// The maximum number of processes between this one and the client that started it, such as shells.
const MAX_ANCESTORS: usize = 8;

/// The tools with which the client asks the user and waits for the answer.
const QUESTION_TOOLS: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

/// The activity of a running client. The states are in the order of a list: first those that need the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActivityState {
    /// It waits for the user to answer a question or to approve a plan.
    Waiting,
    /// The model answers, or a tool runs.
    Busy,
    /// It waits for the next prompt.
    Idle,
    /// Neither the client nor the session file says what it does.
    Unknown,
}

impl ActivityState {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            ActivityState::Waiting => "waiting",
            ActivityState::Busy => "busy",
            ActivityState::Idle => "idle",
            ActivityState::Unknown => "unknown",
        }
    }
}

/// A session that a running client has open.
#[derive(Debug, Clone)]
pub struct RunningSession {
    /// The client.
    pub client: RegisteredClient,
    /// The title. Empty if the session has none, or no file yet.
    pub title: String,
    /// The folder in which the session was started. Empty if it is unknown.
    pub project: String,
    /// The session file. `None` if the client has not written one yet.
    pub path: Option<PathBuf>,
    /// The activity of the client.
    pub state: ActivityState,
    /// Whether the state was inferred from the session file. Otherwise the client states it, or it is unknown.
    pub is_inferred: bool,
    /// The time at which the state began. `None` if it is unknown.
    pub since: Option<Timestamp>,
    /// The start of the last prompt, on one line. Empty if there is none.
    pub last_prompt: String,
    /// The tokens of the last request and its response. `None` if there is no response since the last compaction.
    pub context_tokens: Option<u64>,
}

/// The sessions that running clients have open.
#[derive(Debug, Default)]
pub struct RunningSessionList {
    /// The sessions by state, the latest change first.
    pub rows: Vec<RunningSession>,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
}

/// Lists the sessions that running clients have open. Only the files of these sessions are read.
pub fn list_running_sessions(roots: &Roots, cache: Option<&CacheDir>) -> RunningSessionList {
    let clients = list_running_clients(roots);
    if clients.is_empty() {
        return RunningSessionList::default();
    }
    let (files, mut failures) = find_files(roots, cache);
    let mains = files.iter().filter(|file| file.role == FileRole::Main && !file.is_archived);
    let paths: HashMap<&str, &Path> = mains.map(|file| (file.stem(), file.path.as_path())).collect();
    let mut rows = Vec::with_capacity(clients.len());
    for client in clients {
        let path = paths.get(client.session.as_str()).copied();
        let transcript = path.map(TranscriptFacts::read).transpose().unwrap_or_else(|failure| {
            failures.push(failure);
            None
        });
        rows.push(build_row(client, path, transcript.unwrap_or_default()));
    }
    rows.sort_by_key(|row| (row.state, std::cmp::Reverse(row.since), row.client.pid));
    RunningSessionList { rows, failures }
}

/// Builds the row of a client from its registration and its session file.
fn build_row(client: RegisteredClient, path: Option<&Path>, transcript: TranscriptFacts) -> RunningSession {
    let (state, is_inferred, since) = find_state(&client, transcript.end);
    let project = Some(transcript.project).filter(|project| !project.is_empty());
    RunningSession {
        title: transcript.title,
        project: project.or_else(|| client.cwd.clone()).unwrap_or_default(),
        path: path.map(Path::to_owned),
        state,
        is_inferred,
        since,
        last_prompt: transcript.last_prompt,
        context_tokens: transcript.context_tokens,
        client,
    }
}

/// Returns what a client does, whether that is inferred from the end of its session, and since when.
fn find_state(
    client: &RegisteredClient,
    end: Option<TranscriptEnd>,
) -> (ActivityState, bool, Option<Timestamp>) {
    // What an earlier client left open when it ended says nothing about this one.
    let is_earlier = |end: &TranscriptEnd| {
        end.time.zip(client.started_at).is_some_and(|(written, started)| written < started)
    };
    let end = end.map(|end| {
        if is_earlier(&end) {
            TranscriptEnd { state: ActivityState::Idle, time: client.started_at }
        } else {
            end
        }
    });
    let stated = match client.status.as_deref() {
        Some("busy") => Some(ActivityState::Busy),
        Some("idle") => Some(ActivityState::Idle),
        _ => None,
    };
    match (stated, end) {
        (_, Some(TranscriptEnd { state: ActivityState::Waiting, time })) => {
            (ActivityState::Waiting, true, time)
        }
        (Some(state), _) => (state, false, client.status_since),
        (None, Some(end)) => (end.state, true, end.time),
        (None, None) => (ActivityState::Unknown, false, None),
    }
}

/// The facts of a session file that a list of running sessions shows.
#[derive(Debug, Default)]
struct TranscriptFacts {
    title: String,
    project: String,
    last_prompt: String,
    context_tokens: Option<u64>,
    end: Option<TranscriptEnd>,
}

/// The activity of a client according to the end of its session file.
#[derive(Debug, Clone, Copy)]
struct TranscriptEnd {
    state: ActivityState,
    /// The time of the entry that decides.
    time: Option<Timestamp>,
}

impl TranscriptFacts {
    /// Reads a session file.
    fn read(path: &Path) -> Result<TranscriptFacts, Error> {
        let options = LoadOptions { tool_calls: true, ..LoadOptions::default() };
        let mut collector = ContextCollector::default();
        let session = load(path, options, &mut collector)?;
        let active = session.active_path();
        let conversation = session.conversation(&active);
        let nodes: Vec<NodeId> =
            conversation.nodes().filter(|&node_id| session.tree.is_main_chain(node_id)).collect();
        let history = ContextHistory::new(&session.tree, &collector, &nodes);
        Ok(TranscriptFacts {
            project: session.header().folder,
            last_prompt: session.read_last_prompt(&nodes)?,
            context_tokens: find_context_tokens(&history),
            end: session.find_end(&active.nodes),
            title: session.title.text,
        })
    }
}

/// Returns the tokens of the last request and its response, or those after a later drop. Returns `None` if they are unknown.
fn find_context_tokens(history: &ContextHistory) -> Option<u64> {
    match history.drops.last().filter(|drop| drop.sample_idx == history.samples.len()) {
        Some(drop) => drop.after,
        None => history.samples.last().map(|sample| sample.context.saturating_add(sample.output)),
    }
}

impl Session {
    /// Reads the start of the last prompt of a conversation, on one line. Returns an empty string if there is none.
    fn read_last_prompt(&self, conversation: &[NodeId]) -> Result<String, Error> {
        let Some(turn) = conversation.iter().rev().find_map(|&node_id| self.tree.turn_of(node_id)) else {
            return Ok(String::new());
        };
        let mut lines = LineReader::open(&self.path).map_err(Error::reading(&self.path))?;
        Ok(match self.preview_entry(&mut lines, turn)?.preview {
            EntryPreview::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            _ => String::new(),
        })
    }

    /// Returns what the last entries of a path say about the client. Returns `None` if they say nothing.
    fn find_end(&self, path: &[NodeId]) -> Option<TranscriptEnd> {
        let mut last_time = None;
        for &node_id in path.iter().rev() {
            let node = self.tree.node(node_id);
            let state = match node.role {
                EntryRole::Answer => self.find_state_after_response(path, node_id),
                EntryRole::Prompt
                | EntryRole::ImageOnly
                | EntryRole::Command
                | EntryRole::Shell
                | EntryRole::Notification
                | EntryRole::CompactSummary => ActivityState::Busy,
                EntryRole::Output
                | EntryRole::Interrupt
                | EntryRole::ApiError
                | EntryRole::SyntheticReply => ActivityState::Idle,
                EntryRole::Results
                | EntryRole::Meta
                | EntryRole::CompactBoundary
                | EntryRole::Structural
                | EntryRole::State => {
                    last_time = last_time.or(node.time());
                    continue;
                }
            };
            // A question is open since it was asked, although other calls of the response were answered later.
            let time = if state == ActivityState::Waiting { None } else { last_time };
            return Some(TranscriptEnd { state, time: time.or(node.time()) });
        }
        None
    }

    /// Returns what a client does whose last response on a path contains the line `last`.
    fn find_state_after_response(&self, path: &[NodeId], last: NodeId) -> ActivityState {
        let is_of_response = |node_id: NodeId| node_id == last || self.tree.is_same_message(node_id, last);
        let offsets: HashSet<u64> = path
            .iter()
            .filter(|&&node_id| is_of_response(node_id))
            .map(|&node_id| self.tree.node(node_id).span.offset)
            .collect();
        let calls = self.tool_calls.calls().iter();
        let calls = calls.filter(|call| call.call.is_some_and(|span| offsets.contains(&span.offset)));
        let state_by_call = calls.map(|call| {
            let is_question = QUESTION_TOOLS.contains(&self.tool_calls.tool_name(call.tool));
            // The model goes on after the result of a call, so that the client is busy with or without it.
            if call.result.is_none() && is_question { ActivityState::Waiting } else { ActivityState::Busy }
        });
        state_by_call.min().unwrap_or(ActivityState::Idle)
    }
}

/// Returns the running clients of the client directories that contain `roots`, each once, by process id.
pub fn list_running_clients(roots: &Roots) -> Vec<RegisteredClient> {
    let mut clients: Vec<RegisteredClient> =
        roots.paths.iter().flat_map(|root| find_registered_clients(root, &SystemProcesses)).collect();
    clients.sort_by_key(|client| client.pid);
    let mut seen = HashSet::new();
    clients.retain(|client| seen.insert((client.pid, client.session.clone())));
    clients
}

/// A session that was open in a client that ended without leaving: by a crash, a kill or a restart of the machine.
#[derive(Debug, Clone)]
pub struct InterruptedSession {
    /// The client.
    pub client: RegisteredClient,
    /// The title. Empty if the session has none.
    pub title: String,
    /// The folder in which the session was started. Empty if it is unknown.
    pub project: String,
    /// The session file.
    pub path: PathBuf,
    /// The time of its last message, or of the last change of the registration. `None` if neither is known.
    pub last_active: Option<Timestamp>,
}

/// Lists the sessions that were open in clients that ended without leaving, the latest first. Sessions without a file, and those
/// that a running client has open, are left out.
pub fn list_interrupted_sessions(roots: &Roots, cache: Option<&CacheDir>) -> Vec<InterruptedSession> {
    let registrations: Vec<RegisteredClient> =
        roots.paths.iter().flat_map(|root| find_registrations(root)).collect();
    let (running, ended): (Vec<_>, Vec<_>) = registrations.into_iter().partition(is_same_process);
    if ended.is_empty() {
        return Vec::new();
    }
    let open: HashSet<String> = running.into_iter().map(|client| client.session).collect();
    let filter = SessionFilter { all: true, ..SessionFilter::default() };
    let list = list_sessions(&roots.without_archive(), &filter, cache);
    let rows: HashMap<&str, &SessionRow> = list.rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut seen = HashSet::new();
    let mut sessions: Vec<InterruptedSession> = ended
        .into_iter()
        .filter(|client| !open.contains(&client.session) && seen.insert(client.session.clone()))
        .filter_map(|client| {
            let row = rows.get(client.session.as_str())?;
            Some(InterruptedSession {
                title: row.title.text.clone(),
                project: client.cwd.clone().unwrap_or_else(|| row.project()),
                path: row.path.clone(),
                last_active: row.info.last_time.max(client.updated_at),
                client,
            })
        })
        .collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_active));
    sessions
}

/// Returns `true` if the process of a registration runs. Another process may have its id by now.
fn is_same_process(client: &RegisteredClient) -> bool {
    let is_reused = || {
        find_process_start(client.pid)
            .zip(client.process_start.as_ref())
            .is_some_and(|(start, registered)| start != *registered)
    };
    SystemProcesses.is_running(client.pid) && !is_reused()
}

/// Returns the session of the client that started this process, directly or through other processes. Returns `None` if no
/// registered client did.
pub fn find_calling_session(roots: &Roots) -> Option<String> {
    let ancestors = list_ancestor_processes(MAX_ANCESTORS);
    let clients = list_running_clients(roots);
    let find_client = |pid: &u32| clients.iter().find(|client| client.pid == *pid);
    ancestors.iter().find_map(find_client).map(|client| client.session.clone())
}
