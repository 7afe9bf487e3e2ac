//! Compares two branches, of one session or of two, from their last common entry on.

use std::path::{Path, PathBuf};

use rethread_core::diff::{DiffSide, EntryFingerprint, MatchBasis, MergeBase, find_merge_base};
use rethread_core::entry::{Entry, read_line};
use rethread_core::lines::Line;
use rethread_core::tree::{Branches, NodeId, PathRelation};
use rethread_core::usage::{UsageCollector, dedupe_responses, total_tokens};

use super::show::{group_turns, read_turn};
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::match_context::{NearbyEntry, read_nearby_entry};

/// Selects a branch.
#[derive(Debug, Clone, Default)]
pub struct BranchSpec {
    /// The session file.
    pub path: PathBuf,
    /// The name of an entry of the branch. `None` selects the active path.
    pub entry: Option<String>,
}

/// The difference between two branches.
#[derive(Debug)]
pub struct BranchDiff {
    /// Whether both branches are in one file.
    pub same_file: bool,
    /// The property by which the common entries were matched.
    pub match_basis: MatchBasis,
    /// The number of common turns.
    pub common_turns: usize,
    /// The number of common entries, as counted on the first branch.
    pub common_entries: usize,
    /// The last common entry as it is on each branch. `None` if the branches have no common entry.
    pub last_common: Option<[NearbyEntry; 2]>,
    /// The branches after the last common entry.
    pub branches: [DiffBranch; 2],
}

/// One branch of a diff.
#[derive(Debug)]
pub struct DiffBranch {
    /// The session.
    pub header: SessionHeader,
    /// Whether it is the active path of its session.
    pub active: bool,
    /// The line of the tip. `None` if the session has no entries.
    pub tip_line: Option<u32>,
    /// The turns after the last common entry.
    pub side: DiffSide,
}

impl BranchDiff {
    /// Returns `true` if neither branch has turns of its own.
    pub fn is_same(&self) -> bool {
        self.branches.iter().all(|branch| branch.side.turns.is_empty())
    }
}

/// A branch with its loaded session and the fingerprints of its entries.
struct LoadedBranch {
    session: std::rc::Rc<Session>,
    lines: LineReader,
    tip: Option<NodeId>,
    is_active: bool,
    fingerprints: Vec<EntryFingerprint>,
}

/// Compares the turns of two branches after their last common entry.
pub fn diff_branches(a: &BranchSpec, b: &BranchSpec) -> Result<BranchDiff, Error> {
    let same_file = a.path == b.path;
    let first = std::rc::Rc::new(load(&a.path, LoadOptions::default(), &mut ())?);
    let second = if same_file {
        first.clone()
    } else {
        std::rc::Rc::new(load(&b.path, LoadOptions::default(), &mut ())?)
    };
    let mut sides = [LoadedBranch::new(first, a)?, LoadedBranch::new(second, b)?];
    let mut merge_base = find_merge_base(&sides[0].fingerprints, &sides[1].fingerprints);
    if !same_file && merge_base.basis != MatchBasis::Uuid {
        // Entries without a common uuid can still match by text, which must be read for that.
        for side in &mut sides {
            side.read_missing_texts()?;
        }
        merge_base = find_merge_base(&sides[0].fingerprints, &sides[1].fingerprints);
    }
    let last_common = match merge_base.last {
        Some((idx_a, idx_b)) => Some([sides[0].read_nearby(idx_a)?, sides[1].read_nearby(idx_b)?]),
        None => None,
    };
    let (common_turns, common_entries) = sides[0].count_common(&merge_base.common[0]);
    let MergeBase { basis, common: [common_a, common_b], .. } = merge_base;
    let [a, b] = sides;
    let branches = [a.into_diff_branch(&common_a)?, b.into_diff_branch(&common_b)?];
    Ok(BranchDiff { same_file, match_basis: basis, common_turns, common_entries, last_common, branches })
}

impl LoadedBranch {
    /// Selects the path to the newest tip below the entry of `spec`, or the active path.
    fn new(session: std::rc::Rc<Session>, spec: &BranchSpec) -> Result<LoadedBranch, Error> {
        let active = session.active_path();
        let leaf = active.leaf;
        let path = match &spec.entry {
            Some(entry) => session.path_to(session.newest_descendant(session.find_entry(entry)?)),
            None => active,
        };
        let tree = &session.tree;
        let tip = path.leaf;
        let fingerprints =
            session.conversation(&path).nodes().map(|node_id| EntryFingerprint::new(tree, node_id)).collect();
        let lines = LineReader::open(&spec.path).map_err(Error::reading(&spec.path))?;
        // The client may resume from an entry before the tip of its branch.
        let mut branches = Branches::from_tree(tree);
        let active_branch = leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
        let is_active = tip == leaf
            || active_branch.is_some() && tip.and_then(|tip| branches.branch_of(tip)) == active_branch;
        Ok(LoadedBranch { is_active, session, lines, tip, fingerprints })
    }

