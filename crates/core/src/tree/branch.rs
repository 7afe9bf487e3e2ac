//! Branches: every way the conversation really went, from its beginning to a tip.
//!
//! There are as many as [`Tree::branches`] says, and one more for each island: a part that is cut off because its parent is
//! missing or runs in a circle. What precedes a compaction belongs to the branch that goes on from it.

use super::builder::Tree;
use super::fork::{Fork, ForkKind};
use super::node::{NONE, NodeId, ParentLink};
use super::segments::{BranchSegments, SegmentOrigin};
use crate::entry::{EntryRole, Timestamp};

/// One way the conversation went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Where it ends: the last line that speaks.
    pub tip: NodeId,
    /// Where it leaves the others; `None` where it never does.
    pub from: Option<ForkPoint>,
    /// The first entry that is on no other branch.
    pub first: NodeId,
    /// The first prompt that is on no other branch.
    pub prompt: Option<NodeId>,
    /// Turns that begin on no other branch.
    pub own_turns: usize,
    /// Turns from the beginning to the tip, also those before a compaction.
    pub turns: usize,
    /// Entries that are on no other branch.
    pub entries: usize,
    /// When it was last written.
    pub last: Option<Timestamp>,
    /// How the first of its entries is cut off: a parent that is missing, or a cycle.
    pub cut: Option<ParentLink>,
    /// Whether it is a part of its own that nothing else in the file leads to.
    pub orphaned: bool,
    stretch: u32,
}

/// Where a branch leaves the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkPoint {
    /// The last entry it shares with another branch; `None` where the file has several beginnings.
    pub at: Option<NodeId>,
    /// How that came.
    pub kind: ForkKind,
    /// Which of the ways it takes there, from 1, in file order.
    pub way: usize,
    /// Of how many.
    pub ways: usize,
}

/// The branches of a file, in the order in which they began.
#[derive(Debug)]
pub struct Branches {
    /// Each with its facts.
    pub list: Vec<Branch>,
    pub(crate) stretches: BranchSegments,
    /// The branch of each stretch; a stretch that several share is of the one that goes the oldest ways.
    by_stretch: Vec<u32>,
}

/// What a stretch holds.
#[derive(Debug, Clone, Copy)]
struct Facts {
    turns: usize,
    entries: usize,
    last: Option<Timestamp>,
    spoken: NodeId,
    answer: NodeId,
    written: NodeId,
    first: NodeId,
    prompt: NodeId,
    /// Turns with those of the stretches above.
    all_turns: usize,
    cut: Option<ParentLink>,
}

impl Default for Facts {
    fn default() -> Facts {
        Facts {
            turns: 0,
            entries: 0,
            last: None,
            spoken: NONE,
            answer: NONE,
            written: NONE,
            first: NONE,
            prompt: NONE,
            all_turns: 0,
            cut: None,
        }
    }
}

impl BranchSegments {
    /// Says how a way of a fork begins.
    pub(crate) fn departure(&self, fork: u32, way: u32) -> ForkPoint {
        let fork = &self.forks[fork as usize];
        ForkPoint { at: fork.at, kind: fork.kind, way: way as usize + 1, ways: fork.branches.len() }
    }
}

impl Branches {
    /// Finds the branches of a tree.
    pub fn of(tree: &Tree) -> Branches {
        let stretches = BranchSegments::of(tree);
        let facts = facts(tree, &stretches);
        let (chains, mut by_stretch) = assign_branches(&stretches, &facts);
        let mut found = tips(&stretches, &facts, &by_stretch, chains.len());
        if let (Some(none @ None), Some(tip)) =
            (found.first_mut(), tree.newest_tip().or(stretches.order.last().copied()))
        {
            *none = Some((tip, stretches.of[tip as usize]));
        }
        let mut list = Vec::new();
        for (chain, end) in found.into_iter().enumerate() {
            let Some((tip, stretch)) = end else { continue };
            let branch = branch(tree, &stretches, &facts, tip, stretch, chains[chain]);
            list.push((chain as u32, branch));
        }
        list.sort_by_key(|(_, branch)| branch.first);
        let mut places = vec![NONE; chains.len()];
        for (place, (chain, _)) in (0u32..).zip(&list) {
            places[*chain as usize] = place;
        }
        for chain in by_stretch.iter_mut().filter(|chain| **chain != NONE) {
            *chain = places[*chain as usize];
        }
        Branches { list: list.into_iter().map(|(_, branch)| branch).collect(), stretches, by_stretch }
    }

