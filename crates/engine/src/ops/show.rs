//! Reads a conversation turn by turn. Only one turn is in memory at a time.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use rethread_core::entry::{self, Entry, EntryRole, Flags, Timestamp};
use rethread_core::lines::Line;
use rethread_core::secrets::{RedactOptions, Redactor, TokenTable};
use rethread_core::tree::{Conversation, LineSpan, NodeId, PathRelation, Tree};
use rethread_core::turn::{Turn, build_turn};

use super::read::BranchSelector;
use crate::Error;
use crate::disk::LineReader;
use crate::session::active::ActivePath;
use crate::session::load::{LoadOptions, Session, load};

/// Options of [`show_session`].
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// The session file.
    pub path: PathBuf,
    /// The numbers of the turns to show. `None` shows all selected turns.
    pub turns: Option<RangeInclusive<u32>>,
    /// The branch to show.
    pub branch: BranchSelector,
    /// Omit texts in the user's name that no user typed, and turns that have nothing else.
    pub only_typed: bool,
    /// Replace the secrets in each turn before anything of it is truncated.
    pub masks_secrets: bool,
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

impl ShownTurn {
    /// Releases the bytes of the lines. They may be as long as the texts of the turn; the line numbers stay.
    pub fn release_lines(&mut self) {
        self.lines.iter_mut().for_each(|line| line.bytes = Vec::new());
    }
}

/// One line of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// The line number, from 1.
    pub number: u32,
    /// The bytes, without the line end.
    pub bytes: Vec<u8>,
}

/// The number of turns that a branch selector selects, and their relation to the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnScope {
    /// The number of turns of the file.
    pub total: usize,
    /// The number of selected turns.
    pub selected: usize,
    /// The number of selected turns that a compaction replaced.
    pub compacted: usize,
    /// The number of turns that the user requested by number and that are not selected.
    pub requested_elsewhere: usize,
}

/// The entries of a turn, in reading order.
pub(super) struct TurnGroup {
    /// The earliest and the latest time of the entries of the turn.
    pub(super) times: Option<(Timestamp, Timestamp)>,
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
    /// The selected turns.
    pub scope: TurnScope,
    groups: std::vec::IntoIter<TurnGroup>,
    lines: LineReader,
    only_typed: bool,
    masks_secrets: bool,
}

/// Opens a session to read it turn by turn. Returns an error if the file cannot be read or the selected entry is unknown.
pub fn show_session(request: &ShowRequest) -> Result<ShownSession, Error> {
    let session = load(&request.path, LoadOptions::default(), &mut ())?;
    let lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let (_, mut groups) = select_turns(&session, &request.branch)?;
    let mut scope = TurnScope::new(&session, &groups);
    if let Some(turns) = &request.turns {
        scope.keep_requested(&mut groups, turns);
    }
    let ShowRequest { only_typed, masks_secrets, .. } = *request;
    Ok(ShownSession { scope, session, groups: groups.into_iter(), lines, only_typed, masks_secrets })
}

impl TurnScope {
    /// Counts the turns of the file and the selected ones.
    pub(super) fn new(session: &Session, selected: &[TurnGroup]) -> TurnScope {
        let turns = || selected.iter().filter(|group| group.number.is_some());
        TurnScope {
            total: session.info.turns,
            selected: turns().count(),
            compacted: turns().filter(|group| group.relation == PathRelation::Compacted).count(),
            requested_elsewhere: 0,
        }
    }

    /// Removes the turns whose numbers are not in `turns`, and counts the requested turns that are not selected.
    pub(super) fn keep_requested(&mut self, selected: &mut Vec<TurnGroup>, turns: &RangeInclusive<u32>) {
        selected.retain(|group| group.number.is_some_and(|number| turns.contains(&number)));
        let first = (*turns.start() as usize).max(1);
        let last = (*turns.end() as usize).min(self.total);
        let requested = (last + 1).saturating_sub(first);
        self.requested_elsewhere = requested.saturating_sub(selected.len());
    }

    /// Returns the number of turns that are not selected.
    pub fn omitted(&self) -> usize {
        self.total.saturating_sub(self.selected)
    }
}

