//! What is in the window now: every block of the loaded path with its share.

use std::collections::HashMap;

use super::attribution::{Attribution, AttributionItem, ItemKind, Request, attribute_tokens};
use super::block::{Cause, ContextBlock};
use super::collect::ContextCollector;
use super::history::ContextHistory;
use super::responses::Responses;
use crate::entry::EntryRole;
use crate::id::Id;
use crate::tree::{NodeId, Tree};

/// A block in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowBlock {
    /// The entry it stands in.
    pub node: NodeId,
    /// Its number among the pieces of the entry.
    piece: u32,
    /// What it is.
    pub cause: Cause,
    /// Its tokens.
    pub tokens: u64,
    /// Whether they were counted, and not shared or judged.
    pub measured: bool,
}

/// What one cause has in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseTotal {
    /// The cause.
    pub cause: Cause,
    /// The tool of results, the kind of attachments.
    pub name: String,
    /// How many blocks.
    pub items: usize,
    /// Their tokens.
    pub tokens: u64,
    /// Of these, the ones that were counted and not shared or judged.
    pub measured: u64,
}

/// A file that was read more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reread {
    /// Its path.
    pub path: String,
    /// How many reads of it are in the window.
    pub reads: usize,
    /// How many of them read lines that an earlier one had read.
    pub repeats: usize,
    /// The tokens of these.
    pub tokens: u64,
}

/// What the next request would hold.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Its blocks, in order.
    pub items: Vec<WindowBlock>,
    /// What the client itself puts in front.
    pub client: u64,
    /// What was sent but never written to the file.
    pub unrecorded: u64,
    /// What the last counted request held.
    pub context: Option<u64>,
    /// The response to it: its tokens, and whether they were counted.
    pub output: (u64, bool),
    /// What came since, judged.
    pub since: u64,
    /// Responses in the window that were met as part of it.
    pub responses: usize,
}

impl Window {
    /// Looks at a loaded path; `curve` is that of the whole way to its end.
    pub fn of(tree: &Tree, weigher: &ContextCollector, path: &[NodeId], curve: &ContextHistory) -> Window {
        let responses = Responses::of(tree, weigher);
        let pace = curve.tokens_per_estimate;
        let mut draft = Draft { tree, weigher, pace, window: Window::default(), parcels: Vec::new() };
        let (requests, since) = draft.part(path, &responses);
        let settled = attribute_tokens(&draft.parcels, &requests, &since, curve.client);
        let mut window = draft.window;
        window.tell(&settled, &requests, &since, &draft.parcels);
        window
    }

    fn tell(
        &mut self,
        settled: &Attribution,
        requests: &[Request],
        since: &[usize],
        parcels: &[AttributionItem],
    ) {
        let judged = |items: &[usize]| items.iter().map(|&no| parcels[no].estimate).sum::<u64>();
        self.client = settled.client;
        self.unrecorded = settled.unrecorded;
        for (no, item) in self.items.iter_mut().enumerate() {
            (item.tokens, item.measured) = (settled.tokens[no], settled.measured[no]);
        }
        self.responses = requests.len();
        let Some(last) = requests.iter().rposition(|request| request.context.is_some()) else {
            self.since = self.used() - self.client;
            return;
        };
        let request = &requests[last];
        self.context = request.context;
        self.output = (request.output.unwrap_or_else(|| judged(&request.answer)), request.output.is_some());
        let later = requests[last + 1..].iter();
        let later = later.map(|request| {
            judged(&request.before) + request.output.unwrap_or_else(|| judged(&request.answer))
        });
        self.since = later.sum::<u64>() + judged(since);
    }

    /// Returns the size of all of it.
    pub fn used(&self) -> u64 {
        self.client + self.unrecorded + self.items.iter().map(|item| item.tokens).sum::<u64>()
    }

    /// Adds up by cause, the largest first.
    pub fn rows(&self, weigher: &ContextCollector) -> Vec<CauseTotal> {
        let mut rows: Vec<CauseTotal> = Vec::new();
        let mut places: HashMap<(Cause, &str), usize> = HashMap::new();
        for item in &self.items {
            let name = if item.cause == Cause::Call { "" } else { weigher.name(item) };
            let place = *places.entry((item.cause, name)).or_insert_with(|| {
                rows.push(CauseTotal::new(item.cause, name));
                rows.len() - 1
            });
            let row = &mut rows[place];
            row.items += 1;
            row.tokens += item.tokens;
            row.measured += if item.measured { item.tokens } else { 0 };
        }
        for (cause, tokens) in [(Cause::Client, self.client), (Cause::Unrecorded, self.unrecorded)] {
            rows.push(CauseTotal { tokens, ..CauseTotal::new(cause, "") });
        }
        rows.retain(|row| row.tokens > 0);
        rows.sort_by(|a, b| (b.tokens, a.cause.name(), &a.name).cmp(&(a.tokens, b.cause.name(), &b.name)));
        rows
    }

