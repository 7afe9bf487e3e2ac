//! Chooses the entry from which clients resume a repaired session.

use std::collections::HashSet;

use rethread_core::edit::DraftSegment;
use rethread_core::entry::Kind;
use rethread_core::id::Id;
use rethread_core::tree::NodeId;

use super::draft::{CheckedDraft, RepairDraft};
use super::loads::{ClientLoads, known_clients};
use super::{RepairRequest, build_marker};
use crate::Error;
use crate::edit::edit_session::EditSession;
use crate::ops::selector::resolve_entry;

/// How much a choice of the leaf costs, most important first: clients that load nothing, entries that measured clients
/// loaded before the repair and do not load after it, entries that the session's client or the newest one loses.
type LeafCost = (usize, usize, usize);

/// Sets the leaf of the draft: the requested one, or the one with which clients lose the least.
///
/// The draft gets no leaf if nothing is better than the choices of the clients. `before` is what clients load before the
/// repair. Returns [`Error::NothingToLoad`] if the draft has no message.
pub(super) fn choose_leaf(
    draft: &mut RepairDraft,
    source: &EditSession,
    request: &RepairRequest,
    checked: &CheckedDraft,
    before: &ClientLoads,
) -> Result<(), Error> {
    if let Some(selector) = &request.leaf {
        let span = source.session.tree.node(resolve_entry(source, selector)?).span;
        let is_same = |segment: &DraftSegment| match segment {
            DraftSegment::Line(line_span, _) => line_span.offset == span.offset,
            _ => true,
        };
        let mut rows = draft.rows.iter();
        let row =
            rows.position(|row| row.line == Some(span.line) && row.segment.as_ref().is_some_and(is_same));
        let row = row.ok_or_else(|| Error::NotAResumePoint { name: selector.name.clone() })?;
        let leaf = draft.read_uuid(row as u32 + 1);
        set_leaf(draft, checked, leaf, request);
        return Ok(());
    }
    let mut best: Option<(LeafCost, Option<String>)> = None;
    for leaf in list_candidates(draft, checked) {
        let cost = measure_cost(draft, source, request, checked, before, leaf.clone())?;
        if best.as_ref().is_none_or(|(lowest, _)| cost < *lowest) {
            best = Some((cost, leaf));
        }
        if cost == (0, 0, 0) {
            break;
        }
    }
    let ((failures, ..), leaf) = best.unwrap_or_default();
    if failures > 0 && leaf.is_none() {
        return Err(Error::NothingToLoad { path: request.path.clone() });
    }
    set_leaf(draft, checked, leaf, request);
    Ok(())
}

/// Returns the possible leaves, the preferred first: the choice of each client, the leaf of the session's client, that of
/// the newest client, and the last message.
fn list_candidates(draft: &mut RepairDraft, checked: &CheckedDraft) -> Vec<Option<String>> {
    let tree = &checked.tree;
    let is_message = |node_id: &NodeId| {
        tree.is_main_chain(*node_id) && matches!(tree.node(*node_id).kind, Kind::User | Kind::Assistant)
    };
    let last_message = (0..tree.nodes().len() as NodeId).rev().find(is_message);
    let leaves = checked.outcomes().map(|outcome| outcome.leaf.map(|(leaf, _)| leaf)).into_iter();
    let mut candidates = vec![None];
    for leaf in leaves.chain([last_message]).flatten() {
        let uuid = draft.read_uuid(tree.node(leaf).span.line);
        if uuid.is_some() && !candidates.contains(&uuid) {
            candidates.push(uuid);
        }
    }
    candidates
}

/// Measures the cost of a leaf. Leaves the draft unchanged.
fn measure_cost(
    draft: &mut RepairDraft,
    source: &EditSession,
    request: &RepairRequest,
    checked: &CheckedDraft,
    before: &ClientLoads,
    leaf: Option<String>,
) -> Result<LeafCost, Error> {
    let (rows, fix_count) = (draft.rows.clone(), draft.fixes.len());
    set_leaf(draft, checked, leaf, request);
    if let Some(leaf) = draft.leaf.clone() {
        draft.marker = build_marker(source, &leaf, request);
    }
    let checked = draft.check()?;
    let file_lines: Vec<Option<u32>> = draft.rows.iter().map(|row| row.line).collect();
    draft.rows = rows;
    draft.fixes.truncate(fix_count);
    (draft.leaf, draft.marker) = (None, Vec::new());
    let file_line = |line: u32| file_lines.get(line as usize - 1).copied().flatten();
    let after = ClientLoads::simulate(&checked.tree, &checked.resume_index, &known_clients(), file_line);
    let outcomes = checked.outcomes();
    let failures = outcomes.iter().filter(|outcome| outcome.path.is_empty()).count();
    let lost =
        outcomes.iter().map(|outcome| outcome.skipped.iter().filter(|entry| entry.is_unintended()).count());
    Ok((failures, before.count_missing_from(&after, &HashSet::new()), lost.sum()))
}

/// Sets the leaf of the draft, and a timestamp for its message if it has none.
fn set_leaf(draft: &mut RepairDraft, checked: &CheckedDraft, leaf: Option<String>, request: &RepairRequest) {
    let node = leaf.as_ref().and_then(|leaf| checked.tree.find_uuid(Id::from_text(leaf.as_bytes())));
    draft.leaf = leaf;
    if let Some(node) = node {
        draft.set_missing_timestamp(&checked.tree, node, request.now);
    }
}
