//! What stands around an entry in its tree: who spoke above it, and how it stands to the active path.

use std::collections::HashMap;

use rethread_core::entry::{Entry, Voice, read};
use rethread_core::lines::Line;
use rethread_core::tree::{Link, NodeNo, Place};
use rethread_core::turn::{Part, ToolCall, tell};

use super::active::Active;
use super::load::Session;
use crate::Failure;
use crate::disk::Lines;

/// How a match stands to what the client would load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
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
pub struct Near {
    /// Its line.
    pub line: u32,
    /// The number of its turn.
    pub turn: Option<u32>,
    /// Who speaks.
    pub voice: Voice,
    /// Its first words.
    pub words: String,
    /// The call it makes, where it says nothing.
    pub call: Option<ToolCall>,
}

/// What is known about the tree around matches.
pub(super) struct Around {
    pub(super) lines: Lines,
    pub(super) by_offset: HashMap<u64, NodeNo>,
    turns: HashMap<NodeNo, u32>,
    pub(super) whereabouts: Vec<Whereabouts>,
    pub(super) leaf: Option<NodeNo>,
    pub(super) newest: Vec<NodeNo>,
    /// By node, the next one above that says something.
    above: HashMap<NodeNo, Option<NodeNo>>,
    /// The same, past the response that the node is a part of.
    beyond: HashMap<NodeNo, Option<NodeNo>>,
    near: HashMap<NodeNo, Near>,
}

impl Around {
    pub(super) fn new(session: &Session, lines: Lines, by_offset: HashMap<u64, NodeNo>) -> Around {
        let active = session.active();
        Around {
            lines,
            by_offset,
            turns: session.tree.turns().zip(1..).collect(),
            whereabouts: whereabouts(session, &active),
            leaf: active.leaf,
            newest: session.tree.newest_below(),
            above: HashMap::new(),
            beyond: HashMap::new(),
            near: HashMap::new(),
        }
    }

    pub(super) fn turn(&self, session: &Session, no: NodeNo) -> Option<u32> {
        session.tree.turn_of(no).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Finds the next prompt or answer in words above a node that is not of the same response.
    pub(super) fn speaker_above(&mut self, session: &Session, no: NodeNo) -> Result<Option<NodeNo>, Failure> {
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
    fn words_above(&mut self, session: &Session, no: NodeNo) -> Result<Option<NodeNo>, Failure> {
        let tree = &session.tree;
        let mut passed = vec![no];
        let mut at = tree.node(no).parent();
        while let Some(above) = at {
            let voice = tree.node(above).voice;
            let may_speak = voice.starts_turn() || matches!(voice, Voice::Answer | Voice::Recap);
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

    pub(super) fn near(&mut self, session: &Session, no: NodeNo) -> Result<Near, Failure> {
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
pub(super) fn near(
    session: &Session,
    lines: &mut Lines,
    no: NodeNo,
    turn: Option<u32>,
) -> Result<Near, Failure> {
    let node = session.tree.node(no);
    let bytes = lines.read(node.place).map_err(Failure::reading(&session.path))?;
    let (line, voice) = (node.place.line, node.voice);
    let mut near = Near { line, turn, voice, words: String::new(), call: None };
    read_at(&bytes, node.place, |entry| (near.words, near.call) = gist(line, entry));
    Ok(near)
}

/// Bytes kept of the words of an entry near a match.
const GIST: usize = 400;

/// Says what an entry is about: its first words, or the first call it makes.
fn gist(line: u32, entry: &Entry<'_>) -> (String, Option<ToolCall>) {
    let turn = tell(&[(line, entry.clone())]);
    let mut words = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
    let mut call = None;
    for part in turn.parts.into_iter().map(|piece| piece.part) {
        match part {
            Part::Tool(told) if told.name.is_empty() => {
                let result = told.result.unwrap_or_default();
                if words.is_empty() {
                    words = result.text;
                }
            }
            Part::Tool(told) => call = call.or(Some(ToolCall { result: None, ..*told })),
            part if words.is_empty() => words = part.words().unwrap_or_default().to_owned(),
            _ => {}
        }
    }
    words.truncate(words.floor_char_boundary(GIST));
    let call = call.filter(|_| words.trim().is_empty());
    (words, call)
}

/// Says for every node how it stands to the active path.
pub(super) fn whereabouts(session: &Session, active: &Active) -> Vec<Whereabouts> {
    let tree = &session.tree;
    let mut all = vec![Whereabouts::Aside; tree.nodes().len()];
    for step in active.leaf.map(|leaf| tree.rejoin(&tree.long_walk(leaf))).unwrap_or_default() {
        all[step.node as usize] = Whereabouts::Compacted;
    }
    for &no in &active.nodes {
        all[no as usize] = Whereabouts::Active;
    }
    // What hangs on a missing parent is an island, unless the active path is.
    let cut = |no: &NodeNo| matches!(tree.node(*no).link, Link::Missing | Link::Cut);
    let mut stack: Vec<NodeNo> = tree.roots().filter(cut).collect();
    while let Some(no) = stack.pop() {
        if all[no as usize] == Whereabouts::Aside {
            all[no as usize] = Whereabouts::Island;
        }
        stack.extend_from_slice(tree.children(no));
    }
    for (no, known) in all.iter_mut().enumerate() {
        if !tree.is_told(no as NodeNo) {
            *known = Whereabouts::Agent;
        }
    }
    all
}

/// Reads the entries of a line again.
pub(super) fn read_at(bytes: &[u8], place: Place, mut each: impl FnMut(&Entry<'_>)) {
    let line = Line { no: place.line, offset: place.offset, bytes, open: false };
    read(&line, &mut Vec::new(), |entry, _| each(&entry));
}
