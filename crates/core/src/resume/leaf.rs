//! Chooses the entry that the client resumes from.

use super::client_graph::{ClientGraph, NONE};
use super::resume_index::{LeafPin, ResumeIndex};
use super::rules::{LeafChoice, Rules};
use crate::entry::{EntryRole, Kind};
use crate::tree::NodeId;

/// The rule by which the client chose the leaf, that is, the entry to resume from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafRule {
    /// It has the newest timestamp.
    Newest,
    /// It is the only leaf of the file.
    OnlyLeaf,
    /// It is the last line of the file.
    LastLine,
    /// It is the newest descendant of the last line, which is not the newest entry.
    NewestBelowLastLine,
    /// The last `last-prompt` line, with this line number, points to it.
    Pinned(u32),
    /// The last summary, with this line number, points to it. No measured client follows this rule.
    Summary(u32),
    /// The caller chose it.
    Requested,
}

impl LeafRule {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LeafRule::Newest => "newest",
            LeafRule::OnlyLeaf => "only-leaf",
            LeafRule::LastLine => "last-line",
            LeafRule::NewestBelowLastLine => "newest-below-last-line",
            LeafRule::Pinned(_) => "last-prompt",
            LeafRule::Summary(_) => "summary",
            LeafRule::Requested => "requested",
        }
    }

    /// Returns the number of the line that points to the leaf. Returns `None` if no line does.
    pub fn line(self) -> Option<u32> {
        match self {
            LeafRule::Pinned(line) | LeafRule::Summary(line) => Some(line),
            _ => None,
        }
    }
}

/// Chooses the leaf by the rules of the client, and returns it with the rule that applied.
///
/// Returns `None` if no loaded entry is a candidate, or if no suitable entry is at or above the chosen one.
pub(super) fn choose_leaf(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
) -> Option<(NodeId, LeafRule)> {
    let is_candidate = |id: &NodeId| rules.sidechain_leaf || !graph.tree.node(*id).is_sidechain();
    let candidates: Vec<NodeId> = graph.order.iter().copied().filter(is_candidate).collect();
    match rules.leaf {
        LeafChoice::Sorted => find_first_sorted(graph, candidates).map(|id| (id, LeafRule::Newest)),
        LeafChoice::Newest => find_newest(graph, candidates.into_iter()).map(|id| (id, LeafRule::Newest)),
        LeafChoice::Only => {
            let chosen = match find_leaves(graph, &candidates)[..] {
                [] => return None,
                [leaf] => (leaf, LeafRule::OnlyLeaf),
                _ => (find_last_line(graph, &candidates)?, LeafRule::LastLine),
            };
            graph.nearest_message(chosen.0).map(|leaf| (leaf, chosen.1))
        }
        LeafChoice::LastMessage | LeafChoice::LastLine | LeafChoice::LastLineOrBelow => {
            let last = find_last_line(graph, &candidates)?;
            let (leaf, rule) = resolve_last_line(graph, index, rules, last, &candidates);
            let can_be_leaf = |id| match rules.leaf {
                LeafChoice::LastMessage => graph.is_message(id),
                _ => graph.tree.node(id).kind != Kind::Progress,
            };
            graph.nearest_ancestor(leaf, can_be_leaf).map(|leaf| (leaf, rule))
        }
    }
}

/// Finds the last candidate in file order that is a message or a descendant of one. Returns `None` if there is none.
fn find_last_line(graph: &ClientGraph<'_>, candidates: &[NodeId]) -> Option<NodeId> {
    // A repeated uuid has the node id of its last line.
    let is_candidate = graph.mark_with_descendants(|id| graph.is_message(id), |id| graph.parent[id as usize]);
    candidates.iter().copied().filter(|&id| is_candidate[id as usize]).max()
}

/// Finds the candidate with the newest timestamp, the first of several. Returns `None` if none has a timestamp.
fn find_newest(graph: &ClientGraph<'_>, candidates: impl Iterator<Item = NodeId>) -> Option<NodeId> {
    let timed = candidates.filter_map(|id| Some((graph.tree.node(id).time()?, id)));
    timed.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, id)| id)
}

