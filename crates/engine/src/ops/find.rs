//! Entries that hold some words, each with what stands around it in the tree.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{Entry, EntryRole, Kind, Timestamp};
use rethread_core::query::{EntryMatches, Needle, Scope, TextSource};
use rethread_core::tree::{LineSpan, NodeId};

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_with_visitor};
use crate::session::match_context::{ContextStatus, MatchContext, NearbyEntry, read_at};

/// What to look for, and where.
#[derive(Debug, Clone)]
pub struct FindRequest {
    /// The session file.
    pub path: PathBuf,
    /// What.
    pub needle: Needle,
    /// Only texts of these; of all, where none is named.
    pub sources: Vec<TextSource>,
    /// Also subagents inside the file and what stands beside the conversation.
    pub all: bool,
    /// How many entries above a match to tell.
    pub ancestors: usize,
    /// How many entries below a match to tell.
    pub children: usize,
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
    pub voice: EntryRole,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Where in it, and how often.
    pub found: EntryMatches,
    /// Prompts and answers above it, the nearest last.
    pub above: Vec<NearbyEntry>,
    /// Entries right below it.
    pub below: Vec<NearbyEntry>,
    /// How many more there are below it.
    pub more_below: usize,
    /// How it stands to the active path.
    pub whereabouts: ContextStatus,
    /// The line of the tip of the branch that holds it.
    pub tip: Option<u32>,
}

struct Spotted {
    place: LineSpan,
    uuid: Option<String>,
    kind: Kind,
    voice: EntryRole,
    time: Option<Timestamp>,
    found: EntryMatches,
}

/// What was found: an iterator over matches.
pub struct Find {
    /// Which session it is.
    pub head: SessionHeader,
    /// How many entries match.
    pub entries: usize,
    /// How many matches they hold.
    pub count: usize,
    session: Session,
    spotted: std::vec::IntoIter<Spotted>,
    around: MatchContext,
    ancestors: usize,
    children: usize,
}

/// Looks through a session.
pub fn find(request: &FindRequest) -> Result<Find, Error> {
    let mut spotted: Vec<Spotted> = Vec::new();
    let mut condensed: Vec<LineSpan> = Vec::new();
    let session = load_with_visitor(&request.path, |entry, place| {
        if entry.raw.len() != place.len as usize {
            condensed.push(place);
        } else {
            spotted.extend(spot(request, entry, place));
        }
    })?;
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    // Of lines too long to hold only a part was shown: they are looked through again, one by one and whole.
    for place in condensed {
        let bytes = lines.read(place).map_err(Error::reading(&request.path))?;
        read_at(&bytes, place, |entry| spotted.extend(spot(request, entry, place)));
    }
    spotted.sort_by_key(|spotted| spotted.place.offset);
    let by_offset: HashMap<u64, NodeId> =
        session.tree.nodes().iter().map(|node| node.place.offset).zip(0..).collect();
    if !request.all && !session.tree.is_sidechain_file() {
        let is_side = |no: &NodeId| session.tree.node(*no).is_sidechain();
        spotted.retain(|spotted| !by_offset.get(&spotted.place.offset).is_some_and(is_side));
    }
    let around = MatchContext::new(&session, lines, by_offset);
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

fn spot(request: &FindRequest, entry: &Entry<'_>, place: LineSpan) -> Option<Spotted> {
    if !request.needle.may_hold(entry.raw) {
        return None;
    }
    let scope = if request.all { Scope::All } else { Scope::Told };
    let found = request.needle.find_in_entry(entry, scope, &request.sources);
    (found.count > 0).then(|| Spotted {
        place,
        uuid: entry.uuid.map(|uuid| uuid.decode().into_owned()),
        kind: entry.kind,
        voice: entry.voice(),
        time: entry.time(),
        found,
    })
}

impl Find {
    /// Tells the next match.
    pub fn next_match(&mut self) -> Option<Result<Match, Error>> {
        let spotted = self.spotted.next()?;
        Some(self.tell(spotted))
    }

    fn tell(&mut self, spotted: Spotted) -> Result<Match, Error> {
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
            whereabouts: ContextStatus::Outside,
            tip: None,
        };
        let Some(no) = no else { return Ok(told) };
        told.whereabouts = around.whereabouts[no as usize];
        let tip = around.leaf.filter(|_| told.whereabouts == ContextStatus::Active);
        let tip = tip.unwrap_or(around.newest[no as usize]);
        told.tip = Some(session.tree.node(tip).place.line);
        let mut at = no;
        while told.above.len() < self.ancestors {
            let Some(above) = around.speaker_above(session, at)? else { break };
            told.above.push(around.near(session, above)?);
            at = above;
        }
        told.above.reverse();
        let below = session.tree.child_messages(no);
        told.more_below = below.len().saturating_sub(self.children);
        for &child in below.iter().take(self.children) {
            told.below.push(around.near(session, child)?);
        }
        Ok(told)
    }
}
