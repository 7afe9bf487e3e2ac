//! Reads the rows of one session file.

use std::collections::HashMap;
use std::sync::Arc;

use rethread_core::entry::{EntryRole, JsonStr, Usage};
use rethread_core::id::Id;
use rethread_core::query::{TextScope, for_each_text};
use rethread_core::resume::ContextStatus;
use rethread_core::tree::{Branches, NodeId};
use rethread_core::turn::ToolCallIndex;
use rethread_core::usage::{UniqueResponse, UsageByNode};

use super::collect::{CallFacts, FileNames, RowCollector};
use super::responses::FileResponses;
use super::rows::{
    BranchTableRow, EntryTableRow, FileTableRow, MessageTableRow, Name, ProblemTableRow, TextTableRow,
    ToolCallTableRow, TurnTableRow,
};
use super::{RowVisitor, TableKind, TableRow, TablesRequest};
use crate::Error;
use crate::disk::{ScanEvent, ScanOptions, SessionFile, scan};
use crate::ops::read::BranchSelector;
use crate::ops::show::select_turns;
use crate::ops::usage::{Pricer, ResponseLocation};
use crate::session::load::{LoadOptions, Session, load};
use crate::session::match_context::compute_context_statuses;
use crate::session::preview::UuidTable;

/// The rows of one file, by table.
#[derive(Debug, Default)]
pub(super) struct FileTables {
    entries: Vec<EntryTableRow>,
    messages: Vec<MessageTableRow>,
    turns: Vec<TurnTableRow>,
    tool_calls: Vec<ToolCallTableRow>,
    files: Vec<FileTableRow>,
    branches: Vec<BranchTableRow>,
    problems: Vec<ProblemTableRow>,
    texts: Vec<TextTableRow>,
    /// The details of the responses, if they are read together with the other rows.
    pub(super) responses: Option<FileResponses>,
    /// The earliest and the latest time of all lines. `None` if no line has a time.
    pub(super) time_span: Option<(i64, i64)>,
}

impl FileTables {
    /// Passes each row to `visit`. Returns `false` if it stops.
    pub(super) fn deliver(&self, visit: &mut RowVisitor<'_>) -> bool {
        self.entries.iter().all(|row| visit(TableRow::Entries(row)))
            && self.messages.iter().all(|row| visit(TableRow::Messages(row)))
            && self.turns.iter().all(|row| visit(TableRow::Turns(row)))
            && self.tool_calls.iter().all(|row| visit(TableRow::ToolCalls(row)))
            && self.files.iter().all(|row| visit(TableRow::Files(row)))
            && self.branches.iter().all(|row| visit(TableRow::Branches(row)))
            && self.problems.iter().all(|row| visit(TableRow::Problems(row)))
            && self.texts.iter().all(|row| visit(TableRow::Texts(row)))
    }
}

/// The turn and the context status of every node of a file.
struct NodePlaces {
    /// The number of the turn from 1, or 0 outside of turns.
    turns: Vec<u32>,
    statuses: Vec<ContextStatus>,
}

impl NodePlaces {
    fn new(session: &Session, is_agent: bool) -> NodePlaces {
        let tree = &session.tree;
        let numbers: HashMap<NodeId, u32> =
            if is_agent { HashMap::new() } else { tree.turn_starts().zip(1..).collect() };
        let turn = |node| tree.turn_of(node).and_then(|start| numbers.get(&start)).copied().unwrap_or(0);
        NodePlaces {
            turns: (0..tree.nodes().len() as NodeId).map(turn).collect(),
            statuses: if is_agent {
                vec![ContextStatus::Subagent; tree.nodes().len()]
            } else {
                compute_context_statuses(session, &session.active_path())
            },
        }
    }

    /// Returns the number of the turn and the context status of a line.
    fn place_of(&self, node: Option<NodeId>) -> (Option<u32>, &'static str) {
        let idx = node.map(|node| node as usize);
        let turn = idx.and_then(|idx| self.turns.get(idx)).copied().filter(|&turn| turn > 0);
        let status = idx.and_then(|idx| self.statuses.get(idx)).copied();
        (turn, status.unwrap_or(ContextStatus::Unlinked).name())
    }
}

