//! The surroundings of a match in its tree: the messages above it, and its relation to the active path.

use std::collections::HashMap;

use rethread_core::entry::{Entry, EntryRole, read_line};
use rethread_core::lines::Line;
use rethread_core::resume::ContextStatus;
use rethread_core::tree::{LineSpan, NodeId, ParentLink, PathRelation};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::active::ActivePath;
use super::load::Session;
use crate::Error;
use crate::disk::LineReader;

/// A summary of an entry near a match.
#[derive(Debug, Clone)]
pub struct NearbyEntry {
    /// The line number.
    pub line: u32,
    /// The number of its turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
    /// The role of the entry.
    pub role: EntryRole,
    /// The start of its text, at most 400 bytes.
    pub text: String,
    /// Its first tool call, if it has no text.
    pub call: Option<ToolCall>,
}

/// Finds and caches the surroundings of the matches in one session.
pub(crate) struct MatchContext {
    pub(crate) lines: LineReader,
    /// The nodes by the offset of their entries in the file.
    pub(crate) by_offset: HashMap<u64, NodeId>,
    /// The numbers of the turns, by the node that starts each.
    turns: HashMap<NodeId, u32>,
    /// The context status of every node.
    pub(crate) statuses: Vec<ContextStatus>,
    /// The entry from which the client resumes. `None` if the session has no entries.
    pub(crate) leaf: Option<NodeId>,
    /// The newest descendant of every node.
    pub(crate) newest_descendants: Vec<NodeId>,
    /// The nearest ancestor with text, by node.
    text_above_cache: HashMap<NodeId, Option<NodeId>>,
    /// The nearest ancestor with text that belongs to another message, by node.
    other_message_above_cache: HashMap<NodeId, Option<NodeId>>,
    nearby_cache: HashMap<NodeId, NearbyEntry>,
}

impl MatchContext {
    pub(crate) fn new(session: &Session, lines: LineReader, by_offset: HashMap<u64, NodeId>) -> MatchContext {
        let active = session.active_path();
        MatchContext {
            lines,
            by_offset,
            turns: session.tree.turn_starts().zip(1..).collect(),
            statuses: compute_context_statuses(session, &active),
            leaf: active.leaf,
            newest_descendants: session.tree.newest_descendants(),
            text_above_cache: HashMap::new(),
            other_message_above_cache: HashMap::new(),
            nearby_cache: HashMap::new(),
        }
    }

