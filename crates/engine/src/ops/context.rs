//! Analyzes the context window of a session: its growth by turn, its content, and the largest blocks.

use std::ops::Range;
use std::path::PathBuf;

use rethread_core::context::{
    CauseTotal, ContextCollector, ContextDrop, ContextHistory, ContextWindow, RepeatedRead, WindowBlock,
};
use rethread_core::entry;
use rethread_core::id::Id;
use rethread_core::lines::Line;
use rethread_core::tree::{NodeId, ParentLink};
use rethread_core::turn::{ToolCall, TurnPart, build_turn};

use super::branches::number_turns;
use crate::Error;
use crate::disk::LineReader;
use crate::session::load::{LoadOptions, Session, SessionHeader, load};
use crate::session::preview::PreviewedEntry;

/// Options of [`analyze_context`].
#[derive(Debug, Clone, Default)]
pub struct ContextRequest {
    /// The session file.
    pub path: PathBuf,
    /// Whether to read a preview of each turn.
    pub turns: bool,
}

/// The context window of a session.
#[derive(Debug)]
pub struct ContextReport {
    /// The session.
    pub header: SessionHeader,
    /// The version of the client that would load it.
    pub client: String,
    /// The context size at every response of the active path, also before compactions.
    pub history: ContextHistory,
    /// The content of the next request.
    pub window: ContextWindow,
    /// The estimated maximum number of tokens of a request: 200,000 or 1,000,000.
    pub limit: u64,
    /// The content of the next request by cause, largest first.
    pub by_cause: Vec<CauseTotal>,
    /// The largest blocks of the next request, largest first, at most five.
    pub largest: Vec<LargeBlock>,
    /// Files of which the same lines were read more than once, the most tokens first.
    pub rereads: Vec<RepeatedRead>,
    /// The turns of the active path.
    pub turns: Vec<TurnGrowth>,
    /// The locations of `history.drops`, in the same order.
    pub drops: Vec<DropLocation>,
    /// The number of responses that are not on the active path: on other branches, rewound or cut off.
    pub off_path_responses: usize,
    /// The line of the first loaded entry, if its parent is missing or its parents form a cycle.
    pub cut_off_line: Option<u32>,
}

/// The location of a drop of the context size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropLocation {
    /// The line number.
    pub line: u32,
    /// The number of the turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
}

/// One of the largest blocks.
#[derive(Debug)]
pub struct LargeBlock {
    /// The block and its tokens.
    pub block: WindowBlock,
    /// The tool of a call or result, or the type of an attachment.
    pub name: String,
    /// The name of its entry, as the user can type it.
    pub handle: String,
    /// The line of its entry.
    pub line: u32,
    /// A preview of its entry.
    pub preview: PreviewedEntry,
    /// The tool call in the block, or the call that the block is the result of. `None` for other blocks.
    pub call: Option<Box<ToolCall>>,
}

/// The growth of the context in one turn.
#[derive(Debug)]
pub struct TurnGrowth {
    /// The number of the turn. `None` for responses before the first prompt.
    pub number: Option<u32>,
    /// The first line of the turn.
    pub line: Option<u32>,
    /// The range of its samples in `history.samples`.
    pub sample_range: Range<usize>,
    /// The size of its first request, without the answer.
    pub first_tokens: u64,
    /// The size at its end, with the last answer.
    pub last_tokens: u64,
    /// Whether the API counted the tokens of all its requests.
    pub measured: bool,
    /// The number of drops in it.
    pub drops: usize,
    /// A preview of its prompt, if it was requested.
    pub preview: Option<PreviewedEntry>,
}

/// The maximum number of tokens of a request to most models.
const DEFAULT_WINDOW: u64 = 200_000;
/// The maximum number of tokens of a request to a model with a long context window.
const LONG_WINDOW: u64 = 1_000_000;
/// The maximum number of largest blocks in a report.
const LARGEST_COUNT: usize = 5;

/// Analyzes the context window of a session.
pub fn analyze_context(request: &ContextRequest) -> Result<ContextReport, Error> {
    let mut collector = ContextCollector::default();
    let session = load(&request.path, LoadOptions::default(), &mut collector)?;
    let tree = &session.tree;
    let active = session.active_path();
    let path: Vec<NodeId> =
        session.conversation(&active).nodes().filter(|&node_id| tree.is_main_chain(node_id)).collect();
    let history = ContextHistory::new(tree, &collector, &path);
    let window = ContextWindow::new(tree, &collector, &active.nodes, &history);
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let mut largest = Vec::new();
    for block in window.largest_blocks(LARGEST_COUNT) {
        largest.push(session.read_large_block(&mut lines, &collector, block)?);
    }
    let mut turns = session.group_by_turn(&history);
    for turn in turns.iter_mut().filter(|_| request.turns) {
        let start = history.samples.get(turn.sample_range.start).and_then(|sample| tree.turn_of(sample.node));
        turn.preview = start.map(|node_id| session.preview_entry(&mut lines, node_id)).transpose()?;
    }
    let cut_off = active.nodes.first().filter(|&&node_id| {
        matches!(tree.node(node_id).link, ParentLink::MissingParent | ParentLink::CycleBroken)
    });
    Ok(ContextReport {
        header: session.header(),
        client: session.client().text,
        limit: estimate_limit(&history, &window),
        by_cause: window.totals_by_cause(&collector),
        rereads: window.repeated_reads(&collector),
        off_path_responses: collector.count_responses(tree).saturating_sub(history.samples.len()),
        cut_off_line: cut_off.map(|&node_id| tree.node(node_id).span.line),
        drops: session.locate_drops(&history),
        largest,
        turns,
        history,
        window,
    })
}