/// Reads the rows of a file. Calls and their files are omitted if `is_extra_copy` returns `true` for their id.
pub(super) fn read_file_tables(
    file: &SessionFile,
    names: &FileNames,
    request: &TablesRequest<'_>,
    is_extra_copy: impl Fn(Id) -> bool,
) -> Result<FileTables, Error> {
    let selection = &request.selection;
    let mut collector = RowCollector::new(selection, names.clone());
    collector.wants_response_names = request.reads_responses_with_files();
    let calls = selection.wants_calls().then(ToolCallIndex::default);
    let branches = selection.wants(TableKind::Branches).then(<(UsageByNode, UuidTable)>::default);
    let options = LoadOptions { search_title: false, ..LoadOptions::default() };
    let mut visitors = (collector, calls, branches);
    let session = load(&file.path, options, &mut visitors)?;
    let (mut collector, calls, branches) = visitors;
    if names.session_id.is_empty() {
        let first = session.info.sessions.first();
        let id = if file.is_agent() { first } else { Some(&session.id) };
        collector.set_session(id.map_or("", String::as_str));
    }
    let places = NodePlaces::new(&session, file.is_agent());
    let mut tables = FileTables { time_span: collector.time_span, ..FileTables::default() };
    for (node, mut row) in std::mem::take(&mut collector.entries) {
        (row.turn, row.context_status) = places.place_of(node);
        tables.entries.push(row);
    }
    for (node, mut row) in std::mem::take(&mut collector.messages) {
        (row.turn, row.context_status) = places.place_of(node);
        tables.messages.push(row);
    }
    if request.reads_responses_with_files() {
        tables.responses = Some(build_responses(&mut collector, &places, file.is_agent()));
    }
    let calls = calls.unwrap_or_default();
    if selection.wants(TableKind::Turns) && !file.is_agent() {
        tables.turns = build_turns(&session, &mut collector, &places, &calls, request)?;
    }
    if selection.wants(TableKind::ToolCalls) || selection.wants(TableKind::Files) {
        add_calls(&mut tables, &collector, &places, &calls, request, is_extra_copy);
    }
    if let Some((usage_by_node, uuids)) = branches.filter(|_| !file.is_agent()) {
        tables.branches = build_branches(&session, &collector.file, usage_by_node, &uuids);
    }
    if selection.wants(TableKind::Problems) {
        tables.problems = build_problems(&session, &collector.file);
    }
    if selection.wants(TableKind::Texts) {
        tables.texts = read_texts(file, &collector.file, &places)?;
    }
    Ok(tables)
}

/// Returns the names and locations of the responses of a file, like [`ResponseLocations`](crate::ops::usage::ResponseLocations).
fn build_responses(collector: &mut RowCollector<'_>, places: &NodePlaces, is_agent: bool) -> FileResponses {
    let mut locations: Vec<ResponseLocation> = Vec::new();
    for &(response_idx, node) in collector.response_nodes.iter().filter(|_| !is_agent) {
        if response_idx == locations.len() {
            locations.push(ResponseLocation { turn: None, status: ContextStatus::Unlinked });
        }
        let (Some(node), location) = (node, &mut locations[response_idx]) else { continue };
        location.turn = location.turn.or(places.place_of(Some(node)).0);
        // The client may load any line of a response.
        if let Some(&status) = places.statuses.get(node as usize) {
            location.status = location.status.min(status.merge_orphaned());
        }
    }
    FileResponses { names: std::mem::take(&mut collector.response_names), locations }
}

