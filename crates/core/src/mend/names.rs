//! Every entry gets a uuid of its own.

use super::treatment::{Act, Edit, How, Treatment};
use super::ward::Ward;
use crate::edit::{Change, Step};
use crate::entry::Kind;
use crate::health::{Code, Severity};
use crate::tree::NodeNo;

/// Names what has no name, parts what has one name, and leaves out lines that stand in the file again.
pub fn rename(ward: &mut Ward<'_>) -> Treatment {
    let mut treatment = Treatment::default();
    nameless(ward, &mut treatment);
    let spots = |ward: &Ward<'_>, code, least| -> Vec<_> {
        ward.found(code, least).flat_map(|finding| finding.spots.clone()).collect()
    };
    for spot in spots(ward, Code::ReplayedLine, Severity::Harmless) {
        treatment.edits.push(Edit::Drop(spot.line));
        treatment.mend(Code::ReplayedLine, spot.line, Act::LeftOut);
    }
    for spot in spots(ward, Code::SnapshotCollision, Severity::Costs) {
        let is_snapshot = |no: &NodeNo| {
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
            let why = (Code::RepeatedUuid, How::Order);
            ward.hang_on(child, Some(uuid.clone()), Some(line), why, &mut treatment);
        }
    }
    treatment
}

fn nameless(ward: &mut Ward<'_>, treatment: &mut Treatment) {
    let cut: Vec<u32> = ward
        .found(Code::Unreachable, Severity::Costs)
        .flat_map(|finding| &finding.spots)
        .filter(|spot| spot.node.is_none())
        .map(|spot| spot.line)
        .collect();
    for line in cut.into_iter().filter(|&line| line <= ward.lines) {
        let uuid = (ward.fresh)();
        treatment.edits.push(Edit::Change(line, vec![Change::say([Step::from("uuid")], &uuid)]));
        treatment.mend(Code::Unreachable, line, Act::Renamed(uuid));
    }
}

/// Gives an entry a new uuid.
fn part(ward: &mut Ward<'_>, no: NodeNo, code: Code, treatment: &mut Treatment) -> String {
    let uuid = (ward.fresh)();
    let line = ward.line(no);
    treatment.edits.push(Edit::Change(line, vec![Change::say([Step::from("uuid")], &uuid)]));
    treatment.mend(code, line, Act::Renamed(uuid.clone()));
    uuid
}
