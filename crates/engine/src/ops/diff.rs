//! Two branches, of one session or of two, beside each other from their last common entry.

use std::path::{Path, PathBuf};

use rethread_core::diff::{DiffSide, EntryFingerprint, MatchBasis, MergeBase, find_merge_base};
use rethread_core::entry::{Entry, read};
use rethread_core::lines::Line;
use rethread_core::tree::{Branches, NodeId, PathRelation};
use rethread_core::usage::{UsageCollector, dedupe_responses, total};

use super::show::{grouped, told};
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_to_tell};
use crate::session::match_context::{NearbyEntry, near};

/// A branch by name.
#[derive(Debug, Clone)]
pub struct BranchName {
    /// The session file.
    pub path: PathBuf,
    /// An entry of the branch; the active path, where none is named.
    pub entry: Option<String>,
}

/// Two branches beside each other.
#[derive(Debug)]
pub struct Diff {
    /// Whether both are of one file.
    pub one_file: bool,
    /// What tells that they begin as one.
    pub by: MatchBasis,
    /// Turns that both have.
    pub common_turns: usize,
    /// Entries that both have, by how many of them the first has.
    pub common_entries: usize,
    /// The last common entry, as it stands on either branch.
    pub last: Option<[NearbyEntry; 2]>,
    /// The branches, from there.
    pub branches: [Branch; 2],
}

/// One of the branches.
#[derive(Debug)]
pub struct Branch {
    /// Its session.
    pub head: SessionHeader,
    /// Whether it is the active path of its session.
    pub active: bool,
    /// The line of its tip.
    pub tip: Option<u32>,
    /// What it did since they parted.
    pub side: DiffSide,
}

impl Diff {
    /// Whether both are one path.
    pub fn is_same(&self) -> bool {
        self.branches.iter().all(|branch| branch.side.turns.is_empty())
    }
}

/// A branch loaded: its session, its path and its tip.
struct Loaded {
    session: std::rc::Rc<Session>,
    lines: LineReader,
    tip: Option<NodeId>,
    active: bool,
    marks: Vec<EntryFingerprint>,
}

/// Compares two branches.
pub fn diff(a: &BranchName, b: &BranchName) -> Result<Diff, Error> {
    let one_file = a.path == b.path;
    let first = std::rc::Rc::new(load_to_tell(&a.path)?);
    let second = if one_file { first.clone() } else { std::rc::Rc::new(load_to_tell(&b.path)?) };
    let mut sides = [Loaded::new(first, a)?, Loaded::new(second, b)?];
    let mut meeting = find_merge_base(&sides[0].marks, &sides[1].marks);
    if !one_file && meeting.by != MatchBasis::Uuid {
        // Only words can tell more: they are read where nothing else does.
        for side in &mut sides {
            side.read_words()?;
        }
        meeting = find_merge_base(&sides[0].marks, &sides[1].marks);
    }
    let last = match meeting.last {
        Some((x, y)) => Some([sides[0].near(x)?, sides[1].near(y)?]),
        None => None,
    };
    let (common_turns, common_entries) = sides[0].common(&meeting.common[0]);
    let MergeBase { by, common: [of_a, of_b], .. } = meeting;
    let [a, b] = sides;
    let branches = [a.branch(&of_a)?, b.branch(&of_b)?];
    Ok(Diff { one_file, by, common_turns, common_entries, last, branches })
}

impl Loaded {
    fn new(session: std::rc::Rc<Session>, name: &BranchName) -> Result<Loaded, Error> {
        let leaf = session.active().leaf;
        let tip = match &name.entry {
            Some(entry) => Some(session.tip_below(session.entry(entry)?)),
            None => leaf,
        };
        let tree = &session.tree;
        let steps = tip
            .map(|tip| tree.with_parallel_calls(&tree.ancestors_across_compactions(tip)))
            .unwrap_or_default();
        let marks = steps.into_iter().map(|step| EntryFingerprint::of(tree, step.node)).collect();
        let lines = LineReader::open(&name.path).map_err(Error::reading(&name.path))?;
        // The client may stop before the end of the branch that it goes on from.
        let mut branches = Branches::of(tree);
        let going = leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
        let active = tip == leaf || going.is_some() && tip.and_then(|tip| branches.branch_of(tip)) == going;
        Ok(Loaded { active, session, lines, tip, marks })
    }

    fn read_words(&mut self) -> Result<(), Error> {
        let path: &Path = &self.session.path;
        for mark in self.marks.iter_mut().filter(|mark| mark.speaks && mark.message.is_none()) {
            let place = self.session.tree.node(mark.node).place;
            let bytes = self.lines.read(place).map_err(Error::reading(path))?;
            each_entry(place.line, &bytes, |entry| mark.read(entry));
        }
        Ok(())
    }

    fn near(&mut self, k: usize) -> Result<NearbyEntry, Error> {
        let node = self.marks[k].node;
        let turns: Vec<NodeId> = self.session.tree.turns().collect();
        let turn = self.session.tree.turn_of(node);
        let turn = turn.and_then(|turn| turns.binary_search(&turn).ok()).map(|k| k as u32 + 1);
        near(&self.session, &mut self.lines, node, turn)
    }

    /// Counts turns and entries of the common part.
    fn common(&self, common: &[bool]) -> (usize, usize) {
        let tree = &self.session.tree;
        let both = self.marks.iter().zip(common).filter(|(_, common)| **common).map(|(mark, _)| mark);
        let (mut turns, mut entries) = (0, 0);
        for mark in both {
            turns += usize::from(tree.turn_of(mark.node) == Some(mark.node));
            entries += usize::from(mark.speaks);
        }
        (turns, entries)
    }

    fn branch(mut self, common: &[bool]) -> Result<Branch, Error> {
        let tree = &self.session.tree;
        let own = self.marks.iter().zip(common).filter(|(_, common)| !**common).map(|(mark, _)| mark.node);
        let own: Vec<NodeId> = own.collect();
        // Where no more is said, the recording of it is no difference.
        let talks = own.iter().any(|&no| EntryFingerprint::of(tree, no).speaks);
        let groups = if talks {
            grouped(&self.session, own.into_iter(), |_| PathRelation::OnPath)
        } else {
            Vec::new()
        };
        let turns: Vec<NodeId> = tree.turns().collect();
        let mut side = DiffSide::default();
        let mut booking = UsageCollector::default();
        for group in &groups {
            let begun = group.nodes.first().and_then(|&no| tree.turn_of(no));
            let begun = begun.and_then(|turn| turns.binary_search(&turn).ok()).map(|k| k as u32 + 1);
            let told = told(&self.session, &mut self.lines, group)?;
            for (line, bytes) in &told.raw {
                each_entry(*line, bytes, |entry| {
                    booking.add(entry);
                });
            }
            let line = told.raw.first().map_or(0, |(line, _)| *line);
            side.add(told.no.or(begun), told.no.is_none(), line, told.turn);
        }
        let tip = self.tip.map(|tip| tree.node(tip).place.line);
        let side = side.finish(total(&dedupe_responses(&[booking.finish()])));
        Ok(Branch { head: self.session.head(), active: self.active, tip, side })
    }
}

fn each_entry(no: u32, bytes: &[u8], mut each: impl FnMut(&Entry<'_>)) {
    let line = Line { no, offset: 0, bytes, unterminated: false };
    read(&line, &mut Vec::new(), |entry, _| each(&entry));
}
