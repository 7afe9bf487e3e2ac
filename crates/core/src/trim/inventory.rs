//! What the blocks of each entry are and weigh: a few bytes of each, taken while the file is read.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use super::savings::{RemovalCause, SavingsByCause};
use crate::entry::{Attachment, Block, BlockKind, Content, Entry, JsonStr, Kind};
use crate::id::{Id, IdMap, ShortId};
use crate::resume::{is_blank, said_in};
use crate::tree::{LineSpan, NodeId};

/// The number of a call, by its id.
pub(super) type CallNo = u32;

/// What a block is to a trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockClass {
    Thinking,
    Call(CallNo),
    /// What a tool answered; `true` where a stub can stand for it.
    Result(CallNo, bool),
    /// A call that the API itself ran, or its result.
    Hosted(CallNo),
    Picture,
    /// A text without words.
    Blank,
    Other,
}

/// A block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockInfo {
    pub(super) sort: BlockClass,
    /// Its bytes in the file.
    pub(super) len: u32,
    /// The bytes that it counts in the context.
    pub(super) said: u32,
}

/// A picture inside a tool result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inner {
    /// The number of the result among all pieces.
    pub(super) piece: u32,
    /// Its place in the result.
    pub(super) item: u32,
    pub(super) len: u32,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    start: u32,
    /// The bytes of `toolUseResult`.
    twin: u32,
    /// Whether it is an attachment that says nothing to the model.
    idle: bool,
}

/// Lines of one sort: how many, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Heap {
    lines: u64,
    bytes: u64,
}

/// Takes entries in file order, beside a `Weaver`.
#[derive(Debug, Clone, Default)]
pub struct BlockInventory {
    pieces: Vec<BlockInfo>,
    held: Vec<Held>,
    inner: Vec<Inner>,
    calls: IdMap<CallNo>,
    /// What a read reads, by call.
    reads: HashMap<CallNo, ShortId>,
    /// The uuids that cannot be told from their keys.
    odd: IdMap<String>,
    api_log: Heap,
    snapshots: Heap,
    states: Heap,
}

/// Attachments that are for the client alone, or that it repeats by itself.
const IDLE: [Attachment; 8] = [
    Attachment::HookSuccess,
    Attachment::HookSystemMessage,
    Attachment::CommandPermissions,
    Attachment::PromptSnapshot,
    Attachment::TodoReminder,
    Attachment::TaskReminder,
    Attachment::TotalTokensReminder,
    Attachment::SilentTurnReminder,
];

