//! Which entry the client goes on from.

use super::client_graph::{ClientGraph, NONE};
use super::resume_index::{Pin, ResumeIndex};
use super::rules::{Leaf, Rules};
use crate::entry::{EntryRole, Kind};
use crate::tree::NodeId;

/// Why an entry is the leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafRule {
    /// It has the newest timestamp.
    Newest,
    /// It is the only leaf of the file.
    OnlyLeaf,
    /// It is the last line of the file.
    LastLine,
    /// It is the newest below the last line of the file, which is older than others.
    NewestBelowLastLine,
    /// The last `last-prompt` line, so numbered, names it.
    Pinned(u32),
    /// The last summary, on the line so numbered, names it: what the seeds say of clients that nobody has met.
    Summary(u32),
    /// Somebody asked what if.
    Requested,
}

impl LeafRule {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            LeafRule::Newest => "newest",
            LeafRule::OnlyLeaf => "only-leaf",
            LeafRule::LastLine => "last-line",
            LeafRule::NewestBelowLastLine => "newest-below-last-line",
            LeafRule::Pinned(_) => "pinned",
            LeafRule::Summary(_) => "summary",
            LeafRule::Requested => "asked",
        }
    }

    /// Returns the line that names the leaf, where one does.
    pub fn line(self) -> Option<u32> {
        match self {
            LeafRule::Pinned(line) | LeafRule::Summary(line) => Some(line),
            _ => None,
        }
    }
}

/// Chooses the leaf.
pub(super) fn choose(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
) -> Option<(NodeId, LeafRule)> {
    let may_be = |no: &NodeId| rules.side_leaf || !links.tree.node(*no).is_sidechain();
    let candidates: Vec<NodeId> = links.order.iter().copied().filter(may_be).collect();
    match rules.leaf {
        Leaf::Newest => newest(links, candidates.into_iter()).map(|no| (no, LeafRule::Newest)),
        Leaf::Only => {
            let found = match leaves(links, &candidates)[..] {
                [] => return None,
                [leaf] => (leaf, LeafRule::OnlyLeaf),
                _ => (last_line(links, &candidates)?, LeafRule::LastLine),
            };
            links.nearest_ancestor(found.0, |no| links.speaks(no)).map(|leaf| (leaf, found.1))
        }
        Leaf::LastLine | Leaf::LastLineOrBelow => {
            let last = last_line(links, &candidates)?;
            let (leaf, rule) = from_last(links, facts, rules, last, &candidates);
            let counts = |no| links.tree.node(no).kind != Kind::Progress;
            links.nearest_ancestor(leaf, counts).map(|leaf| (leaf, rule))
        }
    }
}

/// Finds the last line that speaks or hangs below one that does.
fn last_line(links: &ClientGraph<'_>, candidates: &[NodeId]) -> Option<NodeId> {
    // The number of the line that stands for a uuid is that of its last line.
    let speaks = links.at_or_below(|no| links.speaks(no));
    candidates.iter().copied().filter(|&no| speaks[no as usize]).max()
}

/// Finds the first entry with the newest timestamp; a first entry without any is never passed.
fn newest(links: &ClientGraph<'_>, candidates: impl Iterator<Item = NodeId>) -> Option<NodeId> {
    let time = |no: NodeId| links.tree.node(no).time();
    candidates.reduce(|best, no| match (time(best), time(no)) {
        (Some(old), Some(new)) if new > old => no,
        _ => best,
    })
}

/// Goes on from the last line: to the pin, or to what is newer and hangs below it.
fn from_last(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
    last: NodeId,
    candidates: &[NodeId],
) -> (NodeId, LeafRule) {
    // What a compaction kept comes behind its anchor, and so may come last.
    let tail = links.spliced.filter(|(anchor, _)| *anchor == last).map(|(_, tail)| tail);
    let found = (tail.unwrap_or(last), LeafRule::LastLine);
    if let Some(pin) = facts.pin.filter(|_| rules.pin)
        && let Some(named) = holds(links, pin)
    {
        return pinned(links, pin, named, found);
    }
    let below = match (rules.leaf, tail) {
        (Leaf::LastLineOrBelow, None) => newer_below(links, last, candidates),
        _ => None,
    };
    below.map_or(found, |below| (below, LeafRule::NewestBelowLastLine))
}

