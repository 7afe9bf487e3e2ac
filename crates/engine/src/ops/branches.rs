//! Lists the branches of a session, with fork points and tokens.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::entry::{EntryRole, Usage};
use rethread_core::tree::{Branch, Branches, NodeId, Tree};
use rethread_core::usage::UsageByNode;

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::preview::{PreviewedEntry, UuidTable};

/// A branch in a list.
#[derive(Debug, Clone)]
pub struct BranchRow {
    /// The branch in the tree.
    pub branch: Branch,
    /// Whether the client resumes from it.
    pub active: bool,
    /// The name of its tip, as the user can type it.
    pub tip_handle: String,
    /// The uuid of its tip.
    pub tip_uuid: String,
    /// The line of its tip.
    pub tip_line: u32,
    /// The last entry that it shares with another branch. `None` if it shares none.
    pub forked_from: Option<SharedEntry>,
    /// The role of its first own entry: a prompt, or an answer if it has no prompt of its own.
    pub first_role: EntryRole,
    /// The line of its first own entry.
    pub first_line: u32,
    /// A preview of its first own entry.
    pub first_preview: PreviewedEntry,
    /// The tokens of the responses that are on no other branch.
    pub own_usage: Usage,
    /// The tokens of all responses from the start to the tip.
    pub usage: Usage,
}

/// The last entry that a branch shares with another.
#[derive(Debug, Clone)]
pub struct SharedEntry {
    /// The name, as the user can type it.
    pub handle: String,
    /// The line number.
    pub line: u32,
    /// The number of its turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
}

/// The branches of a session.
#[derive(Debug)]
pub struct BranchList {
    /// The session.
    pub header: SessionHeader,
    /// The branches in the order of their start, orphaned ones included.
    pub rows: Vec<BranchRow>,
    /// The number of branches that are connected to the start.
    pub branches: usize,
    /// The number of orphaned branches: the parent of their first entry is missing.
    pub orphaned: usize,
    /// The entry from which the client resumes, if it is not the tip of the active branch.
    pub resume_handle: Option<String>,
}

/// Lists the branches of the session file `path` with their usage and a preview of their first prompt, or of
/// their first entry that is not structural.
pub fn list_branches(path: &Path) -> Result<BranchList, Error> {
    let mut visitors = (UsageByNode::default(), UuidTable::default());
    let session = load(path, LoadOptions::default(), &mut visitors)?;
    let (usage_by_node, uuids) = visitors;
    let tree = &session.tree;
    let mut branches = Branches::from_tree(tree);
    let mut totals = branches.sum_by_branch(usage_by_node.usage_by_node(), Usage::add).into_iter();
    let turns = number_turns(tree);
    let leaf = session.active_path().leaf;
    let active = leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
    let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
    let mut rows = Vec::with_capacity(branches.list.len());
    for (idx, branch) in branches.list.iter().enumerate() {
        let (own_usage, usage) = totals.next().unwrap_or_default();
        let first = branch.prompt.unwrap_or_else(|| find_first_message(&session, branch));
        rows.push(BranchRow {
            active: active == Some(idx),
            tip_handle: session.entry_handle(branch.tip),
            tip_uuid: uuids.get(tree, branch.tip),
            tip_line: tree.node(branch.tip).span.line,
            forked_from: branch.fork_point.and_then(|fork_point| fork_point.at).map(|at| SharedEntry {
                handle: session.entry_handle(at),
                line: tree.node(at).span.line,
                turn: tree.turn_of(at).and_then(|turn| turns.get(&turn).copied()),
            }),
            first_role: tree.node(first).role,
            first_line: tree.node(first).span.line,
            first_preview: session.preview_entry(&mut lines, first)?,
            own_usage,
            usage,
            branch: branch.clone(),
        });
    }
    let resume_point = leaf.map(|leaf| tree.resume_point(leaf));
    let is_inner = |&(resume_point, active): &(NodeId, usize)| branches.list[active].tip != resume_point;
    let resume_handle =
        resume_point.zip(active).filter(is_inner).map(|(resume_point, _)| session.entry_handle(resume_point));
    let orphaned = branches.count_orphaned();
    Ok(BranchList {
        header: session.header(),
        branches: rows.len() - orphaned,
        rows,
        orphaned,
        resume_handle,
    })
}

/// Numbers the turns of a tree from 1, in file order. The keys are the nodes that start the turns.
pub(crate) fn number_turns(tree: &Tree) -> HashMap<NodeId, u32> {
    tree.turn_starts().zip(1..).collect()
}

/// Finds the first entry of a branch that is not structural, or the last structural one if there is no other.
fn find_first_message(session: &Session, branch: &Branch) -> NodeId {
    let mut id = branch.first;
    while session.tree.node(id).role == EntryRole::Structural
        && let Some(&child) = session.tree.children(id).first()
    {
        id = child;
    }
    id
}
