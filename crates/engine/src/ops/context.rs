//! Where the context window went: how it grew by turns, what is in it now, and what is largest.

use std::ops::Range;
use std::path::PathBuf;

use rethread_core::context::{CauseTotal, ContextCollector, ContextHistory, Reread, Window, WindowBlock};
use rethread_core::entry;
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::tree::{NodeId, ParentLink};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::branches::turn_numbers;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{Session, SessionHeader, load_with_visitor};
use crate::session::preview::PreviewedEntry;

/// What to look at.
#[derive(Debug, Clone)]
pub struct ContextRequest {
    /// The session file.
    pub path: PathBuf,
    /// Whether to read what each turn began with.
    pub turns: bool,
}

/// The context of a session.
#[derive(Debug)]
pub struct Context {
    /// Which session.
    pub head: SessionHeader,
    /// The client that would load it.
    pub client: String,
    /// The size at every response on the way, also before compactions.
    pub curve: ContextHistory,
    /// What the next request would hold.
    pub window: Window,
    /// How much a request can hold.
    pub limit: u64,
    /// The same by cause, the largest first.
    pub rows: Vec<CauseTotal>,
    /// The largest blocks.
    pub largest: Vec<Large>,
    /// Files that were read again.
    pub rereads: Vec<Reread>,
    /// The turns of the way.
    pub turns: Vec<Growth>,
    /// By place of `curve.drops`, line and turn.
    pub drops: Vec<(u32, Option<u32>)>,
    /// Responses that are not on the way: other branches, rewound, cut off.
    pub elsewhere: usize,
    /// Where the loaded path is cut off from what was before: the line of its first entry.
    pub cut: Option<u32>,
}

/// One of the largest blocks.
#[derive(Debug)]
pub struct Large {
    /// What it is, and its tokens.
    pub item: WindowBlock,
    /// The tool of a result, the kind of an attachment.
    pub name: String,
    /// The name of its entry, to be typed.
    pub handle: String,
    /// The line of its entry.
    pub line: u32,
    /// What its entry says.
    pub said: PreviewedEntry,
    /// The call that it makes or answers.
    pub call: Option<Box<ToolCall>>,
}

/// What a turn did to the context.
#[derive(Debug)]
pub struct Growth {
    /// Its number; `None` for responses before the first prompt.
    pub no: Option<u32>,
    /// The line it begins with.
    pub line: Option<u32>,
    /// Its places in `curve.points`.
    pub points: Range<usize>,
    /// The size when it began: the first request, answer not included.
    pub first: u64,
    /// The size when it ended, the last answer included.
    pub last: u64,
    /// Whether all its requests were counted.
    pub measured: bool,
    /// How many drops stand in it.
    pub drops: usize,
    /// What it began with, where that was asked for.
    pub said: Option<PreviewedEntry>,
}

/// How much a request can hold.
const WINDOW: u64 = 200_000;
/// How much it can hold where the model takes more.
const LONG_WINDOW: u64 = 1_000_000;
/// How many of the largest blocks are named.
const LARGEST: usize = 5;

/// Shows where the context window of a session went.
pub fn context(request: &ContextRequest) -> Result<Context, Error> {
    let mut weigher = ContextCollector::default();
    let session = load_with_visitor(&request.path, |entry, place| weigher.add(entry, place))?;
    let tree = &session.tree;
    let active = session.active();
    let way: Vec<NodeId> = active
        .leaf
        .map(|leaf| tree.with_parallel_calls(&tree.ancestors_across_compactions(leaf)))
        .unwrap_or_default()
        .into_iter()
        .map(|step| step.node)
        .filter(|&no| tree.is_main_chain(no))
        .collect();
    let curve = ContextHistory::of(tree, &weigher, &way);
    let window = Window::of(tree, &weigher, &active.nodes, &curve);
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let mut largest = Vec::new();
    for item in window.largest(LARGEST) {
        largest.push(session.large(&mut lines, &weigher, item)?);
    }
    let mut turns = session.growths(&curve);
    for turn in turns.iter_mut().filter(|_| request.turns) {
        let start = curve.points.get(turn.points.start).and_then(|point| tree.turn_of(point.node));
        turn.said = start.map(|no| session.said(&mut lines, no)).transpose()?;
    }
    let cut = active
        .nodes
        .first()
        .filter(|&&no| matches!(tree.node(no).link, ParentLink::Missing | ParentLink::Cut));
    Ok(Context {
        head: session.head(),
        client: session.client().text,
        limit: limit(&curve, &window),
        rows: window.rows(&weigher),
        rereads: window.rereads(&weigher),
        elsewhere: weigher.responses(tree).saturating_sub(curve.points.len()),
        cut: cut.map(|&no| tree.node(no).place.line),
        drops: session.drop_places(&curve),
        largest,
        turns,
        curve,
        window,
    })
}

