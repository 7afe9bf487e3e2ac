//! Islands find a parent again: by the call that they answer, else by the order of the file, checked against time.

use std::collections::HashSet;

use super::treatment::{Act, Edit, How, Treatment};
use super::ward::{Ward, text};
use crate::edit::{Change, Step, quote};
use crate::entry::{Kind, Voice, member};
use crate::health::{Code, Finding, Measure, Severity, is_no_beginning};
use crate::problem::ProblemKind;
use crate::tree::{Link, NodeNo, Tree};

/// How far back a line is looked for that is not later.
const FARTHEST: usize = 512;

/// Hangs islands on what they follow. No entry comes to hang on what a compaction has behind it.
pub fn relink(ward: &mut Ward<'_>) -> Treatment {
    let mut treatment = Treatment::default();
    let tree = ward.patient.tree;
    let broken = broken(ward);
    let mut groups = Groups::of(tree);
    let boundaries = boundaries(tree);
    for (no, code) in broken {
        let node = tree.node(no);
        let parent = match node.voice {
            Voice::Boundary => None,
            // A summary begins the conversation, or hangs on its compaction.
            Voice::Recap => before(ward, &mut groups, no)
                .filter(|&on| tree.node(on).voice == Voice::Boundary)
                .map(|on| (on, How::Order)),
            _ => parent(ward, &mut groups, &boundaries, no),
        };
        match parent {
            Some((on, how)) => {
                groups.join(no, on);
                ward.hang(no, Some(on), (code, how), &mut treatment);
            }
            None if node.link == Link::Cut || matches!(node.voice, Voice::Boundary | Voice::Recap) => {
                ward.hang(no, None, (code, How::Beginning), &mut treatment);
            }
            None => {}
        }
    }
    unread(ward, &mut treatment);
    let touched: HashSet<u32> = treatment.mends.iter().map(|mended| mended.line).collect();
    follow(ward, &touched, &mut treatment);
    treatment
}

/// Lists the beginnings that are none, in the order of the file.
fn broken(ward: &Ward<'_>) -> Vec<(NodeNo, Code)> {
    let tree = ward.patient.tree;
    let cut_off = ward.found(Code::Unreachable, Severity::Costs).next().is_some();
    let mut last: Option<NodeNo> = None;
    let mut broken = Vec::new();
    for no in (0..tree.nodes().len() as NodeNo).filter(|&no| tree.is_told(no)) {
        let node = tree.node(no);
        let hangs_on_nothing = |no: NodeNo| tree.node(no).link == Link::Root && is_no_beginning(tree, no);
        let code = match node.link {
            Link::Missing if ward.speaks(no) || !tree.children(no).is_empty() => Some(Code::MissingParent),
            Link::Cut => Some(Code::Cycle),
            Link::Root if cut_off && hangs_on_nothing(no) => Some(Code::Unreachable),
            // Where an answer names no parent, the prompt behind it has lost its own as well.
            Link::Root if cut_off && node.kind == Kind::User && node.voice != Voice::Recap => {
                last.filter(|&last| hangs_on_nothing(last)).map(|_| Code::Unreachable)
            }
            _ => None,
        };
        broken.extend(code.map(|code| (no, code)));
        if ward.speaks(no) {
            last = Some(no);
        }
    }
    broken
}

/// Returns for each entry the last compaction before it.
fn boundaries(tree: &Tree) -> Vec<Option<NodeNo>> {
    let mut last = None;
    let mut boundaries = Vec::with_capacity(tree.nodes().len());
    for no in 0..tree.nodes().len() as NodeNo {
        boundaries.push(last);
        if tree.node(no).voice == Voice::Boundary && tree.is_told(no) {
            last = Some(no);
        }
    }
    boundaries
}

/// Finds what an island hangs on.
fn parent(
    ward: &Ward<'_>,
    groups: &mut Groups,
    boundaries: &[Option<NodeNo>],
    no: NodeNo,
) -> Option<(NodeNo, How)> {
    let is_cut_off = |call: NodeNo| boundaries[no as usize].is_some_and(|boundary| call < boundary);
    let call = ward.calls.call_of(no).filter(|&call| call != no && !is_cut_off(call));
    if let Some(call) = call.filter(|&call| !groups.is_below(ward.patient.tree, call, no)) {
        return Some((call, How::Call));
    }
    before(ward, groups, no).map(|on| (on, How::Order))
}

