//! Entries that hold some words, each with what stands around it in the tree.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{Entry, Kind, Moment, Voice, read};
use rethread_core::lines::Line;
use rethread_core::query::{Found, Query, Scope, Source};
use rethread_core::tree::{Link, NodeNo, Place};
use rethread_core::turn::{Part, ToolCall, tell};

use super::load::{Head, Session, load_seeing};
use crate::Failure;
use crate::disk::Lines;

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct FindRequest {
    /// The session file.
    pub path: PathBuf,
    /// What.
    pub query: Query,
    /// Only texts of these; of all, where none is named.
    pub sources: Vec<Source>,
    /// Also subagents inside the file and what stands beside the conversation.
    pub all: bool,
    /// How many entries above a match to tell.
    pub ancestors: usize,
    /// How many entries below a match to tell.
    pub children: usize,
}

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

/// An entry that holds what was looked for.
#[derive(Debug)]
pub struct Match {
    /// Its line.
    pub line: u32,
    /// The number of its turn.
    pub turn: Option<u32>,
    /// Its uuid.
    pub uuid: Option<String>,
    /// Its type.
    pub kind: Kind,
    /// Who speaks.
    pub voice: Voice,
    /// When it was written.
    pub time: Option<Moment>,
    /// Where in it, and how often.
    pub found: Found,
    /// Prompts and answers above it, the nearest last.
    pub above: Vec<Near>,
    /// Entries right below it.
    pub below: Vec<Near>,
    /// How many more there are below it.
    pub more_below: usize,
    /// How it stands to the active path.
    pub whereabouts: Whereabouts,
    /// The line of the tip of the branch that holds it.
    pub tip: Option<u32>,
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

struct Spotted {
    place: Place,
    uuid: Option<String>,
    kind: Kind,
    voice: Voice,
    time: Option<Moment>,
    found: Found,
}

/// What was found: an iterator over matches.
pub struct Find {
    /// Which session it is.
    pub head: Head,
    /// How many entries match.
    pub entries: usize,
    /// How many matches they hold.
    pub count: usize,
    session: Session,
    spotted: std::vec::IntoIter<Spotted>,
    around: Around,
    ancestors: usize,
    children: usize,
}

/// What is known about the tree around matches.
struct Around {
    lines: Lines,
    by_offset: HashMap<u64, NodeNo>,
    turns: HashMap<NodeNo, u32>,
    whereabouts: Vec<Whereabouts>,
    leaf: Option<NodeNo>,
    newest: Vec<NodeNo>,
    /// By node, the next one above that says something.
    next_above: HashMap<NodeNo, Option<NodeNo>>,
    near: HashMap<NodeNo, Near>,
}

/// Looks through a session.
pub fn find(request: &FindRequest) -> Result<Find, Failure> {
    let mut spotted: Vec<Spotted> = Vec::new();
    let mut condensed: Vec<Place> = Vec::new();
    let session = load_seeing(&request.path, |entry, place| {
        if entry.raw.len() != place.len as usize {
            condensed.push(place);
        } else {
            spotted.extend(spot(request, entry, place));
        }
    })?;
    let mut lines = Lines::open(&request.path).map_err(Failure::reading(&request.path))?;
    // Of lines too long to hold only a part was shown: they are looked through again, one by one and whole.
    for place in condensed {
        let bytes = lines.read(place).map_err(Failure::reading(&request.path))?;
        read_at(&bytes, place, |entry| spotted.extend(spot(request, entry, place)));
    }
    spotted.sort_by_key(|spotted| spotted.place.offset);
    let by_offset: HashMap<u64, NodeNo> =
        session.tree.nodes().iter().map(|node| node.place.offset).zip(0..).collect();
    if !request.all && !session.tree.is_side_file() {
        let is_side = |no: &NodeNo| session.tree.node(*no).is_side();
        spotted.retain(|spotted| !by_offset.get(&spotted.place.offset).is_some_and(is_side));
    }
    let around = Around::new(&session, lines, by_offset);
    Ok(Find {
        head: session.head(),
        entries: spotted.len(),
        count: spotted.iter().map(|spotted| spotted.found.count).sum(),
        session,
        spotted: spotted.into_iter(),
        around,
        ancestors: request.ancestors,
        children: request.children,
    })
}

fn spot(request: &FindRequest, entry: &Entry<'_>, place: Place) -> Option<Spotted> {
    if !request.query.may_hold(entry.raw) {
        return None;
    }
    let scope = if request.all { Scope::All } else { Scope::Told };
    let found = request.query.look(entry, scope, &request.sources);
    (found.count > 0).then(|| Spotted {
        place,
        uuid: entry.uuid.map(|uuid| uuid.decode().into_owned()),
        kind: entry.kind,
        voice: entry.voice(),
        time: entry.time(),
        found,
    })
}

fn read_at(bytes: &[u8], place: Place, mut each: impl FnMut(&Entry<'_>)) {
    let line = Line { no: place.line, offset: place.offset, bytes, open: false };
    read(&line, &mut Vec::new(), |entry, _| each(&entry));
}

impl Find {
    /// Tells the next match.
    pub fn next_match(&mut self) -> Option<Result<Match, Failure>> {
        let spotted = self.spotted.next()?;
        Some(self.tell(spotted))
    }

    fn tell(&mut self, spotted: Spotted) -> Result<Match, Failure> {
        let (session, around) = (&self.session, &mut self.around);
        let no = around.by_offset.get(&spotted.place.offset).copied();
        let mut told = Match {
            line: spotted.place.line,
            turn: no.and_then(|no| around.turn(session, no)),
            uuid: spotted.uuid,
            kind: spotted.kind,
            voice: spotted.voice,
            time: spotted.time,
            found: spotted.found,
            above: Vec::new(),
            below: Vec::new(),
            more_below: 0,
            whereabouts: Whereabouts::Outside,
            tip: None,
        };
        let Some(no) = no else { return Ok(told) };
        told.whereabouts = around.whereabouts[no as usize];
        let tip = around.leaf.filter(|_| told.whereabouts == Whereabouts::Active);
        let tip = tip.unwrap_or(around.newest[no as usize]);
        told.tip = Some(session.tree.node(tip).place.line);
        let mut at = no;
        while told.above.len() < self.ancestors {
            let Some(above) = around.speaker_above(session, at)? else { break };
            told.above.push(around.near(session, above)?);
            at = above;
        }
        told.above.reverse();
        let below = session.tree.speakers_below(no);
        told.more_below = below.len().saturating_sub(self.children);
        for &child in below.iter().take(self.children) {
            told.below.push(around.near(session, child)?);
        }
        Ok(told)
    }
}

impl Around {
    fn new(session: &Session, lines: Lines, by_offset: HashMap<u64, NodeNo>) -> Around {
        let active = session.active();
        Around {
            lines,
            by_offset,
            turns: session.tree.turns().zip(1..).collect(),
            whereabouts: whereabouts(session, &active),
            leaf: active.leaf,
            newest: session.tree.newest_below(),
            next_above: HashMap::new(),
            near: HashMap::new(),
        }
    }

    fn turn(&self, session: &Session, no: NodeNo) -> Option<u32> {
        session.tree.turn_of(no).and_then(|turn| self.turns.get(&turn).copied())
    }

    /// Finds the next prompt or answer in words above a node; each link of the way is walked once.
    fn speaker_above(&mut self, session: &Session, no: NodeNo) -> Result<Option<NodeNo>, Failure> {
        let tree = &session.tree;
        let mut passed = vec![no];
        let mut at = tree.node(no).parent();
        while let Some(above) = at {
            let voice = tree.node(above).voice;
            let may_speak = voice.starts_turn() || matches!(voice, Voice::Answer | Voice::Recap);
            // The lines of one response are one answer.
            let same = tree.same_message(above, no);
            if may_speak && !same && !self.near(session, above)?.words.trim().is_empty() {
                break;
            }
            if !same && let Some(&known) = self.next_above.get(&above) {
                at = known;
                break;
            }
            if !same {
                passed.push(above);
            }
            at = tree.node(above).parent();
        }
        self.next_above.extend(passed.into_iter().map(|no| (no, at)));
        Ok(at)
    }

    fn near(&mut self, session: &Session, no: NodeNo) -> Result<Near, Failure> {
        if let Some(near) = self.near.get(&no) {
            return Ok(near.clone());
        }
        let node = session.tree.node(no);
        let bytes = self.lines.read(node.place).map_err(Failure::reading(&session.path))?;
        let mut near = Near {
            line: node.place.line,
            turn: self.turn(session, no),
            voice: node.voice,
            words: String::new(),
            call: None,
        };
        read_at(&bytes, node.place, |entry| (near.words, near.call) = gist(node.place.line, entry));
        self.near.insert(no, near.clone());
        Ok(near)
    }
}

/// Bytes kept of the words of an entry near a match.
const GIST: usize = 400;

/// Says what an entry is about: its first words, or the first call it makes.
fn gist(line: u32, entry: &Entry<'_>) -> (String, Option<ToolCall>) {
    let turn = tell(&[(line, entry.clone())]);
    let mut words = turn.prompt.map(|prompt| prompt.text).unwrap_or_default();
    let mut call = None;
    for part in turn.parts {
        match part {
            Part::Tool(told) if told.name.is_empty() => {
                let result = told.result.unwrap_or_default();
                if words.is_empty() {
                    words = result.text;
                }
            }
            Part::Tool(told) => call = call.or(Some(ToolCall { result: None, ..*told })),
            Part::Text(text)
            | Part::Queued(text)
            | Part::Output(text)
            | Part::Command(text)
            | Part::Interrupt(text)
            | Part::Notice(text)
            | Part::Meta(text)
            | Part::Recap(text)
            | Part::Error(text)
                if words.is_empty() =>
            {
                words = text;
            }
            _ => {}
        }
    }
    words.truncate(words.floor_char_boundary(GIST));
    let call = call.filter(|_| words.trim().is_empty());
    (words, call)
}

/// Says for every node how it stands to the active path.
fn whereabouts(session: &Session, active: &super::Active) -> Vec<Whereabouts> {
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
