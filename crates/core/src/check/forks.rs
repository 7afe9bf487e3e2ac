//! Reports unintended forks: caused by progress lines, by retries, or by a second process.

use std::collections::HashSet;

use super::diagnostic::{Code, Diagnostic, Location, Severity, SuggestedFix};
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::resume::SkipReason;
use crate::tree::{Fork, ForkKind, Node, NodeId};

/// Reports forks that the user did not make: by progress lines, retries and second processes.
pub(super) fn check_forks(input: &CheckInput<'_>, reach: &Reachability) -> Vec<Diagnostic> {
    let forks = input.tree.find_forks();
    let mut diagnostics = check_progress_forks(input, reach, &forks);
    diagnostics.extend(check_retries(input, reach, &forks));
    diagnostics.extend(check_two_writers(input, reach, &forks));
    diagnostics
}

/// Reports progress lines that are parents or siblings of messages.
fn check_progress_forks(input: &CheckInput<'_>, reach: &Reachability, forks: &[Fork]) -> Vec<Diagnostic> {
    let tree = input.tree;
    let is_message =
        |id: NodeId| matches!(tree.node(id).kind, Kind::User | Kind::Assistant) && tree.is_main_chain(id);
    let progress_parent =
        |id: NodeId| tree.node(id).parent().filter(|&parent| tree.node(parent).kind == Kind::Progress);
    let mut progress_forks: Vec<NodeId> =
        (0..tree.nodes().len() as NodeId).filter(|&id| is_message(id)).filter_map(progress_parent).collect();
    let by_kind = forks.iter().filter(|fork| fork.kind == ForkKind::Progress);
    progress_forks.extend(by_kind.filter_map(|fork| fork.at).filter(|&at| is_message(at)));
    progress_forks.sort_unstable();
    progress_forks.dedup();
    // The parent of a prompt typed while a tool ran is its progress line, a sibling of the result.
    let is_progress = |branch: &NodeId| tree.node(*branch).kind == Kind::Progress;
    let has_progress_branch = forks.iter().filter(|fork| {
        let is_mixed = fork.kind == ForkKind::Parallel && fork.branches.iter().any(is_progress);
        fork.kind == ForkKind::Progress || is_mixed
    });
    let fork_points: HashSet<NodeId> = has_progress_branch.filter_map(|fork| fork.at).collect();
    let losses = reach.losses().filter(|&(id, loss)| match loss.reason {
        SkipReason::UnreadParent => {
            tree.node(reach.roots[id as usize]).kind == Kind::Progress || progress_parent(id).is_some()
        }
        SkipReason::OtherBranch => reach.nearest_loaded(id).is_some_and(|at| fork_points.contains(&at)),
        _ => false,
    });
    let losses: Vec<SkipReason> = losses.map(|(_, loss)| loss.reason).collect();
    let severity = if losses.is_empty() { Severity::Info } else { Severity::Warning };
    let diagnostic = input.diagnose(Code::ForkByProgress, severity, &progress_forks);
    let diagnostic = diagnostic.map(|diagnostic| diagnostic.with_impact(input.entries_impact(losses.len())));
    // Children of an unread line can be relinked. With two branches the user must choose one.
    let is_choice = !losses.is_empty() && !losses.contains(&SkipReason::UnreadParent);
    diagnostic
        .map(|diagnostic| if is_choice { diagnostic.with_fix(SuggestedFix::Branches) } else { diagnostic })
        .into_iter()
        .collect()
}

/// Reports answers that were replaced by a retry, and errors without children.
fn check_retries(input: &CheckInput<'_>, reach: &Reachability, forks: &[Fork]) -> Vec<Diagnostic> {
    let tree = input.tree;
    let mut locations: Vec<Location> = Vec::new();
    let mut has_prompt_below = false;
    for fork in forks.iter().filter(|fork| fork.kind == ForkKind::Retry) {
        // If no branch of the fork is loaded, the fork did not cause the loss.
        if !fork.branches.iter().any(|&branch| reach.loaded[branch as usize]) {
            continue;
        }
        for &branch in fork.branches.iter().filter(|&&branch| !reach.loaded[branch as usize]) {
            locations.push(Location { other: fork.at, ..input.location_of(branch) });
            has_prompt_below |= tree.children(branch).iter().any(|&id| tree.turn_of(id) == Some(id));
        }
    }
    let errors = (0..tree.nodes().len() as NodeId).filter(|&id| {
        let is_error = tree.node(id).role == EntryRole::ApiError && tree.is_main_chain(id);
        is_error && tree.children(id).is_empty() && !reach.loaded[id as usize]
    });
    locations.extend(errors.map(|id| Location { other: tree.node(id).parent(), ..input.location_of(id) }));
    locations.sort_by_key(|location| location.line);
    locations.dedup();
    let severity = if has_prompt_below { Severity::Warning } else { Severity::Info };
    let diagnostic = Diagnostic::new(Code::RetryOrphan, severity, locations);
    diagnostic
        .map(
            |diagnostic| {
                if has_prompt_below { diagnostic.with_fix(SuggestedFix::Branches) } else { diagnostic }
            },
        )
        .into_iter()
        .collect()
}

