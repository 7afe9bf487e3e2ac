//! A session, opened once; its turns are told when they are asked for.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rethread_core::entry::Moment;
use rethread_core::tree::{Branches, Fork, NodeNo, Standing};
use rethread_core::turn::Turn;
use rethread_core::usage::{Prices, Receipts, Sum};

use super::cut;
use super::way::{Crossing, Slice, Stop, Way, Which};
use crate::Failure;
use crate::disk::{Lines, Mark};
use crate::ops::explain::Verdict;
use crate::ops::load::{Session, load_seeing};
use crate::ops::show::{Group, ToldTurn, everything, grouped, told_nodes};
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
    forks: Vec<Fork>,
    /// By the first node of a way, its fork and which of its ways it is.
    ways: HashMap<NodeNo, (usize, usize)>,
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
    /// Where the conversation could have gone elsewhere, just before it.
    pub crossing: Option<Crossing>,
    /// Its lines as they stand in the file, with their numbers.
    pub raw: Vec<(u32, Vec<u8>)>,
}

/// Opens a session to read it.
pub fn read(path: &Path, prices: &Prices) -> Result<Reading, Failure> {
    // Taken before the file is read: what is written meanwhile makes another mark.
    let mark = std::fs::metadata(path).map(|meta| Mark::of(&meta)).ok();
    let mut receipts = Receipts::default();
    let session = load_seeing(path, |entry, _| receipts.add(entry))?;
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
    let forks: Vec<Fork> = tree.forks().into_iter().filter(|fork| fork.kind.is_real()).collect();
    let each = |(no, fork): (usize, &Fork)| {
        fork.ways.iter().enumerate().map(move |(way, &first)| (first, (no, way))).collect::<Vec<_>>()
    };
    let ways = forks.iter().enumerate().flat_map(each).collect();
    Ok(Reading { leaf, branches, active, forks, ways, spent, mark, session })
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
            Which::Active => self.active.map(|branch| self.branches.list[branch].tip).or_else(newest),
            Which::Through(name) => Some(session.tip_below(session.entry(name)?)),
            Which::Everything => newest(),
        };
        let groups = match tip {
            None => Vec::new(),
            Some(tip) if *which == Which::Everything => everything(session, tip),
            Some(tip) => along(session, tip),
        };
        let branch = tip.filter(|_| *which != Which::Everything);
        let way = self.stops(tip, branch.and_then(|tip| self.branches.of_node(tip)), groups);
        // Where no line says what it follows, no way leads anywhere: all is shown.
        let is_lost = *which == Which::Active && way.turns() == 0 && session.tree.turns().next().is_some();
        if is_lost { self.way(&Which::Everything) } else { Ok(way) }
    }

    fn stops(&self, tip: Option<NodeNo>, branch: Option<usize>, groups: Vec<Group>) -> Way {
        let tree = &self.session.tree;
        let mut nodes = Vec::new();
        let mut stops = Vec::with_capacity(groups.len());
        for group in groups {
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
        let leaves = cut::leaves(tree, &nodes, &mut stops, |no| self.ways.contains_key(&no));
        Way { tip, branch, stops, nodes, leaves }
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
        let (turn, uuid, raw) = told_nodes(&self.session, &mut lines, &way.nodes[stop.nodes.clone()])?;
        Ok(Some(ToldTurn { no: stop.no, uuid, standing: stop.standing, turn, raw }))
    }

    fn scene(&self, way: &Way, slice: &Slice, lines: &mut Lines) -> Result<Scene, Failure> {
        let stop = &way.stops[slice.stop];
        let nodes = &way.nodes[slice.nodes.clone()];
        let (turn, uuid, raw) = told_nodes(&self.session, lines, nodes)?;
        let spent = stop.turn.and_then(|turn| self.spent.get(&turn)).cloned().unwrap_or_default();
        Ok(Scene {
            no: stop.no,
            uuid,
            standing: stop.standing,
            begins: slice.nodes.start == stop.nodes.start,
            ends: slice.nodes.end == stop.nodes.end,
            turn,
            sum: spent.sum,
            models: spent.models,
            from: stop.from,
            to: stop.to,
            crossing: nodes.first().and_then(|&first| self.crossing(first)),
            raw,
        })
    }

    /// Says where else the conversation went at a node that begins one of several ways.
    fn crossing(&self, first: NodeNo) -> Option<Crossing> {
        let &(fork, way) = self.ways.get(&first)?;
        let fork = &self.forks[fork];
        let session = &self.session;
        let each = |&first: &NodeNo| {
            let tip = session.tip_below(first);
            (session.tree.node(first).place.line, session.handle(tip))
        };
        Some(Crossing { kind: fork.kind, way: way + 1, ways: fork.ways.iter().map(each).collect() })
    }

    /// Finds the leaf of a way on which an entry stands: by its name, such as `L118` or `t9`.
    pub fn leaf_of(&self, way: &Way, name: &str) -> Option<usize> {
        let node = self.session.entry(name).ok()?;
        let place = way.nodes.iter().position(|&no| no == node)?;
        way.leaf_of_place(place)
    }

    /// Returns by line on which leaf of a way it stands.
    pub fn leaves_by_line(&self, way: &Way) -> HashMap<u32, usize> {
        let slices =
            way.leaves.iter().enumerate().flat_map(|(no, leaf)| leaf.iter().map(move |slice| (no, slice)));
        let lines =
            slices.flat_map(|(no, slice)| way.nodes[slice.nodes.clone()].iter().map(move |&node| (node, no)));
        lines.map(|(node, no)| (self.session.tree.node(node).place.line, no)).collect()
    }

    /// Returns the forks that this way passes: the place among the stops, and the crossing.
    pub fn crossings(&self, way: &Way) -> Vec<(usize, Crossing)> {
        let at = |(place, no): (usize, &NodeNo)| {
            let crossing = self.crossing(*no)?;
            Some((way.stops.partition_point(|stop| stop.nodes.end <= place), crossing))
        };
        way.nodes.iter().enumerate().filter_map(at).collect()
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

/// The turns on the way to a tip, also those before a compaction.
fn along(session: &Session, tip: NodeNo) -> Vec<Group> {
    let tree = &session.tree;
    let context: HashSet<NodeNo> = tree.context(tip).into_iter().collect();
    let steps = tree.rejoin(&tree.long_walk(tip));
    let mut standings = HashMap::with_capacity(steps.len());
    let mut before = Standing::Compacted;
    for step in &steps {
        // What was re-joined stands where the line before it does.
        before = match (context.contains(&step.node), step.on_walk) {
            (true, _) => Standing::OnPath,
            (false, true) => Standing::Compacted,
            (false, false) => before,
        };
        standings.insert(step.node, before);
    }
    let standing = |no| standings.get(&no).copied().unwrap_or(Standing::OnPath);
    grouped(session, steps.iter().map(|step| step.node), standing)
}
