//! Finds entries of one session by text, each with its context in the tree.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_core::entry::{Entry, EntryRole, Kind, Timestamp};
use rethread_core::query::{EntryMatches, Needle, TextScope, TextSource};
use rethread_core::resume::ContextStatus;
use rethread_core::tree::{LineSpan, NodeId, VisitFn};

use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::match_context::{MatchContext, NearbyEntry, parse_entries_at};

/// Options of [`find_matches`].
#[derive(Debug, Clone)]
pub struct FindRequest {
    /// The session file.
    pub path: PathBuf,
    /// The text to find.
    pub needle: Needle,
    /// The sources of text to search. An empty list selects all.
    pub sources: Vec<TextSource>,
    /// Also search subagents inside the file and text outside the conversation.
    pub all: bool,
    /// The maximum number of ancestors to return with a match.
    pub max_ancestors: usize,
    /// The maximum number of entries directly below a match to return.
    pub max_children: usize,
}

impl Default for FindRequest {
    /// Matches every entry.
    fn default() -> FindRequest {
        FindRequest {
            path: PathBuf::new(),
            needle: Needle::smart_case(""),
            sources: Vec::new(),
            all: false,
            max_ancestors: 0,
            max_children: 0,
        }
    }
}

/// An entry that contains the text.
#[derive(Debug)]
pub struct EntryMatch {
    /// The line number.
    pub line: u32,
    /// The number of its turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
    /// The uuid of the entry.
    pub uuid: Option<String>,
    /// The type of the entry.
    pub kind: Kind,
    /// The role of the entry.
    pub role: EntryRole,
    /// The timestamp of the entry.
    pub time: Option<Timestamp>,
    /// The matches in its text.
    pub matches: EntryMatches,
    /// The nearest prompts and answers with text among its ancestors, nearest last.
    pub above: Vec<NearbyEntry>,
    /// The messages directly below it, in file order.
    pub below: Vec<NearbyEntry>,
    /// The number of further messages directly below it.
    pub more_below: usize,
    /// How the entry relates to the active path.
    pub context_status: ContextStatus,
    /// The line of the newest tip below it, or of the resume point if it is active. `None` if it is not in the tree.
    pub tip_line: Option<u32>,
}

/// A matching entry before its context is read.
struct FoundEntry {
    span: LineSpan,
    uuid: Option<String>,
    kind: Kind,
    role: EntryRole,
    time: Option<Timestamp>,
    matches: EntryMatches,
}

/// An iterator over the entries that match, in file order. The context of an entry is read when it is returned.
pub struct FindResults {
    /// The session.
    pub header: SessionHeader,
    /// The number of entries that match.
    pub entry_count: usize,
    /// The number of matches in all entries.
    pub match_count: usize,
    session: Session,
    found_entries: std::vec::IntoIter<FoundEntry>,
    context: MatchContext,
    max_ancestors: usize,
    max_children: usize,
}

/// Searches the entries of one session for a text.
pub fn find_matches(request: &FindRequest) -> Result<FindResults, Error> {
    let mut found_entries: Vec<FoundEntry> = Vec::new();
    let mut truncated: Vec<LineSpan> = Vec::new();
    let mut visitor = VisitFn(|entry: &Entry<'_>, span: LineSpan| {
        if entry.raw.len() != span.len as usize {
            truncated.push(span);
        } else {
            found_entries.extend(match_entry(request, entry, span));
        }
    });
    let session = load(&request.path, LoadOptions::default(), &mut visitor)?;
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    // Very long lines were truncated while loading: search them again, one whole line at a time.
    for span in truncated {
        let bytes = lines.read_span(span).map_err(Error::reading(&request.path))?;
        parse_entries_at(&bytes, span, |entry| found_entries.extend(match_entry(request, entry, span)));
    }
    found_entries.sort_by_key(|found| found.span.offset);
    let by_offset: HashMap<u64, NodeId> =
        session.tree.nodes().iter().map(|node| node.span.offset).zip(0..).collect();
    if !request.all && !session.tree.is_sidechain_file() {
        let is_sidechain = |id: &NodeId| session.tree.node(*id).is_sidechain();
        found_entries.retain(|found| !by_offset.get(&found.span.offset).is_some_and(is_sidechain));
    }
    let context = MatchContext::new(&session, lines, by_offset);
    Ok(FindResults {
        header: session.header(),
        entry_count: found_entries.len(),
        match_count: found_entries.iter().map(|found| found.matches.count).sum(),
        session,
        found_entries: found_entries.into_iter(),
        context,
        max_ancestors: request.max_ancestors,
        max_children: request.max_children,
    })
}

/// Finds the matches in one entry. Returns `None` if there are none.
fn match_entry(request: &FindRequest, entry: &Entry<'_>, span: LineSpan) -> Option<FoundEntry> {
    if !request.needle.may_match_line(entry.raw) {
        return None;
    }
    let scope = if request.all { TextScope::All } else { TextScope::Conversation };
    let matches = request.needle.find_in_entry(entry, scope, &request.sources);
    (matches.count > 0).then(|| FoundEntry {
        span,
        uuid: entry.uuid.map(|uuid| uuid.decode().into_owned()),
        kind: entry.kind,
        role: entry.role(),
        time: entry.time(),
        matches,
    })
}

impl Iterator for FindResults {
    type Item = Result<EntryMatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.found_entries.next()?;
        Some(self.build_match(found))
    }
}

impl FindResults {
    /// Reads the entries above and below a match. An entry outside the tree has none.
    fn build_match(&mut self, found: FoundEntry) -> Result<EntryMatch, Error> {
        let (session, context) = (&self.session, &mut self.context);
        let id = context.by_offset.get(&found.span.offset).copied();
        let mut entry_match = EntryMatch {
            line: found.span.line,
            turn: id.and_then(|id| context.turn_number(session, id)),
            uuid: found.uuid,
            kind: found.kind,
            role: found.role,
            time: found.time,
            matches: found.matches,
            above: Vec::new(),
            below: Vec::new(),
            more_below: 0,
            context_status: ContextStatus::Unlinked,
            tip_line: None,
        };
        let Some(id) = id else { return Ok(entry_match) };
        entry_match.context_status = context.statuses[id as usize];
        let tip = context.leaf.filter(|_| entry_match.context_status == ContextStatus::Active);
        let tip = tip.unwrap_or(context.newest_descendants[id as usize]);
        entry_match.tip_line = Some(session.tree.node(tip).span.line);
        let mut current = id;
        while entry_match.above.len() < self.max_ancestors {
            let Some(above) = context.find_text_above_message(session, current)? else { break };
            entry_match.above.push(context.load_nearby_entry(session, above)?);
            current = above;
        }
        entry_match.above.reverse();
        let below = session.tree.non_structural_children(id);
        entry_match.more_below = below.len().saturating_sub(self.max_children);
        for &child in below.iter().take(self.max_children) {
            entry_match.below.push(context.load_nearby_entry(session, child)?);
        }
        Ok(entry_match)
    }
}
