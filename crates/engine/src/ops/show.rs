//! A conversation by turns, read from disk one turn at a time.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{self, Entry, EntryRole};
use rethread_core::lines::Line;
use rethread_core::tree::{LineSpan, NodeId, PathRelation, Tree};
use rethread_core::turn::{Turn, build_turn};

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, load_to_tell};

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// The session file.
    pub path: PathBuf,
    /// Turns by number, both ends included.
    pub turns: Option<(u32, u32)>,
    /// The branch that holds this entry instead of the newest.
    pub branch: Option<String>,
    /// Also what is before a compaction and on other branches.
    pub everything: bool,
}

/// A turn, told, with its lines.
#[derive(Debug)]
pub struct ToldTurn {
    /// Its number in the file; `None` for lines before the first prompt.
    pub no: Option<u32>,
    /// The uuid of what starts it.
    pub uuid: Option<String>,
    /// How it stands to the branch that is shown.
    pub standing: PathRelation,
    /// What happened in it.
    pub turn: Turn,
    /// Its lines as they stand in the file, with their numbers.
    pub raw: Vec<(u32, Vec<u8>)>,
}

/// The entries of a turn, in the order of telling.
pub(super) struct Group {
    pub(super) no: Option<u32>,
    pub(super) turn: Option<NodeId>,
    pub(super) standing: PathRelation,
    pub(super) nodes: Vec<NodeId>,
}

/// A session ready to be told turn by turn: an iterator.
pub struct Show {
    /// What was read.
    pub session: Session,
    /// Turns of this branch before a compaction that are not shown.
    pub compacted: usize,
    /// Turns on other branches that are not shown.
    pub aside: usize,
    groups: std::vec::IntoIter<Group>,
    lines: LineReader,
}

/// Prepares to show a session.
pub fn show(request: &ShowRequest) -> Result<Show, Error> {
    let session = load_to_tell(&request.path)?;
    let lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let tip = match &request.branch {
        Some(name) => Some(session.tip_below(session.entry(name)?)),
        None => session.tree.newest_tip(),
    };
    let (compacted, aside) = match tip {
        Some(tip) if !request.everything => elsewhere(&session, tip),
        _ => (0, 0),
    };
    let mut groups = match tip {
        // A turn asked for by its number is shown wherever it is.
        Some(tip) if request.everything || request.turns.is_some() => everything(&session, tip),
        Some(tip) => {
            let walk = session.tree.context_path(tip);
            let nodes = session.tree.with_parallel_calls(&walk).into_iter().map(|step| step.node);
            grouped(&session, nodes, |_| PathRelation::OnPath)
        }
        None => Vec::new(),
    };
    if let Some((first, last)) = request.turns {
        groups.retain(|group| group.no.is_some_and(|no| (first..=last).contains(&no)));
    }
    Ok(Show { compacted, aside, session, groups: groups.into_iter(), lines })
}

/// Counts the turns that are not on the way to `tip`: before a compaction, and on other branches.
fn elsewhere(session: &Session, tip: NodeId) -> (usize, usize) {
    let tree = &session.tree;
    let starts = |walk: Vec<NodeId>| walk.into_iter().filter(|&no| tree.turn_of(no) == Some(no)).count();
    let shown =
        starts(tree.with_parallel_calls(&tree.context_path(tip)).into_iter().map(|step| step.node).collect());
    let long = starts(tree.ancestors_across_compactions(tip)).max(shown);
    let all = tree.turns().count();
    // Where nothing forks, what is not on the way was summed up by a compaction.
    if tree.branches() == 1 {
        (all.saturating_sub(shown), 0)
    } else {
        (long - shown, all.saturating_sub(long))
    }
}

/// Cuts nodes, in the order of telling, into turns.
pub(super) fn grouped(
    session: &Session,
    nodes: impl Iterator<Item = NodeId>,
    standing: impl Fn(NodeId) -> PathRelation,
) -> Vec<Group> {
    grouped_as(session, &session.tree.turns().zip(1..).collect(), nodes, standing)
}

