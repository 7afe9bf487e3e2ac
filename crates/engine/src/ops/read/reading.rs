//! A session, opened once; its turns are told when they are asked for.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::entry::{Moment, Voice};
use rethread_core::tree::{Branches, NodeNo, Standing};
use rethread_core::turn::{Turn, tell, tell_on};
use rethread_core::usage::{Prices, Receipts, Sum};

use super::cut;
use super::order::{self, Told};
use super::waits::Waits;
use super::way::{Crossing, Neighbour, Slice, Stop, Way, Which};
use crate::Failure;
use crate::disk::{Lines, Mark};
use crate::ops::explain::Verdict;
use crate::ops::load::{Session, load_seeing};
use crate::ops::show::{ToldTurn, told_nodes};
use crate::ops::usage::Till;

/// A session opened to be read.
#[derive(Debug)]
pub struct Reading {
    /// What was read.
    pub session: Session,
    /// The entry that the client goes on from.
    pub leaf: Option<NodeNo>,
    /// Every way it went.
    pub branches: Branches,
    /// The branch that the client goes on from.
    pub active: Option<usize>,
    /// By node, the newest tip below it; empty where nothing forks.
    newest: Vec<NodeNo>,
    waits: Waits,
    /// The number of the last line.
    last: u32,
    spent: HashMap<NodeNo, Spent>,
    mark: Option<Mark>,
}

/// What a turn came to.
#[derive(Debug, Clone, Default)]
struct Spent {
    sum: Sum,
    models: Vec<String>,
}

/// Some of a turn, told: all of it, unless it is long.
#[derive(Debug)]
pub struct Scene {
    /// The number of the turn; `None` for lines outside of turns.
    pub no: Option<u32>,
    /// The uuid of the first line.
    pub uuid: Option<String>,
    /// Where the turn stands.
    pub standing: Standing,
    /// Whether the turn begins with it.
    pub begins: bool,
    /// Whether the turn ends with it.
    pub ends: bool,
    /// What it holds.
    pub turn: Turn,
    /// What the whole turn came to, each response once.
    pub sum: Sum,
    /// The models that answered in the whole turn.
    pub models: Vec<String>,
    /// When the whole turn began and ended.
    pub from: Option<Moment>,
    /// When its last line was written.
    pub to: Option<Moment>,
    /// Where the conversation could have gone elsewhere: just before it, or within what of it belongs together.
    pub crossings: Vec<Crossing>,
    /// Its lines as they stand in the file, with their numbers.
    pub raw: Vec<(u32, Vec<u8>)>,
}

/// Opens a session to read it.
pub fn read(path: &Path, prices: &Prices) -> Result<Reading, Failure> {
    // Taken before the file is read: what is written meanwhile makes another mark.
    let mark = std::fs::metadata(path).map(|meta| Mark::of(&meta)).ok();
    let mut receipts = Receipts::default();
    let mut waits = Waits::default();
    let mut last = 0;
    let session = load_seeing(path, |entry, place| {
        last = place.line;
        receipts.add(entry);
        waits.add(entry, place);
    })?;
    let tree = &session.tree;
    let mut till = Till::new(prices);
    let mut spent: HashMap<NodeNo, Spent> = HashMap::new();
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
    let active = leaf.and_then(|leaf| branches.goes_on_from(tree, leaf));
    let newest = if branches.list.len() > 1 { tree.newest_below() } else { Vec::new() };
    Ok(Reading { leaf, branches, active, newest, waits, last, spent, mark, session })
}

impl Reading {
    /// Whether the file is still as it was read.
    pub fn is_current(&self) -> bool {
        let now = std::fs::metadata(&self.session.path).map(|meta| Mark::of(&meta)).ok();
        now.is_some() && now == self.mark
    }

    /// Says what the client that wrote the newest line would load.
    pub fn verdict(&self) -> Verdict {
        self.session.verdict(Some(self.session.client()))
    }

    /// Finds a way.
    pub fn way(&self, which: &Which) -> Result<Way, Failure> {
        let session = &self.session;
        let newest = || session.tree.newest_tip();
        let tip = match which {
            // The branch may go on behind it; a client does not.
            Which::Active => self.leaf.or_else(newest),
            Which::Through(name) => Some(session.tip_below(session.entry(name)?)),
            Which::Everything => newest(),
            Which::Side(name) => return self.side(name),
        };
        let told = match tip {
            None => Told::default(),
            Some(tip) if *which == Which::Everything => order::all(session, tip, &self.branches),
            Some(tip) => order::along(session, tip, &self.branches),
        };
        let branch = tip.filter(|_| *which != Which::Everything);
        let way = self.stops(tip, branch.and_then(|tip| self.branches.of_node(tip)), told);
        // Where no line says what it follows, no way leads anywhere: all is shown.
        let is_lost = *which == Which::Active && way.turns() == 0 && session.tree.turns().next().is_some();
        if is_lost { self.way(&Which::Everything) } else { Ok(way) }
    }

    /// Finds the way of a subagent inside the file.
    fn side(&self, name: &str) -> Result<Way, Failure> {
        let unknown = || Failure::UnknownEntry { name: name.to_owned() };
        let root = self.session.tree.side_root(self.session.entry(name)?).ok_or_else(unknown)?;
        let groups = order::side(&self.session, root);
        let tip = groups.iter().flat_map(|group| &group.nodes).copied().max();
        Ok(self.stops(tip, None, Told { groups, firsts: Vec::new() }))
    }

