//! Walks from the leaf to a root and adds the other lines of the responses on that walk.

use std::collections::HashMap;

use super::client_graph::{ClientGraph, NONE};
use super::resume_index::{BlockSummary, ResumeIndex};
use super::rules::{RejoinRule, TrailingRule};
use super::simulate::TrailingEntries;
use crate::block_table::ToolCallIdx;
use crate::entry::{EntryRole, Flags, Timestamp};
use crate::tree::{NodeId, ParentLink};

/// Why the walk from the leaf along the parent links ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// The line names no parent.
    Root,
    /// The line is a compaction boundary.
    Boundary,
    /// The parent is not in the file.
    MissingParent,
    /// The parent is a line that this client does not load.
    UnreadParent,
    /// The client dropped the parent, which precedes a compaction and was not preserved.
    DroppedParent,
    /// The walk reached an entry for the second time.
    Cycle,
}

/// Walks from `leaf` along the parent links of the client. Returns the entries, root first, and why the walk ended.
pub(super) fn walk_to_root(graph: &ClientGraph<'_>, leaf: NodeId) -> (Vec<NodeId>, WalkEnd) {
    let mut visited = vec![false; graph.parent.len()];
    let mut chain = Vec::new();
    let mut node = leaf;
    while node != NONE && !visited[node as usize] {
        visited[node as usize] = true;
        chain.push(node);
        node = graph.parent[node as usize];
    }
    let first = graph.tree.node(chain[chain.len() - 1]);
    let end = if node != NONE {
        WalkEnd::Cycle
    } else if first.role == EntryRole::CompactBoundary && first.link == ParentLink::Root {
        WalkEnd::Boundary
    } else {
        match first.link {
            ParentLink::Root => WalkEnd::Root,
            ParentLink::MissingParent => WalkEnd::MissingParent,
            ParentLink::CycleBroken => WalkEnd::Cycle,
            ParentLink::Child => {
                let parent = first.parent().map_or(first.uuid, |parent| graph.tree.node(parent).uuid);
                let was_read = graph.tree.find_uuid(parent).is_some_and(|id| graph.is_read(id));
                if was_read { WalkEnd::DroppedParent } else { WalkEnd::UnreadParent }
            }
        }
    };
    chain.reverse();
    (chain, end)
}

/// Adds to a walk that ends with a message all entries below it that are no messages and that no message separates from it.
///
/// They may be on several branches. Does nothing if the walk ends with another entry. With [`TrailingEntries::SameTurn`], texts
/// of the user and compactions are not added, except at and above `leaf`, nor what is below them.
pub(super) fn add_trailing_entries(
    graph: &ClientGraph<'_>,
    rule: TrailingRule,
    leaf: NodeId,
    trailing: TrailingEntries,
    walk: &mut Vec<NodeId>,
) {
    let last = walk.last().copied().filter(|&id| graph.is_message(id) && rule != TrailingRule::Walk);
    let Some(message) = last else {
        return;
    };
    // In a cycle, entries above the message are below it too.
    let mut on_walk = vec![false; graph.parent.len()];
    walk.iter().for_each(|&id| on_walk[id as usize] = true);
    let mut is_requested = vec![trailing == TrailingEntries::All; graph.parent.len()];
    let mut node = leaf;
    while node != NONE && !std::mem::replace(&mut is_requested[node as usize], true) {
        node = graph.parent[node as usize];
    }
    let starts_turn =
        |id: NodeId| graph.has_text(id) || graph.tree.node(id).role == EntryRole::CompactBoundary;
    let is_end = |id: NodeId| {
        on_walk[id as usize] || graph.is_message(id) || !is_requested[id as usize] && starts_turn(id)
    };
    let parent_of = |id: NodeId| if is_end(id) { NONE } else { graph.parent[id as usize] };
    let is_below = graph.mark_with_descendants(|id| id == message, parent_of);
    // An entry without a timestamp stays after the entry before it.
    let mut time = None;
    let mut added: Vec<(Option<Timestamp>, NodeId)> = Vec::new();
    for &id in graph.order.iter().filter(|&&id| is_below[id as usize] && !is_end(id)) {
        time = graph.tree.node(id).time().or(time);
        added.push((time, id));
    }
    added.sort_by_key(|&(time, _)| time);
    let mut added: Vec<NodeId> = added.into_iter().map(|(_, id)| id).collect();
    if rule == TrailingRule::Depth {
        added = sort_by_depth(graph, message, &added);
    }
    walk.append(&mut added);
}

/// Sorts entries below `root` such that each is followed by its descendants. Siblings stay in order.
fn sort_by_depth(graph: &ClientGraph<'_>, root: NodeId, entries: &[NodeId]) -> Vec<NodeId> {
    let mut children: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for &id in entries.iter().rev() {
        children.entry(graph.parent[id as usize]).or_default().push(id);
    }
    let mut sorted = Vec::with_capacity(entries.len());
    let mut pending = children.remove(&root).unwrap_or_default();
    while let Some(id) = pending.pop() {
        sorted.push(id);
        pending.append(&mut children.remove(&id).unwrap_or_default());
    }
    sorted
}

