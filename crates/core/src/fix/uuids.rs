//! Every entry gets a uuid of its own.

use super::context::RepairContext;
use super::fix_set::{Edit, FixAction, FixSet, RelinkReason};
use crate::check::{Code, Severity};
use crate::edit::{JsonEdit, PathSegment};
use crate::entry::Kind;
use crate::tree::NodeId;

/// Names what has no name, parts what has one name, and leaves out lines that stand in the file again.
pub fn assign_new_uuids(ward: &mut RepairContext<'_>) -> FixSet {
    let mut treatment = FixSet::default();
    nameless(ward, &mut treatment);
    let spots = |ward: &RepairContext<'_>, code, least| -> Vec<_> {
        ward.found(code, least).flat_map(|finding| finding.spots.clone()).collect()
    };
    for spot in spots(ward, Code::ReplayedLine, Severity::Harmless) {
        treatment.edits.push(Edit::Drop(spot.line));
        treatment.mend(Code::ReplayedLine, spot.line, FixAction::LeftOut);
    }
    for spot in spots(ward, Code::SnapshotCollision, Severity::Warning) {
        let is_snapshot = |no: &NodeId| {
            let kind = ward.patient.tree.node(*no).kind;
            matches!(kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta)
        };
        if let Some(no) = [spot.node, spot.other].into_iter().flatten().find(is_snapshot) {
            part(ward, no, Code::SnapshotCollision, &mut treatment);
        }
    }
    for no in spots(ward, Code::RepeatedUuid, Severity::Harmless).into_iter().filter_map(|spot| spot.node) {
        let uuid = part(ward, no, Code::RepeatedUuid, &mut treatment);
        // What was written behind it hangs on it, and not on the earlier line.
        let line = ward.line(no);
        for &child in ward.patient.tree.children(no) {
            let why = (Code::RepeatedUuid, RelinkReason::Order);
            ward.hang_on(child, Some(uuid.clone()), Some(line), why, &mut treatment);
        }
    }
    treatment
}

fn nameless(ward: &mut RepairContext<'_>, treatment: &mut FixSet) {
    let cut: Vec<u32> = ward
        .found(Code::Unreachable, Severity::Warning)
        .flat_map(|finding| &finding.spots)
        .filter(|spot| spot.node.is_none())
        .map(|spot| spot.line)
        .collect();
    for line in cut.into_iter().filter(|&line| line <= ward.lines) {
        let uuid = (ward.fresh)();
        treatment
            .edits
            .push(Edit::Change(line, vec![JsonEdit::set_string([PathSegment::from("uuid")], &uuid)]));
        treatment.mend(Code::Unreachable, line, FixAction::Renamed(uuid));
    }
}

/// Gives an entry a new uuid.
fn part(ward: &mut RepairContext<'_>, no: NodeId, code: Code, treatment: &mut FixSet) -> String {
    let uuid = (ward.fresh)();
    let line = ward.line(no);
    treatment.edits.push(Edit::Change(line, vec![JsonEdit::set_string([PathSegment::from("uuid")], &uuid)]));
    treatment.mend(code, line, FixAction::Renamed(uuid.clone()));
    uuid
}
