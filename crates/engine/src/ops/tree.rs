//! The tree of a session, laid out; its rows are read from disk one at a time.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{BlockKind, Entry, EntryRole, Kind, Timestamp};
use rethread_core::id::IdSet;
use rethread_core::tree::{Branches, NodeId, Outline, OutlineOptions, Row, Tree};

use super::branches::turn_numbers;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_with_visitor};
use crate::session::preview::PreviewedEntry;

/// What to draw.
#[derive(Debug, Clone, Default)]
pub struct TreeRequest {
    /// The session file.
    pub path: PathBuf,
    /// Every entry, and not one row per turn.
    pub all: bool,
    /// Only what is near this entry.
    pub around: Option<String>,
}

/// A session ready to be drawn row by row.
pub struct Drawing {
    /// Which session it is.
    pub head: SessionHeader,
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
    /// How many branches the session has.
    pub branches: usize,
    /// How many islands.
    pub islands: usize,
    /// How many turns.
    pub turns: usize,
    /// The line of the last entry.
    pub last_line: u32,
    /// Entries of subagents inside the file, where they are not drawn.
    pub aside: usize,
    session: Session,
    found: Branches,
    active: Option<usize>,
    numbers: HashMap<NodeId, u32>,
    work: Vec<Work>,
    lines: LineReader,
}

/// What a row stands for, read.
#[derive(Debug, Clone)]
pub struct DrawnRow {
    /// The number of the turn that it starts.
    pub turn: Option<u32>,
    /// The name of its entry, to be typed.
    pub handle: String,
    /// Its line.
    pub line: u32,
    /// Its type.
    pub kind: Kind,
    /// Who speaks.
    pub voice: EntryRole,
    /// When.
    pub time: Option<Timestamp>,
    /// What it says.
    pub said: PreviewedEntry,
    /// Responses in the row.
    pub answers: usize,
    /// Tool calls in it.
    pub tools: usize,
    /// The name of the tip, to be typed, where a branch ends in this row; whether it is the one the client loads.
    pub tip: Option<(String, bool)>,
}

/// What was done in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    answers: usize,
    tools: usize,
}

/// Counts the tool calls of each node, each call once.
#[derive(Debug, Default)]
struct Calls {
    by_node: Vec<u32>,
    seen: IdSet,
}

impl Calls {
    fn add(&mut self, entry: &Entry<'_>) {
        if entry.uuid.is_none() {
            return;
        }
        let calls = entry
            .blocks()
            .iter()
            .filter(|block| matches!(block.kind, BlockKind::ToolUse | BlockKind::ServerToolUse));
        let new = calls.filter(|block| block.id.is_none_or(|id| self.seen.insert(id.id()))).count();
        self.by_node.push(new as u32);
    }
}

/// Lays out the tree of a session.
pub fn tree(request: &TreeRequest) -> Result<Drawing, Error> {
    let mut calls = Calls::default();
    let session = load_with_visitor(&request.path, |entry, _| calls.add(entry))?;
    let lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let around = request.around.as_deref().map(|name| session.entry(name)).transpose()?;
    let tree = &session.tree;
    let mut found = Branches::of(tree);
    let active = session.active();
    let active_branch = active.leaf.and_then(|leaf| found.set_active_leaf(tree, leaf));
    let sight = OutlineOptions { all: request.all, around, leaf: active.leaf, loaded: &active.nodes };
    let outline = Outline::of(tree, &found, &sight);
    let work = work(tree, &outline, &calls);
    let aside = (0..tree.nodes().len() as NodeId).filter(|&no| !tree.is_main_chain(no)).count();
    Ok(Drawing {
        head: session.head(),
        branches: found.list.len() - found.islands(),
        islands: found.islands(),
        turns: tree.turns().count(),
        last_line: tree.nodes().last().map_or(0, |node| node.place.line),
        aside: if request.all { 0 } else { aside },
        active: active_branch,
        numbers: turn_numbers(tree),
        rows: outline.rows,
        session,
        found,
        work,
        lines,
    })
}

/// Adds up what was done in each row.
fn work(tree: &Tree, outline: &Outline, calls: &Calls) -> Vec<Work> {
    let mut work = vec![Work::default(); outline.rows.len()];
    let mut seen = vec![false; tree.messages()];
    for (no, &tools) in (0..tree.nodes().len() as NodeId).zip(&calls.by_node) {
        let Some(row) = outline.row_of(no) else { continue };
        work[row].tools += tools as usize;
        let is_new =
            tree.message_of(no).is_none_or(|message| !std::mem::replace(&mut seen[message as usize], true));
        work[row].answers += usize::from(tree.node(no).voice == EntryRole::Answer && is_new);
    }
    work
}

impl Drawing {
    /// Reads what a row stands for; `None` for a gap.
    pub fn read(&mut self, row: usize) -> Result<Option<DrawnRow>, Error> {
        let Some(no) = self.rows.get(row).and_then(|row| row.what.node()) else {
            return Ok(None);
        };
        let said = self.session.said(&mut self.lines, no)?;
        let node = self.session.tree.node(no);
        let tip = self.rows[row].tip.map(|branch| {
            let tip = self.found.list[branch].tip;
            (self.session.handle(tip), self.active == Some(branch))
        });
        Ok(Some(DrawnRow {
            turn: self.numbers.get(&no).copied(),
            handle: self.session.handle(no),
            line: node.place.line,
            kind: node.kind,
            voice: node.voice,
            time: node.time(),
            said,
            answers: self.work[row].answers,
            tools: self.work[row].tools,
            tip,
        }))
    }
}