    /// Returns which branch a node is on; where several share it, the one that goes the oldest ways.
    pub fn branch_of(&self, no: NodeId) -> Option<usize> {
        let branch = self.by_stretch[*self.stretches.of.get(no as usize)? as usize];
        (branch != NONE).then_some(branch as usize)
    }

    /// Says which way of which real fork begins with a node. Several nodes may begin one way: results of parallel calls, lines
    /// of one response, copies of one line.
    pub fn fork_starting_at(&self, tree: &Tree, no: NodeId) -> Option<(&Fork, usize)> {
        let of = |no: NodeId| self.stretches.of.get(no as usize).copied();
        let stretch = of(no)?;
        let SegmentOrigin::Way(fork, way) = self.stretches.list.get(stretch as usize)?.origin else {
            return None;
        };
        let begins = match tree.node(no).parent() {
            Some(parent) => of(parent) != Some(stretch),
            // What goes on after a compaction is a root, too.
            None => !self.stretches.joins.contains_key(&no),
        };
        begins.then(|| (&self.stretches.forks[fork as usize], way as usize))
    }

    /// Takes note of the entry that a client goes on from: it is the tip of its branch, unless the branch goes on from there
    /// or only links hang between. Returns which branch that is.
    pub fn set_active_leaf(&mut self, tree: &Tree, leaf: NodeId) -> Option<usize> {
        let active = self.branch_of(leaf)?;
        let tip = self.list[active].tip;
        let walk = tree.ancestors(leaf);
        let elsewhere = !walk.contains(&tip) && !tree.ancestors(tip).contains(&leaf);
        if elsewhere && self.is_exclusive_to(active, leaf) {
            let speaks = |no: &&NodeId| {
                tree.node(**no).voice != EntryRole::Structural && self.is_exclusive_to(active, **no)
            };
            self.list[active].tip = walk.iter().rev().find(speaks).copied().unwrap_or(leaf);
        }
        Some(active)
    }

    /// Whether a node is on this branch and on no other.
    pub fn is_exclusive_to(&self, branch: usize, no: NodeId) -> bool {
        self.list[branch].stretch == self.stretches.of[no as usize]
    }

    /// Returns how many islands there are.
    pub fn islands(&self) -> usize {
        self.list.iter().filter(|branch| branch.orphaned).count()
    }

    /// Adds up values of nodes by branch: those of its own, and all from the beginning to the tip.
    pub fn sums<T: Clone + Default>(
        &self,
        values: impl IntoIterator<Item = (NodeId, T)>,
        add: impl Fn(&mut T, &T),
    ) -> Vec<(T, T)> {
        let mut own = vec![T::default(); self.stretches.list.len()];
        for (no, value) in values {
            add(&mut own[self.stretches.of[no as usize] as usize], &value);
        }
        let mut all = own.clone();
        for (k, stretch) in self.stretches.list.iter().enumerate() {
            if stretch.parent != NONE {
                let above = all[stretch.parent as usize].clone();
                add(&mut all[k], &above);
            }
        }
        let sum = |branch: &Branch| {
            let k = branch.stretch as usize;
            (own[k].clone(), all[k].clone())
        };
        self.list.iter().map(sum).collect()
    }
}

fn facts(tree: &Tree, stretches: &BranchSegments) -> Vec<Facts> {
    let mut facts = vec![Facts::default(); stretches.list.len()];
    for &no in &stretches.order {
        let node = tree.node(no);
        let part = &mut facts[stretches.of[no as usize] as usize];
        let later = |kept: NodeId| if kept == NONE { no } else { kept.max(no) };
        part.entries += 1;
        part.last = part.last.max(node.time());
        part.written = later(part.written);
        if !tree.is_main_chain(no) {
            continue;
        }
        if !matches!(node.voice, EntryRole::Structural | EntryRole::State | EntryRole::CompactBoundary) {
            part.spoken = later(part.spoken);
        }
        if node.voice == EntryRole::Answer {
            part.answer = later(part.answer);
        }
        if part.first == NONE {
            part.first = no;
        }
        if tree.turn_of(no) == Some(no) {
            part.turns += 1;
            if part.prompt == NONE {
                part.prompt = no;
            }
        }
    }
    for (k, stretch) in stretches.list.iter().enumerate() {
        let above =
            facts.get(stretch.parent as usize).map_or((0, None), |above| (above.all_turns, above.cut));
        facts[k].all_turns = facts[k].turns + above.0;
        facts[k].cut = match stretch.origin {
            SegmentOrigin::Island(link) => Some(link),
            _ => above.1,
        };
    }
    facts
}

