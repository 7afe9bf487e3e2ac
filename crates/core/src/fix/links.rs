//! Relinks orphaned entries: by the call that they answer, else by file order, checked against timestamps.

use std::collections::HashSet;

use super::context::{RepairContext, string_member};
use super::fix_set::{FixAction, FixSet, LineEdit, RelinkReason};
use crate::check::{Code, Severity};
use crate::edit::{JsonEdit, PathSegment, quote_json};
use crate::entry::{EntryRole, Kind, find_member};
use crate::problem::ProblemKind;
use crate::resume::cannot_start_conversation;
use crate::tree::{NodeId, ParentLink, Tree};
use crate::union_find::UnionFind;

/// The number of preceding lines that are searched for one that is not newer.
const MAX_LINES_BACK: usize = 512;

/// Relinks orphaned entries to the entries that they follow. Never links an entry across a compaction.
pub fn relink_entries(context: &mut RepairContext<'_>) -> FixSet {
    let mut fixes = FixSet::default();
    let tree = context.input.tree;
    let broken = find_broken_roots(context);
    let mut parts = ConnectedParts::from_tree(tree);
    let boundaries = find_previous_boundaries(tree);
    for (id, code) in broken {
        let node = tree.node(id);
        let parent = match node.role {
            EntryRole::CompactBoundary => None,
            // A summary starts the conversation, or its parent is its compaction boundary.
            EntryRole::CompactSummary => find_preceding(context, &mut parts, id)
                .filter(|&parent| tree.node(parent).role == EntryRole::CompactBoundary)
                .map(|parent| (parent, RelinkReason::Order)),
            _ => find_parent(context, &mut parts, &boundaries, id),
        };
        match parent {
            Some((parent, reason)) => {
                parts.join(id, parent);
                context.set_parent(id, Some(parent), (code, reason), &mut fixes);
            }
            None if node.link == ParentLink::CycleBroken
                || matches!(node.role, EntryRole::CompactBoundary | EntryRole::CompactSummary) =>
            {
                context.set_parent(id, None, (code, RelinkReason::Root), &mut fixes);
            }
            None => {}
        }
    }
    relink_past_unloaded(context, &mut fixes);
    let relinked_lines: HashSet<u32> = fixes.fixes.iter().map(|fix| fix.line).collect();
    relink_logical_parents(context, &relinked_lines, &mut fixes);
    fixes
}

/// Returns the entries without a parent that should have one, each with the code of its problem, in file order.
fn find_broken_roots(context: &RepairContext<'_>) -> Vec<(NodeId, Code)> {
    let tree = context.input.tree;
    let has_unreachable = context.diagnostics_for(Code::Unreachable, Severity::Warning).next().is_some();
    let mut last_message: Option<NodeId> = None;
    let mut broken = Vec::new();
    for id in (0..tree.nodes().len() as NodeId).filter(|&id| tree.is_main_chain(id)) {
        let node = tree.node(id);
        let is_false_root =
            |id: NodeId| tree.node(id).link == ParentLink::Root && cannot_start_conversation(tree, id);
        let code = match node.link {
            ParentLink::MissingParent if context.is_message(id) || !tree.children(id).is_empty() => {
                Some(Code::MissingParent)
            }
            ParentLink::CycleBroken => Some(Code::Cycle),
            ParentLink::Root if has_unreachable && is_false_root(id) => Some(Code::Unreachable),
            // If an answer has lost its parent, so has the prompt after it.
            ParentLink::Root
                if has_unreachable && node.kind == Kind::User && node.role != EntryRole::CompactSummary =>
            {
                last_message.filter(|&message| is_false_root(message)).map(|_| Code::Unreachable)
            }
            _ => None,
        };
        broken.extend(code.map(|code| (id, code)));
        if context.is_message(id) {
            last_message = Some(id);
        }
    }
    broken
}

/// Returns for each entry the last compaction boundary before it in the file. `None` if there is none.
fn find_previous_boundaries(tree: &Tree) -> Vec<Option<NodeId>> {
    let mut last_boundary = None;
    let mut boundaries = Vec::with_capacity(tree.nodes().len());
    for id in 0..tree.nodes().len() as NodeId {
        boundaries.push(last_boundary);
        if tree.node(id).role == EntryRole::CompactBoundary && tree.is_main_chain(id) {
            last_boundary = Some(id);
        }
    }
    boundaries
}

/// Finds a new parent for an orphaned entry: the call that it answers, else the preceding line. See [`find_preceding`].
///
/// `boundaries` has the last compaction boundary before each entry. Returns `None` if no line can be the parent.
fn find_parent(
    context: &RepairContext<'_>,
    parts: &mut ConnectedParts,
    boundaries: &[Option<NodeId>],
    id: NodeId,
) -> Option<(NodeId, RelinkReason)> {
    let is_before_boundary = |call: NodeId| boundaries[id as usize].is_some_and(|boundary| call < boundary);
    let call = context.calls.call_of(id).filter(|&call| call != id && !is_before_boundary(call));
    if let Some(call) = call.filter(|&call| !parts.is_below(context.input.tree, call, id)) {
        return Some((call, RelinkReason::Call));
    }
    find_preceding(context, parts, id).map(|parent| (parent, RelinkReason::Order))
}

