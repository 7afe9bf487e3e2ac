//! Islands find a parent again: by the call that they answer, else by the order of the file, checked against time.

use std::collections::HashSet;

use super::context::{RepairContext, text};
use super::fix_set::{Edit, FixAction, FixSet, RelinkReason};
use crate::check::{Code, Diagnostic, Impact, Severity, cannot_start_conversation};
use crate::edit::{JsonEdit, PathSegment, quote};
use crate::entry::{EntryRole, Kind, member};
use crate::problem::ProblemKind;
use crate::tree::{NodeId, ParentLink, Tree};

/// How far back a line is looked for that is not later.
const FARTHEST: usize = 512;

/// Hangs islands on what they follow. No entry comes to hang on what a compaction has behind it.
pub fn relink(ward: &mut RepairContext<'_>) -> FixSet {
    let mut treatment = FixSet::default();
    let tree = ward.patient.tree;
    let broken = broken(ward);
    let mut groups = Groups::of(tree);
    let boundaries = boundaries(tree);
    for (no, code) in broken {
        let node = tree.node(no);
        let parent = match node.voice {
            EntryRole::CompactBoundary => None,
            // A summary begins the conversation, or hangs on its compaction.
            EntryRole::CompactSummary => before(ward, &mut groups, no)
                .filter(|&on| tree.node(on).voice == EntryRole::CompactBoundary)
                .map(|on| (on, RelinkReason::Order)),
            _ => parent(ward, &mut groups, &boundaries, no),
        };
        match parent {
            Some((on, how)) => {
                groups.join(no, on);
                ward.set_parent(no, Some(on), (code, how), &mut treatment);
            }
            None if node.link == ParentLink::Cut
                || matches!(node.voice, EntryRole::CompactBoundary | EntryRole::CompactSummary) =>
            {
                ward.set_parent(no, None, (code, RelinkReason::Beginning), &mut treatment);
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
fn broken(ward: &RepairContext<'_>) -> Vec<(NodeId, Code)> {
    let tree = ward.patient.tree;
    let cut_off = ward.found(Code::Unreachable, Severity::Warning).next().is_some();
    let mut last: Option<NodeId> = None;
    let mut broken = Vec::new();
    for no in (0..tree.nodes().len() as NodeId).filter(|&no| tree.is_main_chain(no)) {
        let node = tree.node(no);
        let hangs_on_nothing =
            |no: NodeId| tree.node(no).link == ParentLink::Root && cannot_start_conversation(tree, no);
        let code = match node.link {
            ParentLink::Missing if ward.speaks(no) || !tree.children(no).is_empty() => {
                Some(Code::MissingParent)
            }
            ParentLink::Cut => Some(Code::Cycle),
            ParentLink::Root if cut_off && hangs_on_nothing(no) => Some(Code::Unreachable),
            // Where an answer names no parent, the prompt behind it has lost its own as well.
            ParentLink::Root
                if cut_off && node.kind == Kind::User && node.voice != EntryRole::CompactSummary =>
            {
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
fn boundaries(tree: &Tree) -> Vec<Option<NodeId>> {
    let mut last = None;
    let mut boundaries = Vec::with_capacity(tree.nodes().len());
    for no in 0..tree.nodes().len() as NodeId {
        boundaries.push(last);
        if tree.node(no).voice == EntryRole::CompactBoundary && tree.is_main_chain(no) {
            last = Some(no);
        }
    }
    boundaries
}

/// Finds what an island hangs on.
fn parent(
    ward: &RepairContext<'_>,
    groups: &mut Groups,
    boundaries: &[Option<NodeId>],
    no: NodeId,
) -> Option<(NodeId, RelinkReason)> {
    let is_cut_off = |call: NodeId| boundaries[no as usize].is_some_and(|boundary| call < boundary);
    let call = ward.calls.call_of(no).filter(|&call| call != no && !is_cut_off(call));
    if let Some(call) = call.filter(|&call| !groups.is_below(ward.patient.tree, call, no)) {
        return Some((call, RelinkReason::Call));
    }
    before(ward, groups, no).map(|on| (on, RelinkReason::Order))
}

/// Finds the line before an entry that is not later than it, not below it, and not behind a compaction.
fn before(ward: &RepairContext<'_>, groups: &mut Groups, no: NodeId) -> Option<NodeId> {
    let tree = ward.patient.tree;
    let time = tree.node(no).time();
    let mut first = None;
    let lines = (0..no).rev().filter(|&on| ward.is_loaded_kind(on) && tree.is_main_chain(on));
    for on in lines.take(FARTHEST) {
        if !groups.is_below(tree, on, no) {
            first = first.or(Some(on));
            let is_later = tree.node(on).time().zip(time).is_some_and(|(on, no)| on > no);
            if !is_later {
                return Some(on);
            }
        }
        if tree.node(on).voice == EntryRole::CompactBoundary {
            break;
        }
    }
    first
}

/// Hangs what was said on what clients read, where it hangs on a line that they do not.
fn unread(ward: &mut RepairContext<'_>, treatment: &mut FixSet) {
    // Also where only the session's own client loses what hangs there.
    let is_lost = |found: &Diagnostic| {
        found.severity > Severity::Harmless || matches!(found.measure, Impact::ByClient { .. })
    };
    if !ward.found(Code::Unreachable, Severity::Harmless).any(is_lost) {
        return;
    }
    let tree = ward.patient.tree;
    for no in (0..tree.nodes().len() as NodeId).filter(|&no| tree.is_main_chain(no)) {
        let Some(parent) = tree.node(no).parent().filter(|&on| !ward.is_loaded_kind(on)) else { continue };
        if !ward.speaks(no) {
            continue;
        }
        let mut on = Some(parent);
        while let Some(above) = on.filter(|&on| !ward.is_loaded_kind(on)) {
            on = tree.node(above).parent();
        }
        if let Some(on) = on {
            ward.set_parent(no, Some(on), (Code::ForkByProgress, RelinkReason::Above), treatment);
        }
    }
}

/// Names what compactions followed, where that is in no line.
fn follow(ward: &mut RepairContext<'_>, touched: &HashSet<u32>, treatment: &mut FixSet) {
    let tree = ward.patient.tree;
    let missing: HashSet<u64> = (tree.problems.iter())
        .filter(|problem| problem.kind == ProblemKind::MissingLogicalParent)
        .map(|problem| problem.offset)
        .collect();
    let mut last = None;
    for no in (0..tree.nodes().len() as NodeId).filter(|&no| tree.is_main_chain(no)) {
        let node = tree.node(no);
        if node.voice == EntryRole::CompactBoundary
            && missing.contains(&node.place.offset)
            && let Some(on) = last
        {
            let (line, uuid, bytes) = (ward.line(no), ward.uuid(on), ward.bytes(no));
            let from = text(&bytes, "logicalParentUuid");
            let mut changes = vec![JsonEdit::set_string([PathSegment::from("logicalParentUuid")], &uuid)];
            if !touched.contains(&line) && member(&bytes, "relinkedFrom").is_none() {
                let old = from.as_deref().map_or_else(|| "null".to_owned(), quote);
                changes.push(JsonEdit::set([PathSegment::from("relinkedFrom")], old));
            }
            treatment.edits.push(Edit::Change(line, changes));
            let act = FixAction::Followed { from, to: uuid, to_line: ward.line(on) };
            treatment.mend(Code::MissingLogicalParent, line, act);
        }
        if ward.speaks(no) {
            last = Some(no);
        }
    }
}

/// Which entries hang together, while links are made.
struct Groups {
    above: Vec<NodeId>,
}

impl Groups {
    fn of(tree: &Tree) -> Groups {
        let mut above: Vec<NodeId> = (0..tree.nodes().len() as NodeId).collect();
        for no in tree.topological_order() {
            if let Some(parent) = tree.node(no).parent() {
                above[no as usize] = above[parent as usize];
            }
        }
        Groups { above }
    }

    /// Returns the entry at which the tree of an entry begins.
    fn root(&mut self, no: NodeId) -> NodeId {
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
    fn is_below(&mut self, tree: &Tree, on: NodeId, no: NodeId) -> bool {
        let stands = tree.find(tree.node(on).id).unwrap_or(on);
        self.root(on) == no || self.root(stands) == no || tree.node(on).id == tree.node(no).id
    }

    /// Hangs a beginning on an entry.
    fn join(&mut self, no: NodeId, on: NodeId) {
        let root = self.root(on);
        self.above[no as usize] = root;
    }
}
