//! Classifies and measures the blocks of each entry while the file is read.

use std::collections::HashMap;

use super::savings::{RemovalCause, SavingsByCause};
use crate::block_table::{BlockTable, ToolCallIds, ToolCallIdx};
use crate::entry::{Block, BlockKind, Content, Entry, EntryRole, JsonStr, Kind};
use crate::id::{Id, IdMap, ShortId};
use crate::resume::{block_bytes, is_blank};
use crate::tree::{EntryVisitor, LineSpan, NodeId};

/// The class of a block, as far as a trim distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockClass {
    Thinking,
    Call(ToolCallIdx),
    /// A tool result. The flag is `true` if a stub can replace it.
    Result(ToolCallIdx, bool),
    /// A call that the API itself executed, or its result.
    ServerTool(ToolCallIdx),
    Image,
    /// A text that is empty or only white space.
    Blank,
    Other,
}

/// A block and its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockInfo {
    pub(super) class: BlockClass,
    /// The length of the block in the file, in bytes.
    pub(super) len: u32,
    /// The bytes that it counts for in the context.
    pub(super) context_len: u32,
}

/// An image or document inside of a tool result.
#[derive(Debug, Clone, Copy)]
pub(super) struct NestedImage {
    /// The index of the result among all blocks.
    pub(super) block_idx: u32,
    /// The index of the image in the content list of the result.
    pub(super) item_idx: u32,
    /// The length of the image block in the file, in bytes.
    pub(super) len: u32,
}

/// The properties of an entry in addition to its blocks.
#[derive(Debug, Clone, Copy)]
struct EntryInfo {
    /// The length of `toolUseResult` in bytes. 0 if the entry has none.
    tool_use_result_len: u32,
    /// Whether it is an attachment that is never sent or that the client repeats on its own.
    is_client_only: bool,
}

/// A number of lines and their bytes, newlines included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct LineTotals {
    lines: u64,
    bytes: u64,
}

/// Collects the blocks of a file. Receives entries in file order, in addition to a `TreeBuilder`.
#[derive(Debug, Clone, Default)]
pub struct BlockInventory {
    blocks: BlockTable<BlockInfo>,
    entries: Vec<EntryInfo>,
    nested_images: Vec<NestedImage>,
    calls: ToolCallIds,
    /// A hash of the input of each call that reads a file.
    reads: HashMap<ToolCallIdx, ShortId>,
    /// The `uuid` texts of entries that are not canonical UUIDs, by id. They cannot be derived from the id.
    other_uuid_texts: IdMap<String>,
    /// The lines without a uuid: the log of API requests, file history snapshots, and all others.
    api_log: LineTotals,
    snapshots: LineTotals,
    states: LineTotals,
}

