//! Forks that nobody wanted: by progress lines, by retries, by a second process.

use std::collections::HashSet;

use super::diagnostic::{Code, Diagnostic, Location, Severity, SuggestedFix};
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::resume::SkipReason;
use crate::tree::{Fork, ForkKind, Node, NodeId};

pub(super) fn findings(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<Diagnostic> {
    let forks = patient.tree.forks();
    let mut findings = by_progress(patient, sides, &forks);
    findings.extend(retries(patient, sides, &forks));
    findings.extend(two_writers(patient, sides, &forks));
    findings
}

/// Progress lines that speaking entries hang on, or beside which they do.
fn by_progress(patient: &CheckInput<'_>, sides: &Reachability, forks: &[Fork]) -> Vec<Diagnostic> {
    let tree = patient.tree;
    let speaks =
        |no: NodeId| matches!(tree.node(no).kind, Kind::User | Kind::Assistant) && tree.is_main_chain(no);
    let hangs_on_progress =
        |no: NodeId| tree.node(no).parent().filter(|&parent| tree.node(parent).kind == Kind::Progress);
    let mut cuts: Vec<NodeId> =
        (0..tree.nodes().len() as NodeId).filter(|&no| speaks(no)).filter_map(hangs_on_progress).collect();
    let by_kind = forks.iter().filter(|fork| fork.kind == ForkKind::Progress);
    cuts.extend(by_kind.filter_map(|fork| fork.at).filter(|&at| speaks(at)));
    cuts.sort_unstable();
    cuts.dedup();
    // A prompt typed while a tool ran hangs on its progress line, and the result beside it.
    let is_progress = |way: &NodeId| tree.node(*way).kind == Kind::Progress;
    let by_progress = forks.iter().filter(|fork| {
        let mixed = fork.kind == ForkKind::Parallel && fork.branches.iter().any(is_progress);
        fork.kind == ForkKind::Progress || mixed
    });
    let points: HashSet<NodeId> = by_progress.filter_map(|fork| fork.at).collect();
    let lost = sides.losses().filter(|&(no, why)| match why {
        SkipReason::UnreadParent => {
            tree.node(sides.roots[no as usize]).kind == Kind::Progress || hangs_on_progress(no).is_some()
        }
        SkipReason::OtherBranch => sides.meets(no).is_some_and(|at| points.contains(&at)),
        _ => false,
    });
    let lost: Vec<SkipReason> = lost.map(|(_, why)| why).collect();
    let severity = if lost.is_empty() { Severity::Harmless } else { Severity::Warning };
    let finding = patient.found(Code::ForkByProgress, severity, &cuts);
    let finding = finding.map(|finding| finding.measured(patient.entries(lost.len())));
    // What hangs on a line that is not read can be hung elsewhere; of two branches one has to be chosen.
    let is_choice = !lost.is_empty() && !lost.contains(&SkipReason::UnreadParent);
    finding
        .map(|found| if is_choice { found.mended(SuggestedFix::Branches) } else { found })
        .into_iter()
        .collect()
}

/// Answers that another one took the place of, and errors that nothing hangs on.
fn retries(patient: &CheckInput<'_>, sides: &Reachability, forks: &[Fork]) -> Vec<Diagnostic> {
    let tree = patient.tree;
    let mut spots: Vec<Location> = Vec::new();
    let mut talk = false;
    for fork in forks.iter().filter(|fork| fork.kind == ForkKind::Retry) {
        // Where none of the ways is loaded, nobody is left aside by this fork.
        if !fork.branches.iter().any(|&way| sides.loaded[way as usize]) {
            continue;
        }
        for &way in fork.branches.iter().filter(|&&way| !sides.loaded[way as usize]) {
            spots.push(Location { other: fork.at, ..patient.spot(way) });
            talk |= tree.children(way).iter().any(|&no| tree.turn_of(no) == Some(no));
        }
    }
    let errors = (0..tree.nodes().len() as NodeId).filter(|&no| {
        let is_error = tree.node(no).voice == EntryRole::ApiError && tree.is_main_chain(no);
        is_error && tree.children(no).is_empty() && !sides.loaded[no as usize]
    });
    spots.extend(errors.map(|no| Location { other: tree.node(no).parent(), ..patient.spot(no) }));
    spots.sort_by_key(|spot| spot.line);
    spots.dedup();
    let severity = if talk { Severity::Warning } else { Severity::Harmless };
    let finding = Diagnostic::new(Code::RetryOrphan, severity, spots);
    finding
        .map(|finding| if talk { finding.mended(SuggestedFix::Branches) } else { finding })
        .into_iter()
        .collect()
}

/// Ways of one fork that grew at the same time. A client may write its lines late, so that only their moments tell.
fn two_writers(patient: &CheckInput<'_>, sides: &Reachability, forks: &[Fork]) -> Option<Diagnostic> {
    let is_by_user = |fork: &&Fork| fork.kind.is_real() && fork.at.is_some() && fork.kind != ForkKind::Retry;
    let forks: Vec<&Fork> = forks.iter().filter(is_by_user).collect();
    if forks.is_empty() {
        return None;
    }
    let heads = patient.tree.heads();
    let spans = spans(patient);
    let mut spots = Vec::new();
    for fork in forks {
        // Old clients write a prompt with a picture once more, and with it the same answer.
        let mut answers = HashSet::new();
        let mut is_new =
            |way: &NodeId| answer_below(patient, *way).is_none_or(|message| answers.insert(message));
        let ways = fork.branches.iter().copied().filter(|&way| begins(patient, way, heads[way as usize]));
        let ways: Vec<NodeId> = ways.filter(|way| is_new(way)).collect();
        let timed =
            ways.into_iter().map(|way| (spans[way as usize], way)).filter(|((from, to), _)| from <= to);
        let ways = overlapping(timed.collect());
        spots.extend(ways.into_iter().map(|way| Location { other: fork.at, ..patient.spot(way) }));
    }
    spots.sort_by_key(|spot| spot.line);
    let points: HashSet<NodeId> = spots.iter().filter_map(|spot| spot.other).collect();
    let lost = sides.losses().filter(|&(no, why)| {
        why == SkipReason::OtherBranch && sides.meets(no).is_some_and(|at| points.contains(&at))
    });
    let lost = lost.count();
    let severity = if lost > 0 { Severity::Warning } else { Severity::Harmless };
    let mend = if lost > 0 { SuggestedFix::Branches } else { SuggestedFix::Nothing };
    let finding = Diagnostic::new(Code::TwoWriters, severity, spots)?;
    Some(finding.measured(patient.entries(lost)).mended(mend))
}

/// Returns the response that answers what a way begins with.
fn answer_below(patient: &CheckInput<'_>, way: NodeId) -> Option<u32> {
    const DEEPEST: usize = 64;
    let mut at = way;
    for _ in 0..DEEPEST {
        if let Some(message) = patient.tree.message_of(at) {
            return Some(message);
        }
        at = *patient.tree.children(at).first()?;
    }
    None
}

/// Returns those whose spans overlap with another's.
fn overlapping(mut ways: Vec<((i64, i64), NodeId)>) -> Vec<NodeId> {
    ways.sort_unstable();
    let mut found = Vec::new();
    let mut end = i64::MIN;
    for (k, &((from, to), way)) in ways.iter().enumerate() {
        let next = ways.get(k + 1).map_or(i64::MAX, |((from, _), _)| *from);
        if from < end || next < to {
            found.push(way);
        }
        end = end.max(to);
    }
    found
}

/// Whether a way begins as a client that resumes does: with what the user says, and not below a progress line.
fn begins(patient: &CheckInput<'_>, way: NodeId, head: NodeId) -> bool {
    let tree = patient.tree;
    let by_user = matches!(
        tree.node(head).voice,
        EntryRole::Prompt
            | EntryRole::ImageOnly
            | EntryRole::Command
            | EntryRole::Shell
            | EntryRole::Meta
            | EntryRole::Notification
    );
    by_user && tree.node(way).kind != Kind::Progress
}

/// Returns the first and the last moment of talk at or below each node. Lines of local commands have odd moments.
fn spans(patient: &CheckInput<'_>) -> Vec<(i64, i64)> {
    let tree = patient.tree;
    let own = |node: &Node| {
        let talks = matches!(
            node.voice,
            EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Answer | EntryRole::Results
        );
        let time = node.time().filter(|_| talks).map(|moment| moment.0);
        time.map_or((i64::MAX, i64::MIN), |time| (time, time))
    };
    let mut spans: Vec<(i64, i64)> = tree.nodes().iter().map(own).collect();
    for no in tree.topological_order().into_iter().rev() {
        let (from, to) = spans[no as usize];
        if let Some(parent) = tree.node(no).parent() {
            let above = &mut spans[parent as usize];
            *above = (above.0.min(from), above.1.max(to));
        }
    }
    spans
}