    /// Returns the number of the turn of a node, from 1. Returns `None` if it belongs to no turn.
    pub(crate) fn turn_number(&self, session: &Session, id: NodeId) -> Option<u32> {
        session.tree.turn_of(id).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Returns the nearest ancestor that is a prompt or answer with text and belongs to another message. Returns `None` if
    /// there is none.
    pub(crate) fn find_text_above_message(
        &mut self,
        session: &Session,
        id: NodeId,
    ) -> Result<Option<NodeId>, Error> {
        let mut visited = Vec::new();
        let mut current = id;
        let found = loop {
            if let Some(&cached) = self.other_message_above_cache.get(&current) {
                break cached;
            }
            visited.push(current);
            match self.find_text_above(session, current)? {
                Some(above) if session.tree.is_same_message(above, id) => current = above,
                other => break other,
            }
        };
        self.other_message_above_cache.extend(visited.into_iter().map(|id| (id, found)));
        Ok(found)
    }

    /// Returns the nearest ancestor that is a prompt or answer with text. Returns `None` if there is none. Each link is
    /// followed once, then cached.
    fn find_text_above(&mut self, session: &Session, id: NodeId) -> Result<Option<NodeId>, Error> {
        let tree = &session.tree;
        let mut visited = vec![id];
        let mut current = tree.node(id).parent();
        while let Some(above) = current {
            let role = tree.node(above).role;
            let may_have_text =
                role.starts_turn() || matches!(role, EntryRole::Answer | EntryRole::CompactSummary);
            if may_have_text && !self.load_nearby_entry(session, above)?.text.trim().is_empty() {
                break;
            }
            if let Some(&cached) = self.text_above_cache.get(&above) {
                current = cached;
                break;
            }
            visited.push(above);
            current = tree.node(above).parent();
        }
        self.text_above_cache.extend(visited.into_iter().map(|id| (id, current)));
        Ok(current)
    }

    /// Returns the summary of an entry, from memory if it was read before.
    pub(crate) fn load_nearby_entry(&mut self, session: &Session, id: NodeId) -> Result<NearbyEntry, Error> {
        if let Some(nearby) = self.nearby_cache.get(&id) {
            return Ok(nearby.clone());
        }
        let turn = self.turn_number(session, id);
        let nearby = read_nearby_entry(session, &mut self.lines, id, turn)?;
        self.nearby_cache.insert(id, nearby.clone());
        Ok(nearby)
    }
}

/// Reads an entry and returns the start of its text. `turn` is the number of its turn, from 1, or `None` if it belongs
/// to none.
pub(crate) fn read_nearby_entry(
    session: &Session,
    lines: &mut LineReader,
    id: NodeId,
    turn: Option<u32>,
) -> Result<NearbyEntry, Error> {
    let node = session.tree.node(id);
    let bytes = lines.read_truncated(node.span).map_err(Error::reading(&session.path))?;
    let (line, role) = (node.span.line, node.role);
    let mut nearby = NearbyEntry { line, turn, role, text: String::new(), call: None };
    parse_entries_at(&bytes, node.span, |entry| (nearby.text, nearby.call) = summarize_entry(line, entry));
    Ok(nearby)
}

/// The maximum number of bytes of the text of a nearby entry.
const MAX_TEXT_BYTES: usize = 400;

/// Returns the start of the text of an entry, at most 400 bytes, and its first tool call if it has no text.
fn summarize_entry(line: u32, entry: &Entry<'_>) -> (String, Option<ToolCall>) {
    let turn = build_turn(&[(line, entry.clone())]);
    let mut text = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
    let mut first_call = None;
    for part in turn.parts.into_iter().map(|part| part.part) {
        match part {
            TurnPart::Tool(call) if call.name.is_empty() => {
                let result = call.result.unwrap_or_default();
                if text.is_empty() {
                    text = result.text;
                }
            }
            TurnPart::Tool(call) => first_call = first_call.or(Some(ToolCall { result: None, ..*call })),
            part if text.is_empty() => text = part.text().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    let first_call = first_call.filter(|_| text.trim().is_empty());
    (text, first_call)
}

/// Computes the context status of every node, by node id. `active` is the path that the client loads.
pub(crate) fn compute_context_statuses(session: &Session, active: &ActivePath) -> Vec<ContextStatus> {
    let tree = &session.tree;
    let status_of = |relation: PathRelation| match relation {
        PathRelation::OnPath => ContextStatus::Active,
        PathRelation::Compacted => ContextStatus::Compacted,
        PathRelation::OtherBranch => ContextStatus::OtherBranch,
    };
    let mut statuses: Vec<ContextStatus> =
        session.conversation(active).relations(tree).into_iter().map(status_of).collect();
    // Entries below a missing parent are orphaned, unless they are on the active path.
    let is_orphan_root =
        |id: &NodeId| matches!(tree.node(*id).link, ParentLink::MissingParent | ParentLink::CycleBroken);
    let mut stack: Vec<NodeId> = tree.roots().filter(is_orphan_root).collect();
    while let Some(id) = stack.pop() {
        if statuses[id as usize] == ContextStatus::OtherBranch {
            statuses[id as usize] = ContextStatus::Orphaned;
        }
        stack.extend_from_slice(tree.children(id));
    }
    for (id, status) in statuses.iter_mut().enumerate() {
        if !tree.is_main_chain(id as NodeId) {
            *status = ContextStatus::Subagent;
        }
    }
    statuses
}

/// Parses the bytes of a line and calls `visit` with every entry in it.
pub(crate) fn parse_entries_at(bytes: &[u8], span: LineSpan, mut visit: impl FnMut(&Entry<'_>)) {
    let line = Line { number: span.line, offset: span.offset, bytes, unterminated: false };
    read_line(&line, &mut Vec::new(), |entry, _| visit(&entry));
}
