//! A session that is loaded once. Its turns are read when they are needed.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use rethread_core::entry::{Entry, EntryRole, Timestamp};
use rethread_core::tree::{Branches, LineSpan, NodeId, PathRelation, VisitFn};
use rethread_core::turn::{Turn, build_turn, build_turn_continuation};
use rethread_core::usage::{CostTotals, PriceTable, UsageByNode};

use super::branch_view::{BranchSelector, BranchView, ForkSwitch, NodeSlice, SiblingBranch, TurnRef};
use super::result_lines::ResultLines;
use super::{fork_marks, paginate};
use crate::Error;
use crate::disk::{FileFingerprint, LineReader, read_fingerprint};
use crate::ops::explain::ClientVerdict;
use crate::ops::show::{RawLine, ShownTurn, TurnGroup, TurnScope, read_turn_nodes, select_turns};
use crate::ops::usage::Pricer;
use crate::session::load::{LoadOptions, Session, load};

/// A loaded session for random access to branches, pages and turns.
#[derive(Debug)]
pub struct SessionView {
    /// The session.
    pub session: Session,
    /// The entry from which the client resumes. `None` if the session has no entries.
    pub leaf: Option<NodeId>,
    /// All branches of the tree.
    pub branches: Branches,
    /// The index in [`Branches::list`] of the branch from which the client resumes.
    pub active: Option<usize>,
    /// The newest tip below each node. Empty if there are no forks.
    newest_descendants: Vec<NodeId>,
    result_lines: ResultLines,
    /// The number of the last line.
    last_line: u32,
    /// The cost of each turn, by the node that starts the turn.
    turn_costs: HashMap<NodeId, TurnCost>,
    /// The fingerprint of the file before it was read. `None` if it could not be determined.
    fingerprint: Option<FileFingerprint>,
}

/// The cost and the models of a turn.
#[derive(Debug, Clone, Default)]
struct TurnCost {
    totals: CostTotals,
    models: Vec<String>,
}

/// A part of a turn. Short turns have only one part.
#[derive(Debug)]
pub struct TurnSlice {
    /// The number of the turn. `None` for lines outside of turns.
    pub number: Option<u32>,
    /// The uuid of the first line.
    pub uuid: Option<String>,
    /// The relation of the turn to the branch.
    pub relation: PathRelation,
    /// Whether the turn starts with this part.
    pub starts_turn: bool,
    /// Whether the turn ends with this part.
    pub ends_turn: bool,
    /// The prompt and the blocks of this part.
    pub turn: Turn,
    /// The cost of the whole turn, each response counted once.
    pub cost: CostTotals,
    /// The models that answered in the whole turn.
    pub models: Vec<String>,
    /// The time of the first line of the whole turn.
    pub started_at: Option<Timestamp>,
    /// The time of the last line of the whole turn.
    pub ended_at: Option<Timestamp>,
    /// The forks directly before or within this part.
    pub forks: Vec<ForkSwitch>,
    /// The lines of this part.
    pub lines: Vec<RawLine>,
}

