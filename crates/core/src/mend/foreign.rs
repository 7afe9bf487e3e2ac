//! Trees of another session are left out.

use std::collections::HashSet;

use super::treatment::{Act, Edit, Treatment};
use super::ward::Ward;
use crate::health::{Code, Severity};
use crate::tree::NodeNo;

/// Leaves out what belongs to another session, but for lines before the first of its own: these are what it was resumed from.
pub fn leave_out_foreign(ward: &mut Ward<'_>) -> Treatment {
    let mut treatment = Treatment::default();
    let found = ward.found(Code::ForeignLines, Severity::Harmless);
    let spots: Vec<NodeNo> = found.flat_map(|finding| &finding.spots).filter_map(|spot| spot.node).collect();
    let foreign: HashSet<NodeNo> = spots.iter().copied().collect();
    let tree = ward.patient.tree;
    let mut own = (0..tree.nodes().len() as NodeNo).filter(|&no| tree.is_told(no) && !foreign.contains(&no));
    let Some(first) = own.next() else { return treatment };
    for no in spots.into_iter().filter(|&no| no > first) {
        treatment.edits.push(Edit::Drop(ward.line(no)));
        treatment.mend(Code::ForeignLines, ward.line(no), Act::LeftOut);
    }
    treatment
}
