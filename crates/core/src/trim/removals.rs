//! Selects the lines and blocks to remove.

use std::collections::HashMap;

use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::{ContentKind, TrimOptions};
use super::savings::RemovalCause;
use super::stub::MIN_STUB_LEN;
use crate::entry::Kind;
use crate::tree::NodeId;

/// The lines and blocks to remove, each with its cause.
#[derive(Debug, Clone)]
pub(super) struct Removals {
    /// By entry: the cause of removing the whole line.
    pub(super) lines: Vec<Option<RemovalCause>>,
    /// By tool call: the cause of removing the call and its results.
    pub(super) calls: Vec<Option<RemovalCause>>,
    /// By block: the cause of removing thinking, or of replacing a result or an image by a stub.
    pub(super) blocks: Vec<Option<RemovalCause>>,
    /// By block: whether stubs replace the images inside of a result.
    pub(super) nested_images: Vec<bool>,
}

impl Removals {
    /// Creates removals that select nothing.
    pub(super) fn empty(input: &TrimInput<'_>) -> Removals {
        Removals {
            lines: vec![None; input.tree.nodes().len()],
            calls: vec![None; input.inventory.call_count()],
            blocks: vec![None; input.inventory.block_count()],
            nested_images: vec![false; input.inventory.block_count()],
        }
    }

    /// Selects the content that the options name.
    pub(super) fn from_options(input: &TrimInput<'_>, options: &TrimOptions) -> Removals {
        let mut removals = Removals::empty(input);
        for &id in input.path {
            removals.lines[id as usize] = find_line_cause(input, options, id);
        }
        if options.has_kind(ContentKind::Tools) {
            for call in find_old_calls(input, options.older_than) {
                removals.calls[call as usize] = Some(RemovalCause::Tools);
            }
        }
        for &id in input.path.iter().filter(|&&id| is_removable(input, options, id)) {
            for block_idx in input.inventory.block_range(id) {
                removals.select_block(input, options, block_idx);
            }
        }
        if options.dedupe_reads {
            removals.select_repeated_reads(input, options);
        }
        removals
    }

    /// Selects a block, or the images in it, if the options name its content. Calls are selected elsewhere.
    fn select_block(&mut self, input: &TrimInput<'_>, options: &TrimOptions, block_idx: usize) {
        let block = input.inventory.block(block_idx);
        match block.class {
            BlockClass::Thinking if options.has_kind(ContentKind::Thinking) => {
                self.blocks[block_idx] = Some(RemovalCause::Thinking);
            }
            BlockClass::Image if options.has_kind(ContentKind::Images) => {
                self.blocks[block_idx] = Some(RemovalCause::Images);
            }
            BlockClass::Result(_, can_stub) => {
                let is_large = options.results_over.is_some_and(|limit| u64::from(block.len) > limit);
                if can_stub
                    && block.len > MIN_STUB_LEN
                    && (is_large || options.has_kind(ContentKind::ToolResults))
                {
                    self.blocks[block_idx] = Some(RemovalCause::ToolResults);
                } else if options.has_kind(ContentKind::Images)
                    && !input.inventory.nested_images(block_idx).is_empty()
                {
                    self.nested_images[block_idx] = true;
                }
            }
            _ => {}
        }
    }

    /// Selects the results of file reads that a later call with the same input repeats.
    fn select_repeated_reads(&mut self, input: &TrimInput<'_>, options: &TrimOptions) {
        let mut later_reads: HashMap<_, ()> = HashMap::new();
        for &id in input.ordered.iter().rev().filter(|&&id| self.lines[id as usize].is_none()) {
            for block_idx in input.inventory.block_range(id) {
                let BlockClass::Result(call, can_stub) = input.inventory.block(block_idx).class else {
                    continue;
                };
                let Some(read_key) = input.inventory.read_key(call) else { continue };
                let is_repeated = later_reads.insert(read_key, ()).is_some();
                let is_worth_stub = can_stub && input.inventory.block(block_idx).len > MIN_STUB_LEN;
                if is_repeated && is_worth_stub && is_removable(input, options, id) {
                    self.blocks[block_idx].get_or_insert(RemovalCause::Reads);
                }
            }
        }
    }
}

/// Returns whether an entry is old enough for the options to remove its content.
fn is_removable(input: &TrimInput<'_>, options: &TrimOptions, id: NodeId) -> bool {
    options.older_than.is_none_or(|recent| input.is_old(id, recent))
}

/// Returns the cause for which the options remove a whole line. Returns `None` if the line stays.
fn find_line_cause(input: &TrimInput<'_>, options: &TrimOptions, id: NodeId) -> Option<RemovalCause> {
    let node = input.tree.node(id);
    let turn = input.turn_of(id);
    let is_old_turn = options.keep_last.is_some_and(|keep| turn > 0 && input.is_old(id, keep));
    if is_old_turn && !input.is_fixed(id) {
        return Some(RemovalCause::Turns);
    }
    if node.kind == Kind::Progress {
        return options.has_kind(ContentKind::Progress).then_some(RemovalCause::Progress);
    }
    if input.is_attachment(id) {
        let drops_all = options.has_kind(ContentKind::Attachments) && is_removable(input, options, id);
        return (drops_all || options.client_only && input.inventory.is_client_only(id))
            .then_some(RemovalCause::Attachments);
    }
    // The messages of a subagent inside of the file belong to the call that started it.
    let is_subagent = node.is_sidechain() && !input.tree.is_sidechain_file();
    (is_subagent && options.has_kind(ContentKind::Tools) && is_removable(input, options, id))
        .then_some(RemovalCause::Tools)
}

/// Returns the calls on the path that, together with their results, are older than the last `recent_turns` turns.
///
/// Returns all calls on the path if `recent_turns` is `None`.
pub(super) fn find_old_calls(input: &TrimInput<'_>, recent_turns: Option<u32>) -> Vec<u32> {
    let mut is_present = vec![false; input.inventory.call_count()];
    let mut is_recent = vec![false; input.inventory.call_count()];
    for &id in input.path {
        for block_idx in input.inventory.block_range(id) {
            if let BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::ServerTool(call) =
                input.inventory.block(block_idx).class
            {
                is_present[call as usize] = true;
                is_recent[call as usize] |= recent_turns.is_some_and(|turns| !input.is_old(id, turns));
            }
        }
    }
    (0..is_present.len() as u32)
        .filter(|&call| is_present[call as usize] && !is_recent[call as usize])
        .collect()
}
