//! What a trim looks at: the way to an entry, in the order in which it is told, parted into turns.

use super::inventory::BlockInventory;
use crate::entry::{EntryRole, Kind};
use crate::resume::{ResumeIndex, ResumeOutcome};
use crate::tree::{NodeId, Tree};

/// Stands for "not on the way".
const NOWHERE: u32 = u32::MAX;

/// The conversation that is trimmed.
#[derive(Debug)]
pub struct TrimInput<'a> {
    pub(super) tree: &'a Tree,
    pub(super) facts: &'a ResumeIndex,
    pub(super) survey: &'a BlockInventory,
    /// The entries of the way, in the order of the file.
    pub(super) way: &'a [NodeId],
    /// The same in the order of telling.
    pub(super) told: Vec<NodeId>,
    /// By entry, the turn it is part of: 0 before the first.
    turn: Vec<u32>,
    /// How many turns there are.
    pub(super) turns: u32,
    /// By entry, whether it is sent.
    sent: Vec<bool>,
    /// By entry, whether a compaction kept it.
    kept: Vec<bool>,
    /// The entry to go on from.
    pub(super) leaf: NodeId,
    /// The id of the session.
    pub(super) session: &'a str,
    /// Tokens of the context as it is.
    pub(super) tokens: u64,
    /// Bytes of all that is sent.
    pub(super) said: u64,
}

impl<'a> TrimInput<'a> {
    /// Looks at the way to where `resume` goes on.
    pub fn new(
        tree: &'a Tree,
        facts: &'a ResumeIndex,
        survey: &'a BlockInventory,
        session: &'a str,
        (way, leaf, resume): (&'a [NodeId], NodeId, &ResumeOutcome),
    ) -> TrimInput<'a> {
        let mut sent = vec![false; tree.nodes().len()];
        resume.path.iter().for_each(|&no| sent[no as usize] = true);
        let mut scene = TrimInput {
            tree,
            facts,
            survey,
            way,
            told: Vec::with_capacity(way.len()),
            turn: vec![NOWHERE; tree.nodes().len()],
            turns: 0,
            sent,
            kept: kept(tree),
            leaf,
            session,
            tokens: resume.tokens(facts),
            said: resume.path.iter().map(|&no| facts.bytes(no)).sum(),
        };
        scene.part(&resume.chain);
        scene
    }

    /// Parts what is told into turns; the rest of the way belongs to the turn of what it hangs on.
    fn part(&mut self, chain: &[NodeId]) {
        let mut open = None;
        let mut on_way = vec![false; self.tree.nodes().len()];
        self.way.iter().for_each(|&no| on_way[no as usize] = true);
        for &no in chain.iter().filter(|&&no| on_way[no as usize]) {
            let node = self.tree.node(no);
            let turn = self.tree.turn_of(no);
            let starts = turn == Some(no) || turn.is_some() && node.voice == EntryRole::ImageOnly;
            if node.voice == EntryRole::CompactSummary || starts && open != turn {
                self.turns += 1;
                open = turn.filter(|_| starts);
            }
            self.turn[no as usize] = self.turns;
            self.told.push(no);
        }
        let mut before = 0;
        for &no in self.way {
            if self.turn[no as usize] == NOWHERE {
                let parent = self.tree.node(no).parent().map(|parent| self.turn[parent as usize]);
                self.turn[no as usize] = parent.filter(|&turn| turn != NOWHERE).unwrap_or(before);
                self.told.push(no);
            }
            before = self.turn[no as usize];
        }
    }

    /// Whether an entry is on the way.
    pub(super) fn holds(&self, no: NodeId) -> bool {
        self.turn[no as usize] != NOWHERE
    }

    /// Returns the turn of an entry of the way.
    pub(super) fn turn(&self, no: NodeId) -> u32 {
        self.turn[no as usize]
    }

    /// Whether an entry is from before the last so many turns.
    pub(super) fn is_old(&self, no: NodeId, recent: u32) -> bool {
        self.turn[no as usize].saturating_add(recent) <= self.turns
    }

    /// Whether an entry is sent.
    pub(super) fn is_sent(&self, no: NodeId) -> bool {
        self.sent[no as usize]
    }

    /// Whether an entry stays when its turn goes: it tells of what was compacted, or a compaction kept it.
    pub(super) fn is_fixed(&self, no: NodeId) -> bool {
        matches!(self.tree.node(no).voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
            || self.kept[no as usize]
    }

    /// Whether an entry is context that the client added, and no prompt.
    pub(super) fn is_attachment(&self, no: NodeId) -> bool {
        let node = self.tree.node(no);
        node.kind == Kind::Attachment && node.voice == EntryRole::Structural
    }

    /// Returns the entry that stands for the parent of another.
    pub(super) fn parent(&self, no: NodeId) -> Option<NodeId> {
        let parent = self.tree.node(no).parent()?;
        Some(self.tree.find(self.tree.node(parent).id).unwrap_or(parent))
    }

    /// Estimates the tokens of the context without so many bytes that are said in it. What the API counted less what
    /// went, but never less than a quarter of what is left: neither can be below the truth by much.
    pub fn tokens_without(&self, said: u64) -> u64 {
        if said == 0 {
            return self.tokens;
        }
        let left = self.said.saturating_sub(said) / 4;
        self.tokens.saturating_sub(said / 4).max(left)
    }

    /// Estimates the tokens of the context as it is.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns how many turns the way has.
    pub fn turns(&self) -> u32 {
        self.turns
    }
}

fn kept(tree: &Tree) -> Vec<bool> {
    let mut kept = vec![false; tree.nodes().len()];
    for (_, named) in &tree.boundaries {
        let entries = named.resolve(tree).map(|(_, entries)| entries).unwrap_or_default();
        entries
            .into_iter()
            .chain(named.run_in(tree).unwrap_or_default())
            .for_each(|no| kept[no as usize] = true);
    }
    kept
}