impl BlockInventory {
    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, span: LineSpan) {
        let Some(uuid) = entry.uuid else {
            let totals = match entry.kind {
                Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => &mut self.api_log,
                Kind::FileHistorySnapshot | Kind::FileHistoryDelta => &mut self.snapshots,
                _ => &mut self.states,
            };
            totals.lines += 1;
            totals.bytes += u64::from(span.len) + 1;
            return;
        };
        if !Id::is_uuid(uuid.raw()) {
            self.other_uuid_texts.insert(uuid.to_id(), uuid.decode().into_owned());
        }
        self.blocks.start_node();
        let tool_use_result_len = entry.tool_use_result.map_or(0, |result| result.len() as u32);
        let is_client_only = entry.kind == Kind::Attachment && entry.attachment_kind().is_removable();
        self.entries.push(EntryInfo { tool_use_result_len, is_client_only });
        if let (Kind::User | Kind::Assistant, Some(message)) = (entry.kind, &entry.message)
            && let Content::Blocks(blocks) = &message.content
            && is_complete_list(entry.raw, blocks)
        {
            blocks.iter().for_each(|block| self.add_block(block));
            self.add_truncated_bytes(span.len.saturating_sub(entry.raw.len() as u32));
        }
    }

    /// Adds the lines without a uuid that a copy omits to `savings`. `kept_snapshots` and `kept_states` are the lines that it
    /// contains: file history snapshots, and others.
    pub fn add_lines_without_uuid(
        &self,
        savings: &mut SavingsByCause,
        kept_snapshots: impl Iterator<Item = LineSpan>,
        kept_states: impl Iterator<Item = LineSpan>,
    ) {
        let subtract = |mut totals: LineTotals, kept: &mut dyn Iterator<Item = LineSpan>| {
            for span in kept {
                totals.lines = totals.lines.saturating_sub(1);
                totals.bytes = totals.bytes.saturating_sub(u64::from(span.len) + 1);
            }
            totals
        };
        for (cause, totals) in [
            (RemovalCause::ApiLog, self.api_log),
            (RemovalCause::Snapshots, subtract(self.snapshots, &mut { kept_snapshots })),
            (RemovalCause::States, subtract(self.states, &mut { kept_states })),
        ] {
            savings.add(cause, totals.lines, totals.bytes, 0);
            savings.add_lines(cause, totals.lines);
        }
    }

    /// Classifies and measures the next block of the current entry.
    fn add_block(&mut self, block: &Block<'_>) {
        let block_idx = self.blocks.blocks().len() as u32;
        let call = block.id.map(|id| self.intern_call(id));
        let class = match (block.kind, call) {
            (BlockKind::Thinking | BlockKind::RedactedThinking, _) => BlockClass::Thinking,
            (BlockKind::ToolUse, Some(call)) => {
                if block.tool_name.is_some_and(|tool| tool.equals("Read") || tool.equals("NotebookRead")) {
                    let read_input = block.body.unwrap_or_default();
                    self.reads.insert(call, Id::from_text(read_input).to_short());
                }
                BlockClass::Call(call)
            }
            (BlockKind::ToolResult, Some(call)) => {
                BlockClass::Result(call, self.add_nested_images(block, block_idx))
            }
            (BlockKind::ServerToolUse, Some(call)) => BlockClass::ServerTool(call),
            (BlockKind::Unknown, Some(call)) if is_server_tool_result(block) => BlockClass::ServerTool(call),
            (BlockKind::Image | BlockKind::Document, _) => BlockClass::Image,
            (BlockKind::Text, _) if block.text.is_none_or(is_blank) => BlockClass::Blank,
            _ => BlockClass::Other,
        };
        self.blocks.push(BlockInfo {
            class,
            len: block.raw.len() as u32,
            context_len: block_bytes(block) as u32,
        });
    }

    /// Records the images and documents in a tool result. Returns whether a stub can replace the whole result.
    fn add_nested_images(&mut self, block: &Block<'_>, block_idx: u32) -> bool {
        let Content::Blocks(items) = block.result_content() else {
            return block.body.is_some_and(|body| body.first() == Some(&b'"'));
        };
        if !block.body.is_some_and(|body| is_complete_list(body, &items)) {
            return false;
        }
        for (item_idx, item) in items.iter().enumerate() {
            if matches!(item.kind, BlockKind::Image | BlockKind::Document) {
                self.nested_images.push(NestedImage {
                    block_idx,
                    item_idx: item_idx as u32,
                    len: item.raw.len() as u32,
                });
            }
        }
        // A tool reference makes the client offer a tool. No text can replace it.
        items.iter().all(|item| matches!(item.kind, BlockKind::Text | BlockKind::Image | BlockKind::Document))
    }

    /// Adds the `missing` bytes of a truncated line to its first image or tool result, which made the line too long.
    ///
    /// If the line also has a `toolUseResult`, each of them gets half of the bytes.
    fn add_truncated_bytes(&mut self, missing: u32) {
        if missing == 0 {
            return;
        }
        let is_large =
            |block: &&mut BlockInfo| matches!(block.class, BlockClass::Image | BlockClass::Result(..));
        if let Some(block) = self.blocks.last_blocks_mut().iter_mut().find(is_large) {
            let is_doubled = self.entries.last().is_some_and(|entry| entry.tool_use_result_len > 0);
            let missing = if is_doubled { missing / 2 } else { missing };
            block.len = block.len.saturating_add(missing);
            if matches!(block.class, BlockClass::Result(..)) {
                block.context_len = block.context_len.saturating_add(missing);
            }
            if let Some(entry) = self.entries.last_mut().filter(|_| is_doubled) {
                entry.tool_use_result_len = entry.tool_use_result_len.saturating_add(missing);
            }
        }
    }

    fn intern_call(&mut self, id: JsonStr<'_>) -> ToolCallIdx {
        self.calls.intern(id.to_id())
    }

    /// Returns the indices of an entry's blocks among all blocks of the file.
    pub(super) fn block_range(&self, node_id: NodeId) -> std::ops::Range<usize> {
        self.blocks.block_range(node_id)
    }

    pub(super) fn block(&self, block_idx: usize) -> BlockInfo {
        self.blocks.blocks()[block_idx]
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.blocks().len()
    }

    /// Returns the images inside of a tool result. Returns an empty slice for other blocks.
    pub(super) fn nested_images(&self, block_idx: usize) -> &[NestedImage] {
        let start = self.nested_images.partition_point(|image| (image.block_idx as usize) < block_idx);
        let count = self.nested_images[start..]
            .iter()
            .take_while(|image| image.block_idx as usize == block_idx)
            .count();
        &self.nested_images[start..start + count]
    }

    pub(super) fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Returns a hash of the input of a call that reads a file. Returns `None` for other calls.
    pub(super) fn read_key(&self, call: ToolCallIdx) -> Option<ShortId> {
        self.reads.get(&call).copied()
    }

    pub(super) fn tool_use_result_len(&self, node_id: NodeId) -> u32 {
        self.entries.get(node_id as usize).map_or(0, |entry| entry.tool_use_result_len)
    }

    pub(super) fn is_client_only(&self, node_id: NodeId) -> bool {
        self.entries.get(node_id as usize).is_some_and(|entry| entry.is_client_only)
    }

    /// Returns the uuid of an entry as it is written in the file.
    pub(super) fn uuid_text(&self, id: Id) -> String {
        self.other_uuid_texts.get(&id).cloned().unwrap_or_else(|| id.to_hyphenated())
    }
}