/// Estimates the maximum number of tokens of a request: the long window if the model name states it, or if a request was
/// larger than the default.
fn estimate_limit(history: &ContextHistory, window: &ContextWindow) -> u64 {
    let largest_request =
        history.samples.iter().filter(|sample| sample.measured).map(|sample| sample.context).max();
    let exceeds_default = largest_request.max(window.context).is_some_and(|context| context > DEFAULT_WINDOW);
    if exceeds_default || history.model.ends_with("[1m]") { LONG_WINDOW } else { DEFAULT_WINDOW }
}

impl Session {
    /// Groups consecutive samples of one turn, in the order of the history. The previews are not read.
    fn group_by_turn(&self, history: &ContextHistory) -> Vec<TurnGrowth> {
        let tree = &self.tree;
        let numbers = number_turns(tree);
        let turn_at = |idx: usize| tree.turn_of(history.samples[idx].node);
        // Drops are in the order of their samples.
        let count_drops_before = |idx: usize| history.drops.partition_point(|drop| drop.sample_idx < idx);
        let mut growths = Vec::new();
        let mut start = 0;
        while start < history.samples.len() {
            let turn = turn_at(start);
            let end = (start..history.samples.len())
                .find(|&idx| turn_at(idx) != turn)
                .unwrap_or(history.samples.len());
            let samples = &history.samples[start..end];
            growths.push(TurnGrowth {
                number: turn.and_then(|start| numbers.get(&start).copied()),
                line: turn.map(|node_id| tree.node(node_id).span.line),
                first_tokens: samples[0].context,
                last_tokens: samples.last().map_or(0, |sample| sample.context + sample.output),
                measured: samples.iter().all(|sample| sample.measured),
                drops: count_drops_before(end) - count_drops_before(start),
                sample_range: start..end,
                preview: None,
            });
            start = end;
        }
        growths
    }

    /// Returns the line and the turn of each drop, in the order of `history.drops`.
    fn locate_drops(&self, history: &ContextHistory) -> Vec<DropLocation> {
        let numbers = number_turns(&self.tree);
        let turn = |node_id: NodeId| self.tree.turn_of(node_id).and_then(|turn| numbers.get(&turn).copied());
        // A compaction boundary belongs to no turn, but the response after it does.
        let turn_after = |idx: usize| history.samples.get(idx).and_then(|sample| turn(sample.node));
        let locate = |drop: &ContextDrop| DropLocation {
            line: self.tree.node(drop.node).span.line,
            turn: turn(drop.node).or_else(|| turn_after(drop.sample_idx)),
        };
        history.drops.iter().map(locate).collect()
    }

    /// Reads the preview and the tool call of one block of the context window.
    fn read_large_block(
        &self,
        lines: &mut LineReader,
        collector: &ContextCollector,
        block: WindowBlock,
    ) -> Result<LargeBlock, Error> {
        let call = match collector.find_call(&block) {
            Some((node_id, id)) => self.read_call(lines, node_id, id)?,
            None => None,
        };
        Ok(LargeBlock {
            name: collector.block_name(&block).to_owned(),
            handle: self.entry_handle(block.node),
            line: self.tree.node(block.node).span.line,
            preview: self.preview_entry(lines, block.node)?,
            call,
            block,
        })
    }

    /// Reads the tool call `id` from the line of a node. Returns `None` if the line does not contain the call.
    fn read_call(
        &self,
        lines: &mut LineReader,
        node_id: NodeId,
        id: Id,
    ) -> Result<Option<Box<ToolCall>>, Error> {
        let span = self.tree.node(node_id).span;
        let bytes = lines.read_span(span).map_err(Error::reading(&self.path))?;
        let line = Line { number: span.line, offset: 0, bytes: &bytes, unterminated: false };
        let mut found = None;
        entry::read_line(&line, &mut Vec::new(), |entry, _| {
            let parts = build_turn(&[(span.line, entry)]).parts;
            found = found.take().or(parts.into_iter().find_map(|item| match item.part {
                TurnPart::Tool(call) if Id::from_text(call.id.as_bytes()) == id => Some(call),
                _ => None,
            }));
        });
        Ok(found)
    }
}
