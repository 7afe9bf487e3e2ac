//! Removes lines of other sessions that are not connected to the session of the file.

use std::collections::HashSet;

use super::context::RepairContext;
use super::fix_set::{FixAction, FixSet, LineEdit};
use crate::check::{Code, Severity};
use crate::tree::NodeId;

/// Removes the lines reported as [`Code::ForeignLines`] that follow the session's first own line.
///
/// Foreign lines before it stay, because the session may have been resumed from them.
pub fn drop_foreign_lines(context: &mut RepairContext<'_>) -> FixSet {
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
    for id in foreign_nodes.into_iter().filter(|&id| id > first_own) {
        fixes.edits.push(LineEdit::Drop(context.line_of(id)));
        fixes.record_fix(Code::ForeignLines, context.line_of(id), FixAction::LineRemoved);
    }
    fixes
}