/// Loads the session file `path` for random access. `prices` determines the costs of its turns.
pub fn open_view(path: &Path, prices: &PriceTable) -> Result<SessionView, Error> {
    // Taken before the file is read, so that a concurrent write changes the fingerprint.
    let fingerprint = read_fingerprint(path).ok();
    let mut last_line = 0;
    let set_last_line = VisitFn(|_: &Entry<'_>, span: LineSpan| last_line = span.line);
    let mut visitors = (UsageByNode::default(), ResultLines::default(), set_last_line);
    let session = load(path, LoadOptions::default(), &mut visitors)?;
    let (usage_by_node, result_lines, _) = visitors;
    let tree = &session.tree;
    let mut pricer = Pricer::new(prices);
    let mut turn_costs: HashMap<NodeId, TurnCost> = HashMap::new();
    usage_by_node.for_each_response(|node, model, time, usage| {
        if let Some(turn) = tree.turn_of(node) {
            let turn_cost = turn_costs.entry(turn).or_default();
            turn_cost.totals.add(&pricer.price(usage, model, time));
            if !model.is_empty() && !turn_cost.models.iter().any(|name| name == model) {
                turn_cost.models.push(model.to_owned());
            }
        }
    });
    let leaf = session.active_path().leaf;
    let mut branches = Branches::from_tree(tree);
    let active = leaf.and_then(|leaf| branches.set_active_leaf(tree, leaf));
    let newest_descendants = if branches.list.len() > 1 { tree.newest_descendants() } else { Vec::new() };
    Ok(SessionView {
        leaf,
        branches,
        active,
        newest_descendants,
        result_lines,
        last_line,
        turn_costs,
        fingerprint,
        session,
    })
}

impl SessionView {
    /// Returns `true` if the file has not changed since it was loaded. Returns `false` if its metadata cannot be read.
    pub fn is_current(&self) -> bool {
        let now = read_fingerprint(&self.session.path).ok();
        now.is_some() && now == self.fingerprint
    }

    /// Returns what the client that wrote the newest line would load.
    pub fn resume_verdict(&self) -> ClientVerdict {
        self.session.verdict(Some(self.session.client()))
    }

    /// Builds the view of a branch, with the turns that [`show_session`](crate::ops::show::show_session) selects.
    pub fn branch_view(&self, selector: &BranchSelector) -> Result<BranchView, Error> {
        self.branch_view_of_turns(selector, None)
    }

    /// Builds the view of a branch with only the turns whose numbers are in `turns`. `None` keeps all turns. The scope
    /// covers all of them.
    pub fn branch_view_of_turns(
        &self,
        selector: &BranchSelector,
        turns: Option<&RangeInclusive<u32>>,
    ) -> Result<BranchView, Error> {
        let tree = &self.session.tree;
        let (path, mut groups) = select_turns(&self.session, selector)?;
        let (branch, fork_starts) = match (selector, path.leaf) {
            (BranchSelector::AllTurns, _) => (None, fork_marks::find_fork_starts(tree, &self.branches)),
            (BranchSelector::Sidechain(_), _) | (_, None) => (None, Vec::new()),
            (_, Some(tip)) => (
                self.branches.branch_of(tree.resume_point(tip)),
                fork_marks::find_fork_starts_above(tree, &self.branches, tip),
            ),
        };
        let mut scope = TurnScope::new(&self.session, &groups);
        if let Some(turns) = turns {
            scope.keep_requested(&mut groups, turns);
        }
        Ok(BranchView { scope, branch, ..self.build_view(path.leaf, groups, &fork_starts) })
    }

    /// Returns the id of the subagent inside the file to which the entry `name` belongs: its first line (`L118`). Returns
    /// `None` if the entry is not found or belongs to no subagent.
    pub fn sidechain_id(&self, name: &str) -> Option<String> {
        let root = self.session.tree.sidechain_root(self.session.find_entry(name).ok()?)?;
        Some(format!("L{}", self.session.tree.node(root).span.line))
    }

    /// Locates the forks of ordered turns and divides the turns into pages.
    fn build_view(&self, tip: Option<NodeId>, groups: Vec<TurnGroup>, fork_starts: &[NodeId]) -> BranchView {
        let tree = &self.session.tree;
        let mut nodes = Vec::new();
        let mut turns = Vec::with_capacity(groups.len());
        for group in groups {
            let Some(&first) = group.nodes.first() else { continue };
            turns.push(TurnRef {
                number: group.number,
                relation: group.relation,
                line: tree.node(first).span.line,
                started_at: group.times.map(|times| times.0),
                ended_at: group.times.map(|times| times.1),
                page: 0,
                start_node: group.start_node,
                nodes: nodes.len()..nodes.len() + group.nodes.len(),
            });
            nodes.extend(group.nodes);
        }
        let fork_marks = fork_marks::locate_forks(tree, &nodes, fork_starts);
        let pages = paginate::paginate(tree, &nodes, &mut turns, &fork_marks, &self.result_lines);
        BranchView { tip, branch: None, scope: TurnScope::default(), turns, nodes, fork_marks, pages }
    }

    /// Reads the page with an index. Returns an empty list if there is no such page.
    pub fn read_page(&self, view: &BranchView, page: usize) -> Result<Vec<TurnSlice>, Error> {
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let slices = view.pages.get(page).map(Vec::as_slice).unwrap_or_default();
        slices.iter().map(|slice| self.read_slice(view, slice, &mut lines)).collect()
    }

    /// Returns the number of bytes of the lines of the turn at an index of [`BranchView::turns`], or 0 if there is none.
    pub fn turn_bytes(&self, view: &BranchView, turn_idx: usize) -> u64 {
        view.turns.get(turn_idx).map_or(0, |turn| self.count_bytes(&view.nodes[turn.nodes.clone()]))
    }

    /// Returns the number of bytes of the lines of the page with an index, or 0 if there is no such page.
    pub fn page_bytes(&self, view: &BranchView, page: usize) -> u64 {
        let slices = view.pages.get(page).map(Vec::as_slice).unwrap_or_default();
        slices.iter().map(|slice| self.count_bytes(&view.nodes[slice.nodes.clone()])).sum()
    }

    fn count_bytes(&self, nodes: &[NodeId]) -> u64 {
        nodes.iter().map(|&id| u64::from(self.session.tree.node(id).span.len)).sum()
    }

    /// Reads the whole turn at an index of [`BranchView::turns`]. Returns `None` if there is no such turn.
    pub fn read_turn(&self, view: &BranchView, turn_idx: usize) -> Result<Option<ShownTurn>, Error> {
        let Some(turn_ref) = view.turns.get(turn_idx) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let nodes = &view.nodes[turn_ref.nodes.clone()];
        let (mut turn, uuid, lines_read) = read_turn_nodes(&self.session, &mut lines, nodes, build_turn)?;
        (turn.started_at, turn.ended_at) = (turn_ref.started_at, turn_ref.ended_at);
        Ok(Some(ShownTurn {
            number: turn_ref.number,
            uuid,
            relation: turn_ref.relation,
            turn,
            lines: lines_read,
        }))
    }

    /// Reads the lines of one slice, and adds the cost of its whole turn and its forks.
    fn read_slice(
        &self,
        view: &BranchView,
        slice: &NodeSlice,
        lines: &mut LineReader,
    ) -> Result<TurnSlice, Error> {
        let turn_ref = &view.turns[slice.turn_idx];
        let nodes = &view.nodes[slice.nodes.clone()];
        let starts_turn = slice.nodes.start == turn_ref.nodes.start;
        let (turn, uuid, lines_read) = read_turn_nodes(
            &self.session,
            lines,
            nodes,
            if starts_turn { build_turn } else { build_turn_continuation },
        )?;
        let turn_cost =
            turn_ref.start_node.and_then(|turn| self.turn_costs.get(&turn)).cloned().unwrap_or_default();
        Ok(TurnSlice {
            number: turn_ref.number,
            uuid,
            relation: turn_ref.relation,
            starts_turn,
            ends_turn: slice.nodes.end == turn_ref.nodes.end,
            turn,
            cost: turn_cost.totals,
            models: turn_cost.models,
            started_at: turn_ref.started_at,
            ended_at: turn_ref.ended_at,
            forks: view
                .fork_marks_in(&slice.nodes)
                .iter()
                .filter_map(|fork_mark| self.build_fork_switch(fork_mark.first))
                .collect(),
            lines: lines_read,
        })
    }

    /// Returns the fork before `first`, with the sibling branches. Returns `None` if `first` does not start a branch.
    fn build_fork_switch(&self, first: NodeId) -> Option<ForkSwitch> {
        let (fork, idx) = self.branches.fork_starting_at(&self.session.tree, first)?;
        let sibling = |idx: Option<usize>| self.find_sibling_branch(*fork.branches.get(idx?)?);
        let (previous, next) = (sibling(idx.checked_sub(1)), sibling(idx.checked_add(1)));
        Some(ForkSwitch {
            kind: fork.kind,
            position: idx + 1,
            branch_count: fork.branches.len(),
            previous,
            next,
        })
    }

    /// Returns the branch that starts with `first`, a node directly after a fork. Returns `None` if the file has no forks.
    pub(super) fn find_sibling_branch(&self, first: NodeId) -> Option<SiblingBranch> {
        let tip = *self.newest_descendants.get(first as usize)?;
        let line = self.session.tree.node(self.find_first_shown_node(first)).span.line;
        Some(SiblingBranch { line, tip: self.session.entry_handle(tip) })
    }

    /// Returns the first node that is not structural, from `first` on along the newest branch.
    pub(super) fn find_first_shown_node(&self, first: NodeId) -> NodeId {
        let tree = &self.session.tree;
        let newest = |id: NodeId| self.newest_descendants.get(id as usize);
        let mut shown = first;
        while tree.node(shown).role == EntryRole::Structural
            && let Some(&child) = tree.children(shown).iter().find(|&&child| newest(child) == newest(first))
        {
            shown = child;
        }
        shown
    }

    /// Finds the index of the page of an entry by its name, such as `L118` or `t9`. For a line outside the conversation,
    /// such as a title, returns the page of the entry before it. Returns `None` if the entry is unknown or not in the view.
    pub fn page_of_entry(&self, view: &BranchView, name: &str) -> Option<usize> {
        // A subagent inside the file has its own turn numbers.
        let turn = name.strip_prefix('t').and_then(|number| number.parse::<u32>().ok());
        if let Some(turn_ref) = view.turns.iter().find(|turn_ref| turn.is_some() && turn_ref.number == turn) {
            return Some(turn_ref.page);
        }
        let position = match self.session.find_entry(name) {
            Ok(node) => {
                let node = self.session.tree.original(node);
                view.nodes.iter().position(|&id| id == node)?
            }
            Err(_) => {
                let line = name.strip_prefix('L').and_then(|number| number.parse::<u32>().ok());
                self.find_position_before(view, line.filter(|&line| line <= self.last_line)?)
            }
        };
        view.find_page_of_position(position)
    }

    /// Returns the index in [`BranchView::nodes`] of the last node before a line, or 0 if there is none.
    fn find_position_before(&self, view: &BranchView, line: u32) -> usize {
        let lines = view.nodes.iter().map(|&id| self.session.tree.node(id).span.line).enumerate();
        lines
            .filter(|(_, node_line)| *node_line < line)
            .max_by_key(|(_, node_line)| *node_line)
            .map_or(0, |(position, _)| position)
    }

    /// Maps the line number of each entry of a branch to the index of its page.
    pub fn pages_by_line(&self, view: &BranchView) -> HashMap<u32, usize> {
        let slices = view
            .pages
            .iter()
            .enumerate()
            .flat_map(|(page_idx, page)| page.iter().map(move |slice| (page_idx, slice)));
        let lines = slices.flat_map(|(page_idx, slice)| {
            view.nodes[slice.nodes.clone()].iter().map(move |&id| (id, page_idx))
        });
        lines.map(|(id, page_idx)| (self.session.tree.node(id).span.line, page_idx)).collect()
    }

    /// Reads the bytes of a line by its number. Returns `None` if the line is not an entry of the tree.
    pub fn read_line(&self, line: u32) -> Result<Option<Vec<u8>>, Error> {
        let nodes = self.session.tree.nodes();
        let Some(node) = nodes.iter().find(|node| node.span.line == line) else { return Ok(None) };
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        lines.read_span(node.span).map(Some).map_err(Error::reading(path))
    }
}
