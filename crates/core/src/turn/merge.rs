//! Merges the lines of one `message.id` block by block.
//!
//! Clients write one line per block (99.85 % of multi-line messages). A line may also repeat blocks of an earlier
//! line, or contain all blocks so far. Using one line only, as an early description of the format advises, loses blocks.

use std::collections::HashSet;

use crate::entry::{Block, BlockKind};

/// Merges the blocks of one response, line by line.
#[derive(Debug, Default)]
pub struct MessageMerger<'a> {
    blocks: Vec<Block<'a>>,
    /// The bytes of all blocks so far.
    seen: HashSet<&'a [u8]>,
    /// The ids of all tool calls so far.
    calls: HashSet<&'a [u8]>,
}

/// A change that the blocks of a line made to the merged blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockChange {
    /// A new block was added at this index.
    Added(usize),
    /// The block at this index was replaced by a longer version.
    Grown(usize),
}

impl<'a> MessageMerger<'a> {
    /// Adds the blocks of the next line and returns the changes in order. Ignores repeated blocks and tool calls whose id
    /// was added before.
    pub fn add(&mut self, line: &[Block<'a>]) -> Vec<BlockChange> {
        let mut changes = Vec::new();
        for block in line {
            let repeats_call =
                block.kind == BlockKind::ToolUse && block.id.is_some_and(|id| !self.calls.insert(id.raw()));
            if repeats_call || !self.seen.insert(block.raw) {
                continue;
            }
            // Only the last block can still be growing.
            let last = self.blocks.len().wrapping_sub(1);
            if self.blocks.last().is_some_and(|old| is_prefix_of(old, block)) {
                self.blocks[last] = block.clone();
                changes.push(BlockChange::Grown(last));
            } else {
                self.blocks.push(block.clone());
                changes.push(BlockChange::Added(self.blocks.len() - 1));
            }
        }
        changes
    }

    /// Returns all blocks in order of first occurrence.
    pub fn blocks(&self) -> &[Block<'a>] {
        &self.blocks
    }
}

/// Returns `true` if `old` is an incomplete version of `new`: a text or thinking that `new` starts with.
fn is_prefix_of(old: &Block<'_>, new: &Block<'_>) -> bool {
    let (Some(old_text), Some(new_text)) = (old.text, new.text) else { return false };
    old.kind == new.kind
        && matches!(old.kind, BlockKind::Text | BlockKind::Thinking)
        && !old_text.is_empty()
        && new_text.raw().starts_with(old_text.raw())
}