/// Drops the entries before the last compaction boundary of a chain. Returns `true` if the chain contains a boundary.
pub(super) fn truncate_at_boundary(graph: &ClientGraph<'_>, chain: &mut Vec<NodeId>) -> bool {
    let boundary = chain.iter().rposition(|&id| graph.tree.node(id).role == EntryRole::CompactBoundary);
    chain.drain(..boundary.unwrap_or(0));
    boundary.is_some()
}

/// Returns `chain` with the other lines of its responses and the results of their calls inserted.
pub(super) fn rejoin_responses(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rule: RejoinRule,
    chain: Vec<NodeId>,
) -> Vec<NodeId> {
    if rule == RejoinRule::Never {
        return chain;
    }
    let parts = ResponseParts::collect(graph, index, rule, &chain);
    match rule {
        RejoinRule::AfterLast => parts.append_after_last(graph, &chain),
        _ => parts.insert_in_order(graph, &chain),
    }
}

/// The lines of each response on the walk and the results of its calls, in the order of `ClientGraph::order`.
///
/// The vectors are indexed by response (`Tree::message_of`). Responses that are not on the walk have no lines.
struct ResponseParts {
    /// Whether the walk contains a line of the response.
    on_path: Vec<bool>,
    lines: Vec<Vec<NodeId>>,
    /// Entries with results of the response's calls. Except with `RejoinRule::AfterLast` also secondary entries.
    results: Vec<Vec<NodeId>>,
}

impl ResponseParts {
    /// Collects the lines of the responses in `chain`, and the results of their calls by call or by parent.
    fn collect(
        graph: &ClientGraph<'_>,
        index: &ResumeIndex,
        rule: RejoinRule,
        chain: &[NodeId],
    ) -> ResponseParts {
        let tree = graph.tree;
        let count = tree.message_count();
        let mut parts = ResponseParts {
            on_path: vec![false; count],
            lines: vec![Vec::new(); count],
            results: vec![Vec::new(); count],
        };
        for message in chain.iter().filter_map(|&id| tree.message_of(id)) {
            parts.on_path[message as usize] = true;
        }
        // The response that each call and each entry belongs to.
        let mut callers: Vec<Option<u32>> = vec![None; index.call_count()];
        let mut owners: Vec<Option<u32>> = vec![None; graph.parent.len()];
        for &id in &graph.order {
            let Some(message) = tree.message_of(id) else {
                continue;
            };
            if parts.on_path[message as usize] {
                parts.lines[message as usize].push(id);
                for call in list_calls(index, id) {
                    owners[id as usize] = Some(message);
                    if rule == RejoinRule::InOrderByCall {
                        callers[call as usize].get_or_insert(message);
                    }
                }
            }
        }
        match rule {
            RejoinRule::AfterLast => parts.add_by_parent(graph, index),
            _ => parts.add_with_secondary(graph, index, &callers, owners, chain),
        }
        parts
    }

    /// Adds the entries with results whose parent is a line of a response on the walk.
    fn add_by_parent(&mut self, graph: &ClientGraph<'_>, index: &ResumeIndex) {
        for &id in &graph.order {
            if list_results(index, id).next().is_some()
                && let Some(message) = graph.parent_message(id)
                && self.on_path[message as usize]
            {
                self.results[message as usize].push(id);
            }
        }
    }

    /// Adds results by call or else by parent, and secondary children of calls and results.
    ///
    /// A secondary entry is no message, or a meta line without results. It is added if it is on the walk or if only
    /// secondary entries descend from it. `callers` contains the response of each call by which results are found, `owners`
    /// the response that each entry belongs to, `None` if it is not on the walk.
    fn add_with_secondary(
        &mut self,
        graph: &ClientGraph<'_>,
        index: &ResumeIndex,
        callers: &[Option<u32>],
        mut owners: Vec<Option<u32>>,
        chain: &[NodeId],
    ) {
        let mut in_chain = vec![false; graph.parent.len()];
        chain.iter().for_each(|&id| in_chain[id as usize] = true);
        let is_secondary = |id: NodeId| {
            !graph.is_message(id)
                || graph.tree.node(id).has_flag(Flags::META) && list_results(index, id).next().is_none()
        };
        let has_message_below = graph.mark_with_ancestors(|id| !is_secondary(id));
        for &id in &graph.order {
            let mut messages: Vec<u32> =
                list_results(index, id).filter_map(|call| callers[call as usize]).collect();
            messages.sort_unstable();
            messages.dedup();
            if messages.is_empty() && list_results(index, id).next().is_some() {
                messages.extend(graph.parent_message(id).filter(|&message| self.on_path[message as usize]));
            }
            if is_secondary(id)
                && (in_chain[id as usize] || !has_message_below[id as usize])
                && graph.parent[id as usize] != NONE
            {
                messages.extend(owners[graph.parent[id as usize] as usize]);
            }
            for message in messages {
                owners[id as usize] = Some(message);
                self.results[message as usize].push(id);
            }
        }
    }

