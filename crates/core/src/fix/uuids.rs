//! Gives every entry a uuid of its own.

use super::context::RepairContext;
use super::fix_set::{FixAction, FixSet, LineEdit, RelinkReason};
use crate::check::{Code, Severity};
use crate::edit::{JsonEdit, PathSegment};
use crate::entry::Kind;
use crate::tree::NodeId;

/// Assigns uuids to entries without one and to entries that share one, and removes repeated lines.
pub fn assign_new_uuids(context: &mut RepairContext<'_>) -> FixSet {
    let mut fixes = FixSet::default();
    assign_missing(context, &mut fixes);
    let locations = |context: &RepairContext<'_>, code, min_severity| -> Vec<_> {
        context
            .diagnostics_for(code, min_severity)
            .flat_map(|diagnostic| diagnostic.locations.clone())
            .collect()
    };
    for location in locations(context, Code::ReplayedLine, Severity::Info) {
        fixes.edits.push(LineEdit::Drop(location.line));
        fixes.record_fix(Code::ReplayedLine, location.line, FixAction::LineRemoved);
    }
    for location in locations(context, Code::SnapshotCollision, Severity::Warning) {
        let is_snapshot = |id: &NodeId| {
            let kind = context.input.tree.node(*id).kind;
            matches!(kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta)
        };
        if let Some(id) = [location.node, location.other].into_iter().flatten().find(is_snapshot) {
            assign_uuid(context, id, Code::SnapshotCollision, &mut fixes);
        }
    }
    for id in locations(context, Code::RepeatedUuid, Severity::Info)
        .into_iter()
        .filter_map(|location| location.node)
    {
        let uuid = assign_uuid(context, id, Code::RepeatedUuid, &mut fixes);
        // The lines written after it follow it, not the earlier line.
        let line = context.line_of(id);
        for &child in context.input.tree.children(id) {
            let reason = (Code::RepeatedUuid, RelinkReason::Order);
            context.set_parent_uuid(child, Some(uuid.clone()), Some(line), reason, &mut fixes);
        }
    }
    fixes
}

/// Assigns uuids to the lines that are unreachable because they have none.
fn assign_missing(context: &mut RepairContext<'_>, fixes: &mut FixSet) {
    let unreachable = context.diagnostics_for(Code::Unreachable, Severity::Warning);
    let lines: Vec<u32> = unreachable
        .chain(context.diagnostics_for(Code::NoConversation, Severity::Warning))
        .flat_map(|diagnostic| &diagnostic.locations)
        .filter(|location| location.node.is_none())
        .map(|location| location.line)
        .collect();
    for line in lines.into_iter().filter(|&line| line <= context.line_count) {
        let uuid = (context.new_uuid)();
        fixes
            .edits
            .push(LineEdit::Change(line, vec![JsonEdit::set_string([PathSegment::from("uuid")], &uuid)]));
        fixes.record_fix(Code::Unreachable, line, FixAction::UuidAssigned(uuid));
    }
}

/// Adds the edit that gives an entry a new uuid. Returns that uuid.
fn assign_uuid(context: &mut RepairContext<'_>, id: NodeId, code: Code, fixes: &mut FixSet) -> String {
    let uuid = (context.new_uuid)();
    let line = context.line_of(id);
    fixes.edits.push(LineEdit::Change(line, vec![JsonEdit::set_string([PathSegment::from("uuid")], &uuid)]));
    fixes.record_fix(code, line, FixAction::UuidAssigned(uuid.clone()));
    uuid
}
