//! What is wrong with uuids and parents.

use std::collections::HashSet;

use super::examine::Patient;
use super::finding::{Code, Finding, Measure, Severity, Spot};
use super::sides::Sides;
use crate::entry::{Kind, Voice};
use crate::problem::{ProblemKind, Repeat};
use crate::resume::{Halt, Why};
use crate::tree::{Link, NodeNo};

pub(super) fn findings(patient: &Patient<'_>, sides: &Sides) -> Vec<Finding> {
    let mut findings = missing_parents(patient, sides);
    findings.extend(missing_logical_parents(patient));
    findings.extend(cycles(patient, sides));
    findings.extend(repeats(patient));
    findings.extend(foreign(patient, sides));
    findings
}

fn linked(patient: &Patient<'_>, link: Link) -> Vec<NodeNo> {
    let tree = patient.tree;
    let fits = |&no: &NodeNo| tree.node(no).link == link && tree.is_told(no);
    (0..tree.nodes().len() as NodeNo).filter(fits).collect()
}

fn missing_parents(patient: &Patient<'_>, sides: &Sides) -> Vec<Finding> {
    // The entries that each of them puts out of reach: those below it, or where the path begins at it, all.
    let stop = patient.resume.stop.filter(|stop| stop.why == Why::MissingParent).map(|stop| stop.node);
    let mut part = 0;
    let mut guilty: HashSet<NodeNo> = HashSet::new();
    for (no, why) in sides.losses() {
        match stop {
            Some(stop) if matches!(why, Why::OtherRoot | Why::OtherBranch) && no < stop => {
                guilty.insert(stop)
            }
            _ if why == Why::MissingParent => guilty.insert(sides.roots[no as usize]),
            _ => continue,
        };
        part += 1;
    }
    let (costly, idle): (Vec<NodeNo>, Vec<NodeNo>) =
        linked(patient, Link::Missing).into_iter().partition(|no| guilty.contains(no));
    let costs = patient.found(Code::MissingParent, Severity::Costs, &costly);
    let harmless = patient.found(Code::MissingParent, Severity::Harmless, &idle);
    costs.map(|finding| finding.measured(patient.entries(part))).into_iter().chain(harmless).collect()
}

fn missing_logical_parents(patient: &Patient<'_>) -> Option<Finding> {
    let problems = patient.tree.problems.iter();
    let missing = problems.filter(|problem| problem.kind == ProblemKind::MissingLogicalParent);
    let nodes = patient.tree.nodes();
    let spots = missing.map(|problem| {
        // Nodes stand in the order of their bytes.
        let node = nodes.binary_search_by_key(&problem.offset, |node| node.place.offset).ok();
        Spot { node: node.map(|no| no as NodeNo), ..Spot::line(problem.line) }
    });
    Finding::new(Code::MissingLogicalParent, Severity::Harmless, spots.collect())
}

fn cycles(patient: &Patient<'_>, sides: &Sides) -> Option<Finding> {
    let lost = sides.losses().filter(|&(_, why)| matches!(why, Why::Cycle | Why::Halted)).count();
    let severity = match patient.resume.halt {
        Some(Halt::Hangs | Halt::GivesUp) => Severity::Blocks,
        _ if lost > 0 => Severity::Costs,
        _ => Severity::Harmless,
    };
    let finding = patient.found(Code::Cycle, severity, &linked(patient, Link::Cut))?;
    Some(finding.measured(patient.entries(lost)))
}

fn repeats(patient: &Patient<'_>) -> Vec<Finding> {
    let tree = patient.tree;
    let mut found: [Vec<Spot>; 4] = Default::default();
    let mut bytes = 0;
    for &(no, first, how) in &tree.repeats {
        let (node, earlier) = (tree.node(no), tree.node(first));
        let is_snapshot = |kind| matches!(kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta);
        let same = patient.checkup.content(no) == patient.checkup.content(first);
        let k = match how {
            Repeat::Same => 0,
            _ if is_snapshot(node.kind) != is_snapshot(earlier.kind) => 1,
            _ if same => 2,
            Repeat::Other => 3,
        };
        if k == 0 {
            bytes += u64::from(node.place.len) + 1;
        }
        found[k].push(Spot { other: Some(first), ..patient.spot(no) });
    }
    let [replayed, snapshots, copied, other] = found;
    // A client takes the last line of a uuid; one that it does not read hides the entry.
    let reads = |spot: &Spot| {
        let stands = spot.node.and_then(|no| tree.find(tree.node(no).id));
        stands.is_some_and(|no| {
            !matches!(tree.node(no).kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta)
        })
    };
    let hides = if snapshots.iter().all(reads) { Severity::Harmless } else { Severity::Costs };
    let replayed = Finding::new(Code::ReplayedLine, Severity::Harmless, replayed);
    let snapshots = Finding::new(Code::SnapshotCollision, hides, snapshots);
    let copied = Finding::new(Code::CopiedEntry, Severity::Harmless, copied);
    let other = Finding::new(Code::RepeatedUuid, Severity::Costs, other);
    let replayed = replayed.map(|finding| finding.measured(Measure::Bytes(bytes)));
    [replayed, snapshots, copied, other].into_iter().flatten().collect()
}

/// Finds trees of the file in which no line names the file's session, though others do.
///
/// Forks and resumed sessions hold lines that were copied with the id they had: the conversation went on from these,
/// so that they hang together with lines of the session's own.
fn foreign(patient: &Patient<'_>, sides: &Sides) -> Option<Finding> {
    let session = patient.session?;
    let tree = patient.tree;
    let count = tree.nodes().len() as NodeNo;
    let is_own = |no: NodeNo| patient.checkup.is_of(no, session);
    if !(0..count).any(|no| is_own(no) == Some(true)) {
        return None;
    }
    let home = homes(patient, sides);
    let own: HashSet<NodeNo> =
        (0..count).filter(|&no| is_own(no) != Some(false)).map(|no| home[no as usize]).collect();
    let is_foreign =
        |&no: &NodeNo| is_own(no) == Some(false) && !own.contains(&home[no as usize]) && tree.is_told(no);
    let nodes: Vec<NodeNo> = (0..count).filter(is_foreign).collect();
    let speaks = |no: &NodeNo| matches!(tree.node(*no).kind, Kind::User | Kind::Assistant);
    let said = nodes.iter().copied().filter(speaks).count();
    let active = nodes.iter().any(|&no| sides.loaded[no as usize] && speaks(&no));
    let severity = if active { Severity::Costs } else { Severity::Harmless };
    Some(patient.found(Code::ForeignLines, severity, &nodes)?.measured(patient.entries(said)))
}

/// Returns the tree of each node: a compaction goes on in the one before it.
fn homes(patient: &Patient<'_>, sides: &Sides) -> Vec<NodeNo> {
    let tree = patient.tree;
    let mut home = sides.roots.clone();
    for no in 0..home.len() {
        let root = sides.roots[no];
        if root as usize == no {
            let goes_on = no > 0 && matches!(tree.node(root).voice, Voice::Boundary | Voice::Recap);
            home[no] = if goes_on { home[no - 1] } else { root };
        } else if (root as usize) < no {
            home[no] = home[root as usize];
        }
    }
    home
}