/// Tells how much a request can hold: more where the model says so, or where one held more.
fn limit(curve: &ContextHistory, window: &Window) -> u64 {
    let counted = curve.points.iter().filter(|point| point.measured).map(|point| point.context).max();
    let larger = counted.max(window.context).is_some_and(|context| context > WINDOW);
    if larger || curve.model.ends_with("[1m]") { LONG_WINDOW } else { WINDOW }
}

impl Session {
    /// Adds up the points of a curve by turn.
    fn growths(&self, curve: &ContextHistory) -> Vec<Growth> {
        let tree = &self.tree;
        let numbers = turn_numbers(tree);
        let turn = |place: usize| tree.turn_of(curve.points[place].node);
        let mut growths = Vec::new();
        let mut start = 0;
        while start < curve.points.len() {
            let here = turn(start);
            let end =
                (start..curve.points.len()).find(|&place| turn(place) != here).unwrap_or(curve.points.len());
            let points = &curve.points[start..end];
            growths.push(Growth {
                no: here.and_then(|no| numbers.get(&no).copied()),
                line: here.map(|no| tree.node(no).place.line),
                first: points[0].context,
                last: points.last().map_or(0, |point| point.context + point.output),
                measured: points.iter().all(|point| point.measured),
                drops: curve.drops.iter().filter(|drop| (start..end).contains(&drop.at)).count(),
                points: start..end,
                said: None,
            });
            start = end;
        }
        growths
    }

    fn drop_places(&self, curve: &ContextHistory) -> Vec<(u32, Option<u32>)> {
        let numbers = turn_numbers(&self.tree);
        let turn = |no: NodeId| self.tree.turn_of(no).and_then(|turn| numbers.get(&turn).copied());
        // A boundary is in no turn: the response behind it is.
        let behind = |at: usize| curve.points.get(at).and_then(|point| turn(point.node));
        let place = |drop: &rethread_core::context::ContextDrop| {
            (self.tree.node(drop.node).place.line, turn(drop.node).or_else(|| behind(drop.at)))
        };
        curve.drops.iter().map(place).collect()
    }

    fn large(
        &self,
        lines: &mut LineReader,
        weigher: &ContextCollector,
        item: WindowBlock,
    ) -> Result<Large, Error> {
        let call = match weigher.call(&item) {
            Some((no, id)) => self.call_in(lines, no, id)?,
            None => None,
        };
        Ok(Large {
            name: weigher.name(&item).to_owned(),
            handle: self.handle(item.node),
            line: self.tree.node(item.node).place.line,
            said: self.said(lines, item.node)?,
            call,
            item,
        })
    }

    /// Reads a call again.
    fn call_in(&self, lines: &mut LineReader, no: NodeId, id: Id) -> Result<Option<Box<ToolCall>>, Error> {
        let place = self.tree.node(no).place;
        let bytes = lines.read(place).map_err(Error::reading(&self.path))?;
        let line = Line { no: place.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut found = None;
        entry::read(&line, &mut Vec::new(), |entry, _| {
            let parts = build_turn(&[(place.line, entry)]).parts;
            found = found.take().or(parts.into_iter().find_map(|piece| match piece.part {
                TurnPart::Tool(call) if Id::of(call.id.as_bytes()) == id => Some(call),
                _ => None,
            }));
        });
        Ok(found)
    }
}