/// Finds the entries that nothing hangs on.
fn leaves(links: &ClientGraph<'_>, candidates: &[NodeId]) -> Vec<NodeId> {
    let mut has_child = vec![false; links.parent.len()];
    for &no in &links.order {
        if links.parent[no as usize] != NONE {
            has_child[links.parent[no as usize] as usize] = true;
        }
    }
    candidates.iter().copied().filter(|&no| !has_child[no as usize]).collect()
}

/// Finds the newest entry below the last line, where that is not the newest of all.
fn newer_below(links: &ClientGraph<'_>, last: NodeId, candidates: &[NodeId]) -> Option<NodeId> {
    let time = |no: NodeId| links.tree.node(no).time();
    if candidates.iter().all(|&no| time(no) <= time(last)) {
        return None;
    }
    let below = links.at_or_below(|no| no == last);
    newest(links, candidates.iter().copied().filter(|&no| no != last && below[no as usize]))
}

/// Finds the entry that a pin names, if it holds: a compaction after it makes it void, and something must be said there.
fn holds(links: &ClientGraph<'_>, pin: Pin) -> Option<NodeId> {
    let void = links.later(pin.behind).any(|no| links.tree.node(no).voice == EntryRole::CompactBoundary);
    let speaks = |no| links.nearest_ancestor(no, |no| links.speaks(no)).is_some();
    links.tree.find(pin.leaf).filter(|&no| links.loaded[no as usize] && !void && speaks(no))
}

/// Follows a pin: the last line if it hangs below the entry named, else that entry.
fn pinned(links: &ClientGraph<'_>, pin: Pin, named: NodeId, found: (NodeId, LeafRule)) -> (NodeId, LeafRule) {
    let pinned = (named, LeafRule::Pinned(pin.line));
    // What a rewind pinned holds until something is said.
    let went_on = links.later(pin.behind).next().is_some();
    if pin.explicit && !went_on {
        return pinned;
    }
    match links.nearest_ancestor(found.0, |no| no == named) {
        Some(_) => found,
        None => pinned,
    }
}

impl ClientGraph<'_> {
    /// Whether an entry is the user's or the model's.
    pub(super) fn speaks(&self, no: NodeId) -> bool {
        matches!(self.tree.node(no).kind, Kind::User | Kind::Assistant)
    }

    /// Iterates over the lines from a number on whose entries the client holds.
    fn later(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let holds = |no: &NodeId| {
            let standing = self.tree.find(self.tree.node(*no).id);
            standing.is_some_and(|standing| self.loaded[standing as usize])
        };
        (from..self.tree.nodes().len() as NodeId).filter(holds)
    }

    /// Climbs from an entry to the first that fits, itself included.
    pub(super) fn nearest_ancestor(&self, from: NodeId, fits: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut at = from;
        // A cycle has no more entries than there are.
        for _ in 0..=self.order.len() {
            if at == NONE || fits(at) {
                break;
            }
            at = self.parent[at as usize];
        }
        (at != NONE && fits(at)).then_some(at)
    }

    /// Marks the entries that fit, and all that hang below one that does.
    fn at_or_below(&self, fits: impl Fn(NodeId) -> bool) -> Vec<bool> {
        let mut known: Vec<Option<bool>> = vec![None; self.parent.len()];
        let mut climbed = Vec::new();
        for &no in &self.order {
            let mut at = no;
            while at != NONE && known[at as usize].is_none() {
                // Marked while the climb is on, so that a cycle ends it.
                known[at as usize] = Some(fits(at));
                climbed.push(at);
                at = if fits(at) { NONE } else { self.parent[at as usize] };
            }
            let mut above = at != NONE && known[at as usize] == Some(true);
            for no in climbed.drain(..).rev() {
                above |= known[no as usize] == Some(true);
                known[no as usize] = Some(above);
            }
        }
        known.into_iter().map(|known| known == Some(true)).collect()
    }
}
