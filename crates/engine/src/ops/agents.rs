//! Lists the subagents of a session.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_core::entry::{EntryRole, Timestamp, Usage};
use rethread_core::id::Id;
use rethread_core::pack::Pack;
use rethread_core::session::{AgentCall, AgentCallIndex, AgentMeta};
use rethread_core::tree::NodeId;
use rethread_core::turn::{TurnPart, build_turn};
use rethread_core::usage::{UsageCollector, dedupe_responses, total_tokens};

use crate::Error;
use crate::disk::{
    FileRole, LineReader, ScanEvent, ScanOptions, SessionFile, find_sessions_below, list_sibling_agents,
    read_small_file, scan,
};
use crate::session::load::{LoadOptions, Session, SessionHeader, load};

/// A subagent in a list.
#[derive(Debug, Clone, Default)]
pub struct AgentRow {
    /// The agent id from the file name. For a subagent inside the main file, its first line (`L118`).
    pub id: String,
    /// The type of the subagent, such as `Explore`. Empty if unknown.
    pub kind: String,
    /// The short description of its task. Empty if unknown.
    pub description: String,
    /// The prompt with which it was started. Empty if there is none.
    pub prompt: String,
    /// The subagent that started it. `None` if the session itself did.
    pub parent: Option<String>,
    /// The nesting depth: 1 if the session started it.
    pub depth: usize,
    /// The id of the tool call that started it. `None` if no call was found.
    pub tool_use_id: Option<String>,
    /// The line of that call in the parent's file. `None` if no call was found.
    pub call_line: Option<u32>,
    /// The number of user and assistant lines.
    pub entries: usize,
    /// The number of tool calls.
    pub tools: usize,
    /// The tokens, each response counted once.
    pub usage: Usage,
    /// The number of responses.
    pub responses: usize,
    /// The time of its first entry.
    pub started_at: Option<Timestamp>,
    /// The time of its last entry.
    pub ended_at: Option<Timestamp>,
    /// Whether the client started it only to warm up its cache.
    pub warmup: bool,
    /// The subagent's own file. `None` if its entries are inside the main file.
    pub path: Option<PathBuf>,
}

/// The subagents of a session.
#[derive(Debug)]
pub struct AgentList {
    /// The session.
    pub header: SessionHeader,
    /// The subagents sorted by start time. Those started by another subagent follow it directly.
    pub rows: Vec<AgentRow>,
    /// The subagent files that could not be loaded.
    pub failures: Vec<Error>,
}

