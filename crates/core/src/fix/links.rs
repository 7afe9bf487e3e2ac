//! Relinks orphaned entries: by the call that they answer, else by file order, checked against timestamps.

use std::collections::{HashMap, HashSet};

use super::context::{RepairContext, string_member};
use super::fix_set::{FixAction, FixSet, LineEdit, RelinkReason};
use crate::check::{Code, Diagnostic, Impact, Severity};
use crate::edit::{JsonEdit, PathSegment, quote_json};
use crate::entry::{EntryRole, Kind, find_member};
use crate::id::Id;
use crate::problem::ProblemKind;
use crate::resume::cannot_start_conversation;
use crate::tree::{NodeId, ParentLink, Tree};
use crate::union_find::UnionFind;

/// The number of preceding lines that are searched for one that is not newer.
const MAX_LINES_BACK: usize = 512;
/// Clients write lines up to this many milliseconds after the time that they name.
const MAX_TIME_SKEW_MS: i64 = 5000;

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
    // What the newest client loads is known only after the broken links are fixed.
    if fixes.is_empty() {
        relink_parallel(context, &mut fixes);
    }
    let relinked_lines: HashSet<u32> = fixes.fixes.iter().map(|fix| fix.line).collect();
    relink_logical_parents(context, &relinked_lines, &mut fixes);
    remove_missing_preserved(context, &mut fixes);
    fixes
}