    /// Returns the chain with the other lines and the results of each response after its last line on the walk.
    ///
    /// The inserted lines are sorted by time, then the inserted results are.
    fn append_after_last(&self, graph: &ClientGraph<'_>, chain: &[NodeId]) -> Vec<NodeId> {
        let mut last = vec![0; self.on_path.len()];
        let mut included = vec![false; graph.parent.len()];
        for (idx, &id) in chain.iter().enumerate() {
            included[id as usize] = true;
            if let Some(message) = graph.tree.message_of(id) {
                last[message as usize] = idx;
            }
        }
        let mut joined = Vec::with_capacity(chain.len());
        for (idx, &id) in chain.iter().enumerate() {
            joined.push(id);
            let Some(message) = graph.tree.message_of(id).filter(|&message| last[message as usize] == idx)
            else {
                continue;
            };
            for nodes in [&self.lines[message as usize], &self.results[message as usize]] {
                let from = joined.len();
                joined.extend(
                    nodes.iter().copied().filter(|&id| !std::mem::replace(&mut included[id as usize], true)),
                );
                joined[from..].sort_by_key(|&id| graph.tree.node(id).time());
            }
        }
        joined
    }

    /// Returns the chain with the other lines and the results of each response in file order.
    ///
    /// A line is inserted after the last earlier line of its response on the walk, or after the first line if there is
    /// none. A result is inserted after the last earlier result on the walk, or else like a line.
    fn insert_in_order(&self, graph: &ClientGraph<'_>, chain: &[NodeId]) -> Vec<NodeId> {
        let mut on_path = vec![false; graph.parent.len()];
        let mut first = vec![NONE; self.on_path.len()];
        for &id in chain.iter().rev() {
            on_path[id as usize] = true;
            if let Some(message) = graph.tree.message_of(id) {
                first[message as usize] = id;
            }
        }
        let mut inserted: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut included = on_path.clone();
        for (message, &first) in first.iter().enumerate() {
            let (lines, results) = (&self.lines[message], &self.results[message]);
            if lines.iter().chain(results).all(|&id| included[id as usize]) {
                continue;
            }
            let filter_on_path = |nodes: &[NodeId]| -> Vec<NodeId> {
                nodes.iter().copied().filter(|&id| on_path[id as usize]).collect()
            };
            let last_before = |sorted: &[NodeId], id: NodeId| {
                sorted[..sorted.partition_point(|&other| other < id)].last().copied()
            };
            let (mut lines_on_path, mut results_on_path) = (filter_on_path(lines), filter_on_path(results));
            lines_on_path.sort_unstable();
            results_on_path.sort_unstable();
            for &id in lines.iter().chain(results) {
                if std::mem::replace(&mut included[id as usize], true) {
                    continue;
                }
                let is_line = graph.tree.message_of(id) == Some(message as u32);
                let result = if is_line { None } else { last_before(&results_on_path, id) };
                let anchor = result.or_else(|| last_before(&lines_on_path, id)).unwrap_or(first);
                inserted.entry(anchor).or_default().push(id);
            }
        }
        let with_inserted =
            |&id: &NodeId| std::iter::once(id).chain(inserted.get(&id).into_iter().flatten().copied());
        chain.iter().flat_map(with_inserted).collect()
    }
}

impl ClientGraph<'_> {
    /// Returns `true` if an entry has a text: of the user, of the model, or one that the client wrote for the model.
    pub(super) fn has_text(&self, id: NodeId) -> bool {
        !matches!(
            self.tree.node(id).role,
            EntryRole::Structural | EntryRole::CompactBoundary | EntryRole::State
        )
    }

    /// Returns the response that the parent of an entry belongs to. Returns `None` if it has no parent or belongs to none.
    fn parent_message(&self, id: NodeId) -> Option<u32> {
        let parent = self.parent[id as usize];
        (parent != NONE).then(|| self.tree.message_of(parent)).flatten()
    }

    /// Marks the matching loaded entries and all of their ancestors. The result is indexed by `NodeId`.
    pub(super) fn mark_with_ancestors(&self, matches: impl Fn(NodeId) -> bool) -> Vec<bool> {
        let mut marked = vec![false; self.parent.len()];
        for &id in self.order.iter().filter(|&&id| matches(id)) {
            let mut node = id;
            while node != NONE && !marked[node as usize] {
                marked[node as usize] = true;
                node = self.parent[node as usize];
            }
        }
        marked
    }
}

/// Returns an iterator over the tool calls in an entry, in block order.
pub(super) fn list_calls(index: &ResumeIndex, id: NodeId) -> impl Iterator<Item = ToolCallIdx> + '_ {
    index
        .blocks(id)
        .iter()
        .filter_map(|block| if let BlockSummary::Call(call) = block { Some(*call) } else { None })
}

/// Returns an iterator over the tool calls that an entry contains results for, in block order.
pub(super) fn list_results(index: &ResumeIndex, id: NodeId) -> impl Iterator<Item = ToolCallIdx> + '_ {
    index
        .blocks(id)
        .iter()
        .filter_map(|block| if let BlockSummary::Result(call) = block { Some(*call) } else { None })
}