    /// Returns the id of the subagent inside the file that holds an entry: the line it begins on.
    pub fn side_of(&self, name: &str) -> Option<String> {
        let root = self.session.tree.side_root(self.session.entry(name).ok()?)?;
        Some(format!("L{}", self.session.tree.node(root).place.line))
    }

    fn stops(&self, tip: Option<NodeNo>, branch: Option<usize>, told: Told) -> Way {
        let tree = &self.session.tree;
        let mut nodes = Vec::new();
        let mut stops = Vec::with_capacity(told.groups.len());
        for group in told.groups {
            let Some(&first) = group.nodes.first() else { continue };
            let times = || group.nodes.iter().filter_map(|&no| tree.node(no).time());
            stops.push(Stop {
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
        let passes = order::passes(tree, &nodes, &told.firsts);
        let leaves = cut::leaves(tree, &nodes, &mut stops, &passes, &self.waits);
        Way { tip, branch, stops, nodes, passes, leaves }
    }

    /// Tells a leaf of a way.
    pub fn leaf(&self, way: &Way, leaf: usize) -> Result<Vec<Scene>, Failure> {
        let path = &self.session.path;
        let mut lines = Lines::open(path).map_err(Failure::reading(path))?;
        let slices = way.leaves.get(leaf).map(Vec::as_slice).unwrap_or_default();
        slices.iter().map(|slice| self.scene(way, slice, &mut lines)).collect()
    }

    /// Tells a whole turn of a way, however long: the stop at this place among its stops.
    pub fn turn(&self, way: &Way, stop: usize) -> Result<Option<ToldTurn>, Failure> {
        let Some(stop) = way.stops.get(stop) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = Lines::open(path).map_err(Failure::reading(path))?;
        let nodes = &way.nodes[stop.nodes.clone()];
        let (turn, uuid, raw) = told_nodes(&self.session, &mut lines, nodes, tell)?;
        Ok(Some(ToldTurn { no: stop.no, uuid, standing: stop.standing, turn, raw }))
    }

    fn scene(&self, way: &Way, slice: &Slice, lines: &mut Lines) -> Result<Scene, Failure> {
        let stop = &way.stops[slice.stop];
        let nodes = &way.nodes[slice.nodes.clone()];
        let begins = slice.nodes.start == stop.nodes.start;
        let (turn, uuid, raw) = told_nodes(&self.session, lines, nodes, if begins { tell } else { tell_on })?;
        let spent = stop.turn.and_then(|turn| self.spent.get(&turn)).cloned().unwrap_or_default();
        Ok(Scene {
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
    fn crossing(&self, first: NodeNo) -> Option<Crossing> {
        let (fork, way) = self.branches.begins(&self.session.tree, first)?;
        let beside = |way: Option<usize>| self.neighbour(*fork.ways.get(way?)?);
        let (previous, next) = (beside(way.checked_sub(1)), beside(way.checked_add(1)));
        Some(Crossing { kind: fork.kind, way: way + 1, ways: fork.ways.len(), previous, next })
    }

    /// Names the way that begins with a node behind a fork.
    pub(super) fn neighbour(&self, first: NodeNo) -> Option<Neighbour> {
        let tip = *self.newest.get(first as usize)?;
        let head = self.session.tree.node(self.speaker(first)).place.line;
        Some(Neighbour { line: head, tip: self.session.handle(tip) })
    }

    /// Returns the first node of the newest way from here on that is told: links before its words may not be.
    pub(super) fn speaker(&self, first: NodeNo) -> NodeNo {
        let tree = &self.session.tree;
        let newest = |no: NodeNo| self.newest.get(no as usize);
        let mut head = first;
        while tree.node(head).voice == Voice::Link
            && let Some(&below) = tree.children(head).iter().find(|&&child| newest(child) == newest(first))
        {
            head = below;
        }
        head
    }

    /// Finds the leaf of a way on which an entry stands: by its name, such as `L118` or `t9`. A line that is no entry of the
    /// conversation, such as a title, is found where it was written.
    pub fn leaf_of(&self, way: &Way, name: &str) -> Option<usize> {
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
    fn place_before(&self, way: &Way, line: u32) -> usize {
        let lines = way.nodes.iter().map(|&no| self.session.tree.node(no).place.line).enumerate();
        lines.filter(|(_, above)| *above < line).max_by_key(|(_, above)| *above).map_or(0, |(place, _)| place)
    }

    /// Returns by line on which leaf of a way it stands.
    pub fn leaves_by_line(&self, way: &Way) -> HashMap<u32, usize> {
        let slices =
            way.leaves.iter().enumerate().flat_map(|(no, leaf)| leaf.iter().map(move |slice| (no, slice)));
        let lines =
            slices.flat_map(|(no, slice)| way.nodes[slice.nodes.clone()].iter().map(move |&node| (node, no)));
        lines.map(|(node, no)| (self.session.tree.node(node).place.line, no)).collect()
    }

    /// Reads a line again.
    pub fn line(&self, line: u32) -> Result<Option<Vec<u8>>, Failure> {
        let nodes = self.session.tree.nodes();
        let Some(node) = nodes.iter().find(|node| node.place.line == line) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = Lines::open(path).map_err(Failure::reading(path))?;
        lines.read(node.place).map(Some).map_err(Failure::reading(path))
    }
}
