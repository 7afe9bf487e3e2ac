//! Computes the entries that are needed to resume from an entry.

use crate::entry::Kind;
use crate::resume::{ResumeIndex, TrailingEntries, active_path_at};
use crate::tree::{Node, NodeId, Tree};
use crate::version::Version;

/// Returns the entries that a session needs to resume from `leaf` with the same context, in file order.
///
/// These are the entries on the path in the tree (ancestors up to a root or compaction, entries that the
/// compaction preserved, other calls and results of each response) and the entries that each of `clients` would
/// load with the entries `trailing` below `leaf`. Only the last of several lines with one uuid is included.
pub fn required_entries(
    tree: &Tree,
    index: &ResumeIndex,
    clients: &[Version],
    leaf: NodeId,
    trailing: TrailingEntries,
) -> Vec<NodeId> {
    let mut required = vec![false; tree.nodes().len()];
    let mut add = |id: NodeId| {
        let last = tree.find_uuid(tree.node(id).uuid).unwrap_or(id);
        required[last as usize] = true;
    };
    tree.with_parallel_calls(&tree.context_path(leaf)).into_iter().for_each(|entry| add(entry.node));
    for client in clients {
        active_path_at(tree, index, client, leaf, trailing).into_iter().flatten().for_each(&mut add);
    }
    add_progress_lines(tree, &mut required);
    add_sidechains(tree, &mut required);
    (0..required.len() as NodeId).filter(|&id| required[id as usize]).collect()
}

/// Adds the progress lines between required entries, such as a result and its call. Without them the result would have
/// no parent.
fn add_progress_lines(tree: &Tree, required: &mut [bool]) {
    let is_progress = |id: NodeId| tree.node(id).kind == Kind::Progress;
    for id in 0..required.len() as NodeId {
        let mut ancestor = tree.node(id).parent().filter(|_| required[id as usize]);
        let mut between = Vec::new();
        while let Some(id) = ancestor.filter(|&id| !required[id as usize] && is_progress(id)) {
            between.push(id);
            ancestor = tree.node(id).parent();
        }
        if ancestor.is_some_and(|id| required[id as usize]) {
            between.into_iter().for_each(|id| required[id as usize] = true);
        }
    }
}

/// Adds the sidechain lines that old clients wrote into the same file, if they start after a required line or are below
/// a required entry.
fn add_sidechains(tree: &Tree, required: &mut [bool]) {
    if tree.is_sidechain_file() || !tree.nodes().iter().any(Node::is_sidechain) {
        return;
    }
    let mut follows_required = false;
    for id in 0..required.len() {
        let node = &tree.nodes()[id];
        if !node.is_sidechain() {
            follows_required = required[id];
        } else if let Some(parent) = node.parent() {
            required[id] |= (parent as usize) < id && required[parent as usize];
        } else {
            required[id] |= follows_required;
        }
    }
}