impl BlockInventory {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) {
        let Some(uuid) = entry.uuid else {
            let heap = match entry.kind {
                Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => &mut self.api_log,
                Kind::FileHistorySnapshot | Kind::FileHistoryDelta => &mut self.snapshots,
                _ => &mut self.states,
            };
            heap.lines += 1;
            heap.bytes += u64::from(place.len) + 1;
            return;
        };
        if !Id::is_uuid(uuid.raw()) {
            self.odd.insert(uuid.id(), uuid.decode().into_owned());
        }
        let start = self.pieces.len() as u32;
        let twin = entry.tool_use_result.map_or(0, |twin| twin.len() as u32);
        let idle = entry.kind == Kind::Attachment && IDLE.contains(&entry.attachment());
        self.held.push(Held { start, twin, idle });
        if let (Kind::User | Kind::Assistant, Some(message)) = (entry.kind, &entry.message)
            && let Content::Blocks(blocks) = &message.content
            && are_all(entry.raw, blocks)
        {
            blocks.iter().for_each(|block| self.block(block));
            self.spread(start as usize, place.len.saturating_sub(entry.raw.len() as u32));
        }
    }

    /// Adds the lines outside the tree that a copy does not take along.
    pub fn beside(&self, ledger: &mut SavingsByCause, backups: bool) {
        let snapshots = (RemovalCause::Snapshots, self.snapshots);
        let heaps = [(RemovalCause::ApiLog, self.api_log), (RemovalCause::States, self.states)];
        for (cause, heap) in heaps.into_iter().chain((!backups).then_some(snapshots)) {
            ledger.add(cause, heap.lines, heap.bytes, 0);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        let no = self.pieces.len() as u32;
        let call = block.id.map(|id| self.call(id));
        let sort = match (block.kind, call) {
            (BlockKind::Thinking | BlockKind::RedactedThinking, _) => BlockClass::Thinking,
            (BlockKind::ToolUse, Some(call)) => {
                if block.tool.is_some_and(|tool| tool.is("Read") || tool.is("NotebookRead")) {
                    let what = block.body.unwrap_or_default();
                    self.reads.insert(call, Id::of(what).short());
                }
                BlockClass::Call(call)
            }
            (BlockKind::ToolResult, Some(call)) => BlockClass::Result(call, self.inner(block, no)),
            (BlockKind::ServerToolUse, Some(call)) => BlockClass::Hosted(call),
            (BlockKind::Unknown, Some(call)) if is_hosted_result(block) => BlockClass::Hosted(call),
            (BlockKind::Image | BlockKind::Document, _) => BlockClass::Picture,
            (BlockKind::Text, _) if block.words.is_none_or(is_blank) => BlockClass::Blank,
            _ => BlockClass::Other,
        };
        self.pieces.push(BlockInfo { sort, len: block.raw.len() as u32, said: said_in(block) as u32 });
    }

    /// Notes the pictures in a tool result; returns whether a stub can stand for all of it.
    fn inner(&mut self, block: &Block<'_>, piece: u32) -> bool {
        let Content::Blocks(items) = block.result() else {
            return block.body.is_some_and(|body| body.first() == Some(&b'"'));
        };
        if !block.body.is_some_and(|body| are_all(body, &items)) {
            return false;
        }
        for (item, inside) in items.iter().enumerate() {
            if matches!(inside.kind, BlockKind::Image | BlockKind::Document) {
                self.inner.push(Inner { piece, item: item as u32, len: inside.raw.len() as u32 });
            }
        }
        // A reference makes the client offer a tool: no words can stand for it.
        items
            .iter()
            .all(|inside| matches!(inside.kind, BlockKind::Text | BlockKind::Image | BlockKind::Document))
    }

    /// Adds to the piece that made a line too long to hold what was not held of it.
    fn spread(&mut self, start: usize, more: u32) {
        if more == 0 {
            return;
        }
        let large =
            |piece: &&mut BlockInfo| matches!(piece.sort, BlockClass::Picture | BlockClass::Result(..));
        if let Some(piece) = self.pieces[start..].iter_mut().find(large) {
            let twice = self.held.last().is_some_and(|held| held.twin > 0);
            let more = if twice { more / 2 } else { more };
            piece.len = piece.len.saturating_add(more);
            if matches!(piece.sort, BlockClass::Result(..)) {
                piece.said = piece.said.saturating_add(more);
            }
            if let Some(held) = self.held.last_mut().filter(|_| twice) {
                held.twin = held.twin.saturating_add(more);
            }
        }
    }

    fn call(&mut self, id: JsonStr<'_>) -> CallNo {
        let next = self.calls.len() as CallNo;
        match self.calls.entry(id.id()) {
            Slot::Occupied(known) => *known.get(),
            Slot::Vacant(free) => *free.insert(next),
        }
    }

    /// Returns the numbers of an entry's pieces.
    pub(super) fn range(&self, no: NodeId) -> std::ops::Range<usize> {
        let end = self.held.get(no as usize + 1).map_or(self.pieces.len(), |next| next.start as usize);
        self.held.get(no as usize).map_or(0..0, |held| held.start as usize..end)
    }

    pub(super) fn piece(&self, piece: usize) -> BlockInfo {
        self.pieces[piece]
    }

    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the pictures inside a result.
    pub(super) fn inside(&self, piece: usize) -> &[Inner] {
        let from = self.inner.partition_point(|inner| (inner.piece as usize) < piece);
        let count = self.inner[from..].iter().take_while(|inner| inner.piece as usize == piece).count();
        &self.inner[from..from + count]
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Returns what a call reads, if it reads.
    pub(super) fn read_by(&self, call: CallNo) -> Option<ShortId> {
        self.reads.get(&call).copied()
    }

    pub(super) fn tool_use_result_len(&self, no: NodeId) -> u32 {
        self.held.get(no as usize).map_or(0, |held| held.twin)
    }

    pub(super) fn is_idle(&self, no: NodeId) -> bool {
        self.held.get(no as usize).is_some_and(|held| held.idle)
    }

    /// Writes the uuid behind a key.
    pub(super) fn uuid(&self, id: Id) -> String {
        self.odd.get(&id).cloned().unwrap_or_else(|| id.hyphenated())
    }
}

fn is_hosted_result(block: &Block<'_>) -> bool {
    block.name.is_some_and(|name| name.raw().ends_with(b"_tool_result"))
}

/// Whether the blocks are all that a list holds: else their numbers are not those of its items.
fn are_all(whole: &[u8], blocks: &[Block<'_>]) -> bool {
    let base = whole.as_ptr() as usize;
    let mut at: Option<usize> = None;
    for block in blocks {
        let start = (block.raw.as_ptr() as usize).wrapping_sub(base);
        let Some(before) = whole.get(at.unwrap_or(0)..start) else {
            return false;
        };
        let mark = if at.is_some() { b',' } else { b'[' };
        let gap = before.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        let clean = at.is_none() || before.iter().filter(|byte| !byte.is_ascii_whitespace()).count() == 1;
        if gap != Some(&mark) || !clean {
            return false;
        }
        at = Some(start + block.raw.len());
    }
    let rest = at.and_then(|at| whole[at..].iter().find(|byte| !byte.is_ascii_whitespace()));
    blocks.is_empty() || rest == Some(&b']')
}
