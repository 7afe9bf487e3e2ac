//! What stands around an entry in its tree: who spoke above it, and how it stands to the active path.

use std::collections::HashMap;

use rethread_core::entry::{Entry, EntryRole, read};
use rethread_core::lines::Line;
use rethread_core::tree::{LineSpan, NodeId, ParentLink};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::active::ActivePath;
use super::load::Session;
use crate::Error;
use crate::disk::LineReader;

/// How a match stands to what the client would load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextStatus {
    /// On the active path.
    Active,
    /// On the way to its tip, but before a compaction.
    Compacted,
    /// On another branch.
    Aside,
    /// On a piece whose parent is not in the file.
    Island,
    /// In a subagent inside the file.
    Agent,
    /// A line that is no part of the tree.
    Outside,
}

/// An entry near a match.
#[derive(Debug, Clone)]
pub struct NearbyEntry {
    /// Its line.
    pub line: u32,
    /// The number of its turn.
    pub turn: Option<u32>,
    /// Who speaks.
    pub voice: EntryRole,
    /// Its first words.
    pub words: String,
    /// The call it makes, where it says nothing.
    pub call: Option<ToolCall>,
}

/// What is known about the tree around matches.
pub(crate) struct MatchContext {
    pub(crate) lines: LineReader,
    pub(crate) by_offset: HashMap<u64, NodeId>,
    turns: HashMap<NodeId, u32>,
    pub(crate) whereabouts: Vec<ContextStatus>,
    pub(crate) leaf: Option<NodeId>,
    pub(crate) newest: Vec<NodeId>,
    /// By node, the next one above that says something.
    above: HashMap<NodeId, Option<NodeId>>,
    /// The same, past the response that the node is a part of.
    beyond: HashMap<NodeId, Option<NodeId>>,
    near: HashMap<NodeId, NearbyEntry>,
}

impl MatchContext {
    pub(crate) fn new(session: &Session, lines: LineReader, by_offset: HashMap<u64, NodeId>) -> MatchContext {
        let active = session.active();
        MatchContext {
            lines,
            by_offset,
            turns: session.tree.turns().zip(1..).collect(),
            whereabouts: whereabouts(session, &active),
            leaf: active.leaf,
            newest: session.tree.newest_descendants(),
            above: HashMap::new(),
            beyond: HashMap::new(),
            near: HashMap::new(),
        }
    }

    pub(crate) fn turn(&self, session: &Session, no: NodeId) -> Option<u32> {
        session.tree.turn_of(no).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Finds the next prompt or answer in words above a node that is not of the same response.
    pub(crate) fn speaker_above(&mut self, session: &Session, no: NodeId) -> Result<Option<NodeId>, Error> {
        let mut passed = Vec::new();
        let mut at = no;
        let found = loop {
            if let Some(&known) = self.beyond.get(&at) {
                break known;
            }
            passed.push(at);
            match self.words_above(session, at)? {
                Some(above) if session.tree.same_message(above, no) => at = above,
                other => break other,
            }
        };
        self.beyond.extend(passed.into_iter().map(|no| (no, found)));
        Ok(found)
    }

    /// Finds the next prompt or answer in words above a node; each link of the way is walked once.
    fn words_above(&mut self, session: &Session, no: NodeId) -> Result<Option<NodeId>, Error> {
        let tree = &session.tree;
        let mut passed = vec![no];
        let mut at = tree.node(no).parent();
        while let Some(above) = at {
            let voice = tree.node(above).voice;
            let may_speak =
                voice.starts_turn() || matches!(voice, EntryRole::Answer | EntryRole::CompactSummary);
            if may_speak && !self.near(session, above)?.words.trim().is_empty() {
                break;
            }
            if let Some(&known) = self.above.get(&above) {
                at = known;
                break;
            }
            passed.push(above);
            at = tree.node(above).parent();
        }
        self.above.extend(passed.into_iter().map(|no| (no, at)));
        Ok(at)
    }

    pub(crate) fn near(&mut self, session: &Session, no: NodeId) -> Result<NearbyEntry, Error> {
        if let Some(near) = self.near.get(&no) {
            return Ok(near.clone());
        }
        let turn = self.turn(session, no);
        let near = near(session, &mut self.lines, no, turn)?;
        self.near.insert(no, near.clone());
        Ok(near)
    }
}

/// Says what an entry is about; `turn` is the number of its turn.
pub(crate) fn near(
    session: &Session,
    lines: &mut LineReader,
    no: NodeId,
    turn: Option<u32>,
) -> Result<NearbyEntry, Error> {
    let node = session.tree.node(no);
    let bytes = lines.read(node.place).map_err(Error::reading(&session.path))?;
    let (line, voice) = (node.place.line, node.voice);
    let mut near = NearbyEntry { line, turn, voice, words: String::new(), call: None };
    read_at(&bytes, node.place, |entry| (near.words, near.call) = gist(line, entry));
    Ok(near)
}

/// Bytes kept of the words of an entry near a match.
const GIST: usize = 400;

/// Says what an entry is about: its first words, or the first call it makes.
fn gist(line: u32, entry: &Entry<'_>) -> (String, Option<ToolCall>) {
    let turn = build_turn(&[(line, entry.clone())]);
    let mut words = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
    let mut call = None;
    for part in turn.parts.into_iter().map(|piece| piece.part) {
        match part {
            TurnPart::Tool(told) if told.name.is_empty() => {
                let result = told.result.unwrap_or_default();
                if words.is_empty() {
                    words = result.text;
                }
            }
            TurnPart::Tool(told) => call = call.or(Some(ToolCall { result: None, ..*told })),
            part if words.is_empty() => words = part.words().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    words.truncate(words.floor_char_boundary(GIST));
    let call = call.filter(|_| words.trim().is_empty());
    (words, call)
}

/// Says for every node how it stands to the active path.
pub(crate) fn whereabouts(session: &Session, active: &ActivePath) -> Vec<ContextStatus> {
    let tree = &session.tree;
    let mut all = vec![ContextStatus::Aside; tree.nodes().len()];
    for step in active
        .leaf
        .map(|leaf| tree.with_parallel_calls(&tree.ancestors_across_compactions(leaf)))
        .unwrap_or_default()
    {
        all[step.node as usize] = ContextStatus::Compacted;
    }
    for &no in &active.nodes {
        all[no as usize] = ContextStatus::Active;
    }
    // What hangs on a missing parent is an island, unless the active path is.
    let cut = |no: &NodeId| matches!(tree.node(*no).link, ParentLink::Missing | ParentLink::Cut);
    let mut stack: Vec<NodeId> = tree.roots().filter(cut).collect();
    while let Some(no) = stack.pop() {
        if all[no as usize] == ContextStatus::Aside {
            all[no as usize] = ContextStatus::Island;
        }
        stack.extend_from_slice(tree.children(no));
    }
    for (no, known) in all.iter_mut().enumerate() {
        if !tree.is_main_chain(no as NodeId) {
            *known = ContextStatus::Agent;
        }
    }
    all
}

/// Reads the entries of a line again.
pub(crate) fn read_at(bytes: &[u8], place: LineSpan, mut each: impl FnMut(&Entry<'_>)) {
    let line = Line { no: place.line, offset: place.offset, bytes, unterminated: false };
    read(&line, &mut Vec::new(), |entry, _| each(&entry));
}