/// Builds the turns of a session file, in the order of their numbers.
fn build_turns(
    session: &Session,
    collector: &mut RowCollector<'_>,
    places: &NodePlaces,
    calls: &ToolCallIndex,
    request: &TablesRequest<'_>,
) -> Result<Vec<TurnTableRow>, Error> {
    let tree = &session.tree;
    let (_, groups) = select_turns(session, &BranchSelector::AllTurns)?;
    let mut rows: Vec<TurnTableRow> = Vec::with_capacity(groups.len());
    let mut row_idxs: HashMap<u32, usize> = HashMap::new();
    for group in &groups {
        let (Some(number), Some(start)) = (group.number, group.start_node) else { continue };
        let prompt = collector.prompts.remove(&start).unwrap_or_default();
        let (first_ts, last_ts) = group.times.unzip();
        row_idxs.insert(number, rows.len());
        rows.push(TurnTableRow {
            source_id: Arc::clone(&collector.file.source_id),
            turn: number,
            session_id: Arc::clone(&collector.file.session_id),
            uuid: prompt.uuid,
            line: tree.node(start).span.line,
            role: tree.node(start).role.name(),
            context_status: places.place_of(Some(start)).1,
            first_ts,
            last_ts,
            prompt_id: prompt.prompt_id,
            prompt_bytes: prompt.bytes,
            prompt: prompt.text,
            ..TurnTableRow::default()
        });
    }
    let turn_of =
        |node: Option<NodeId>| places.place_of(node).0.and_then(|turn| row_idxs.get(&turn)).copied();
    for &(node, millis) in &collector.durations {
        if let Some(idx) = turn_of(Some(node)) {
            let duration = &mut rows[idx].duration_ms;
            *duration = Some(duration.unwrap_or_default().saturating_add(millis));
        }
    }
    for row in &mut rows {
        let span =
            row.first_ts.zip(row.last_ts).and_then(|(first, last)| u64::try_from(last.0 - first.0).ok());
        row.duration_ms = row.duration_ms.or(span);
    }
    for call in calls.calls().iter().filter(|call| call.call.is_some()) {
        let Some(facts) = collector.calls.get(&call.id) else { continue };
        if let Some(idx) = turn_of(facts.node) {
            rows[idx].tool_calls += 1;
            rows[idx].tool_errors += u32::from(facts.failed.is_some());
        }
    }
    let usage = std::mem::take(&mut collector.usage).finish();
    let mut pricer = Pricer::new(request.prices);
    let mut is_counted = vec![false; usage.responses.len()];
    for &(response_idx, node) in &collector.response_nodes {
        let Some(idx) = turn_of(node).filter(|_| !is_counted[response_idx]) else { continue };
        is_counted[response_idx] = true;
        let response = &usage.responses[response_idx];
        let unique = UniqueResponse::from_single(0, response_idx as u32, response);
        let cost = pricer.price(&unique, usage.model(response), response.time);
        let row = &mut rows[idx];
        row.responses += 1;
        row.cost.add(cost.cost);
        row.add_usage(&response.usage);
    }
    Ok(rows)
}

impl TurnTableRow {
    fn add_usage(&mut self, usage: &Usage) {
        self.input_tokens += usage.input;
        self.output_tokens += usage.output;
        self.cache_creation_input_tokens += usage.cache_write;
        self.cache_creation_1h_input_tokens += usage.cache_write_1h;
        self.cache_read_input_tokens += usage.cache_read;
    }
}

/// Adds the calls of a file, and the files that they accessed.
fn add_calls(
    tables: &mut FileTables,
    collector: &RowCollector<'_>,
    places: &NodePlaces,
    calls: &ToolCallIndex,
    request: &TablesRequest<'_>,
    is_extra_copy: impl Fn(Id) -> bool,
) {
    let tools: Vec<Name> = calls.tools().iter().map(|(name, _)| Name::from(name.as_str())).collect();
    let servers: Vec<Option<Name>> = tools.iter().map(|tool| find_mcp_server(tool)).collect();
    for call in calls.calls() {
        let (Some(span), Some(facts)) = (call.call, collector.calls.get(&call.id)) else { continue };
        if is_extra_copy(call.id) {
            continue;
        }
        let (turn, context_status) = places.place_of(facts.node);
        let row = ToolCallTableRow {
            call_id: facts.id.clone(),
            session_id: Arc::clone(&collector.file.session_id),
            source_id: Arc::clone(&collector.file.source_id),
            agent_id: facts.agent_id.clone(),
            message_id: facts.message_id.clone(),
            project: collector.file.project.clone(),
            turn,
            line: span.line,
            result_line: call.result.map(|result| result.line),
            tool: tools.get(call.tool as usize).cloned().unwrap_or_default(),
            mcp_server: servers.get(call.tool as usize).cloned().flatten(),
            ts: call.called_at,
            answered_ts: call.answered_at,
            duration_ms: call.millis().map(i64::unsigned_abs),
            is_error: call.is_error,
            failed: facts.failed,
            context_status,
            input_bytes: facts.input_bytes,
            result_bytes: facts.result_bytes,
            file_path: facts.file_path.clone(),
            command_word: facts.command_word.clone(),
        };
        if request.selection.wants(TableKind::Files) {
            tables.files.extend(build_file(&row, facts));
        }
        if request.selection.wants(TableKind::ToolCalls) {
            tables.tool_calls.push(row);
        }
    }
}