/// Returns the path to the end of a selected branch, and its turns in reading order, also those before a compaction.
///
/// All turns are returned if the active branch is selected but no turn is on it, as in a file in which no line has a parent.
pub(super) fn select_turns(
    session: &Session,
    selector: &BranchSelector,
) -> Result<(ActivePath, Vec<TurnGroup>), Error> {
    let path = match selector {
        BranchSelector::Active | BranchSelector::AllTurns => session.active_path(),
        BranchSelector::Through(name) => {
            session.path_to(session.newest_descendant(session.find_entry(name)?))
        }
        BranchSelector::Sidechain(name) => {
            let unknown = || Error::UnknownEntry { name: name.clone() };
            let root = session.tree.sidechain_root(session.find_entry(name)?).ok_or_else(unknown)?;
            let groups = group_sidechain(session, root);
            let leaf = groups.iter().flat_map(|group| &group.nodes).copied().max();
            return Ok((ActivePath { leaf, nodes: Vec::new() }, groups));
        }
    };
    let conversation = session.conversation(&path);
    let is_own_turn =
        |group: &TurnGroup| group.number.is_some() && group.relation != PathRelation::OtherBranch;
    let groups = match selector {
        BranchSelector::AllTurns => group_all_turns(session, &conversation),
        _ => group_conversation(session, &conversation),
    };
    let must_show_all = *selector == BranchSelector::Active
        && !groups.iter().any(is_own_turn)
        && session.tree.turn_starts().next().is_some();
    let groups = if must_show_all { group_all_turns(session, &conversation) } else { groups };
    Ok((path, groups))
}

/// Groups the entries of a conversation into turns.
fn group_conversation(session: &Session, conversation: &Conversation) -> Vec<TurnGroup> {
    let relations = conversation.relations(&session.tree);
    group_turns(session, conversation.nodes(), |id| relations[id as usize])
}

/// Returns the turns of the subagent inside the file that starts with `root`. They are numbered from 1.
fn group_sidechain(session: &Session, root: NodeId) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let mut subtree = vec![root];
    let mut idx = 0;
    while idx < subtree.len() {
        subtree.extend_from_slice(tree.children(subtree[idx]));
        idx += 1;
    }
    sort_by_turn(tree, &mut subtree);
    let starts = subtree.iter().copied().filter(|&id| tree.turn_of(id) == Some(id));
    let numbers = starts.zip(1..).collect();
    group_numbered_turns(session, &numbers, subtree.into_iter(), |_| PathRelation::OnPath)
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
fn group_numbered_turns(
    session: &Session,
    numbers: &HashMap<NodeId, u32>,
    nodes: impl Iterator<Item = NodeId>,
    relation: impl Fn(NodeId) -> PathRelation,
) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let mut groups: Vec<TurnGroup> = Vec::new();
    for node in nodes {
        let turn = tree.turn_of(node);
        // A turn starts with its prompt, or with the images before it. An image may be on the path without its prompt.
        let is_with_prompt = |turn: NodeId| {
            relation(turn) != PathRelation::OtherBranch || relation(node) == PathRelation::OtherBranch
        };
        let is_image = tree.node(node).role == EntryRole::ImageOnly;
        let starts_turn = turn == Some(node) || is_image && turn.is_some_and(is_with_prompt);
        match groups.last_mut() {
            Some(group) if !starts_turn || group.start_node == turn => group.nodes.push(node),
            _ => {
                let start_node = turn.filter(|_| starts_turn);
                let number = start_node.and_then(|turn| numbers.get(&turn).copied());
                let relation = relation(start_node.unwrap_or(node));
                groups.push(TurnGroup { times: None, number, start_node, relation, nodes: vec![node] });
            }
        }
    }
    groups.retain(|group| {
        group.number.is_some() || group.nodes.iter().any(|&id| tree.node(id).role != EntryRole::Structural)
    });
    groups.iter_mut().for_each(|group| group.times = compute_times(tree, group));
    groups
}

/// Returns the earliest and the latest time of a turn. Lines that belong to no turn, such as those of a compaction after it,
/// and resume markers do not count.
fn compute_times(tree: &Tree, group: &TurnGroup) -> Option<(Timestamp, Timestamp)> {
    let is_counted = |&&id: &&NodeId| {
        let is_in_turn = group.start_node.is_none() || tree.turn_of(id) == group.start_node;
        is_in_turn && !tree.node(id).has_flag(Flags::RESUME_MARKER)
    };
    let times = || group.nodes.iter().filter(is_counted).filter_map(|&id| tree.node(id).time());
    times().min().zip(times().max())
}

