//! Checks uuids and parent links.

use std::collections::HashSet;

use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity};
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::problem::{DuplicateUuid, ProblemKind};
use crate::resume::{LoadFailure, LossCause, SkipReason};
use crate::tree::{NodeId, ParentLink};

/// Reports missing parents, cycles, repeated uuids and lines of other sessions.
pub(super) fn check_links(input: &CheckInput<'_>, reach: &Reachability) -> Vec<Diagnostic> {
    let mut diagnostics = check_missing_parents(input, reach);
    diagnostics.extend(check_missing_logical_parents(input));
    diagnostics.extend(check_cycles(input, reach));
    diagnostics.extend(check_duplicates(input));
    diagnostics.extend(check_foreign_lines(input, reach));
    diagnostics
}

/// Returns the entries outside of subagents with this kind of parent link, in file order.
fn find_nodes_with_link(input: &CheckInput<'_>, link: ParentLink) -> Vec<NodeId> {
    let tree = input.tree;
    let has_link = |&id: &NodeId| tree.node(id).link == link && tree.is_main_chain(id);
    (0..tree.nodes().len() as NodeId).filter(has_link).collect()
}

/// Reports entries with a parent that is not in the file: as a warning if entries are lost by it, else as info.
fn check_missing_parents(input: &CheckInput<'_>, reach: &Reachability) -> Vec<Diagnostic> {
    // Entries below a broken link are unreachable. If the path starts at it, so is everything before.
    let path_starts: Vec<NodeId> = [input.resume, input.newest]
        .iter()
        .filter_map(|resume| resume.early_end.filter(|end| end.reason == SkipReason::MissingParent))
        .map(|end| end.node)
        .collect();
    let links = find_nodes_with_link(input, ParentLink::MissingParent);
    let loaded: HashSet<NodeId> = input.resume.chain.iter().chain(&input.newest.chain).copied().collect();
    let loaded_links: Vec<NodeId> = links.iter().copied().filter(|link| loaded.contains(link)).collect();
    let mut lost_count = 0;
    let mut broken_links: HashSet<NodeId> = HashSet::new();
    for (id, loss) in reach.losses() {
        let is_cut_off = loss.cause == LossCause::Damage
            && matches!(loss.reason, SkipReason::OtherRoot | SkipReason::OtherBranch);
        let link = match loss.reason {
            SkipReason::MissingParent => Some(reach.roots[id as usize]),
            // A client follows a broken link to a line that it chose by its time, and does not load what is between.
            _ if is_cut_off && links.binary_search(&reach.roots[id as usize]).is_ok() => {
                Some(reach.roots[id as usize])
            }
            _ if is_cut_off => {
                let path_start = path_starts.iter().copied().find(|&start| id < start);
                let after = loaded_links.partition_point(|&link| link <= id);
                path_start.or_else(|| loaded_links[after..].first().copied())
            }
            _ => None,
        };
        if let Some(link) = link {
            broken_links.insert(link);
            lost_count += 1;
        }
    }
    // The boundary of a summary names the entries that the compaction preserved.
    let is_summary = |id: NodeId| input.tree.node(id).role == EntryRole::CompactSummary;
    let (affected, unaffected): (Vec<NodeId>, Vec<NodeId>) =
        links.into_iter().partition(|&id| broken_links.contains(&id) || is_summary(id));
    let warning = input.diagnose(Code::MissingParent, Severity::Warning, &affected);
    let info = input.diagnose(Code::MissingParent, Severity::Info, &unaffected);
    warning
        .map(|diagnostic| diagnostic.with_impact(input.entries_impact(lost_count)))
        .into_iter()
        .chain(info)
        .collect()
}

fn check_missing_logical_parents(input: &CheckInput<'_>) -> Option<Diagnostic> {
    let problems = input.tree.problems.iter();
    let missing = problems.filter(|problem| problem.kind == ProblemKind::MissingLogicalParent);
    let nodes = input.tree.nodes();
    let locations = missing.map(|problem| {
        // Nodes are sorted by offset.
        let node = nodes.binary_search_by_key(&problem.offset, |node| node.span.offset).ok();
        Location { node: node.map(|id| id as NodeId), ..Location::line(problem.line) }
    });
    Diagnostic::new(Code::MissingLogicalParent, Severity::Info, locations.collect())
}

fn check_cycles(input: &CheckInput<'_>, reach: &Reachability) -> Option<Diagnostic> {
    let lost_count = reach
        .losses()
        .filter(|(_, loss)| matches!(loss.reason, SkipReason::Cycle | SkipReason::LoadFailed))
        .count();
    let severity = match input.resume.failure {
        Some(LoadFailure::Hangs | LoadFailure::GivesUp) => Severity::Error,
        _ if lost_count > 0 => Severity::Warning,
        _ => Severity::Info,
    };
    let diagnostic =
        input.diagnose(Code::Cycle, severity, &find_nodes_with_link(input, ParentLink::CycleBroken))?;
    Some(diagnostic.with_impact(input.entries_impact(lost_count)))
}

