//! The subagents of a session: whose they are, who started them, what they did.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rethread_core::entry::{EntryRole, Timestamp, Usage};
use rethread_core::id::Id;
use rethread_core::pack::Pack;
use rethread_core::session::{AgentCall, AgentCallIndex, AgentMeta};
use rethread_core::tree::NodeId;
use rethread_core::turn::{TurnPart, build_turn};
use rethread_core::usage::{UsageCollector, dedupe_responses, total};

use crate::Error;
use crate::disk::{
    FileRole, LineReader, Roots, ScanEvent, SessionFile, agents_beside, find, read_side, scan, scan_head,
};
use crate::session::load::{Session, SessionHeader, load};

/// A subagent in a list.
#[derive(Debug, Clone, Default)]
pub struct AgentRow {
    /// Its id; of an agent inside the main file, the line it begins on.
    pub id: String,
    /// What kind of agent.
    pub kind: String,
    /// What it was asked to do, in a few words.
    pub description: String,
    /// What it was told.
    pub prompt: String,
    /// The agent that started it; `None` for the session itself.
    pub parent: Option<String>,
    /// How deep it is nested: 1 below the session.
    pub depth: usize,
    /// The call that started it.
    pub tool_use: Option<String>,
    /// The line of that call, in the parent's file.
    pub call_line: Option<u32>,
    /// User and assistant lines.
    pub entries: usize,
    /// Tool calls.
    pub tools: usize,
    /// Tokens, each response counted once.
    pub usage: Usage,
    /// Responses.
    pub responses: usize,
    /// When it began.
    pub first: Option<Timestamp>,
    /// When it ended.
    pub last: Option<Timestamp>,
    /// Whether the client started it only to warm up.
    pub warmup: bool,
    /// Its file; `None` inside the main file.
    pub path: Option<PathBuf>,
}

/// What was found.
#[derive(Debug)]
pub struct Agents {
    /// Which session it is.
    pub head: SessionHeader,
    /// The agents, each behind the one that started it, in the order of their beginning.
    pub rows: Vec<AgentRow>,
    /// Files that could not be read.
    pub failures: Vec<Error>,
}

