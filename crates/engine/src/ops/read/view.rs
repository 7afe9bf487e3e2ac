//! A session, opened once; its turns are told when they are asked for.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::entry::{EntryRole, Timestamp};
use rethread_core::tree::{Branches, NodeId, PathRelation};
use rethread_core::turn::{Turn, build_turn, build_turn_continuation};
use rethread_core::usage::{CostTotals, Prices, UsageByNode};

use super::branch_view::{BranchSelector, BranchView, ForkSwitch, SiblingBranch, Slice, TurnRef};
use super::paginate;
use super::result_lines::ResultLines;
use super::turn_order::{self, TurnOrder};
use crate::Error;
use crate::disk::{FileFingerprint, LineReader};
use crate::ops::explain::Verdict;
use crate::ops::show::{ToldTurn, told_nodes};
use crate::ops::usage::Pricer;
use crate::session::load::{Session, load_with_visitor};

/// A session opened to be read.
#[derive(Debug)]
pub struct SessionView {
    /// What was read.
    pub session: Session,
    /// The entry that the client goes on from.
    pub leaf: Option<NodeId>,
    /// Every way it went.
    pub branches: Branches,
    /// The branch that the client goes on from.
    pub active: Option<usize>,
    /// By node, the newest tip below it; empty where nothing forks.
    newest: Vec<NodeId>,
    waits: ResultLines,
    /// The number of the last line.
    last: u32,
    spent: HashMap<NodeId, Spent>,
    mark: Option<FileFingerprint>,
}

/// What a turn came to.
#[derive(Debug, Clone, Default)]
struct Spent {
    sum: CostTotals,
    models: Vec<String>,
}

/// Some of a turn, told: all of it, unless it is long.
#[derive(Debug)]
pub struct TurnSlice {
    /// The number of the turn; `None` for lines outside of turns.
    pub no: Option<u32>,
    /// The uuid of the first line.
    pub uuid: Option<String>,
    /// Where the turn stands.
    pub standing: PathRelation,
    /// Whether the turn begins with it.
    pub begins: bool,
    /// Whether the turn ends with it.
    pub ends: bool,
    /// What it holds.
    pub turn: Turn,
    /// What the whole turn came to, each response once.
    pub sum: CostTotals,
    /// The models that answered in the whole turn.
    pub models: Vec<String>,
    /// When the whole turn began and ended.
    pub from: Option<Timestamp>,
    /// When its last line was written.
    pub to: Option<Timestamp>,
    /// Where the conversation could have gone elsewhere: just before it, or within what of it belongs together.
    pub crossings: Vec<ForkSwitch>,
    /// Its lines as they stand in the file, with their numbers.
    pub raw: Vec<(u32, Vec<u8>)>,
}

/// Opens a session to read it.
pub fn open_view(path: &Path, prices: &Prices) -> Result<SessionView, Error> {
    // Taken before the file is read: what is written meanwhile makes another mark.
    let mark = std::fs::metadata(path).map(|meta| FileFingerprint::of(&meta)).ok();
    let mut receipts = UsageByNode::default();
    let mut waits = ResultLines::default();
    let mut last = 0;
    let session = load_with_visitor(path, |entry, place| {
        last = place.line;
        receipts.add(entry);
        waits.add(entry, place);
    })?;
    let tree = &session.tree;
    let mut till = Pricer::new(prices);
    let mut spent: HashMap<NodeId, Spent> = HashMap::new();
    receipts.each(|node, model, time, bill| {
        if let Some(turn) = tree.turn_of(node) {
            let spent = spent.entry(turn).or_default();
            spent.sum.add(&till.sum(bill, model, time));
            if !model.is_empty() && !spent.models.iter().any(|known| known == model) {
                spent.models.push(model.to_owned());
            }
        }
    });
    let leaf = session.active().leaf;
    let mut branches = Branches::of(tree);
    let active = leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
    let newest = if branches.list.len() > 1 { tree.newest_descendants() } else { Vec::new() };
    Ok(SessionView { leaf, branches, active, newest, waits, last, spent, mark, session })
}

impl SessionView {
    /// Whether the file is still as it was read.
    pub fn is_current(&self) -> bool {
        let now = std::fs::metadata(&self.session.path).map(|meta| FileFingerprint::of(&meta)).ok();
        now.is_some() && now == self.mark
    }