/// Finds the candidate that is first after a sort by time, newest first. Returns `None` if there are no candidates.
///
/// A missing timestamp compares as equal to all others, so the result depends on the algorithm of the client's runtime: up to
/// 63 candidates, a binary insertion after an initial run. Of more candidates, the first one or a newer one is returned.
fn find_first_sorted(graph: &ClientGraph<'_>, mut candidates: Vec<NodeId>) -> Option<NodeId> {
    const MAX_INSERTED: usize = 63;
    let time = |id: NodeId| graph.tree.node(id).time();
    let precedes = |a: NodeId, b: NodeId| time(a).zip(time(b)).is_some_and(|(a, b)| a > b);
    if candidates.len() > MAX_INSERTED || candidates.iter().all(|&id| time(id).is_some()) {
        return candidates.into_iter().reduce(|best, id| if precedes(id, best) { id } else { best });
    }
    let is_reversed = candidates.len() > 1 && precedes(candidates[1], candidates[0]);
    let ends_run = |pair: &[NodeId]| precedes(pair[1], pair[0]) != is_reversed;
    let run_len = candidates.windows(2).position(ends_run).map_or(candidates.len(), |idx| idx + 1);
    if is_reversed {
        candidates[..run_len].reverse();
    }
    for idx in run_len..candidates.len() {
        let (mut low, mut high) = (0, idx);
        while low < high {
            let middle = usize::midpoint(low, high);
            if precedes(candidates[idx], candidates[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        candidates[low..=idx].rotate_right(1);
    }
    candidates.first().copied()
}

/// Chooses the leaf of a client that starts from the last line.
///
/// The result is the entry that a `last-prompt` line points to, else a newer descendant of the last line, else the last
/// line or the last entry that a compaction preserved below it. With a pointer, a newer descendant is chosen only if no
/// message is at or above the entry that the pointer selects.
fn resolve_last_line(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    last: NodeId,
    candidates: &[NodeId],
) -> (NodeId, LeafRule) {
    // Preserved entries follow their anchor, so the last of them may be the last entry.
    let tail = graph.spliced.filter(|(anchor, _)| *anchor == last).map(|(_, tail)| tail);
    let chosen = (tail.unwrap_or(last), LeafRule::LastLine);
    if let Some(pin) = index.pin.filter(|_| rules.pin) {
        let pinned = resolve_pin(graph, pin).map_or(chosen, |target| apply_pin(graph, pin, target, chosen));
        if graph.nearest_message(pinned.0).is_some() {
            return pinned;
        }
    }
    // A pointer to an entry without a message makes older clients look for a descendant too.
    let is_pinned = rules.pin && index.pin.is_some();
    let looks_below = tail.is_none() && (is_pinned || rules.leaf == LeafChoice::LastLineOrBelow);
    let newer = if looks_below { find_newer_below(graph, last, candidates) } else { None };
    newer.map_or(chosen, |newer| (newer, LeafRule::NewestBelowLastLine))
}

/// Returns the candidates that have no loaded children and a message at or above them, in the order of `candidates`.
fn find_leaves(graph: &ClientGraph<'_>, candidates: &[NodeId]) -> Vec<NodeId> {
    let mut has_child = vec![false; graph.parent.len()];
    for &id in &graph.order {
        if graph.uuid_parent(id) != NONE {
            has_child[graph.uuid_parent(id) as usize] = true;
        }
    }
    let is_leaf = |&id: &NodeId| !has_child[id as usize] && graph.nearest_message(id).is_some();
    candidates.iter().copied().filter(is_leaf).collect()
}

/// Finds the newest descendant of the last line. Returns `None` if it has none or if no candidate is newer than it.
fn find_newer_below(graph: &ClientGraph<'_>, last: NodeId, candidates: &[NodeId]) -> Option<NodeId> {
    let time = |id: NodeId| graph.tree.node(id).time();
    if candidates.iter().all(|&id| time(id) <= time(last)) {
        return None;
    }
    let descendants = graph.mark_with_descendants(|id| id == last, |id| graph.uuid_parent(id));
    find_newest(graph, candidates.iter().copied().filter(|&id| id != last && descendants[id as usize]))
}

/// Finds the entry that a `last-prompt` line points to.
///
/// Returns `None` if the entry is not loaded, or if a compaction follows the pointer.
fn resolve_pin(graph: &ClientGraph<'_>, pin: LeafPin) -> Option<NodeId> {
    let is_invalidated =
        graph.loaded_from(pin.node_count).any(|id| graph.tree.node(id).role == EntryRole::CompactBoundary);
    graph.tree.find_uuid(pin.leaf).filter(|&id| graph.loaded[id as usize] && !is_invalidated)
}

/// Finds the entry that the user rewound to. Returns `None` if the user did not, or if a loaded line follows the pointer.
pub(super) fn find_rewound(graph: &ClientGraph<'_>, index: &ResumeIndex) -> Option<NodeId> {
    let has_later_line = |place| graph.loaded_from(place).next().is_some();
    let pin = index.pin.filter(|pin| pin.rewound_at.is_some_and(|place| !has_later_line(place)))?;
    resolve_pin(graph, pin)
}

/// Chooses between `target`, to which the `last-prompt` line `pin` points, and `chosen`, the leaf without that line.
///
/// Returns `chosen` if it is the target or a descendant of it, else the target. A pointer written by a rewind always
/// yields the target if no loaded line follows it.
fn apply_pin(
    graph: &ClientGraph<'_>,
    pin: LeafPin,
    target: NodeId,
    chosen: (NodeId, LeafRule),
) -> (NodeId, LeafRule) {
    let pinned = (target, LeafRule::Pinned(pin.line));
    // A pointer written by a rewind is valid until the next message.
    let is_valid = |place| graph.loaded_from(place).next().is_none();
    if pin.explicit_at.is_some_and(is_valid) {
        return pinned;
    }
    let descendants = graph.mark_with_descendants(|id| id == target, |id| graph.uuid_parent(id));
    if descendants[chosen.0 as usize] { chosen } else { pinned }
}

impl ClientGraph<'_> {
    /// Returns `true` if an entry is a user or assistant entry.
    pub(super) fn is_message(&self, id: NodeId) -> bool {
        matches!(self.tree.node(id).kind, Kind::User | Kind::Assistant)
    }

    /// Returns the entries from `from` on, in file order, that the client has loaded.
    ///
    /// An entry with a repeated uuid is included if the last line with that uuid is loaded.
    fn loaded_from(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let is_loaded = |id: &NodeId| {
            let last = self.tree.find_uuid(self.tree.node(*id).uuid);
            last.is_some_and(|last| self.loaded[last as usize])
        };
        (from..self.tree.nodes().len() as NodeId).filter(is_loaded)
    }

    /// Finds the nearest matching entry at or above `from`. Returns `None` if none matches.
    pub(super) fn nearest_ancestor(&self, from: NodeId, matches: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let mut node = from;
        // A cycle cannot be longer than the number of entries.
        for _ in 0..=self.order.len() {
            if node == NONE || matches(node) {
                break;
            }
            node = self.parent[node as usize];
        }
        (node != NONE && matches(node)).then_some(node)
    }

    /// Finds the nearest message at or above `from`. Returns `None` if there is none.
    pub(super) fn nearest_message(&self, from: NodeId) -> Option<NodeId> {
        self.nearest_ancestor(from, |id| self.is_message(id))
    }

    /// Marks the matching loaded entries and all of their descendants by `parent_of`. The result is indexed by `NodeId`.
    pub(super) fn mark_with_descendants(
        &self,
        matches: impl Fn(NodeId) -> bool,
        parent_of: impl Fn(NodeId) -> NodeId,
    ) -> Vec<bool> {
        let mut marked: Vec<Option<bool>> = vec![None; self.parent.len()];
        let mut walked = Vec::new();
        for &id in &self.order {
            let mut node = id;
            while node != NONE && marked[node as usize].is_none() {
                // Mark before moving on, so that a cycle ends the walk.
                marked[node as usize] = Some(matches(node));
                walked.push(node);
                node = if matches(node) { NONE } else { parent_of(node) };
            }
            let mut above = node != NONE && marked[node as usize] == Some(true);
            for id in walked.drain(..).rev() {
                above |= marked[id as usize] == Some(true);
                marked[id as usize] = Some(above);
            }
        }
        marked.into_iter().map(|marked| marked == Some(true)).collect()
    }
}