impl EntryVisitor for BlockInventory {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add(entry, span);
    }
}

fn is_server_tool_result(block: &Block<'_>) -> bool {
    block.type_name.is_some_and(|name| name.raw().ends_with(b"_tool_result"))
}

/// Returns whether `blocks` are all items of the JSON list in `whole`. Otherwise the indices of the blocks differ
/// from those of the items. The blocks must be slices of `whole`.
fn is_complete_list(whole: &[u8], blocks: &[Block<'_>]) -> bool {
    let base = whole.as_ptr() as usize;
    let mut previous_end: Option<usize> = None;
    for block in blocks {
        let start = (block.raw.as_ptr() as usize).wrapping_sub(base);
        let Some(between) = whole.get(previous_end.unwrap_or(0)..start) else {
            return false;
        };
        let separator = if previous_end.is_some() { b',' } else { b'[' };
        let last_byte = between.iter().rev().find(|byte| !byte.is_ascii_whitespace());
        let is_separator_only =
            previous_end.is_none() || between.iter().filter(|byte| !byte.is_ascii_whitespace()).count() == 1;
        if last_byte != Some(&separator) || !is_separator_only {
            return false;
        }
        previous_end = Some(start + block.raw.len());
    }
    let next_byte = previous_end
        .and_then(|previous_end| whole[previous_end..].iter().find(|byte| !byte.is_ascii_whitespace()));
    blocks.is_empty() || next_byte == Some(&b']')
}