    /// Returns the largest blocks, the largest first.
    pub fn largest(&self, most: usize) -> Vec<WindowBlock> {
        let mut items: Vec<WindowBlock> = self.items.iter().copied().filter(|item| item.tokens > 0).collect();
        items.sort_by_key(|item| (std::cmp::Reverse(item.tokens), item.node, item.piece));
        items.truncate(most);
        items
    }

    /// Lists files of which the same lines were read again, the most tokens first.
    pub fn rereads(&self, weigher: &ContextCollector) -> Vec<Reread> {
        let mut rereads: Vec<Reread> = Vec::new();
        let mut known: HashMap<&str, (usize, Vec<std::ops::Range<u64>>)> = HashMap::new();
        for item in &self.items {
            let Some(reading) = weigher.piece(item).and_then(|piece| weigher.reading(piece)) else {
                continue;
            };
            let (place, ranges) = known.entry(&reading.path).or_insert_with(|| {
                rereads.push(Reread { path: reading.path.clone(), reads: 0, repeats: 0, tokens: 0 });
                (rereads.len() - 1, Vec::new())
            });
            let lines = &reading.lines;
            let again = ranges.iter().any(|range| range.start < lines.end && lines.start < range.end);
            let reread = &mut rereads[*place];
            reread.reads += 1;
            reread.repeats += usize::from(again);
            reread.tokens += if again { item.tokens } else { 0 };
            if !ranges.contains(lines) {
                ranges.push(lines.clone());
            }
        }
        rereads.retain(|reread| reread.tokens > 0);
        rereads.sort_by(|a, b| (b.tokens, &a.path).cmp(&(a.tokens, &b.path)));
        rereads
    }
}

impl CauseTotal {
    fn new(cause: Cause, name: &str) -> CauseTotal {
        CauseTotal { cause, name: name.to_owned(), items: 0, tokens: 0, measured: 0 }
    }
}

impl ContextCollector {
    fn piece(&self, item: &WindowBlock) -> Option<&ContextBlock> {
        self.pieces(item.node).get(item.piece as usize)
    }

    /// Returns the tool of a call or result, or the kind of an attachment.
    pub fn name(&self, item: &WindowBlock) -> &str {
        self.piece(item).map_or("", |piece| self.name_of(piece))
    }

    /// Returns the entry that makes the call of a call or result, and the key of the call's id.
    pub fn call(&self, item: &WindowBlock) -> Option<(NodeId, Id)> {
        self.call_of(self.piece(item)?)
    }

    /// Returns how many responses the file holds outside subagents.
    pub fn responses(&self, tree: &Tree) -> usize {
        Responses::of(tree, self).told(tree)
    }
}

/// A window in the making.
struct Draft<'a> {
    tree: &'a Tree,
    weigher: &'a ContextCollector,
    /// What estimates are multiplied by, in thousandths.
    pace: u64,
    window: Window,
    parcels: Vec<AttributionItem>,
}

impl Draft<'_> {
    /// Parts a path into requests, and what came since the last.
    fn part(&mut self, path: &[NodeId], responses: &Responses) -> (Vec<Request>, Vec<usize>) {
        let is_mark = |no: &&NodeId| {
            matches!(self.tree.node(**no).voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        };
        let mark = path.iter().filter(is_mark).max().copied();
        let mut requests: Vec<Request> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut loose = Vec::new();
        for &no in path {
            if matches!(self.tree.node(no).voice, EntryRole::ApiError | EntryRole::SyntheticReply)
                || !self.tree.is_main_chain(no)
            {
                continue;
            }
            let items = self.items(no);
            // What a compaction kept from before it was counted in another context.
            let message = self.tree.message_of(no).filter(|_| mark.is_none_or(|mark| no > mark));
            let Some((message, response)) =
                message.and_then(|message| Some((message, responses.of_message(message)?)))
            else {
                loose.extend(items);
                continue;
            };
            let place = *places.entry(message).or_insert_with(|| {
                let before = std::mem::take(&mut loose);
                let request = Request {
                    before,
                    context: response.context,
                    answer: Vec::new(),
                    output: response.output,
                };
                requests.push(request);
                requests.len() - 1
            });
            // A line of a response that comes behind another one is still part of its own.
            requests[place].answer.extend(items);
        }
        (requests, loose)
    }

    /// Adds the pieces of an entry; returns their numbers.
    fn items(&mut self, no: NodeId) -> std::ops::Range<usize> {
        let start = self.parcels.len();
        for (k, piece) in self.weigher.pieces(no).iter().enumerate() {
            let is = match piece.cause {
                Cause::Thinking => ItemKind::Thinking,
                Cause::Result => ItemKind::Result,
                Cause::Prompt => ItemKind::Prompt,
                _ => ItemKind::Other,
            };
            self.parcels.push(AttributionItem { estimate: u64::from(piece.tokens) * self.pace / 1000, is });
            let piece_no = k as u32;
            self.window.items.push(WindowBlock {
                node: no,
                piece: piece_no,
                cause: piece.cause,
                tokens: 0,
                measured: false,
            });
        }
        start..self.parcels.len()
    }
}