/// Reports branches of one fork that grew at the same time. Returns `None` if there are none.
///
/// Clients may write lines late, so the order of lines proves nothing. Only the timestamps count.
fn check_two_writers(input: &CheckInput<'_>, reach: &Reachability, forks: &[Fork]) -> Option<Diagnostic> {
    let is_by_user = |fork: &&Fork| fork.kind.is_real() && fork.at.is_some() && fork.kind != ForkKind::Retry;
    let forks: Vec<&Fork> = forks.iter().filter(is_by_user).collect();
    if forks.is_empty() {
        return None;
    }
    let heads = input.tree.find_subtree_heads();
    let ranges = find_message_time_ranges(input);
    let mut locations = Vec::new();
    for fork in forks {
        // Old clients write a prompt with an image twice, followed by the same answer.
        let mut answers = HashSet::new();
        let mut is_new =
            |branch: &NodeId| find_first_answer(input, *branch).is_none_or(|message| answers.insert(message));
        let branches = fork
            .branches
            .iter()
            .copied()
            .filter(|&branch| starts_like_resume(input, branch, heads[branch as usize]));
        let branches: Vec<NodeId> = branches.filter(|branch| is_new(branch)).collect();
        let timed = branches
            .into_iter()
            .map(|branch| (ranges[branch as usize], branch))
            .filter(|((start, end), _)| start <= end);
        let branches = find_overlapping(timed.collect());
        locations.extend(
            branches.into_iter().map(|branch| Location { other: fork.at, ..input.location_of(branch) }),
        );
    }
    locations.sort_by_key(|location| location.line);
    let fork_points: HashSet<NodeId> = locations.iter().filter_map(|location| location.other).collect();
    let losses = reach.losses().filter(|&(id, loss)| {
        loss.reason == SkipReason::OtherBranch
            && reach.nearest_loaded(id).is_some_and(|at| fork_points.contains(&at))
    });
    let lost_count = losses.count();
    let severity = if lost_count > 0 { Severity::Warning } else { Severity::Info };
    let fix = if lost_count > 0 { SuggestedFix::Branches } else { SuggestedFix::Nothing };
    let diagnostic = Diagnostic::new(Code::TwoWriters, severity, locations)?;
    Some(diagnostic.with_impact(input.entries_impact(lost_count)).with_fix(fix))
}

/// Returns the message index of the first response at or below the start of a branch, along the first children.
///
/// Returns `None` if the branch has none within 64 entries.
fn find_first_answer(input: &CheckInput<'_>, branch: NodeId) -> Option<u32> {
    const MAX_DEPTH: usize = 64;
    let mut node_id = branch;
    for _ in 0..MAX_DEPTH {
        if let Some(message) = input.tree.message_of(node_id) {
            return Some(message);
        }
        node_id = *input.tree.children(node_id).first()?;
    }
    None
}

/// Returns the branches with a time range (first and last timestamp) that overlaps with that of another branch.
fn find_overlapping(mut branches: Vec<((i64, i64), NodeId)>) -> Vec<NodeId> {
    branches.sort_unstable();
    let mut overlapping = Vec::new();
    let mut latest_end = i64::MIN;
    for (idx, &((start, end), branch)) in branches.iter().enumerate() {
        let next_start = branches.get(idx + 1).map_or(i64::MAX, |((start, _), _)| *start);
        if start < latest_end || next_start < end {
            overlapping.push(branch);
        }
        latest_end = latest_end.max(end);
    }
    overlapping
}

/// Returns `true` if a branch starts like one of a resumed client: its head is user input, and its first entry is not a
/// progress line.
fn starts_like_resume(input: &CheckInput<'_>, branch: NodeId, head: NodeId) -> bool {
    let tree = input.tree;
    let is_user_input = matches!(
        tree.node(head).role,
        EntryRole::Prompt
            | EntryRole::ImageOnly
            | EntryRole::Command
            | EntryRole::Shell
            | EntryRole::Meta
            | EntryRole::Notification
    );
    is_user_input && tree.node(branch).kind != Kind::Progress
}

/// Returns the first and last timestamp, in milliseconds, of messages at or below each node. The first is later than the
/// last if there are none. Other entries are ignored: local commands have unreliable timestamps.
fn find_message_time_ranges(input: &CheckInput<'_>) -> Vec<(i64, i64)> {
    let tree = input.tree;
    let own_range = |node: &Node| {
        let is_message = matches!(
            node.role,
            EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Answer | EntryRole::Results
        );
        let time = node.time().filter(|_| is_message).map(|time| time.0);
        time.map_or((i64::MAX, i64::MIN), |time| (time, time))
    };
    let mut ranges: Vec<(i64, i64)> = tree.nodes().iter().map(own_range).collect();
    for id in tree.topological_order().into_iter().rev() {
        let (start, end) = ranges[id as usize];
        if let Some(parent) = tree.node(id).parent() {
            let parent_range = &mut ranges[parent as usize];
            *parent_range = (parent_range.0.min(start), parent_range.1.max(end));
        }
    }
    ranges
}
