//! Reads a conversation turn by turn. Only one turn is in memory at a time.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use rethread_core::entry::{self, Entry, EntryRole};
use rethread_core::lines::Line;
use rethread_core::tree::{LineSpan, NodeId, PathRelation, Tree};
use rethread_core::turn::{Turn, build_turn};

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, load};

/// Options of [`show_session`].
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// The session file.
    pub path: PathBuf,
    /// The numbers of the turns to show, on any branch. `None` shows all turns of the branch.
    pub turns: Option<RangeInclusive<u32>>,
    /// The name of an entry on the branch to show. `None` shows the newest branch.
    pub branch: Option<String>,
    /// Also show turns before a compaction and on other branches.
    pub all_turns: bool,
    /// Omit texts in the user's name that no user typed, and turns that have nothing else.
    pub only_typed: bool,
}

/// A turn with its lines.
#[derive(Debug)]
pub struct ShownTurn {
    /// The number in the file, from 1. `None` for lines before the first prompt.
    pub number: Option<u32>,
    /// The uuid of its first entry. `None` if that entry has none.
    pub uuid: Option<String>,
    /// The relation of the turn to the branch that is shown.
    pub relation: PathRelation,
    /// The prompt and the blocks of the turn.
    pub turn: Turn,
    /// The lines of the turn.
    pub lines: Vec<RawLine>,
}

/// One line of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// The line number, from 1.
    pub number: u32,
    /// The bytes, without the line end.
    pub bytes: Vec<u8>,
}

/// The entries of a turn, in reading order.
pub(super) struct TurnGroup {
    pub(super) number: Option<u32>,
    /// The node that starts the turn. `None` for lines outside of turns.
    pub(super) start_node: Option<NodeId>,
    pub(super) relation: PathRelation,
    pub(super) nodes: Vec<NodeId>,
}

/// An iterator over the turns of a conversation, in reading order. Each turn is read from disk when it is returned.
pub struct ShownSession {
    /// The session.
    pub session: Session,
    /// The number of turns before a compaction that are not shown.
    pub compacted: usize,
    /// The number of turns on other branches that are not shown.
    pub on_other_branches: usize,
    groups: std::vec::IntoIter<TurnGroup>,
    lines: LineReader,
    only_typed: bool,
}

/// Opens a session to read it turn by turn.
pub fn show_session(request: &ShowRequest) -> Result<ShownSession, Error> {
    let session = load(&request.path, LoadOptions::default(), &mut ())?;
    let lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let tip = match &request.branch {
        Some(name) => Some(session.newest_descendant(session.find_entry(name)?)),
        None => session.tree.newest_tip(),
    };
    let (compacted, on_other_branches) = match tip {
        Some(tip) if !request.all_turns => count_hidden_turns(&session, tip),
        _ => (0, 0),
    };
    let mut groups = match tip {
        // A turn that is requested by number may be on any branch.
        Some(tip) if request.all_turns || request.turns.is_some() => group_all_turns(&session, tip),
        Some(tip) => {
            let path = session.tree.context_path(tip);
            let nodes = session.tree.with_parallel_calls(&path).into_iter().map(|step| step.node);
            group_turns(&session, nodes, |_| PathRelation::OnPath)
        }
        None => Vec::new(),
    };
    if let Some(turns) = &request.turns {
        groups.retain(|group| group.number.is_some_and(|number| turns.contains(&number)));
    }
    let only_typed = request.only_typed;
    Ok(ShownSession { compacted, on_other_branches, session, groups: groups.into_iter(), lines, only_typed })
}

/// Counts the turns that are not shown with the path to `tip`: those before a compaction, and those on other branches.
fn count_hidden_turns(session: &Session, tip: NodeId) -> (usize, usize) {
    let tree = &session.tree;
    let count_starts =
        |path: Vec<NodeId>| path.into_iter().filter(|&id| tree.turn_of(id) == Some(id)).count();
    let shown = count_starts(
        tree.with_parallel_calls(&tree.context_path(tip)).into_iter().map(|step| step.node).collect(),
    );
    let on_branch = count_starts(tree.ancestors_across_compactions(tip)).max(shown);
    let all = tree.turn_starts().count();
    // Without forks, all turns off the path were compacted.
    if tree.branch_count() == 1 {
        (all.saturating_sub(shown), 0)
    } else {
        (on_branch - shown, all.saturating_sub(on_branch))
    }
}

/// Groups nodes, in reading order, into turns. `relation` returns the relation of a turn by its first node. Groups
/// outside of turns that contain only structural entries are omitted.
pub(super) fn group_turns(
    session: &Session,
    nodes: impl Iterator<Item = NodeId>,
    relation: impl Fn(NodeId) -> PathRelation,
) -> Vec<TurnGroup> {
    group_numbered_turns(session, &session.tree.turn_starts().zip(1..).collect(), nodes, relation)
}

