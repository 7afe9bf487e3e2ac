//! Trees of another session are left out.

use std::collections::HashSet;

use super::context::RepairContext;
use super::fix_set::{Edit, FixAction, FixSet};
use crate::check::{Code, Severity};
use crate::tree::NodeId;

/// Leaves out what belongs to another session, but for lines before the first of its own: these are what it was resumed from.
pub fn drop_foreign_lines(ward: &mut RepairContext<'_>) -> FixSet {
    let mut treatment = FixSet::default();
    let found = ward.found(Code::ForeignLines, Severity::Harmless);
    let spots: Vec<NodeId> = found.flat_map(|finding| &finding.spots).filter_map(|spot| spot.node).collect();
    let foreign: HashSet<NodeId> = spots.iter().copied().collect();
    let tree = ward.patient.tree;
    let mut own =
        (0..tree.nodes().len() as NodeId).filter(|&no| tree.is_main_chain(no) && !foreign.contains(&no));
    let Some(first) = own.next() else { return treatment };
    for no in spots.into_iter().filter(|&no| no > first) {
        treatment.edits.push(Edit::Drop(ward.line(no)));
        treatment.mend(Code::ForeignLines, ward.line(no), FixAction::LeftOut);
    }
    treatment
}
