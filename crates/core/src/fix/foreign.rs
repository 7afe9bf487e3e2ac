//! Removes lines of other sessions that are not connected to the session of the file.

use std::collections::HashSet;

use super::context::RepairContext;
use super::fix_set::{FixAction, FixSet, LineEdit};
use crate::check::{Code, Severity};
use crate::id::IdSet;
use crate::tree::{NodeId, Tree};

/// Removes the lines reported as [`Code::ForeignLines`] that follow the session's first own line.
///
/// Foreign lines before it stay, because the session may have been resumed from them. So does every tree with an entry in
/// `loaded`, the uuids of the entries that any client loads.
pub fn drop_foreign_lines(context: &mut RepairContext<'_>, loaded: &IdSet) -> FixSet {
    let mut fixes = FixSet::default();
    let diagnostics = context.diagnostics_for(Code::ForeignLines, Severity::Info);
    let foreign_nodes: Vec<NodeId> = diagnostics
        .flat_map(|diagnostic| &diagnostic.locations)
        .filter_map(|location| location.node)
        .collect();
    let foreign: HashSet<NodeId> = foreign_nodes.iter().copied().collect();
    let tree = context.input.tree;
    let mut own =
        (0..tree.nodes().len() as NodeId).filter(|&id| tree.is_main_chain(id) && !foreign.contains(&id));
    let Some(first_own) = own.next() else { return fixes };
    let loaded_roots: HashSet<NodeId> = foreign_nodes
        .iter()
        .filter(|&&id| loaded.contains(&tree.node(id).uuid))
        .map(|&id| find_root(tree, id))
        .collect();
    let is_dropped = |id: &NodeId| *id > first_own && !loaded_roots.contains(&find_root(tree, *id));
    for id in foreign_nodes.into_iter().filter(is_dropped) {
        fixes.edits.push(LineEdit::Drop(context.line_of(id)));
        fixes.record_fix(Code::ForeignLines, context.line_of(id), FixAction::LineRemoved);
    }
    fixes
}

/// Returns the topmost ancestor of an entry.
fn find_root(tree: &Tree, id: NodeId) -> NodeId {
    let mut root = id;
    while let Some(parent) = tree.node(root).parent() {
        root = parent;
    }
    root
}
