//! From the leaf to a beginning, and what is joined to that walk again.

use std::collections::HashMap;

use super::client_graph::{ClientGraph, NONE};
use super::resume_index::{BlockSummary, CallNo, ResumeIndex};
use super::rules::Rejoin;
use crate::entry::{EntryRole, Flags, Kind};
use crate::tree::{NodeId, ParentLink};

/// Why the walk ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// At a line that names no parent.
    Root,
    /// At a compaction.
    Boundary,
    /// At a line whose parent is in no line.
    Missing,
    /// At a line whose parent is a line that this client does not read.
    Unread,
    /// At a line whose parent the client dropped with what a compaction did not keep.
    Dropped,
    /// At a line that was passed before.
    Cycle,
}

/// Walks up from the leaf; returns the entries, the first one first, and why the walk ended.
pub(super) fn walk(links: &ClientGraph<'_>, leaf: NodeId) -> (Vec<NodeId>, WalkEnd) {
    let mut passed = vec![false; links.parent.len()];
    let mut chain = Vec::new();
    let mut at = leaf;
    while at != NONE && !passed[at as usize] {
        passed[at as usize] = true;
        chain.push(at);
        at = links.parent[at as usize];
    }
    let first = links.tree.node(chain[chain.len() - 1]);
    let end = if at != NONE {
        WalkEnd::Cycle
    } else if first.voice == EntryRole::CompactBoundary && first.link == ParentLink::Root {
        WalkEnd::Boundary
    } else {
        match first.link {
            ParentLink::Root => WalkEnd::Root,
            ParentLink::Missing => WalkEnd::Missing,
            ParentLink::Cut => WalkEnd::Cycle,
            ParentLink::Child => {
                let parent = first.parent().map_or(first.id, |parent| links.tree.node(parent).id);
                let was_read = links.tree.find(parent).is_some_and(|no| links.is_read(no));
                if was_read { WalkEnd::Dropped } else { WalkEnd::Unread }
            }
        }
    };
    chain.reverse();
    (chain, end)
}

/// Leaves what is before the last compaction of a chain.
pub(super) fn since_boundary(links: &ClientGraph<'_>, chain: &mut Vec<NodeId>) -> bool {
    let boundary = chain.iter().rposition(|&no| links.tree.node(no).voice == EntryRole::CompactBoundary);
    chain.drain(..boundary.unwrap_or(0));
    boundary.is_some()
}

/// Adds to a walk the other lines of its responses and the results of their calls.
pub(super) fn rejoin(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    how: Rejoin,
    chain: Vec<NodeId>,
) -> Vec<NodeId> {
    if how == Rejoin::Never {
        return chain;
    }
    let mates = Mates::of(links, facts, how, &chain);
    match how {
        Rejoin::Behind => mates.behind_last(links, &chain),
        _ => mates.in_order(links, &chain),
    }
}

/// The lines of each response on the walk, and what belongs to its calls, in the order of the file.
struct Mates {
    /// Whether the walk passes the response.
    walked: Vec<bool>,
    lines: Vec<Vec<NodeId>>,
    results: Vec<Vec<NodeId>>,
}

impl Mates {
    fn of(links: &ClientGraph<'_>, facts: &ResumeIndex, how: Rejoin, chain: &[NodeId]) -> Mates {
        let tree = links.tree;
        let count = tree.messages();
        let mut mates = Mates {
            walked: vec![false; count],
            lines: vec![Vec::new(); count],
            results: vec![Vec::new(); count],
        };
        for message in chain.iter().filter_map(|&no| tree.message_of(no)) {
            mates.walked[message as usize] = true;
        }
        // By call and by entry, the response that it belongs to.
        let mut callers: Vec<Option<u32>> = vec![None; facts.calls()];
        let mut owners: Vec<Option<u32>> = vec![None; links.parent.len()];
        for &no in &links.order {
            let Some(message) = tree.message_of(no) else {
                continue;
            };
            if mates.walked[message as usize] {
                mates.lines[message as usize].push(no);
                for call in calls(facts, no) {
                    callers[call as usize].get_or_insert(message);
                    owners[no as usize] = Some(message);
                }
            }
        }
        match how {
            Rejoin::InOrder => mates.add_by_call(links, facts, &callers, owners, chain),
            _ => mates.add_by_parent(links, facts),
        }
        mates
    }

    /// Adds results whose parent is a line of a response.
    fn add_by_parent(&mut self, links: &ClientGraph<'_>, facts: &ResumeIndex) {
        for &no in &links.order {
            if results(facts, no).next().is_some()
                && let Some(message) = links.parent_message(no)
                && self.walked[message as usize]
            {
                self.results[message as usize].push(no);
            }
        }
    }