    /// Says what the client that wrote the newest line would load.
    pub fn verdict(&self) -> Verdict {
        self.session.verdict(Some(self.session.client()))
    }

    /// Finds a way.
    pub fn way(&self, which: &BranchSelector) -> Result<BranchView, Error> {
        let session = &self.session;
        let newest = || session.tree.newest_tip();
        let tip = match which {
            // The branch may go on behind it; a client does not.
            BranchSelector::Active => self.leaf.or_else(newest),
            BranchSelector::Through(name) => Some(session.tip_below(session.entry(name)?)),
            BranchSelector::Everything => newest(),
            BranchSelector::Side(name) => return self.side(name),
        };
        let told = match tip {
            None => TurnOrder::default(),
            Some(tip) if *which == BranchSelector::Everything => {
                turn_order::all(session, tip, &self.branches)
            }
            Some(tip) => turn_order::along(session, tip, &self.branches),
        };
        let branch = tip.filter(|_| *which != BranchSelector::Everything);
        let way = self.stops(tip, branch.and_then(|tip| self.branches.branch_of(tip)), told);
        // Where no line says what it follows, no way leads anywhere: all is shown.
        let is_lost =
            *which == BranchSelector::Active && way.turns() == 0 && session.tree.turns().next().is_some();
        if is_lost { self.way(&BranchSelector::Everything) } else { Ok(way) }
    }

    /// Finds the way of a subagent inside the file.
    fn side(&self, name: &str) -> Result<BranchView, Error> {
        let unknown = || Error::UnknownEntry { name: name.to_owned() };
        let root = self.session.tree.sidechain_root(self.session.entry(name)?).ok_or_else(unknown)?;
        let groups = turn_order::side(&self.session, root);
        let tip = groups.iter().flat_map(|group| &group.nodes).copied().max();
        Ok(self.stops(tip, None, TurnOrder { groups, firsts: Vec::new() }))
    }

    /// Returns the id of the subagent inside the file that holds an entry: the line it begins on.
    pub fn side_of(&self, name: &str) -> Option<String> {
        let root = self.session.tree.sidechain_root(self.session.entry(name).ok()?)?;
        Some(format!("L{}", self.session.tree.node(root).place.line))
    }

    fn stops(&self, tip: Option<NodeId>, branch: Option<usize>, told: TurnOrder) -> BranchView {
        let tree = &self.session.tree;
        let mut nodes = Vec::new();
        let mut stops = Vec::with_capacity(told.groups.len());
        for group in told.groups {
            let Some(&first) = group.nodes.first() else { continue };
            let times = || group.nodes.iter().filter_map(|&no| tree.node(no).time());
            stops.push(TurnRef {
                no: group.no,
                standing: group.standing,
                line: tree.node(first).place.line,
                from: times().min(),
                to: times().max(),
                leaf: 0,
                turn: group.turn,
                nodes: nodes.len()..nodes.len() + group.nodes.len(),
            });
            nodes.extend(group.nodes);
        }
        let passes = turn_order::passes(tree, &nodes, &told.firsts);
        let leaves = paginate::paginate(tree, &nodes, &mut stops, &passes, &self.waits);
        BranchView { tip, branch, stops, nodes, passes, leaves }
    }

    /// Tells a leaf of a way.
    pub fn page(&self, way: &BranchView, leaf: usize) -> Result<Vec<TurnSlice>, Error> {
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let slices = way.leaves.get(leaf).map(Vec::as_slice).unwrap_or_default();
        slices.iter().map(|slice| self.scene(way, slice, &mut lines)).collect()
    }

    /// Tells a whole turn of a way, however long: the stop at this place among its stops.
    pub fn turn(&self, way: &BranchView, stop: usize) -> Result<Option<ToldTurn>, Error> {
        let Some(stop) = way.stops.get(stop) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let nodes = &way.nodes[stop.nodes.clone()];
        let (turn, uuid, raw) = told_nodes(&self.session, &mut lines, nodes, build_turn)?;
        Ok(Some(ToldTurn { no: stop.no, uuid, standing: stop.standing, turn, raw }))
    }