/// Finds the line before an entry that is not later than it, not below it, and not behind a compaction.
fn before(ward: &Ward<'_>, groups: &mut Groups, no: NodeNo) -> Option<NodeNo> {
    let tree = ward.patient.tree;
    let time = tree.node(no).time();
    let mut first = None;
    let lines = (0..no).rev().filter(|&on| ward.is_held(on) && tree.is_told(on));
    for on in lines.take(FARTHEST) {
        if !groups.is_below(tree, on, no) {
            first = first.or(Some(on));
            let is_later = tree.node(on).time().zip(time).is_some_and(|(on, no)| on > no);
            if !is_later {
                return Some(on);
            }
        }
        if tree.node(on).voice == Voice::Boundary {
            break;
        }
    }
    first
}

/// Hangs what was said on what clients read, where it hangs on a line that they do not.
fn unread(ward: &mut Ward<'_>, treatment: &mut Treatment) {
    // Also where only the session's own client loses what hangs there.
    let is_lost = |found: &Finding| {
        found.severity > Severity::Harmless || matches!(found.measure, Measure::ByClient { .. })
    };
    if !ward.found(Code::Unreachable, Severity::Harmless).any(is_lost) {
        return;
    }
    let tree = ward.patient.tree;
    for no in (0..tree.nodes().len() as NodeNo).filter(|&no| tree.is_told(no)) {
        let Some(parent) = tree.node(no).parent().filter(|&on| !ward.is_held(on)) else { continue };
        if !ward.speaks(no) {
            continue;
        }
        let mut on = Some(parent);
        while let Some(above) = on.filter(|&on| !ward.is_held(on)) {
            on = tree.node(above).parent();
        }
        if let Some(on) = on {
            ward.hang(no, Some(on), (Code::ForkByProgress, How::Above), treatment);
        }
    }
}

/// Names what compactions followed, where that is in no line.
fn follow(ward: &mut Ward<'_>, touched: &HashSet<u32>, treatment: &mut Treatment) {
    let tree = ward.patient.tree;
    let missing: HashSet<u64> = (tree.problems.iter())
        .filter(|problem| problem.kind == ProblemKind::MissingLogicalParent)
        .map(|problem| problem.offset)
        .collect();
    let mut last = None;
    for no in (0..tree.nodes().len() as NodeNo).filter(|&no| tree.is_told(no)) {
        let node = tree.node(no);
        if node.voice == Voice::Boundary
            && missing.contains(&node.place.offset)
            && let Some(on) = last
        {
            let (line, uuid, bytes) = (ward.line(no), ward.uuid(on), ward.bytes(no));
            let from = text(&bytes, "logicalParentUuid");
            let mut changes = vec![Change::say([Step::from("logicalParentUuid")], &uuid)];
            if !touched.contains(&line) && member(&bytes, "relinkedFrom").is_none() {
                let old = from.as_deref().map_or_else(|| "null".to_owned(), quote);
                changes.push(Change::set([Step::from("relinkedFrom")], old));
            }
            treatment.edits.push(Edit::Change(line, changes));
            let act = Act::Followed { from, to: uuid, to_line: ward.line(on) };
            treatment.mend(Code::MissingLogicalParent, line, act);
        }
        if ward.speaks(no) {
            last = Some(no);
        }
    }
}

/// Which entries hang together, while links are made.
struct Groups {
    above: Vec<NodeNo>,
}

impl Groups {
    fn of(tree: &Tree) -> Groups {
        let mut above: Vec<NodeNo> = (0..tree.nodes().len() as NodeNo).collect();
        for no in tree.top_down() {
            if let Some(parent) = tree.node(no).parent() {
                above[no as usize] = above[parent as usize];
            }
        }
        Groups { above }
    }

    /// Returns the entry at which the tree of an entry begins.
    fn root(&mut self, no: NodeNo) -> NodeNo {
        let mut root = no;
        while self.above[root as usize] != root {
            root = self.above[root as usize];
        }
        let mut at = no;
        while self.above[at as usize] != root {
            at = std::mem::replace(&mut self.above[at as usize], root);
        }
        root
    }

    /// Whether an entry is below the beginning `no`, or another line of its uuid is.
    fn is_below(&mut self, tree: &Tree, on: NodeNo, no: NodeNo) -> bool {
        let stands = tree.find(tree.node(on).id).unwrap_or(on);
        self.root(on) == no || self.root(stands) == no || tree.node(on).id == tree.node(no).id
    }

    /// Hangs a beginning on an entry.
    fn join(&mut self, no: NodeNo, on: NodeNo) {
        let root = self.root(on);
        self.above[no as usize] = root;
    }
}