/// Groups nodes into turns like [`group_turns`], with the numbers in `numbers`, by the node that starts the turn.
pub(super) fn group_numbered_turns(
    session: &Session,
    numbers: &HashMap<NodeId, u32>,
    nodes: impl Iterator<Item = NodeId>,
    relation: impl Fn(NodeId) -> PathRelation,
) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let mut groups: Vec<TurnGroup> = Vec::new();
    for node in nodes {
        let turn = tree.turn_of(node);
        // A turn starts with its prompt, or with the images before it.
        let starts_turn =
            turn == Some(node) || turn.is_some() && tree.node(node).role == EntryRole::ImageOnly;
        match groups.last_mut() {
            Some(group) if !starts_turn || group.start_node == turn => group.nodes.push(node),
            _ => {
                let start_node = turn.filter(|_| starts_turn);
                let number = start_node.and_then(|turn| numbers.get(&turn).copied());
                groups.push(TurnGroup { number, start_node, relation: relation(node), nodes: vec![node] });
            }
        }
    }
    groups.retain(|group| {
        group.number.is_some() || group.nodes.iter().any(|&id| tree.node(id).role != EntryRole::Structural)
    });
    groups
}

/// Returns all turns of the file in the order of their start, without sidechains. Each turn has its relation to the path
/// to `tip`.
pub(super) fn group_all_turns(session: &Session, tip: NodeId) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let off_path = if tree.branch_count() == 1 { PathRelation::Compacted } else { PathRelation::OtherBranch };
    let mut relations = vec![off_path; tree.nodes().len()];
    for id in tree.ancestors_across_compactions(tip) {
        relations[id as usize] = PathRelation::Compacted;
    }
    let context = tree.context_path(tip);
    // If lines have no parents, the client loads more than the path to any one of them.
    let has_no_turns = !context.iter().any(|&id| tree.turn_of(id).is_some());
    for id in if has_no_turns { session.active_path().nodes } else { context } {
        relations[id as usize] = PathRelation::OnPath;
    }
    let mut order: Vec<NodeId> = (0..tree.nodes().len() as NodeId).collect();
    order.retain(|&id| tree.is_main_chain(id));
    sort_by_turn(tree, &mut order);
    group_turns(session, order.into_iter(), |id| relations[id as usize])
}

/// Sorts nodes by turn, and within a turn in file order with its start first.
pub(super) fn sort_by_turn(tree: &Tree, nodes: &mut [NodeId]) {
    let is_not_start =
        |id: NodeId| tree.turn_of(id) != Some(id) && tree.node(id).role != EntryRole::ImageOnly;
    nodes.sort_by_key(|&id| (tree.turn_of(id).unwrap_or(id), is_not_start(id), id));
}

impl Iterator for ShownSession {
    type Item = Result<ShownTurn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let group = self.groups.next()?;
            let mut shown = match read_turn(&self.session, &mut self.lines, &group) {
                Ok(shown) if self.only_typed => shown,
                shown => return Some(shown),
            };
            shown.turn.remove_untyped();
            if shown.turn.prompt.is_some() || !shown.turn.parts.is_empty() {
                return Some(Ok(shown));
            }
        }
    }
}

/// Reads the lines of a turn and builds the turn from them.
pub(super) fn read_turn(
    session: &Session,
    lines: &mut LineReader,
    group: &TurnGroup,
) -> Result<ShownTurn, Error> {
    let (turn, uuid, lines_read) = read_turn_nodes(session, lines, &group.nodes, build_turn)?;
    Ok(ShownTurn { number: group.number, uuid, relation: group.relation, turn, lines: lines_read })
}

/// Reads the lines of nodes of one turn. Returns the turn that `build` makes of them, the uuid of the first entry, and
/// the lines. Returns an error if a line cannot be read or no longer contains an entry.
pub(super) fn read_turn_nodes(
    session: &Session,
    lines: &mut LineReader,
    nodes: &[NodeId],
    build: fn(&[(u32, Entry<'_>)]) -> Turn,
) -> Result<(Turn, Option<String>, Vec<RawLine>), Error> {
    let spans: Vec<LineSpan> = nodes.iter().map(|&id| session.tree.node(id).span).collect();
    let mut lines_read = Vec::with_capacity(spans.len());
    for span in spans {
        let bytes = lines.read_span(span).map_err(Error::reading(&session.path))?;
        lines_read.push(RawLine { number: span.line, bytes });
    }
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::with_capacity(lines_read.len());
    for RawLine { number, bytes } in &lines_read {
        let line = Line { number: *number, offset: 0, bytes, unterminated: false };
        let before = entries.len();
        entry::read_line(&line, &mut Vec::new(), |entry, _| entries.push((*number, entry)));
        if entries.len() == before {
            return Err(Error::Changed { path: session.path.clone() });
        }
    }
    let turn = build(&entries);
    let first = entries.first().and_then(|(_, entry)| entry.uuid);
    let uuid = first.map(|uuid| uuid.decode().into_owned());
    drop(entries);
    Ok((turn, uuid, lines_read))
}
