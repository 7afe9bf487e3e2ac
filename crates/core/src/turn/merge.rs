//! The lines of one `message.id`, united block by block.
//!
//! Clients write one line per block (99.85 % of multi-line messages); a line may also repeat blocks of an earlier
//! one, or hold all of them so far. Picking one line, as an early description of the format advises, loses blocks.

use std::collections::HashSet;

use crate::entry::{Block, BlockKind};

/// Takes the blocks of one response line by line.
#[derive(Debug, Default)]
pub struct MessageMerger<'a> {
    blocks: Vec<Block<'a>>,
    seen: HashSet<&'a [u8]>,
    calls: HashSet<&'a [u8]>,
}

/// What a line brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A new block, at this place.
    Added(usize),
    /// The last block of the kind grew, at this place.
    Grown(usize),
}

impl<'a> MessageMerger<'a> {
    /// Takes the blocks of the next line; returns what is new.
    pub fn add(&mut self, line: &[Block<'a>]) -> Vec<Change> {
        let mut changes = Vec::new();
        for block in line {
            let repeats_call =
                block.kind == BlockKind::ToolUse && block.id.is_some_and(|id| !self.calls.insert(id.raw()));
            if repeats_call || !self.seen.insert(block.raw) {
                continue;
            }
            // Only the last block can still be growing.
            let last = self.blocks.len().wrapping_sub(1);
            if self.blocks.last().is_some_and(|old| is_part(old, block)) {
                self.blocks[last] = block.clone();
                changes.push(Change::Grown(last));
            } else {
                self.blocks.push(block.clone());
                changes.push(Change::Added(self.blocks.len() - 1));
            }
        }
        changes
    }

    /// Returns all blocks, in the order in which they first appeared.
    pub fn blocks(&self) -> &[Block<'a>] {
        &self.blocks
    }
}

/// Whether one block is what another was while it grew.
fn is_part(old: &Block<'_>, new: &Block<'_>) -> bool {
    let (Some(old_words), Some(new_words)) = (old.words, new.words) else { return false };
    old.kind == new.kind
        && matches!(old.kind, BlockKind::Text | BlockKind::Thinking)
        && !old_words.is_empty()
        && new_words.raw().starts_with(old_words.raw())
}
