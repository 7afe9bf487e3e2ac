//! Which nodes a way tells, in which order, and where it crosses forks.

use std::collections::{HashMap, HashSet};

use rethread_core::entry::EntryRole;
use rethread_core::tree::{Branches, NodeId, PathRelation, Tree};

use super::branch_view::ForkMark;
use crate::ops::show::{Group, everything, grouped, grouped_as, in_turns};
use crate::session::load::Session;

/// What a way tells.
#[derive(Default)]
pub(super) struct TurnOrder {
    /// Its turns.
    pub(super) groups: Vec<Group>,
    /// The nodes on it that begin one of several ways.
    pub(super) firsts: Vec<NodeId>,
}

/// The turns on the way to a tip, also those before a compaction.
pub(super) fn along(session: &Session, tip: NodeId, branches: &Branches) -> TurnOrder {
    let tree = &session.tree;
    let context: HashSet<NodeId> = tree.context_path(tip).into_iter().collect();
    let steps = tree.with_parallel_calls(&tree.ancestors_across_compactions(tip));
    let mut standings = HashMap::with_capacity(steps.len());
    let mut before = PathRelation::Compacted;
    for step in &steps {
        // What was re-joined stands where the line before it does.
        before = match (context.contains(&step.node), step.is_ancestor) {
            (true, _) => PathRelation::OnPath,
            (false, true) => PathRelation::Compacted,
            (false, false) => before,
        };
        standings.insert(step.node, before);
    }
    let standing = |no| standings.get(&no).copied().unwrap_or(PathRelation::OnPath);
    // What was re-joined may begin a way that this one did not go.
    let walked = steps.iter().filter(|step| step.is_ancestor).map(|step| step.node);
    let firsts = walked.filter(|&no| branches.fork_starting_at(tree, no).is_some()).collect();
    TurnOrder { groups: grouped(session, steps.iter().map(|step| step.node), standing), firsts }
}

/// All turns of the file.
pub(super) fn all(session: &Session, tip: NodeId, branches: &Branches) -> TurnOrder {
    let tree = &session.tree;
    let is_first = |&no: &NodeId| {
        branches.fork_starting_at(tree, no).is_some_and(|(fork, way)| fork.branches.get(way) == Some(&no))
    };
    let firsts = (0..tree.nodes().len() as NodeId).filter(is_first).collect();
    TurnOrder { groups: everything(session, tip), firsts }
}

/// The turns of a subagent inside the file, from its first node on; they are counted for themselves.
pub(super) fn side(session: &Session, root: NodeId) -> Vec<Group> {
    let tree = &session.tree;
    let mut below = vec![root];
    let mut at = 0;
    while at < below.len() {
        below.extend_from_slice(tree.children(below[at]));
        at += 1;
    }
    in_turns(tree, &mut below);
    let starts = below.iter().copied().filter(|&no| tree.turn_of(no) == Some(no));
    let numbers = starts.zip(1..).collect();
    grouped_as(session, &numbers, below.into_iter(), |_| PathRelation::OnPath)
}

/// Finds where the forks of a way are shown: before the first node behind each that speaks, so that a switch stands above
/// words and not behind those before them.
pub(super) fn passes(tree: &Tree, nodes: &[NodeId], firsts: &[NodeId]) -> Vec<ForkMark> {
    if firsts.is_empty() {
        return Vec::new();
    }
    let places: HashMap<NodeId, usize> = nodes.iter().enumerate().map(|(place, &no)| (no, place)).collect();
    let forked: HashSet<NodeId> = firsts.iter().copied().collect();
    let pass = |&first: &NodeId| {
        let mut at = first;
        while tree.node(at).voice == EntryRole::Structural {
            let below = tree.children(at).iter().find(|&child| places.contains_key(child));
            match below {
                Some(&child) if !forked.contains(&child) => at = child,
                _ => break,
            }
        }
        Some(ForkMark { place: *places.get(&at)?, first })
    };
    let mut passes: Vec<ForkMark> = firsts.iter().filter_map(pass).collect();
    passes.sort_by_key(|pass| pass.place);
    passes
}
