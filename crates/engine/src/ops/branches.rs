//! The branches of a session: every way it went, where it left the others, what it cost.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::entry::{EntryRole, Usage};
use rethread_core::tree::{Branch, Branches, NodeId, Tree};
use rethread_core::usage::UsageByNode;

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_with_visitor};
use crate::session::preview::{PreviewedEntry, Uuids};

/// A branch in a list.
#[derive(Debug, Clone)]
pub struct BranchRow {
    /// What the tree says of it.
    pub branch: Branch,
    /// Whether the client loads it.
    pub active: bool,
    /// The name of its tip, to be typed.
    pub handle: String,
    /// The uuid of its tip.
    pub tip: String,
    /// The line of its tip.
    pub line: u32,
    /// Where it leaves the others: name, uuid, line and turn of the last entry it shares.
    pub from: Option<Shared>,
    /// Who speaks in the first entry that differs: a prompt, or an answer where it has no prompt of its own.
    pub voice: EntryRole,
    /// Its line.
    pub first_line: u32,
    /// What it says.
    pub first: PreviewedEntry,
    /// Tokens of the responses that are on no other branch.
    pub own_usage: Usage,
    /// Tokens of all its responses, from the beginning to the tip.
    pub usage: Usage,
}

/// The last entry that a branch shares with another.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Its name, to be typed.
    pub handle: String,
    /// Its line.
    pub line: u32,
    /// The number of its turn.
    pub turn: Option<u32>,
}

/// What was found.
#[derive(Debug)]
pub struct BranchList {
    /// Which session it is.
    pub head: SessionHeader,
    /// The branches in the order in which they began, islands among them.
    pub rows: Vec<BranchRow>,
    /// How many of them are branches.
    pub branches: usize,
    /// How many are islands.
    pub islands: usize,
    /// Where the client stops before the tip of the active branch: the name of the last entry it loads.
    pub short: Option<String>,
}

/// Lists the branches of the session in `path`.
pub fn branches(path: &Path) -> Result<BranchList, Error> {
    let mut receipts = UsageByNode::default();
    let mut uuids = Uuids::default();
    let session = load_with_visitor(path, |entry, _| {
        receipts.add(entry);
        uuids.add(entry);
    })?;
    let tree = &session.tree;
    let mut found = Branches::of(tree);
    let mut sums = found.sums(receipts.once(), Usage::add).into_iter();
    let turns = turn_numbers(tree);
    let leaf = session.active().leaf;
    let active = leaf.and_then(|leaf| found.set_active_leaf(tree, leaf));
    let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
    let mut rows = Vec::with_capacity(found.list.len());
    for (k, branch) in found.list.iter().enumerate() {
        let (own_usage, usage) = sums.next().unwrap_or_default();
        let first = branch.prompt.unwrap_or_else(|| first_words(&session, branch));
        rows.push(BranchRow {
            active: active == Some(k),
            handle: session.handle(branch.tip),
            tip: uuids.of(tree, branch.tip),
            line: tree.node(branch.tip).place.line,
            from: branch.from.and_then(|from| from.at).map(|at| Shared {
                handle: session.handle(at),
                line: tree.node(at).place.line,
                turn: tree.turn_of(at).and_then(|turn| turns.get(&turn).copied()),
            }),
            voice: tree.node(first).voice,
            first_line: tree.node(first).place.line,
            first: session.said(&mut lines, first)?,
            own_usage,
            usage,
            branch: branch.clone(),
        });
    }
    let short = leaf.zip(active).filter(|&(leaf, active)| !found.is_exclusive_to(active, leaf));
    let short = short.map(|(leaf, _)| session.handle(leaf));
    let islands = found.islands();
    Ok(BranchList { head: session.head(), branches: rows.len() - islands, rows, islands, short })
}

/// Numbers the turns as they are named: by the node that starts each.
pub(crate) fn turn_numbers(tree: &Tree) -> HashMap<NodeId, u32> {
    tree.turns().zip(1..).collect()
}

/// Finds the first entry at or below the beginning of a branch that is no mere link.
fn first_words(session: &Session, branch: &Branch) -> NodeId {
    let mut at = branch.first;
    while session.tree.node(at).voice == EntryRole::Structural
        && let Some(&child) = session.tree.children(at).first()
    {
        at = child;
    }
    at
}
