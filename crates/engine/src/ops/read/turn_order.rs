//! Selects the nodes of a branch view, orders them, and locates the forks.

use std::collections::{HashMap, HashSet};

use rethread_core::entry::EntryRole;
use rethread_core::tree::{Branches, NodeId, PathRelation, Tree};

use super::branch_view::ForkMark;
use crate::ops::show::{TurnGroup, group_all_turns, group_numbered_turns, group_turns, sort_by_turn};
use crate::session::load::Session;

/// The turns of a branch view, in order.
#[derive(Default)]
pub(super) struct TurnOrder {
    pub(super) groups: Vec<TurnGroup>,
    /// The nodes that start one of several branches.
    pub(super) fork_starts: Vec<NodeId>,
}

/// Returns the turns on the path to a tip, root first, also those before a compaction.
pub(super) fn order_branch(session: &Session, tip: NodeId, branches: &Branches) -> TurnOrder {
    let tree = &session.tree;
    let context: HashSet<NodeId> = tree.context_path(tip).into_iter().collect();
    let steps = tree.with_parallel_calls(&tree.ancestors_across_compactions(tip));
    let mut relations = HashMap::with_capacity(steps.len());
    let mut previous = PathRelation::Compacted;
    for step in &steps {
        // A re-joined parallel call has the relation of the line before it.
        previous = match (context.contains(&step.node), step.is_ancestor) {
            (true, _) => PathRelation::OnPath,
            (false, true) => PathRelation::Compacted,
            (false, false) => previous,
        };
        relations.insert(step.node, previous);
    }
    let relation = |id| relations.get(&id).copied().unwrap_or(PathRelation::OnPath);
    // A re-joined parallel call may start a branch that is not this one.
    let ancestors = steps.iter().filter(|step| step.is_ancestor).map(|step| step.node);
    let fork_starts = ancestors.filter(|&id| branches.fork_starting_at(tree, id).is_some()).collect();
    TurnOrder { groups: group_turns(session, steps.iter().map(|step| step.node), relation), fork_starts }
}

/// Returns all turns of the file in the order of their start, each with its relation to the path to `tip`.
pub(super) fn order_all(session: &Session, tip: NodeId, branches: &Branches) -> TurnOrder {
    let tree = &session.tree;
    let starts_branch = |&id: &NodeId| {
        branches.fork_starting_at(tree, id).is_some_and(|(fork, idx)| fork.branches.get(idx) == Some(&id))
    };
    let fork_starts = (0..tree.nodes().len() as NodeId).filter(starts_branch).collect();
    TurnOrder { groups: group_all_turns(session, tip), fork_starts }
}

/// Returns the turns of the subagent inside the file that starts with `root`. They are numbered from 1.
pub(super) fn order_sidechain(session: &Session, root: NodeId) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let mut subtree = vec![root];
    let mut idx = 0;
    while idx < subtree.len() {
        subtree.extend_from_slice(tree.children(subtree[idx]));
        idx += 1;
    }
    sort_by_turn(tree, &mut subtree);
    let starts = subtree.iter().copied().filter(|&id| tree.turn_of(id) == Some(id));
    let numbers = starts.zip(1..).collect();
    group_numbered_turns(session, &numbers, subtree.into_iter(), |_| PathRelation::OnPath)
}

/// Returns the positions at which the forks are shown: before the first node after each fork that is not structural, so
/// that the switch is above the text of its branch.
pub(super) fn locate_forks(tree: &Tree, nodes: &[NodeId], fork_starts: &[NodeId]) -> Vec<ForkMark> {
    if fork_starts.is_empty() {
        return Vec::new();
    }
    let positions: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(position, &id)| (id, position)).collect();
    let fork_start_set: HashSet<NodeId> = fork_starts.iter().copied().collect();
    let find_position = |&first: &NodeId| {
        let mut shown = first;
        while tree.node(shown).role == EntryRole::Structural {
            let child = tree.children(shown).iter().find(|&child| positions.contains_key(child));
            match child {
                Some(&child) if !fork_start_set.contains(&child) => shown = child,
                _ => break,
            }
        }
        Some(ForkMark { position: *positions.get(&shown)?, first })
    };
    let mut marks: Vec<ForkMark> = fork_starts.iter().filter_map(find_position).collect();
    marks.sort_by_key(|mark| mark.position);
    marks
}