/// Finds the preceding line that is not newer than the entry and not below it, back to the last compaction.
///
/// Considers at most 512 lines. Returns the nearest line that is not below the entry if all are newer. Returns `None` if
/// all are below it.
fn find_preceding(context: &RepairContext<'_>, parts: &mut ConnectedParts, id: NodeId) -> Option<NodeId> {
    let tree = context.input.tree;
    let time = tree.node(id).time();
    let mut nearest = None;
    let candidates =
        (0..id).rev().filter(|&parent| context.is_loaded_kind(parent) && tree.is_main_chain(parent));
    for parent in candidates.take(MAX_LINES_BACK) {
        if !parts.is_below(tree, parent, id) {
            nearest = nearest.or(Some(parent));
            let is_later =
                tree.node(parent).time().zip(time).is_some_and(|(parent_time, time)| parent_time > time);
            if !is_later {
                return Some(parent);
            }
        }
        if tree.node(parent).role == EntryRole::CompactBoundary {
            break;
        }
    }
    nearest
}

/// Relinks each message with a parent that clients do not load to its nearest ancestor that clients load.
fn relink_past_unloaded(context: &mut RepairContext<'_>, fixes: &mut FixSet) {
    if context.diagnostics_for(Code::Unreachable, Severity::Warning).next().is_none() {
        return;
    }
    let tree = context.input.tree;
    for id in (0..tree.nodes().len() as NodeId).filter(|&id| tree.is_main_chain(id)) {
        let Some(parent) = tree.node(id).parent().filter(|&parent| !context.is_loaded_kind(parent)) else {
            continue;
        };
        if !context.is_message(id) {
            continue;
        }
        let mut ancestor = Some(parent);
        while let Some(unloaded) = ancestor.filter(|&ancestor| !context.is_loaded_kind(ancestor)) {
            ancestor = tree.node(unloaded).parent();
        }
        if let Some(ancestor) = ancestor {
            context.set_parent(id, Some(ancestor), (Code::ForkByProgress, RelinkReason::Ancestor), fixes);
        }
    }
}

/// Sets the logical parent of a compaction boundary to the preceding message if the present one is not in the file.
///
/// `relinked_lines` are the lines that an earlier fix changes. It already sets their `relinkedFrom`.
fn relink_logical_parents(
    context: &mut RepairContext<'_>,
    relinked_lines: &HashSet<u32>,
    fixes: &mut FixSet,
) {
    let tree = context.input.tree;
    let missing: HashSet<u64> = (tree.problems.iter())
        .filter(|problem| problem.kind == ProblemKind::MissingLogicalParent)
        .map(|problem| problem.offset)
        .collect();
    let mut last_message = None;
    for id in (0..tree.nodes().len() as NodeId).filter(|&id| tree.is_main_chain(id)) {
        let node = tree.node(id);
        if node.role == EntryRole::CompactBoundary
            && missing.contains(&node.span.offset)
            && let Some(parent) = last_message
        {
            let (line, uuid, bytes) = (context.line_of(id), context.uuid_of(parent), context.line_bytes(id));
            let from = string_member(&bytes, "logicalParentUuid");
            let mut edits = vec![JsonEdit::set_string([PathSegment::from("logicalParentUuid")], &uuid)];
            if !relinked_lines.contains(&line) && find_member(&bytes, "relinkedFrom").is_none() {
                let old = from.as_deref().map_or_else(|| "null".to_owned(), quote_json);
                edits.push(JsonEdit::set([PathSegment::from("relinkedFrom")], old));
            }
            fixes.edits.push(LineEdit::Change(line, edits));
            let action = FixAction::LogicalParentSet { from, to: uuid, to_line: context.line_of(parent) };
            fixes.record_fix(Code::MissingLogicalParent, line, action);
        }
        if context.is_message(id) {
            last_message = Some(id);
        }
    }
}

/// The connected parts of the tree, updated while entries are relinked.
struct ConnectedParts {
    /// The root of a set is the first entry of its part.
    sets: UnionFind,
}

impl ConnectedParts {
    fn from_tree(tree: &Tree) -> ConnectedParts {
        let mut sets = UnionFind::new(tree.nodes().len());
        for id in tree.topological_order() {
            if let Some(parent) = tree.node(id).parent() {
                sets.merge_into(id as usize, parent as usize);
            }
        }
        ConnectedParts { sets }
    }

    /// Returns `true` if the part of `node` begins with `root`, or the part of another line with its uuid does.
    fn is_below(&mut self, tree: &Tree, node: NodeId, root: NodeId) -> bool {
        let uuid = tree.node(node).uuid;
        let loaded = tree.find_uuid(uuid).unwrap_or(node);
        self.sets.find_root(node as usize) == root as usize
            || self.sets.find_root(loaded as usize) == root as usize
            || uuid == tree.node(root).uuid
    }

    /// Joins the part that begins with `root` to the part that contains `parent`.
    fn join(&mut self, root: NodeId, parent: NodeId) {
        self.sets.merge_into(root as usize, parent as usize);
    }
}
