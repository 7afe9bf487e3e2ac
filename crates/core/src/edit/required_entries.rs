//! Which entries belong to the way to an entry: those that it builds on, and those that clients load with them.

use crate::entry::Kind;
use crate::resume::{ResumeIndex, resume_at};
use crate::tree::{Node, NodeId, Tree};
use crate::version::Version;

/// Lists the entries that a session needs to go on from `leaf` as it does here, in the order of the file.
///
/// They are what the tree says (parents up to a beginning or a compaction, what the compaction kept, the other calls and
/// results of each response) and what each of `clients` would load. Of lines with one uuid the last stands for all.
pub fn required_entries(tree: &Tree, facts: &ResumeIndex, clients: &[Version], leaf: NodeId) -> Vec<NodeId> {
    let mut on_way = vec![false; tree.nodes().len()];
    let mut take = |no: NodeId| {
        let standing = tree.find(tree.node(no).id).unwrap_or(no);
        on_way[standing as usize] = true;
    };
    tree.with_parallel_calls(&tree.context_path(leaf)).into_iter().for_each(|step| take(step.node));
    for client in clients {
        let loaded = resume_at(tree, facts, client, leaf);
        loaded.into_iter().flat_map(|loaded| loaded.chain).for_each(&mut take);
    }
    take_progress(tree, &mut on_way);
    take_side(tree, &mut on_way);
    (0..on_way.len() as NodeId).filter(|&no| on_way[no as usize]).collect()
}

/// Takes the progress lines between a result and its call: what hangs on them would hang on nothing.
fn take_progress(tree: &Tree, on_way: &mut [bool]) {
    let is_progress = |no: NodeId| tree.node(no).kind == Kind::Progress;
    for no in 0..on_way.len() as NodeId {
        let mut above = tree.node(no).parent().filter(|_| on_way[no as usize]);
        let mut between = Vec::new();
        while let Some(no) = above.filter(|&no| !on_way[no as usize] && is_progress(no)) {
            between.push(no);
            above = tree.node(no).parent();
        }
        if above.is_some_and(|no| on_way[no as usize]) {
            between.into_iter().for_each(|no| on_way[no as usize] = true);
        }
    }
}

/// Takes the lines of subagents that old clients wrote into the same file: those that begin right behind a line that is
/// on the way.
fn take_side(tree: &Tree, on_way: &mut [bool]) {
    if tree.is_sidechain_file() || !tree.nodes().iter().any(Node::is_sidechain) {
        return;
    }
    let mut behind = false;
    for no in 0..on_way.len() {
        let node = &tree.nodes()[no];
        if !node.is_sidechain() {
            behind = on_way[no];
        } else if let Some(parent) = node.parent() {
            on_way[no] |= (parent as usize) < no && on_way[parent as usize];
        } else {
            on_way[no] |= behind;
        }
    }
}