/// Cuts nodes, in the order of telling, into turns with these numbers.
pub(super) fn grouped_as(
    session: &Session,
    numbers: &HashMap<NodeId, u32>,
    nodes: impl Iterator<Item = NodeId>,
    standing: impl Fn(NodeId) -> PathRelation,
) -> Vec<Group> {
    let tree = &session.tree;
    let mut groups: Vec<Group> = Vec::new();
    for node in nodes {
        let turn = tree.turn_of(node);
        // A turn starts with its prompt, or with the pictures above it.
        let starts = turn == Some(node) || turn.is_some() && tree.node(node).voice == EntryRole::ImageOnly;
        match groups.last_mut() {
            Some(group) if !starts || group.turn == turn => group.nodes.push(node),
            _ => {
                let turn = turn.filter(|_| starts);
                let no = turn.and_then(|turn| numbers.get(&turn).copied());
                groups.push(Group { no, turn, standing: standing(node), nodes: vec![node] });
            }
        }
    }
    groups.retain(|group| {
        group.no.is_some() || group.nodes.iter().any(|&no| tree.node(no).voice != EntryRole::Structural)
    });
    groups
}

/// All turns of the file, in the order in which they begin.
pub(super) fn everything(session: &Session, tip: NodeId) -> Vec<Group> {
    let tree = &session.tree;
    let elsewhere = if tree.branches() == 1 { PathRelation::Compacted } else { PathRelation::Aside };
    let mut standings = vec![elsewhere; tree.nodes().len()];
    for no in tree.ancestors_across_compactions(tip) {
        standings[no as usize] = PathRelation::Compacted;
    }
    let context = tree.context_path(tip);
    // Where lines do not say what they follow, what a client loads is more than the way to any of them.
    let is_lost = !context.iter().any(|&no| tree.turn_of(no).is_some());
    for no in if is_lost { session.active().nodes } else { context } {
        standings[no as usize] = PathRelation::OnPath;
    }
    let mut order: Vec<NodeId> = (0..tree.nodes().len() as NodeId).collect();
    order.retain(|&no| tree.is_main_chain(no));
    in_turns(tree, &mut order);
    grouped(session, order.into_iter(), |no| standings[no as usize])
}

/// Puts nodes in file order, but each turn's together and its start first.
pub(super) fn in_turns(tree: &Tree, nodes: &mut [NodeId]) {
    let lead = |no: NodeId| tree.turn_of(no) != Some(no) && tree.node(no).voice != EntryRole::ImageOnly;
    nodes.sort_by_key(|&no| (tree.turn_of(no).unwrap_or(no), lead(no), no));
}

impl Show {
    /// Tells the next turn.
    pub fn next_turn(&mut self) -> Option<Result<ToldTurn, Error>> {
        let group = self.groups.next()?;
        Some(told(&self.session, &mut self.lines, &group))
    }
}

/// Reads the lines of a turn and tells it.
pub(super) fn told(session: &Session, lines: &mut LineReader, group: &Group) -> Result<ToldTurn, Error> {
    let (turn, uuid, raw) = told_nodes(session, lines, &group.nodes, build_turn)?;
    Ok(ToldTurn { no: group.no, uuid, standing: group.standing, turn, raw })
}

/// Lines as they stand in the file, with their numbers.
pub(super) type Raw = Vec<(u32, Vec<u8>)>;

/// Reads the lines of a turn, or of some of it, and has it told; returns also the uuid of the first.
pub(super) fn told_nodes(
    session: &Session,
    lines: &mut LineReader,
    nodes: &[NodeId],
    tell: fn(&[(u32, Entry<'_>)]) -> Turn,
) -> Result<(Turn, Option<String>, Raw), Error> {
    let places: Vec<LineSpan> = nodes.iter().map(|&no| session.tree.node(no).place).collect();
    let mut raw = Vec::with_capacity(places.len());
    for place in places {
        let bytes = lines.read(place).map_err(Error::reading(&session.path))?;
        raw.push((place.line, bytes));
    }
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::with_capacity(raw.len());
    for (no, bytes) in &raw {
        let line = Line { no: *no, offset: 0, bytes, unterminated: false };
        let before = entries.len();
        entry::read(&line, &mut Vec::new(), |entry, _| entries.push((*no, entry)));
        if entries.len() == before {
            return Err(Error::Changed { path: session.path.clone() });
        }
    }
    let turn = tell(&entries);
    let first = entries.first().and_then(|(_, entry)| entry.uuid);
    let uuid = first.map(|uuid| uuid.decode().into_owned());
    drop(entries);
    Ok((turn, uuid, raw))
}