/// Returns the entries without a parent that should have one, each with the code of its problem, in file order.
fn find_broken_roots(context: &RepairContext<'_>) -> Vec<(NodeId, Code)> {
    let tree = context.input.tree;
    let has_loss = |code| context.diagnostics_for(code, Severity::Warning).next().is_some();
    let has_unreachable = has_loss(Code::Unreachable) || has_loss(Code::NoConversation);
    let mut last_message: Option<NodeId> = None;
    let mut broken = Vec::new();
    let has_any_parent = names_any_parent(tree);
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
            ParentLink::Root if has_unreachable && !has_any_parent => last_message.map(|_| Code::Unreachable),
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

/// Returns `true` if any entry outside of subagents names a parent.
fn names_any_parent(tree: &Tree) -> bool {
    let mut nodes = (0..tree.nodes().len() as NodeId).filter(|&id| tree.is_main_chain(id));
    nodes.any(|id| tree.node(id).link != ParentLink::Root)
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

/// Finds a new parent for an orphaned entry: the end of the response whose call it answers, else the preceding line.
///
/// `boundaries` has the last compaction boundary before each entry. Returns `None` if no line can be the parent. See
/// [`find_preceding`] and [`find_response_end`].
fn find_parent(
    context: &RepairContext<'_>,
    parts: &mut ConnectedParts,
    boundaries: &[Option<NodeId>],
    id: NodeId,
) -> Option<(NodeId, RelinkReason)> {
    let is_before_boundary = |call: NodeId| boundaries[id as usize].is_some_and(|boundary| call < boundary);
    let call = context.calls.call_of(id).filter(|&call| call != id && !is_before_boundary(call));
    if let Some(call) = call.filter(|&call| !parts.is_below(context.input.tree, call, id)) {
        return Some((find_response_end(context, call, id), RelinkReason::Call));
    }
    find_preceding(context, parts, id).map(|parent| (parent, RelinkReason::Order))
}

/// Finds the last line below `call` and before `before` that belongs to the response: a further line of it or a result.
///
/// A client that follows only parents loads these lines, too, if the entry is linked to their end. Returns `call` if
/// nothing follows it.
fn find_response_end(context: &RepairContext<'_>, call: NodeId, before: NodeId) -> NodeId {
    let tree = context.input.tree;
    let mut end = call;
    for _ in 0..MAX_LINES_BACK {
        let is_part = |&id: &NodeId| {
            id < before
                && context.is_message(id)
                && tree.belongs_to_call(id, call)
                && context.is_loaded_kind(id)
        };
        let Some(next) = tree.children(end).iter().copied().filter(is_part).max() else { break };
        end = next;
    }
    end
}

/// Finds the line that an entry follows, back to the last compaction: the preceding line that is not newer.
///
/// Clients write some lines late. So it is the preceding message with the newest time, if that time is later than the
/// one of the line and the line does not follow that message. Considers at most 512 lines that are not below the entry.
/// Returns the nearest of them if all are newer, and `None` if there are none.
fn find_preceding(context: &RepairContext<'_>, parts: &mut ConnectedParts, id: NodeId) -> Option<NodeId> {
    let tree = context.input.tree;
    let time = |id: NodeId| tree.node(id).time().map(|time| time.0);
    let latest = time(id).map(|time| time.saturating_add(MAX_TIME_SKEW_MS));
    let (mut nearest, mut preceding, mut newest): (Option<NodeId>, Option<NodeId>, Option<NodeId>) =
        (None, None, None);
    let candidates =
        (0..id).rev().filter(|&parent| context.is_loaded_kind(parent) && tree.is_main_chain(parent));
    for parent in candidates.take(MAX_LINES_BACK) {
        if !parts.is_below(tree, parent, id) {
            nearest = nearest.or(Some(parent));
            let is_later = time(parent).zip(latest).is_some_and(|(parent, latest)| parent > latest);
            if !is_later {
                preceding = preceding.or(Some(parent));
                if context.is_message(parent) && newest.is_none_or(|newest| time(parent) > time(newest)) {
                    newest = Some(parent);
                }
            }
        }
        if tree.node(parent).role == EntryRole::CompactBoundary {
            break;
        }
    }
    let newer = newest.zip(preceding).filter(|&(newest, preceding)| {
        time(newest) > time(preceding) && !is_near_ancestor(tree, newest, preceding)
    });
    newer.map(|(newest, _)| newest).or(preceding).or(nearest)
}

/// Returns `true` if `ancestor` is one of the 512 nearest ancestors of an entry.
fn is_near_ancestor(tree: &Tree, ancestor: NodeId, id: NodeId) -> bool {
    let mut node = Some(id);
    for _ in 0..MAX_LINES_BACK {
        match node {
            Some(current) if current == ancestor => return true,
            Some(current) => node = tree.node(current).parent(),
            None => return false,
        }
    }
    false
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

/// Relinks the lines of responses and their results into one chain, if the session's client follows only one of them.
///
/// The order is that of the newest client, which loads them all.
fn relink_parallel(context: &mut RepairContext<'_>, fixes: &mut FixSet) {
    let is_by_client = |diagnostic: &Diagnostic| matches!(diagnostic.impact, Impact::ByClient { .. });
    if !context.diagnostics_for(Code::Unreachable, Severity::Warning).any(is_by_client) {
        return;
    }
    let (tree, chain) = (context.input.tree, &context.input.newest.chain);
    let is_boundary = |id: &NodeId| tree.node(*id).role == EntryRole::CompactBoundary;
    // Entries before a compaction keep their parents, even if it preserves them.
    let start = chain.iter().copied().filter(is_boundary).max().map_or(0, |boundary| boundary + 1);
    let loaded: HashSet<NodeId> = chain.iter().copied().filter(|&id| id >= start).collect();
    let has_loaded_parent =
        |id: NodeId| tree.node(id).parent().is_some_and(|parent| loaded.contains(&parent));
    let mut new_parents: HashMap<NodeId, NodeId> = HashMap::new();
    for pair in chain.windows(2) {
        let (previous, id) = (pair[0], pair[1]);
        let is_changed = tree.node(id).parent() != Some(previous);
        let is_own = context.line_of(id) <= context.line_count;
        let is_linked = is_changed && is_own && has_loaded_parent(id) && has_loaded_parent(previous);
        // A client may load an entry before its parent.
        if is_linked && !is_ancestor(tree, &new_parents, id, previous) {
            new_parents.insert(id, previous);
            context.set_parent(id, Some(previous), (Code::Unreachable, RelinkReason::Parallel), fixes);
        }
    }
}

/// Returns `true` if `ancestor` is an entry or above it. `new_parents` are the parents that were changed.
fn is_ancestor(tree: &Tree, new_parents: &HashMap<NodeId, NodeId>, ancestor: NodeId, id: NodeId) -> bool {
    let parent = |id: &NodeId| new_parents.get(id).copied().or_else(|| tree.node(*id).parent());
    std::iter::successors(Some(id), parent).take(tree.nodes().len()).any(|id| id == ancestor)
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

/// Removes entries that are not in the file from the lists of entries that compactions preserve.
///
/// A client preserves none of them if one is missing.
fn remove_missing_preserved(context: &mut RepairContext<'_>, fixes: &mut FixSet) {
    let tree = context.input.tree;
    for (boundary, preserved) in &tree.boundaries {
        let Some((_, uuids)) = &preserved.messages else { continue };
        let is_missing = |uuid: &Id| tree.find_uuid(*uuid).is_none_or(|id| !context.is_loaded_kind(id));
        let missing: Vec<usize> = (0..uuids.len()).filter(|&idx| is_missing(&uuids[idx])).collect();
        let line = context.line_of(*boundary);
        if missing.is_empty() || missing.len() == uuids.len() || line > context.line_count {
            continue;
        }
        let path = |idx: usize| {
            let keys = ["compactMetadata", "preservedMessages", "uuids"].map(PathSegment::from);
            keys.into_iter().chain([PathSegment::from(idx)])
        };
        // Remove from the end, so that the indices of earlier items stay valid.
        let edits = missing.iter().rev().map(|&idx| JsonEdit::remove(path(idx))).collect();
        fixes.edits.push(LineEdit::Change(line, edits));
        let action = FixAction::PreservedRemoved(missing.len() as u64);
        fixes.record_fix(Code::Unreachable, line, action);
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
