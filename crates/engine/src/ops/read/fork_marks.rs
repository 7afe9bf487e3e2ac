//! Locates the forks of a branch view.

use std::collections::{HashMap, HashSet};

use rethread_core::entry::EntryRole;
use rethread_core::tree::{Branches, NodeId, Tree};

use super::branch_view::ForkMark;

/// Returns the nodes that start one of several branches, among those that a view with all turns shows.
pub(super) fn find_fork_starts(tree: &Tree, branches: &Branches) -> Vec<NodeId> {
    let starts_branch = |&id: &NodeId| {
        branches.fork_starting_at(tree, id).is_some_and(|(fork, idx)| fork.branches.get(idx) == Some(&id))
    };
    (0..tree.nodes().len() as NodeId).filter(starts_branch).collect()
}

/// Returns the nodes on the path to `tip` that start one of several branches.
///
/// A parallel call that was added to the path may start a branch that is not this one.
pub(super) fn find_fork_starts_above(tree: &Tree, branches: &Branches, tip: NodeId) -> Vec<NodeId> {
    let ancestors = tree.ancestors_across_compactions(tip);
    ancestors.into_iter().filter(|&id| branches.fork_starting_at(tree, id).is_some()).collect()
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