/// Strings stretches together: a fork continues the branch it stands on with its oldest way and begins one with each
/// other. Returns for each branch whether it is an island, and the branch of each stretch.
fn assign_branches(stretches: &BranchSegments, facts: &[Facts]) -> (Vec<bool>, Vec<u32>) {
    let mut chains = vec![false];
    let mut by_stretch = vec![NONE; stretches.list.len()];
    let mut trunk_speaks = false;
    for (k, stretch) in stretches.list.iter().enumerate() {
        by_stretch[k] = match stretch.origin {
            SegmentOrigin::Trunk => 0,
            SegmentOrigin::Way(_, 0) => by_stretch[stretch.parent as usize],
            SegmentOrigin::Way(..) | SegmentOrigin::Island(_) => {
                chains.push(matches!(stretch.origin, SegmentOrigin::Island(_)));
                (chains.len() - 1) as u32
            }
            SegmentOrigin::Aside => NONE,
        };
        trunk_speaks |= by_stretch[k] == 0 && facts[k].spoken != NONE;
    }
    // In a file whose head is gone the first island is the conversation.
    let speaks =
        |k: &usize| by_stretch[*k] != NONE && facts[*k].spoken != NONE && chains[by_stretch[*k] as usize];
    let first = (0..by_stretch.len()).filter(speaks).map(|k| by_stretch[k]).min();
    if let Some(first) = first.filter(|_| !trunk_speaks) {
        by_stretch.iter_mut().filter(|chain| **chain == first).for_each(|chain| *chain = 0);
    }
    (chains, by_stretch)
}

/// Finds where each chain ends, and in which stretch; `None` where nobody speaks in it.
fn tips(
    stretches: &BranchSegments,
    facts: &[Facts],
    by_stretch: &[u32],
    chains: usize,
) -> Vec<Option<(NodeId, u32)>> {
    let mut tips: Vec<Option<(NodeId, u32)>> = vec![None; chains];
    for (k, stretch) in stretches.list.iter().enumerate() {
        if by_stretch[k] == NONE || stretch.forked && !stretch.goes_on {
            continue;
        }
        let way = matches!(stretch.origin, SegmentOrigin::Way(..)).then_some(facts[k].written);
        let tip = Some(facts[k].spoken).filter(|&tip| tip != NONE).or(way);
        let found = &mut tips[by_stretch[k] as usize];
        *found = (*found).max(tip.map(|tip| (tip, k as u32)));
    }
    tips
}

fn branch(
    tree: &Tree,
    stretches: &BranchSegments,
    facts: &[Facts],
    tip: NodeId,
    stretch: u32,
    island: bool,
) -> Branch {
    let own = &facts[stretch as usize];
    let from = match stretches.list[stretch as usize].origin {
        SegmentOrigin::Way(fork, way) => Some(stretches.departure(fork, way)),
        _ => None,
    };
    let some = |no: NodeId| (no != NONE).then_some(no);
    Branch {
        tip: settle(tree, stretches, tip, own.answer),
        from,
        first: some(own.first).unwrap_or(tip),
        prompt: some(own.prompt),
        own_turns: own.turns,
        turns: own.all_turns,
        entries: own.entries,
        last: own.last,
        cut: own.cut,
        orphaned: island,
        stretch,
    }
}

/// A result may stand behind the answer that builds on its siblings: then the last answer of its turn is the tip.
fn settle(tree: &Tree, stretches: &BranchSegments, tip: NodeId, answer: NodeId) -> NodeId {
    let goes_on = |&child: &NodeId| tree.node(child).voice != EntryRole::Structural;
    let is_late = tree.node(tip).voice == EntryRole::Results && !tree.children(tip).iter().any(goes_on);
    if !is_late || answer == NONE || tree.turn_of(answer) != tree.turn_of(tip) {
        return tip;
    }
    let home = stretches.of[tip as usize];
    let mut at = tip;
    while let Some(parent) = tree.node(at).parent().filter(|&no| stretches.of[no as usize] == home) {
        if parent == answer {
            return tip;
        }
        at = parent;
    }
    answer
}
