//! Lays out the tree of a session. Its rows are read from disk one at a time.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{BlockKind, Entry, EntryRole, Kind, Timestamp};
use rethread_core::id::IdSet;
use rethread_core::tree::{
    Branches, EntryVisitor, LineSpan, NodeId, Outline, OutlineOptions, OutlineRow, Tree,
};

use super::branches::number_turns;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::preview::PreviewedEntry;

/// Options of [`outline_tree`].
#[derive(Debug, Clone, Default)]
pub struct TreeRequest {
    /// The session file.
    pub path: PathBuf,
    /// Return one row per entry instead of one per turn.
    pub all: bool,
    /// Return only the rows near the entry with this name.
    pub around: Option<String>,
}

/// The rows of a session tree.
pub struct TreeListing {
    /// The session.
    pub header: SessionHeader,
    /// The rows from top to bottom.
    pub rows: Vec<OutlineRow>,
    /// The number of branches, without orphaned ones.
    pub branches: usize,
    /// The number of orphaned branches: the parent of their first entry is missing.
    pub orphaned: usize,
    /// The number of turns.
    pub turns: usize,
    /// The line of the last entry. 0 if there are no entries.
    pub last_line: u32,
    /// The number of subagent entries inside the file that have no row. 0 if all entries have rows.
    pub sidechain_entries: usize,
    session: Session,
    branch_list: Branches,
    /// The entry from which the client resumes, and the row that shows it.
    resume_point: Option<(NodeId, Option<usize>)>,
    turn_numbers: HashMap<NodeId, u32>,
    row_counts: Vec<RowCounts>,
    lines: LineReader,
}

/// The data of a row that is read from disk.
#[derive(Debug, Clone)]
pub struct TreeRowDetails {
    /// The number of the turn that starts in the row, from 1. `None` if no turn starts there.
    pub turn: Option<u32>,
    /// The name of its entry, as the user can type it.
    pub handle: String,
    /// The line number.
    pub line: u32,
    /// The type of its entry.
    pub kind: Kind,
    /// The role of its entry.
    pub role: EntryRole,
    /// The timestamp of its entry.
    pub time: Option<Timestamp>,
    /// A preview of its entry.
    pub preview: PreviewedEntry,
    /// The number of responses in the row.
    pub answers: usize,
    /// The number of tool calls in the row.
    pub tools: usize,
    /// The tip, if a branch ends in this row.
    pub tip: Option<RowTip>,
    /// The name of the entry from which the client resumes, if it is in this row and not the tip of a branch.
    pub resume_handle: Option<String>,
}

/// The tip of a branch that ends in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowTip {
    /// The name of the tip, as the user can type it.
    pub handle: String,
    /// Whether the client resumes from it.
    pub is_active: bool,
}

/// Counts of the entries in a row.
#[derive(Debug, Clone, Copy, Default)]
struct RowCounts {
    answers: usize,
    tools: usize,
}

/// Counts the tool calls of each node, each call once.
#[derive(Debug, Default)]
struct CallCounter {
    by_node: Vec<u32>,
    seen: IdSet,
}

impl EntryVisitor for CallCounter {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        if entry.uuid.is_none() {
            return;
        }
        let calls = entry
            .blocks()
            .iter()
            .filter(|block| matches!(block.kind, BlockKind::ToolUse | BlockKind::ServerToolUse));
        let new_count = calls.filter(|block| block.id.is_none_or(|id| self.seen.insert(id.to_id()))).count();
        self.by_node.push(new_count as u32);
    }
}

/// Lays out the tree of a session in rows. Their texts are not read until they are needed.
pub fn outline_tree(request: &TreeRequest) -> Result<TreeListing, Error> {
    let mut calls = CallCounter::default();
    let session = load(&request.path, LoadOptions::default(), &mut calls)?;
    let lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let around = request.around.as_deref().map(|name| session.find_entry(name)).transpose()?;
    let tree = &session.tree;
    let mut branch_list = Branches::from_tree(tree);
    let active = session.active_path();
    active.leaf.and_then(|leaf| branch_list.set_active_leaf(tree, leaf));
    let options = OutlineOptions { all: request.all, around, leaf: active.leaf, loaded: &active.nodes };
    let outline = Outline::from_tree(tree, &branch_list, &options);
    let row_counts = count_rows(tree, &outline, &calls);
    let resume_point = active.resume_point(tree).map(|node_id| (node_id, outline.row_of(node_id)));
    let sidechain_entries =
        (0..tree.nodes().len() as NodeId).filter(|&node_id| !tree.is_main_chain(node_id)).count();
    Ok(TreeListing {
        header: session.header(),
        branches: branch_list.count_connected(),
        orphaned: branch_list.count_orphaned(),
        turns: tree.turn_starts().count(),
        last_line: tree.nodes().last().map_or(0, |node| node.span.line),
        sidechain_entries: if request.all { 0 } else { sidechain_entries },
        resume_point,
        turn_numbers: number_turns(tree),
        rows: outline.rows,
        session,
        branch_list,
        row_counts,
        lines,
    })
}

/// Counts the responses and tool calls of each row. A response with several lines is counted in the row of its first.
fn count_rows(tree: &Tree, outline: &Outline, calls: &CallCounter) -> Vec<RowCounts> {
    let mut counts = vec![RowCounts::default(); outline.rows.len()];
    let mut seen_messages = vec![false; tree.message_count()];
    for (node_id, &tools) in (0..tree.nodes().len() as NodeId).zip(&calls.by_node) {
        let Some(row) = outline.row_of(node_id) else { continue };
        counts[row].tools += tools as usize;
        let is_new_message = tree
            .message_of(node_id)
            .is_none_or(|message| !std::mem::replace(&mut seen_messages[message as usize], true));
        counts[row].answers += usize::from(tree.node(node_id).role == EntryRole::Answer && is_new_message);
    }
    counts
}

impl TreeListing {
    /// Reads the data of the row at an index. Returns `None` if the row is a gap or does not exist.
    pub fn read_row(&mut self, row_idx: usize) -> Result<Option<TreeRowDetails>, Error> {
        let Some(node_id) = self.rows.get(row_idx).and_then(|row| row.item.node()) else {
            return Ok(None);
        };
        let preview = self.session.preview_entry(&mut self.lines, node_id)?;
        let node = self.session.tree.node(node_id);
        let tip = self.rows[row_idx].tip.map(|branch| {
            let tip = self.branch_list.list[branch].tip;
            let is_active = self.resume_point.is_some_and(|(resume_point, _)| resume_point == tip);
            RowTip { handle: self.session.entry_handle(tip), is_active }
        });
        let is_tip = |node_id: NodeId| self.branch_list.list.iter().any(|branch| branch.tip == node_id);
        let resume_point = self.resume_point.filter(|&(_, row)| row == Some(row_idx));
        let resume_handle = resume_point
            .filter(|&(node_id, _)| !is_tip(node_id))
            .map(|(node_id, _)| self.session.entry_handle(node_id));
        Ok(Some(TreeRowDetails {
            turn: self.turn_numbers.get(&node_id).copied(),
            handle: self.session.entry_handle(node_id),
            line: node.span.line,
            kind: node.kind,
            role: node.role,
            time: node.time(),
            preview,
            answers: self.row_counts[row_idx].answers,
            tools: self.row_counts[row_idx].tools,
            tip,
            resume_handle,
        }))
    }
}