/// Finds the files of a session's subagents: in its folder, and beside it where they name it.
pub(crate) fn family(file: &SessionFile) -> Vec<SessionFile> {
    if file.role != FileRole::Main {
        return Vec::new();
    }
    let mut files = find(&Roots { paths: vec![file.side_folder()] }).0;
    files.retain(|file| file.role != FileRole::Main);
    let id = file.stem();
    for path in agents_beside(&file.path).into_iter().map(|name| file.path.with_file_name(name)) {
        let mine = first_session(&path).is_some_and(|session| session == id);
        if mine {
            files.extend(find(&Roots { paths: vec![path] }).0);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Finds the files of a session's subagents by the path of the session.
pub(crate) fn family_of(path: &Path) -> Vec<PathBuf> {
    let (files, _) = find(&Roots { paths: vec![path.to_owned()] });
    files.iter().flat_map(family).map(|file| file.path).collect()
}

/// Says what the files of the subagents of the session in `path` look like: any change there gives another number.
pub fn agents_fingerprint(path: &Path) -> u64 {
    let (files, _) = find(&Roots { paths: vec![path.to_owned()] });
    let mut looks = Vec::new();
    for file in files.iter().flat_map(family) {
        looks.extend_from_slice(file.path.as_os_str().as_encoded_bytes());
        file.mark.pack(&mut looks);
    }
    Id::of(&looks).bits() as u64
}

/// Returns the session that the first entry of a file names.
pub(super) fn first_session(path: &Path) -> Option<String> {
    let mut session = None;
    scan_head(path, |seen| {
        if let (ScanEvent::Entry(entry, ..), None) = (seen, &session) {
            session = entry.session.map(|session| session.decode().into_owned());
        }
    })
    .ok()?;
    session
}

/// Lists the subagents of the session in `path`.
pub fn agents(path: &Path) -> Result<Agents, Error> {
    let main = load(path)?;
    let head = main.head();
    let mut launches: Vec<(Option<String>, AgentCallIndex)> = Vec::new();
    let mut rows = inline(&main)?;
    let mut found: Vec<(Session, AgentMeta)> = Vec::new();
    let mut failures = Vec::new();
    for path in family_of(path) {
        let meta = read_side(&path.with_extension("meta.json")).map(|bytes| AgentMeta::read(&bytes));
        match load(&path) {
            Ok(session) => found.push((session, meta.unwrap_or_default())),
            Err(failure) => failures.push(failure),
        }
    }
    launches.push((None, main.launches));
    let mut pending = Vec::new();
    for (session, meta) in found {
        let id = agent_id(&session);
        let row = from_file(&session, &id, &meta)?;
        launches.push((Some(id), session.launches));
        pending.push((row, meta));
    }
    let mut used: HashSet<String> = rows.iter().filter_map(|row| row.tool_use.clone()).collect();
    for (mut row, meta) in pending {
        let found = launches.iter().filter(|(owner, _)| owner.as_deref() != Some(&row.id));
        let found = found
            .filter_map(|(owner, calls)| Some((owner, calls.of(&row.id, &meta, &row.prompt, &used)?)))
            .next();
        if let Some((owner, launch)) = found {
            used.insert(launch.tool_use.clone());
            adopt(&mut row, launch, owner.clone());
        }
        row.parent = meta.parent.or(row.parent);
        rows.push(row);
    }
    Ok(Agents { head, rows: nest(rows), failures })
}

fn adopt(row: &mut AgentRow, launch: &AgentCall, owner: Option<String>) {
    row.tool_use = Some(launch.tool_use.clone());
    row.call_line = Some(launch.line);
    row.parent = owner;
    if row.kind.is_empty() {
        row.kind.clone_from(&launch.kind);
    }
    if row.description.is_empty() {
        row.description.clone_from(&launch.description);
    }
}

fn agent_id(session: &Session) -> String {
    let stem = session.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.strip_prefix("agent-").unwrap_or(stem).to_owned()
}

fn from_file(session: &Session, id: &str, meta: &AgentMeta) -> Result<AgentRow, Error> {
    let mut booking = UsageCollector::default();
    scan(&session.path, |seen| {
        if let ScanEvent::Entry(entry, ..) = seen {
            booking.add(entry);
        }
    })
    .map_err(Error::reading(&session.path))?;
    let spent = total(&dedupe_responses(&[booking.finish()]));
    let first = session.tree.turns().next();
    let prompt = match first {
        Some(node) => prompt_of(session, node)?,
        None => String::new(),
    };
    Ok(AgentRow {
        id: id.to_owned(),
        kind: meta.kind.clone().unwrap_or_default(),
        description: meta.description.clone().unwrap_or_default(),
        prompt,
        entries: session.sketch.entries + session.sketch.side_entries,
        tools: session.pairs.calls().iter().filter(|call| call.call.is_some()).count(),
        usage: spent.usage,
        responses: spent.responses,
        first: session.sketch.first,
        last: session.sketch.last,
        warmup: session.sketch.is_warmup(),
        path: Some(session.path.clone()),
        ..AgentRow::default()
    })
}

/// Subagents of old clients stand inside the main file: each side root is one.
fn inline(main: &Session) -> Result<Vec<AgentRow>, Error> {
    let tree = &main.tree;
    if tree.is_sidechain_file() {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    let mut used = HashSet::new();
    for root in tree.roots().filter(|&no| tree.node(no).is_sidechain()) {
        let mut below = vec![root];
        let mut at = 0;
        while at < below.len() {
            below.extend_from_slice(tree.children(below[at]));
            at += 1;
        }
        below.sort_unstable();
        let mut row = AgentRow { id: format!("L{}", tree.node(root).place.line), ..AgentRow::default() };
        row.prompt = prompt_of(main, root)?;
        let mut lines = LineReader::open(&main.path).map_err(Error::reading(&main.path))?;
        let mut booking = UsageCollector::default();
        for &no in &below {
            let node = tree.node(no);
            row.first = row.first.into_iter().chain(node.time()).min();
            row.last = row.last.max(node.time());
            row.entries += usize::from(node.voice != EntryRole::Structural);
            let bytes = lines.read(node.place).map_err(Error::reading(&main.path))?;
            read_one(&bytes, |entry| {
                booking.add(entry);
                let calls = entry.blocks().iter();
                row.tools += calls.filter(|b| b.kind == rethread_core::entry::BlockKind::ToolUse).count();
            });
        }
        let spent = total(&dedupe_responses(&[booking.finish()]));
        (row.usage, row.responses) = (spent.usage, spent.responses);
        let meta = AgentMeta::default();
        if let Some(launch) = main.launches.of("", &meta, &row.prompt, &used) {
            used.insert(launch.tool_use.clone());
            let call = tree.nodes().partition_point(|node| node.place.line < launch.line);
            let call = Some(call as NodeId).filter(|_| call < tree.nodes().len());
            let owner = call.and_then(|call| tree.sidechain_root(call)).filter(|&owner| owner != root);
            adopt(&mut row, launch, owner.map(|owner| format!("L{}", tree.node(owner).place.line)));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn read_one(bytes: &[u8], mut each: impl FnMut(&rethread_core::entry::Entry<'_>)) {
    let line = rethread_core::lines::Line { no: 0, offset: 0, bytes, unterminated: false };
    rethread_core::entry::read(&line, &mut Vec::new(), |entry, _| each(&entry));
}

fn prompt_of(session: &Session, node: NodeId) -> Result<String, Error> {
    let mut lines = LineReader::open(&session.path).map_err(Error::reading(&session.path))?;
    let place = session.tree.node(node).place;
    let bytes = lines.read(place).map_err(Error::reading(&session.path))?;
    let mut prompt = String::new();
    read_one(&bytes, |entry| {
        let turn = build_turn(&[(place.line, entry.clone())]);
        prompt = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
        if prompt.is_empty() {
            prompt = turn
                .parts
                .into_iter()
                .find_map(|piece| match piece.part {
                    TurnPart::Meta(text) | TurnPart::Notice(text) => Some(text),
                    _ => None,
                })
                .unwrap_or_default();
        }
    });
    Ok(prompt)
}

/// Puts each agent behind the one that started it.
fn nest(mut rows: Vec<AgentRow>) -> Vec<AgentRow> {
    rows.sort_by_key(|row| row.first);
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let mut nested = Vec::with_capacity(rows.len());
    let mut rest: Vec<Option<AgentRow>> = rows.into_iter().map(Some).collect();
    // An agent whose parent is not there hangs below the session, and so does what is left of a cycle.
    let is_top = |row: &AgentRow| row.parent.as_ref().is_none_or(|parent| !ids.contains(parent));
    for start in 0..rest.len() {
        if rest[start].as_ref().is_some_and(is_top) {
            take(&mut rest, start, 1, &mut nested);
        }
    }
    for start in 0..rest.len() {
        take(&mut rest, start, 1, &mut nested);
    }
    nested
}

fn take(rest: &mut [Option<AgentRow>], start: usize, depth: usize, nested: &mut Vec<AgentRow>) {
    let mut stack = vec![(start, depth)];
    while let Some((at, depth)) = stack.pop() {
        let Some(mut row) = rest[at].take() else { continue };
        row.depth = depth;
        let below = rest.iter().enumerate().rev().filter_map(|(k, child)| {
            let child = child.as_ref()?;
            (child.parent.as_ref() == Some(&row.id)).then_some((k, depth + 1))
        });
        stack.extend(below);
        nested.push(row);
    }
}
