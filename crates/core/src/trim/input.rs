//! The input of a trim: the path to an entry, in conversation order and split into turns.

use super::inventory::BlockInventory;
use crate::entry::{EntryRole, Kind};
use crate::resume::{ResumeIndex, ResumeOutcome};
use crate::tree::{NodeId, Tree};

/// The turn of entries that are not on the path.
const OFF_PATH: u32 = u32::MAX;

/// The conversation to trim.
#[derive(Debug)]
pub struct TrimInput<'a> {
    pub(super) tree: &'a Tree,
    pub(super) resume_index: &'a ResumeIndex,
    pub(super) inventory: &'a BlockInventory,
    /// The entries of the path, in file order.
    pub(super) path: &'a [NodeId],
    /// The same entries: first those that the client loads, in conversation order, then the others in file order.
    pub(super) ordered: Vec<NodeId>,
    /// The turn number of each entry, from 1. Entries before the first turn have 0, entries off the path `OFF_PATH`.
    turn_by_node: Vec<u32>,
    /// The number of turns.
    pub(super) turn_count: u32,
    /// Whether each entry is sent to the model.
    sent: Vec<bool>,
    /// Whether a compaction preserved each entry.
    preserved: Vec<bool>,
    /// The entry to resume from.
    pub(super) leaf: NodeId,
    /// The id of the session.
    pub(super) session: &'a str,
    /// Tokens of the context before the trim.
    pub(super) tokens: u64,
    /// Context bytes of all entries that are sent.
    pub(super) sent_bytes: u64,
}

impl<'a> TrimInput<'a> {
    /// Prepares a path for a trim. `session` is the session id, `path` the entries to copy in file order, `leaf` the
    /// entry to resume from, and `resume` the outcome of resuming there.
    pub fn new(
        tree: &'a Tree,
        resume_index: &'a ResumeIndex,
        inventory: &'a BlockInventory,
        session: &'a str,
        (path, leaf, resume): (&'a [NodeId], NodeId, &ResumeOutcome),
    ) -> TrimInput<'a> {
        let mut sent = vec![false; tree.nodes().len()];
        resume.path.iter().for_each(|&id| sent[id as usize] = true);
        let mut input = TrimInput {
            tree,
            resume_index,
            inventory,
            path,
            ordered: Vec::with_capacity(path.len()),
            turn_by_node: vec![OFF_PATH; tree.nodes().len()],
            turn_count: 0,
            sent,
            preserved: find_preserved(tree),
            leaf,
            session,
            tokens: resume.estimate_tokens(resume_index),
            sent_bytes: resume.path.iter().map(|&id| resume_index.text_bytes(id)).sum(),
        };
        input.assign_turns(&resume.chain);
        input
    }

    /// Assigns the entries of the chain to turns. Other entries of the path get the turn of their parent.
    fn assign_turns(&mut self, chain: &[NodeId]) {
        let mut open_turn = None;
        let mut is_on_path = vec![false; self.tree.nodes().len()];
        self.path.iter().for_each(|&id| is_on_path[id as usize] = true);
        for &id in chain.iter().filter(|&&id| is_on_path[id as usize]) {
            let node = self.tree.node(id);
            let turn = self.tree.turn_of(id);
            let starts_turn = turn == Some(id) || turn.is_some() && node.role == EntryRole::ImageOnly;
            if node.role == EntryRole::CompactSummary || starts_turn && open_turn != turn {
                self.turn_count += 1;
                open_turn = turn.filter(|_| starts_turn);
            }
            self.turn_by_node[id as usize] = self.turn_count;
            self.ordered.push(id);
        }
        let mut previous_turn = 0;
        for &id in self.path {
            if self.turn_by_node[id as usize] == OFF_PATH {
                let parent = self.tree.node(id).parent().map(|parent| self.turn_by_node[parent as usize]);
                self.turn_by_node[id as usize] =
                    parent.filter(|&turn| turn != OFF_PATH).unwrap_or(previous_turn);
                self.ordered.push(id);
            }
            previous_turn = self.turn_by_node[id as usize];
        }
    }

    /// Returns whether an entry is on the path.
    pub(super) fn is_on_path(&self, id: NodeId) -> bool {
        self.turn_by_node[id as usize] != OFF_PATH
    }

    /// Returns the turn number of an entry of the path, from 1. Returns 0 for entries before the first turn.
    pub(super) fn turn_of(&self, id: NodeId) -> u32 {
        self.turn_by_node[id as usize]
    }

    /// Returns whether an entry is older than the last `recent_turns` turns. Returns `false` for entries off the path.
    pub(super) fn is_old(&self, id: NodeId, recent_turns: u32) -> bool {
        self.turn_by_node[id as usize].saturating_add(recent_turns) <= self.turn_count
    }

    /// Returns whether an entry is sent to the model.
    pub(super) fn is_sent(&self, id: NodeId) -> bool {
        self.sent[id as usize]
    }

    /// Returns whether an entry stays when its turn is removed: it is a boundary or a summary, or a compaction
    /// preserved it.
    pub(super) fn is_fixed(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id).role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            || self.preserved[id as usize]
    }

    /// Returns whether an entry is context that the client added and not a prompt.
    pub(super) fn is_attachment(&self, id: NodeId) -> bool {
        let node = self.tree.node(id);
        node.kind == Kind::Attachment && node.role == EntryRole::Structural
    }

    /// Returns the parent of an entry. If several lines have the uuid of the parent, returns the one that clients use.
    ///
    /// Returns `None` if the entry has no parent in the file.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        let parent = self.tree.node(id).parent()?;
        Some(self.tree.find_uuid(self.tree.node(parent).uuid).unwrap_or(parent))
    }

    /// Estimates the tokens of the context after the removal of `removed_bytes` context bytes.
    ///
    /// Subtracts a token per four removed bytes. The result is at least a quarter of the remaining bytes,
    /// because the estimate must not be far below the actual size.
    pub fn tokens_without(&self, removed_bytes: u64) -> u64 {
        if removed_bytes == 0 {
            return self.tokens;
        }
        let remaining = self.sent_bytes.saturating_sub(removed_bytes) / 4;
        self.tokens.saturating_sub(removed_bytes / 4).max(remaining)
    }

    /// Returns the estimated tokens of the context before the trim.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns the number of turns of the path.
    pub fn turn_count(&self) -> u32 {
        self.turn_count
    }
}

/// Returns for each entry whether a compaction preserved it.
fn find_preserved(tree: &Tree) -> Vec<bool> {
    let mut preserved = vec![false; tree.nodes().len()];
    for (_, preserved_entries) in &tree.boundaries {
        let entries = preserved_entries.resolve(tree).map(|(_, entries)| entries).unwrap_or_default();
        entries
            .into_iter()
            .chain(preserved_entries.find_segment_nodes(tree).unwrap_or_default())
            .for_each(|id| preserved[id as usize] = true);
    }
    preserved
}
