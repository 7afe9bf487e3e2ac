//! What is wrong with uuids and parents.

use std::collections::HashSet;

use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity};
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::problem::{DuplicateUuid, ProblemKind};
use crate::resume::{LoadFailure, SkipReason};
use crate::tree::{NodeId, ParentLink};

pub(super) fn findings(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<Diagnostic> {
    let mut findings = missing_parents(patient, sides);
    findings.extend(missing_logical_parents(patient));
    findings.extend(cycles(patient, sides));
    findings.extend(repeats(patient));
    findings.extend(foreign(patient, sides));
    findings
}

fn linked(patient: &CheckInput<'_>, link: ParentLink) -> Vec<NodeId> {
    let tree = patient.tree;
    let fits = |&no: &NodeId| tree.node(no).link == link && tree.is_main_chain(no);
    (0..tree.nodes().len() as NodeId).filter(fits).collect()
}

fn missing_parents(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<Diagnostic> {
    // The entries that each of them puts out of reach: those below it, or where the path begins at it, all.
    let stop = patient.resume.stop.filter(|stop| stop.why == SkipReason::MissingParent).map(|stop| stop.node);
    let mut part = 0;
    let mut guilty: HashSet<NodeId> = HashSet::new();
    for (no, why) in sides.losses() {
        match stop {
            Some(stop) if matches!(why, SkipReason::OtherRoot | SkipReason::OtherBranch) && no < stop => {
                guilty.insert(stop)
            }
            _ if why == SkipReason::MissingParent => guilty.insert(sides.roots[no as usize]),
            _ => continue,
        };
        part += 1;
    }
    let (costly, idle): (Vec<NodeId>, Vec<NodeId>) =
        linked(patient, ParentLink::Missing).into_iter().partition(|no| guilty.contains(no));
    let costs = patient.found(Code::MissingParent, Severity::Warning, &costly);
    let harmless = patient.found(Code::MissingParent, Severity::Harmless, &idle);
    costs.map(|finding| finding.measured(patient.entries(part))).into_iter().chain(harmless).collect()
}

fn missing_logical_parents(patient: &CheckInput<'_>) -> Option<Diagnostic> {
    let problems = patient.tree.problems.iter();
    let missing = problems.filter(|problem| problem.kind == ProblemKind::MissingLogicalParent);
    let nodes = patient.tree.nodes();
    let spots = missing.map(|problem| {
        // Nodes stand in the order of their bytes.
        let node = nodes.binary_search_by_key(&problem.offset, |node| node.place.offset).ok();
        Location { node: node.map(|no| no as NodeId), ..Location::line(problem.line) }
    });
    Diagnostic::new(Code::MissingLogicalParent, Severity::Harmless, spots.collect())
}

fn cycles(patient: &CheckInput<'_>, sides: &Reachability) -> Option<Diagnostic> {
    let lost =
        sides.losses().filter(|&(_, why)| matches!(why, SkipReason::Cycle | SkipReason::Halted)).count();
    let severity = match patient.resume.halt {
        Some(LoadFailure::Hangs | LoadFailure::GivesUp) => Severity::Blocks,
        _ if lost > 0 => Severity::Warning,
        _ => Severity::Harmless,
    };
    let finding = patient.found(Code::Cycle, severity, &linked(patient, ParentLink::Cut))?;
    Some(finding.measured(patient.entries(lost)))
}

fn repeats(patient: &CheckInput<'_>) -> Vec<Diagnostic> {
    let tree = patient.tree;
    let mut found: [Vec<Location>; 4] = Default::default();
    let mut bytes = 0;
    for &(no, first, how) in &tree.repeats {
        let (node, earlier) = (tree.node(no), tree.node(first));
        let is_snapshot = |kind| matches!(kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta);
        let same = patient.checkup.content(no) == patient.checkup.content(first);
        let k = match how {
            DuplicateUuid::Same => 0,
            _ if is_snapshot(node.kind) != is_snapshot(earlier.kind) => 1,
            _ if same => 2,
            DuplicateUuid::Other => 3,
        };
        if k == 0 {
            bytes += u64::from(node.place.len) + 1;
        }
        found[k].push(Location { other: Some(first), ..patient.spot(no) });
    }
    let [replayed, snapshots, copied, other] = found;
    // A client takes the last line of a uuid; one that it does not read hides the entry.
    let reads = |spot: &Location| {
        let stands = spot.node.and_then(|no| tree.find(tree.node(no).id));
        stands.is_some_and(|no| {
            !matches!(tree.node(no).kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta)
        })
    };
    let hides = if snapshots.iter().all(reads) { Severity::Harmless } else { Severity::Warning };
    let replayed = Diagnostic::new(Code::ReplayedLine, Severity::Harmless, replayed);
    let snapshots = Diagnostic::new(Code::SnapshotCollision, hides, snapshots);
    let copied = Diagnostic::new(Code::CopiedEntry, Severity::Harmless, copied);
    let other = Diagnostic::new(Code::RepeatedUuid, Severity::Warning, other);
    let replayed = replayed.map(|finding| finding.measured(Impact::Bytes(bytes)));
    [replayed, snapshots, copied, other].into_iter().flatten().collect()
}

/// Finds trees of the file in which no line names the file's session, though others do.
///
/// Forks and resumed sessions hold lines that were copied with the id they had: the conversation went on from these,
/// so that they hang together with lines of the session's own.
fn foreign(patient: &CheckInput<'_>, sides: &Reachability) -> Option<Diagnostic> {
    let session = patient.session?;
    let tree = patient.tree;
    let count = tree.nodes().len() as NodeId;
    let is_own = |no: NodeId| patient.checkup.is_of(no, session);
    if !(0..count).any(|no| is_own(no) == Some(true)) {
        return None;
    }
    let home = homes(patient, sides);
    let own: HashSet<NodeId> =
        (0..count).filter(|&no| is_own(no) != Some(false)).map(|no| home[no as usize]).collect();
    let is_foreign = |&no: &NodeId| {
        is_own(no) == Some(false) && !own.contains(&home[no as usize]) && tree.is_main_chain(no)
    };
    let nodes: Vec<NodeId> = (0..count).filter(is_foreign).collect();
    let speaks = |no: &NodeId| matches!(tree.node(*no).kind, Kind::User | Kind::Assistant);
    let said = nodes.iter().copied().filter(speaks).count();
    let active = nodes.iter().any(|&no| sides.loaded[no as usize] && speaks(&no));
    let severity = if active { Severity::Warning } else { Severity::Harmless };
    Some(patient.found(Code::ForeignLines, severity, &nodes)?.measured(patient.entries(said)))
}

/// Returns the tree of each node: a compaction goes on in the one before it.
fn homes(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<NodeId> {
    let tree = patient.tree;
    let mut home = sides.roots.clone();
    for no in 0..home.len() {
        let root = sides.roots[no];
        if root as usize == no {
            let goes_on = no > 0
                && matches!(tree.node(root).voice, EntryRole::CompactBoundary | EntryRole::CompactSummary);
            home[no] = if goes_on { home[no - 1] } else { root };
        } else if (root as usize) < no {
            home[no] = home[root as usize];
        }
    }
    home
}