/// Builds the row of the file that a call accessed. Returns `None` if it accessed none.
fn build_file(call: &ToolCallTableRow, facts: &CallFacts) -> Option<FileTableRow> {
    let access = facts.access.as_ref()?;
    Some(FileTableRow {
        call_id: call.call_id.clone(),
        n: 1,
        session_id: Arc::clone(&call.session_id),
        source_id: Arc::clone(&call.source_id),
        ts: call.ts,
        turn: call.turn,
        context_status: call.context_status,
        op: access.op.name(),
        path: access.path.clone(),
        extension: access.extension(),
        lines_added: access.lines_added,
        lines_removed: access.lines_removed,
        failed: facts.failed.is_some(),
    })
}

/// Returns the MCP server in the name of a tool: `mcp__server__tool`. Returns `None` for other tools.
fn find_mcp_server(tool: &str) -> Option<Name> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(server.into())
}

fn build_branches(
    session: &Session,
    names: &FileNames,
    usage_by_node: UsageByNode,
    uuids: &UuidTable,
) -> Vec<BranchTableRow> {
    let tree = &session.tree;
    let mut branches = Branches::from_tree(tree);
    let totals = branches.sum_by_branch(usage_by_node.usage_by_node(), Usage::add);
    let active = session.active_path().leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
    let line = |node: NodeId| tree.node(node).span.line;
    let rows = branches.list.iter().zip(totals).enumerate();
    rows.map(|(idx, (branch, (own_usage, usage)))| BranchTableRow {
        source_id: Arc::clone(&names.source_id),
        branch: idx + 1,
        session_id: Arc::clone(&names.session_id),
        tip_uuid: uuids.get(tree, branch.tip),
        tip_line: line(branch.tip),
        fork_line: branch.fork_point.and_then(|fork| fork.at).map(line),
        fork_kind: branch.fork_point.map(|fork| fork.kind.name()),
        turns: branch.turns,
        own_turns: branch.own_turns,
        own_entries: branch.entries,
        last_ts: branch.last_time,
        is_active: active == Some(idx),
        is_orphaned: branch.orphaned,
        own_tokens: own_usage.total(),
        tokens: usage.total(),
        first_line: line(branch.prompt.unwrap_or(branch.first)),
    })
    .collect()
}

/// Lists the problems of the bytes, then those of the links.
fn build_problems(session: &Session, names: &FileNames) -> Vec<ProblemTableRow> {
    let problems = session.problems.iter().chain(&session.tree.problems);
    problems
        .zip(1..)
        .map(|(problem, n)| ProblemTableRow {
            source_id: Arc::clone(&names.source_id),
            line: problem.line,
            n,
            session_id: Arc::clone(&names.session_id),
            code: problem.kind.name(),
            severity: if problem.kind.is_damage() { "damage" } else { "odd" },
            byte_offset: problem.offset,
        })
        .collect()
}

/// Reads the texts of a file in a second pass, because their turns and statuses are known only after the first.
fn read_texts(
    file: &SessionFile,
    names: &FileNames,
    places: &NodePlaces,
) -> Result<Vec<TextTableRow>, Error> {
    let mut rows: Vec<TextTableRow> = Vec::new();
    let mut node_count: NodeId = 0;
    let options = ScanOptions { exact: true, ..ScanOptions::default() };
    scan(&file.path, &options, |event| {
        let ScanEvent::Entry(entry, span, _) = event else { return };
        let node = entry.uuid.map(|_| node_count);
        node_count += NodeId::from(node.is_some());
        if entry.role() == EntryRole::SyntheticReply {
            return;
        }
        let (turn, context_status) = places.place_of(node);
        let uuid = entry.uuid.map(|uuid| uuid.decode().into_owned());
        let mut n = 0;
        for_each_text(entry, TextScope::Conversation, |source, tool: Option<JsonStr<'_>>, text| {
            if text.is_empty() {
                return;
            }
            n += 1;
            rows.push(TextTableRow {
                source_id: Arc::clone(&names.source_id),
                line: span.line,
                n,
                session_id: Arc::clone(&names.session_id),
                uuid: uuid.clone(),
                role: source.name(),
                tool: tool.map(|tool| Name::from(&*tool.decode())),
                ts: entry.time(),
                turn,
                context_status,
                text: text.into_owned(),
            });
        });
    })
    .map_err(Error::reading(&file.path))?;
    Ok(rows)
}