    /// Adds the text to the fingerprint of each conversation entry without a message id.
    fn read_missing_texts(&mut self) -> Result<(), Error> {
        let path: &Path = &self.session.path;
        let lacks_text = |fingerprint: &&mut EntryFingerprint| {
            fingerprint.is_conversation && fingerprint.message_id.is_none()
        };
        for fingerprint in self.fingerprints.iter_mut().filter(lacks_text) {
            let span = self.session.tree.node(fingerprint.node).span;
            let bytes = self.lines.read_span(span).map_err(Error::reading(path))?;
            for_each_entry(span.line, &bytes, |entry| fingerprint.add_text(entry));
        }
        Ok(())
    }

    /// Reads the preview and the turn number of the entry at `idx` of the branch.
    fn read_nearby(&mut self, idx: usize) -> Result<NearbyEntry, Error> {
        let node = self.fingerprints[idx].node;
        let turns: Vec<NodeId> = self.session.tree.turn_starts().collect();
        let turn = self.session.tree.turn_of(node);
        let turn = turn.and_then(|turn| turns.binary_search(&turn).ok()).map(|idx| idx as u32 + 1);
        read_nearby_entry(&self.session, &mut self.lines, node, turn)
    }

    /// Counts the turns that start in common entries, and the common conversation entries. `common` has a flag per entry.
    fn count_common(&self, common: &[bool]) -> (usize, usize) {
        let tree = &self.session.tree;
        let (mut turns, mut entries) = (0, 0);
        for (fingerprint, _) in self.fingerprints.iter().zip(common).filter(|(_, is_common)| **is_common) {
            let is_turn_start = tree.turn_of(fingerprint.node) == Some(fingerprint.node);
            turns += usize::from(is_turn_start && tree.is_main_chain(fingerprint.node));
            entries += usize::from(fingerprint.is_conversation);
        }
        (turns, entries)
    }

    /// Reads the turns of the entries that are not common. `common` has a flag per entry of the branch.
    fn into_diff_branch(mut self, common: &[bool]) -> Result<DiffBranch, Error> {
        let tree = &self.session.tree;
        let own_fingerprints = self.fingerprints.iter().zip(common).filter(|(_, is_common)| !**is_common);
        let own_nodes: Vec<NodeId> = own_fingerprints.map(|(fingerprint, _)| fingerprint.node).collect();
        // Structural entries alone are no difference.
        let has_conversation = own_nodes.iter().any(|&id| EntryFingerprint::new(tree, id).is_conversation);
        let groups = if has_conversation {
            group_turns(&self.session, own_nodes.into_iter(), |_| PathRelation::OnPath)
        } else {
            Vec::new()
        };
        let turns: Vec<NodeId> = tree.turn_starts().collect();
        let mut side = DiffSide::default();
        let mut collector = UsageCollector::default();
        for group in &groups {
            let turn_start = group.nodes.first().and_then(|&id| tree.turn_of(id));
            let turn_number =
                turn_start.and_then(|turn| turns.binary_search(&turn).ok()).map(|idx| idx as u32 + 1);
            let turn = read_turn(&self.session, &mut self.lines, group)?;
            for line in &turn.lines {
                for_each_entry(line.number, &line.bytes, |entry| {
                    collector.add(entry);
                });
            }
            let line = turn.lines.first().map_or(0, |line| line.number);
            side.add(turn.number.or(turn_number), turn.number.is_none(), line, turn.turn);
        }
        let tip_line = self.tip.map(|tip| tree.node(tip).span.line);
        let side = side.finish(total_tokens(&dedupe_responses(&[collector.finish()])));
        Ok(DiffBranch { header: self.session.header(), active: self.is_active, tip_line, side })
    }
}

/// Calls `visit` with each entry of a line. A damaged line may contain none or several.
fn for_each_entry(number: u32, bytes: &[u8], mut visit: impl FnMut(&Entry<'_>)) {
    let line = Line { number, offset: 0, bytes, unterminated: false };
    read_line(&line, &mut Vec::new(), |entry, _| visit(&entry));
}