/// Reports lines that share a uuid, by cause: replayed lines, snapshot collisions, copied entries, other content.
fn check_duplicates(input: &CheckInput<'_>) -> Vec<Diagnostic> {
    let tree = input.tree;
    let mut locations_by_cause: [Vec<Location>; 4] = Default::default();
    let mut bytes = 0;
    for &(id, first, duplicate) in &tree.duplicates {
        let (node, earlier) = (tree.node(id), tree.node(first));
        let is_snapshot = |kind| matches!(kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta);
        let is_same_content = input.collector.content_hash_of(id) == input.collector.content_hash_of(first);
        let cause_idx = match duplicate {
            DuplicateUuid::SameContent => 0,
            _ if is_snapshot(node.kind) != is_snapshot(earlier.kind) => 1,
            _ if is_same_content => 2,
            DuplicateUuid::OtherContent => 3,
        };
        if cause_idx == 0 {
            bytes += u64::from(node.span.len) + 1;
        }
        locations_by_cause[cause_idx].push(Location { other: Some(first), ..input.location_of(id) });
    }
    let [replayed, snapshots, copied, other] = locations_by_cause;
    // A client uses the last line with a uuid. If it does not load that line, the entry is hidden.
    let is_loaded_kind = |location: &Location| {
        let last = location.node.and_then(|id| tree.find_uuid(tree.node(id).uuid));
        last.is_some_and(|id| {
            !matches!(tree.node(id).kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta)
        })
    };
    let collision_severity =
        if snapshots.iter().all(is_loaded_kind) { Severity::Info } else { Severity::Warning };
    let replayed = Diagnostic::new(Code::ReplayedLine, Severity::Info, replayed);
    let snapshots = Diagnostic::new(Code::SnapshotCollision, collision_severity, snapshots);
    let copied = Diagnostic::new(Code::CopiedEntry, Severity::Info, copied);
    let other = Diagnostic::new(Code::RepeatedUuid, Severity::Warning, other);
    let replayed = replayed.map(|diagnostic| diagnostic.with_impact(Impact::Bytes(bytes)));
    [replayed, snapshots, copied, other].into_iter().flatten().collect()
}

/// Reports the lines of trees in which every line names another session than that of the file, if other trees name it.
///
/// Forked and resumed sessions contain copied lines with their old session id. These are connected to lines of
/// the session itself, because the conversation continued from them.
fn check_foreign_lines(input: &CheckInput<'_>, reach: &Reachability) -> Option<Diagnostic> {
    let session = input.session?;
    let tree = input.tree;
    let count = tree.nodes().len() as NodeId;
    let is_own = |id: NodeId| input.collector.names_session(id, session);
    if !(0..count).any(|id| is_own(id) == Some(true)) {
        return None;
    }
    let tree_of = find_trees(input, reach);
    let own: HashSet<NodeId> =
        (0..count).filter(|&id| is_own(id) != Some(false)).map(|id| tree_of[id as usize]).collect();
    let is_foreign = |&id: &NodeId| {
        is_own(id) == Some(false) && !own.contains(&tree_of[id as usize]) && tree.is_main_chain(id)
    };
    let nodes: Vec<NodeId> = (0..count).filter(is_foreign).collect();
    let is_message = |id: &NodeId| matches!(tree.node(*id).kind, Kind::User | Kind::Assistant);
    let message_count = nodes.iter().copied().filter(is_message).count();
    let is_loaded = nodes.iter().any(|&id| reach.loaded[id as usize] && is_message(&id));
    let severity = if is_loaded { Severity::Warning } else { Severity::Info };
    Some(
        input
            .diagnose(Code::ForeignLines, severity, &nodes)?
            .with_impact(input.entries_impact(message_count)),
    )
}

/// Returns the root of each node's tree. A tree that starts with a compaction belongs to the tree of the line before it.
fn find_trees(input: &CheckInput<'_>, reach: &Reachability) -> Vec<NodeId> {
    let tree = input.tree;
    let mut tree_of = reach.roots.clone();
    for id in 0..tree_of.len() {
        let root = reach.roots[id];
        if root as usize == id {
            let continues_tree = id > 0
                && matches!(tree.node(root).role, EntryRole::CompactBoundary | EntryRole::CompactSummary);
            tree_of[id] = if continues_tree { tree_of[id - 1] } else { root };
        } else if (root as usize) < id {
            tree_of[id] = tree_of[root as usize];
        }
    }
    tree_of
}