    /// Adds results by call or parent, and what the client hung on them in the user's name, if nobody spoke below it.
    fn add_by_call(
        &mut self,
        links: &ClientGraph<'_>,
        facts: &ResumeIndex,
        callers: &[Option<u32>],
        mut owners: Vec<Option<u32>>,
        chain: &[NodeId],
    ) {
        let mut on_chain = vec![false; links.parent.len()];
        chain.iter().for_each(|&no| on_chain[no as usize] = true);
        let is_aside = |no: NodeId| {
            !links.speaks(no) || links.tree.node(no).is(Flags::META) && results(facts, no).next().is_none()
        };
        let goes_on = links.at_or_above(|no| !is_aside(no));
        for &no in &links.order {
            let mut messages: Vec<u32> =
                results(facts, no).filter_map(|call| callers[call as usize]).collect();
            messages.sort_unstable();
            messages.dedup();
            if messages.is_empty() && results(facts, no).next().is_some() {
                messages.extend(links.parent_message(no).filter(|&message| self.walked[message as usize]));
            }
            if is_aside(no)
                && (on_chain[no as usize] || !goes_on[no as usize])
                && links.parent[no as usize] != NONE
            {
                messages.extend(owners[links.parent[no as usize] as usize]);
            }
            for message in messages {
                owners[no as usize] = Some(message);
                self.results[message as usize].push(no);
            }
        }
    }

    /// Puts what belongs to a response behind its last line on the walk, by time.
    fn behind_last(&self, links: &ClientGraph<'_>, chain: &[NodeId]) -> Vec<NodeId> {
        let mut last = vec![0; self.walked.len()];
        let mut told = vec![false; links.parent.len()];
        for (k, &no) in chain.iter().enumerate() {
            told[no as usize] = true;
            if let Some(message) = links.tree.message_of(no) {
                last[message as usize] = k;
            }
        }
        let mut joined = Vec::with_capacity(chain.len());
        for (k, &no) in chain.iter().enumerate() {
            joined.push(no);
            let Some(message) = links.tree.message_of(no).filter(|&message| last[message as usize] == k)
            else {
                continue;
            };
            for part in [&self.lines[message as usize], &self.results[message as usize]] {
                let from = joined.len();
                joined.extend(
                    part.iter().copied().filter(|&no| !std::mem::replace(&mut told[no as usize], true)),
                );
                joined[from..].sort_by_key(|&no| links.tree.node(no).time());
            }
        }
        joined
    }

    /// Puts each line of a response behind the line on the walk that stands before it in the file, else behind the first;
    /// then what belongs to its calls, in the same way.
    fn in_order(&self, links: &ClientGraph<'_>, chain: &[NodeId]) -> Vec<NodeId> {
        let mut on_walk = vec![false; links.parent.len()];
        let mut first = vec![NONE; self.walked.len()];
        for &no in chain.iter().rev() {
            on_walk[no as usize] = true;
            if let Some(message) = links.tree.message_of(no) {
                first[message as usize] = no;
            }
        }
        let mut behind: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut told = on_walk.clone();
        for (message, &first) in first.iter().enumerate() {
            let (lines, results) = (&self.lines[message], &self.results[message]);
            if lines.iter().chain(results).all(|&no| told[no as usize]) {
                continue;
            }
            let walked = |part: &[NodeId]| -> Vec<NodeId> {
                part.iter().copied().filter(|&no| on_walk[no as usize]).collect()
            };
            let before = |walked: &[NodeId], no: NodeId| {
                walked[..walked.partition_point(|&other| other < no)].last().copied()
            };
            let (mut walked_lines, mut walked_results) = (walked(lines), walked(results));
            walked_lines.sort_unstable();
            walked_results.sort_unstable();
            for &no in lines.iter().chain(results) {
                if std::mem::replace(&mut told[no as usize], true) {
                    continue;
                }
                let is_line = links.tree.message_of(no) == Some(message as u32);
                let result = if is_line { None } else { before(&walked_results, no) };
                let anchor = result.or_else(|| before(&walked_lines, no)).unwrap_or(first);
                behind.entry(anchor).or_default().push(no);
            }
        }
        let with_mates =
            |&no: &NodeId| std::iter::once(no).chain(behind.get(&no).into_iter().flatten().copied());
        chain.iter().flat_map(with_mates).collect()
    }
}

impl ClientGraph<'_> {
    /// Returns the response that the parent of an entry is a line of, past progress.
    fn parent_message(&self, no: NodeId) -> Option<u32> {
        let parent = self.parent[no as usize];
        let parent = (parent != NONE).then_some(parent)?;
        let parent = self.nearest_ancestor(parent, |no| self.tree.node(no).kind != Kind::Progress)?;
        self.tree.message_of(parent)
    }

    /// Marks the entries that fit, and all that such an entry hangs below.
    pub(super) fn at_or_above(&self, fits: impl Fn(NodeId) -> bool) -> Vec<bool> {
        let mut marked = vec![false; self.parent.len()];
        for &no in self.order.iter().filter(|&&no| fits(no)) {
            let mut at = no;
            while at != NONE && !marked[at as usize] {
                marked[at as usize] = true;
                at = self.parent[at as usize];
            }
        }
        marked
    }
}

/// Iterates over the calls in an entry.
pub(super) fn calls(facts: &ResumeIndex, no: NodeId) -> impl Iterator<Item = CallNo> + '_ {
    facts
        .pieces(no)
        .iter()
        .filter_map(|piece| if let BlockSummary::Call(call) = piece { Some(*call) } else { None })
}

/// Iterates over the calls that an entry answers.
pub(super) fn results(facts: &ResumeIndex, no: NodeId) -> impl Iterator<Item = CallNo> + '_ {
    facts
        .pieces(no)
        .iter()
        .filter_map(|piece| if let BlockSummary::Result(call) = piece { Some(*call) } else { None })
}