/// Finds the subagent files of a session: in its side folder, and next to its file if they name the session.
///
/// The result is sorted by path. It is empty unless `file` is the main file of a session.
pub(crate) fn find_agent_files(file: &SessionFile) -> Vec<SessionFile> {
    if file.role != FileRole::Main {
        return Vec::new();
    }
    let mut files = find_sessions_below(&file.side_dir());
    files.retain(|file| file.role != FileRole::Main);
    let id = file.stem();
    for path in list_sibling_agents(&file.path).into_iter().map(|name| file.path.with_file_name(name)) {
        let is_own = read_first_session_id(&path).is_some_and(|session| session == id);
        if is_own {
            files.extend(find_sessions_below(&path));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Finds the subagent files of the session file `path`, sorted by path.
pub fn find_agent_paths(path: &Path) -> Vec<PathBuf> {
    let files = find_sessions_below(path);
    files.iter().flat_map(find_agent_files).map(|file| file.path).collect()
}

impl Session {
    /// Returns the size in bytes of the session file and its subagent files, which is the size in a list of sessions.
    pub fn total_bytes(&self) -> u64 {
        let files = find_sessions_below(&self.path);
        self.bytes + files.iter().flat_map(find_agent_files).map(|file| file.len).sum::<u64>()
    }
}

/// Hashes the paths and fingerprints of the subagent files of the session file `path`. Any change gives another hash.
#[doc(hidden)] // Public only because the web server caches the list.
pub fn agents_fingerprint(path: &Path) -> u64 {
    let files = find_sessions_below(path);
    let mut bytes = Vec::new();
    for file in files.iter().flat_map(find_agent_files) {
        bytes.extend_from_slice(file.path.as_os_str().as_encoded_bytes());
        file.fingerprint.pack_into(&mut bytes);
    }
    Id::from_text(&bytes).bits() as u64
}

/// Returns the first session id in the first lines of a file. Returns `None` if they have none or cannot be read.
pub(super) fn read_first_session_id(path: &Path) -> Option<String> {
    let mut session = None;
    scan(path, &ScanOptions::head(), |event| {
        if let (ScanEvent::Entry(entry, ..), None) = (event, &session) {
            session = entry.session_id.map(|session| session.decode().into_owned());
        }
    })
    .ok()?;
    session
}

/// Lists the subagents of the session file `path`, also those written into the file itself.
pub fn list_agents(path: &Path) -> Result<AgentList, Error> {
    let options = LoadOptions { tool_calls: true, ..LoadOptions::default() };
    let main = load(path, options, &mut ())?;
    let header = main.header();
    let mut call_indexes: Vec<(Option<String>, AgentCallIndex)> = Vec::new();
    let mut rows = list_inline_agents(&main)?;
    let mut agents: Vec<(Session, AgentMeta, String, UsageCollector)> = Vec::new();
    let mut failures = Vec::new();
    for path in find_agent_paths(path) {
        let meta = read_small_file(&path.with_extension("meta.json")).map(|bytes| AgentMeta::parse(&bytes));
        let mut usage = UsageCollector::default();
        let session = load(&path, options, &mut usage);
        match session.and_then(|session| Ok((read_first_prompt(&session)?, session))) {
            Ok((prompt, session)) => agents.push((session, meta.unwrap_or_default(), prompt, usage)),
            Err(failure) => failures.push(failure),
        }
    }
    call_indexes.push((None, main.agent_calls));
    let mut pending = Vec::new();
    for (session, meta, prompt, usage) in agents {
        let id = derive_agent_id(&session);
        let row = build_file_row(&session, &id, &meta, prompt, usage);
        call_indexes.push((Some(id), session.agent_calls));
        pending.push((row, meta));
    }
    let mut claimed_calls: HashSet<String> = rows.iter().filter_map(|row| row.tool_use_id.clone()).collect();
    for (mut row, meta) in pending {
        let found = call_indexes.iter().filter(|(owner, _)| owner.as_deref() != Some(&row.id));
        let found = found
            .filter_map(|(owner, calls)| {
                Some((owner, calls.find_call(&row.id, &meta, &row.prompt, &claimed_calls)?))
            })
            .next();
        if let Some((owner, call)) = found {
            claimed_calls.insert(call.tool_use_id.clone());
            set_launch_call(&mut row, call, owner.clone());
        }
        row.parent = meta.parent.or(row.parent);
        rows.push(row);
    }
    Ok(AgentList { header, rows: sort_below_parents(rows), failures })
}

/// Stores the tool call that started a subagent, and fills in an empty kind and description from it. `owner`, the new
/// parent, is the id of the calling subagent, `None` for the session.
fn set_launch_call(row: &mut AgentRow, call: &AgentCall, owner: Option<String>) {
    row.tool_use_id = Some(call.tool_use_id.clone());
    row.call_line = Some(call.line);
    row.parent = owner;
    if row.kind.is_empty() {
        row.kind.clone_from(&call.kind);
    }
    if row.description.is_empty() {
        row.description.clone_from(&call.description);
    }
}

/// Returns the file stem of a subagent file without the prefix `agent-`.
fn derive_agent_id(session: &Session) -> String {
    let stem = session.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.strip_prefix("agent-").unwrap_or(stem).to_owned()
}

/// Reads the prompt of the first turn of a subagent. Returns an empty string if it has no turn.
fn read_first_prompt(session: &Session) -> Result<String, Error> {
    session.tree.turn_starts().next().map_or(Ok(String::new()), |node| read_prompt(session, node))
}

/// Builds the row of a subagent with its own file. The tool call that started it is not set.
fn build_file_row(
    session: &Session,
    id: &str,
    meta: &AgentMeta,
    prompt: String,
    usage: UsageCollector,
) -> AgentRow {
    let totals = total_tokens(&dedupe_responses(&[usage.finish()]));
    AgentRow {
        id: id.to_owned(),
        kind: meta.agent_type.clone().unwrap_or_default(),
        description: meta.description.clone().unwrap_or_default(),
        prompt,
        entries: session.info.entries + session.info.sidechain_entries,
        tools: session.tool_calls.calls().iter().filter(|call| call.call.is_some()).count(),
        usage: totals.usage,
        responses: totals.responses,
        started_at: session.info.first_time,
        ended_at: session.info.last_time,
        warmup: session.info.is_warmup(),
        path: Some(session.path.clone()),
        ..AgentRow::default()
    }
}

/// Lists the subagents inside the main file, as old clients wrote them. Each sidechain root starts one.
fn list_inline_agents(main: &Session) -> Result<Vec<AgentRow>, Error> {
    let tree = &main.tree;
    if tree.is_sidechain_file() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    let mut claimed_calls = HashSet::new();
    for root in tree.roots().filter(|&node_id| tree.node(node_id).is_sidechain()) {
        let mut subtree = vec![root];
        let mut idx = 0;
        while idx < subtree.len() {
            subtree.extend_from_slice(tree.children(subtree[idx]));
            idx += 1;
        }
        subtree.sort_unstable();
        let mut row = AgentRow { id: format!("L{}", tree.node(root).span.line), ..AgentRow::default() };
        row.prompt = read_prompt(main, root)?;
        let mut lines = LineReader::open(&main.path).map_err(Error::reading(&main.path))?;
        let mut collector = UsageCollector::default();
        for &node_id in &subtree {
            let node = tree.node(node_id);
            row.started_at = row.started_at.into_iter().chain(node.time()).min();
            row.ended_at = row.ended_at.max(node.time());
            row.entries += usize::from(node.role != EntryRole::Structural);
            let bytes = lines.read_span(node.span).map_err(Error::reading(&main.path))?;
            parse_line(&bytes, |entry| {
                collector.add(entry);
                let blocks = entry.blocks().iter();
                row.tools +=
                    blocks.filter(|block| block.kind == rethread_core::entry::BlockKind::ToolUse).count();
            });
        }
        let totals = total_tokens(&dedupe_responses(&[collector.finish()]));
        (row.usage, row.responses) = (totals.usage, totals.responses);
        let meta = AgentMeta::default();
        if let Some(call) = main.agent_calls.find_call("", &meta, &row.prompt, &claimed_calls) {
            claimed_calls.insert(call.tool_use_id.clone());
            let node_idx = tree.nodes().partition_point(|node| node.span.line < call.line);
            let call_node = Some(node_idx as NodeId).filter(|_| node_idx < tree.nodes().len());
            let owner = call_node.and_then(|id| tree.sidechain_root(id)).filter(|&owner| owner != root);
            set_launch_call(&mut row, call, owner.map(|owner| format!("L{}", tree.node(owner).span.line)));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Calls `visit` with each entry of a line. A damaged line may contain none or several.
fn parse_line(bytes: &[u8], mut visit: impl FnMut(&rethread_core::entry::Entry<'_>)) {
    let line = rethread_core::lines::Line { number: 0, offset: 0, bytes, unterminated: false };
    rethread_core::entry::read_line(&line, &mut Vec::new(), |entry, _| visit(&entry));
}

/// Reads the prompt text of an entry. Without one, returns its first meta or notification text, or an empty string.
fn read_prompt(session: &Session, node: NodeId) -> Result<String, Error> {
    let mut lines = LineReader::open(&session.path).map_err(Error::reading(&session.path))?;
    let span = session.tree.node(node).span;
    let bytes = lines.read_span(span).map_err(Error::reading(&session.path))?;
    let mut prompt = String::new();
    parse_line(&bytes, |entry| {
        let turn = build_turn(&[(span.line, entry.clone())]);
        prompt = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
        if prompt.is_empty() {
            prompt = turn
                .parts
                .into_iter()
                .find_map(|item| match item.part {
                    TurnPart::Meta(text) | TurnPart::Notification(text) => Some(text),
                    _ => None,
                })
                .unwrap_or_default();
        }
    });
    Ok(prompt)
}

/// Sorts the subagents by start time, each one after the one that started it, and sets their depths.
fn sort_below_parents(mut rows: Vec<AgentRow>) -> Vec<AgentRow> {
    rows.sort_by_key(|row| row.started_at);
    let ids: HashSet<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut children: HashMap<String, Vec<usize>> = HashMap::new();
    for (idx, row) in rows.iter().enumerate() {
        if let Some(parent) = &row.parent {
            children.entry(parent.clone()).or_default().push(idx);
        }
    }
    let mut nested = Vec::with_capacity(rows.len());
    let mut remaining: Vec<Option<AgentRow>> = rows.into_iter().map(Some).collect();
    // A subagent without a known parent is placed below the session, and so are the members of a cycle.
    let is_top = |row: &AgentRow| row.parent.as_ref().is_none_or(|parent| !ids.contains(parent));
    for start in 0..remaining.len() {
        if remaining[start].as_ref().is_some_and(is_top) {
            take_subtree(&mut remaining, &children, start, &mut nested);
        }
    }
    for start in 0..remaining.len() {
        take_subtree(&mut remaining, &children, start, &mut nested);
    }
    nested
}

/// Moves the row at `start` and all its descendants from `remaining` to `nested`, parents first, and sets their depths.
/// `children` are the indices of the rows that each subagent started.
fn take_subtree(
    remaining: &mut [Option<AgentRow>],
    children: &HashMap<String, Vec<usize>>,
    start: usize,
    nested: &mut Vec<AgentRow>,
) {
    let mut stack = vec![(start, 1)];
    while let Some((idx, depth)) = stack.pop() {
        let Some(mut row) = remaining[idx].take() else { continue };
        row.depth = depth;
        let started = children.get(&row.id).into_iter().flatten().rev();
        stack.extend(started.filter(|&&child| remaining[child].is_some()).map(|&child| (child, depth + 1)));
        nested.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentRow, sort_below_parents};

    #[test]
    fn subagents_follow_the_one_that_started_them() {
        let row = |id: &str, parent: Option<&str>| AgentRow {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            ..AgentRow::default()
        };
        let rows = vec![
            row("c", Some("b")),
            row("a", None),
            row("b", Some("a")),
            row("x", Some("y")),
            row("y", Some("x")),
            row("d", Some("a")),
            row("e", Some("missing")),
        ];
        let nested: Vec<String> =
            sort_below_parents(rows).iter().map(|row| format!("{}{}", row.id, row.depth)).collect();
        assert_eq!(nested, ["a1", "b2", "c3", "d2", "e1", "x1", "y2"]);
    }

    /// Looking for the children of each subagent among all others would take 10^10 steps.
    #[test]
    fn many_subagents_are_sorted() {
        let row = |idx: usize| AgentRow {
            id: idx.to_string(),
            parent: Some(idx / 2).filter(|_| idx > 0).map(|parent| parent.to_string()),
            ..AgentRow::default()
        };
        let nested = sort_below_parents((0..150_000).map(row).collect());
        assert_eq!((nested.len(), nested[2].depth, nested[149_999].depth), (150_000, 3, 18));
    }
}