/// Returns all turns of the file in the order of their start, without sidechains. Each turn has its relation to a
/// conversation.
fn group_all_turns(session: &Session, conversation: &Conversation) -> Vec<TurnGroup> {
    let tree = &session.tree;
    let relations = conversation.relations(tree);
    let mut order: Vec<NodeId> = (0..tree.nodes().len() as NodeId).collect();
    order.retain(|&id| tree.is_main_chain(id) && tree.original(id) == id);
    sort_by_turn(tree, &mut order);
    group_turns(session, order.into_iter(), |id| relations[id as usize])
}

/// Sorts nodes by turn, and within a turn in file order with its start first.
fn sort_by_turn(tree: &Tree, nodes: &mut [NodeId]) {
    let is_not_start =
        |id: NodeId| tree.turn_of(id) != Some(id) && tree.node(id).role != EntryRole::ImageOnly;
    nodes.sort_by_key(|&id| (tree.turn_of(id).unwrap_or(id), is_not_start(id), id));
}

impl Iterator for ShownSession {
    type Item = Result<ShownTurn, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let group = self.groups.next()?;
            let build = if self.masks_secrets { build_masked_turn } else { build_turn_of_lines };
            let mut shown = match read_turn_with(&self.session, &mut self.lines, &group, build) {
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
    read_turn_with(session, lines, group, build_turn_of_lines)
}

/// Builds a turn from its lines and may replace them. Returns `None` if a line contains no entry.
type LineTurnBuilder = fn(&mut [RawLine]) -> Option<(Turn, Option<String>)>;

fn build_turn_of_lines(lines: &mut [RawLine]) -> Option<(Turn, Option<String>)> {
    build_from_lines(lines, build_turn)
}

/// Replaces the secrets in the lines of a turn and builds the turn.
fn build_masked_turn(lines: &mut [RawLine]) -> Option<(Turn, Option<String>)> {
    let mut table = TokenTable::default();
    lines.iter().for_each(|line| table.add_line(&line.bytes));
    if !table.is_empty() {
        let redactor = Redactor::new(table, &RedactOptions::default());
        for line in lines.iter_mut() {
            line.bytes = redactor.redact_line(&line.bytes).into_owned();
        }
    }
    build_from_lines(lines, build_turn)
}

fn read_turn_with(
    session: &Session,
    lines: &mut LineReader,
    group: &TurnGroup,
    build: LineTurnBuilder,
) -> Result<ShownTurn, Error> {
    let mut lines_read = read_lines(session, lines, &group.nodes)?;
    let (mut turn, uuid) =
        build(&mut lines_read).ok_or_else(|| Error::Changed { path: session.path.clone() })?;
    (turn.started_at, turn.ended_at) = group.times.unzip();
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
    let lines_read = read_lines(session, lines, nodes)?;
    let built = build_from_lines(&lines_read, build);
    let (turn, uuid) = built.ok_or_else(|| Error::Changed { path: session.path.clone() })?;
    Ok((turn, uuid, lines_read))
}

/// Reads the lines of nodes.
fn read_lines(session: &Session, lines: &mut LineReader, nodes: &[NodeId]) -> Result<Vec<RawLine>, Error> {
    let spans: Vec<LineSpan> = nodes.iter().map(|&id| session.tree.node(id).span).collect();
    let mut lines_read = Vec::with_capacity(spans.len());
    for span in spans {
        let bytes = lines.read_span(span).map_err(Error::reading(&session.path))?;
        lines_read.push(RawLine { number: span.line, bytes });
    }
    Ok(lines_read)
}

/// Builds a turn from its lines. Also returns the uuid of the first entry. Returns `None` if a line contains no entry.
fn build_from_lines(
    lines: &[RawLine],
    build: fn(&[(u32, Entry<'_>)]) -> Turn,
) -> Option<(Turn, Option<String>)> {
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::with_capacity(lines.len());
    for RawLine { number, bytes } in lines {
        let line = Line { number: *number, offset: 0, bytes, unterminated: false };
        let before = entries.len();
        entry::read_line(&line, &mut Vec::new(), |entry, _| entries.push((*number, entry)));
        if entries.len() == before {
            return None;
        }
    }
    let turn = build(&entries);
    let first = entries.first().and_then(|(_, entry)| entry.uuid);
    Some((turn, first.map(|uuid| uuid.decode().into_owned())))
}