    fn scene(&self, way: &BranchView, slice: &Slice, lines: &mut LineReader) -> Result<TurnSlice, Error> {
        let stop = &way.stops[slice.stop];
        let nodes = &way.nodes[slice.nodes.clone()];
        let begins = slice.nodes.start == stop.nodes.start;
        let (turn, uuid, raw) = told_nodes(
            &self.session,
            lines,
            nodes,
            if begins { build_turn } else { build_turn_continuation },
        )?;
        let spent = stop.turn.and_then(|turn| self.spent.get(&turn)).cloned().unwrap_or_default();
        Ok(TurnSlice {
            no: stop.no,
            uuid,
            standing: stop.standing,
            begins,
            ends: slice.nodes.end == stop.nodes.end,
            turn,
            sum: spent.sum,
            models: spent.models,
            from: stop.from,
            to: stop.to,
            crossings: way
                .passes_in(&slice.nodes)
                .iter()
                .filter_map(|pass| self.crossing(pass.first))
                .collect(),
            raw,
        })
    }

    /// Says where else the conversation went at a node that begins one of several ways.
    fn crossing(&self, first: NodeId) -> Option<ForkSwitch> {
        let (fork, way) = self.branches.fork_starting_at(&self.session.tree, first)?;
        let beside = |way: Option<usize>| self.neighbour(*fork.branches.get(way?)?);
        let (previous, next) = (beside(way.checked_sub(1)), beside(way.checked_add(1)));
        Some(ForkSwitch { kind: fork.kind, way: way + 1, ways: fork.branches.len(), previous, next })
    }

    /// Names the way that begins with a node behind a fork.
    pub(super) fn neighbour(&self, first: NodeId) -> Option<SiblingBranch> {
        let tip = *self.newest.get(first as usize)?;
        let head = self.session.tree.node(self.speaker(first)).place.line;
        Some(SiblingBranch { line: head, tip: self.session.handle(tip) })
    }

    /// Returns the first node of the newest way from here on that is told: links before its words may not be.
    pub(super) fn speaker(&self, first: NodeId) -> NodeId {
        let tree = &self.session.tree;
        let newest = |no: NodeId| self.newest.get(no as usize);
        let mut head = first;
        while tree.node(head).voice == EntryRole::Structural
            && let Some(&below) = tree.children(head).iter().find(|&&child| newest(child) == newest(first))
        {
            head = below;
        }
        head
    }

    /// Finds the leaf of a way on which an entry stands: by its name, such as `L118` or `t9`. A line that is no entry of the
    /// conversation, such as a title, is found where it was written.
    pub fn leaf_of(&self, way: &BranchView, name: &str) -> Option<usize> {
        // A subagent inside the file counts its own turns.
        let turn = name.strip_prefix('t').and_then(|no| no.parse::<u32>().ok());
        if let Some(stop) = way.stops.iter().find(|stop| turn.is_some() && stop.no == turn) {
            return Some(stop.leaf);
        }
        let place = match self.session.entry(name) {
            Ok(node) => way.nodes.iter().position(|&no| no == node)?,
            Err(_) => {
                let line = name.strip_prefix('L').and_then(|no| no.parse::<u32>().ok());
                self.place_before(way, line.filter(|&line| line <= self.last)?)
            }
        };
        way.leaf_of_place(place)
    }

    /// Finds the newest node of a way that stands above a line; where none does, the first.
    fn place_before(&self, way: &BranchView, line: u32) -> usize {
        let lines = way.nodes.iter().map(|&no| self.session.tree.node(no).place.line).enumerate();
        lines.filter(|(_, above)| *above < line).max_by_key(|(_, above)| *above).map_or(0, |(place, _)| place)
    }

    /// Returns by line on which leaf of a way it stands.
    pub fn leaves_by_line(&self, way: &BranchView) -> HashMap<u32, usize> {
        let slices =
            way.leaves.iter().enumerate().flat_map(|(no, leaf)| leaf.iter().map(move |slice| (no, slice)));
        let lines =
            slices.flat_map(|(no, slice)| way.nodes[slice.nodes.clone()].iter().map(move |&node| (node, no)));
        lines.map(|(node, no)| (self.session.tree.node(node).place.line, no)).collect()
    }

    /// Reads a line again.
    pub fn line(&self, line: u32) -> Result<Option<Vec<u8>>, Error> {
        let nodes = self.session.tree.nodes();
        let Some(node) = nodes.iter().find(|node| node.place.line == line) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        lines.read(node.place).map(Some).map_err(Error::reading(path))
    }
}
