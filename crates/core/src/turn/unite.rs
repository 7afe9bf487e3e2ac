//! The lines of one `message.id`, united block by block.
//!
//! Clients write one line per block (99.85 % of multi-line messages); a line may also repeat blocks of an earlier
//! one, or hold all of them so far. Picking one line, as an early description of the format advises, loses blocks.

use crate::entry::{Block, BlockKind};

/// Takes the blocks of one response line by line.
#[derive(Debug, Default)]
pub struct Union<'a> {
    blocks: Vec<Block<'a>>,
}

impl<'a> Union<'a> {
    /// Takes the blocks of the next line.
    pub fn add(&mut self, line: &[Block<'a>]) {
        for block in line {
            let same = self.blocks.iter_mut().find(|old| is_same(old, block));
            match same {
                // A block that grew replaces its shorter self.
                Some(old) if block.raw.len() > old.raw.len() => *old = block.clone(),
                Some(_) => {}
                None => self.blocks.push(block.clone()),
            }
        }
    }

    /// Returns all blocks, in the order in which they first appeared.
    pub fn blocks(&self) -> &[Block<'a>] {
        &self.blocks
    }
}

/// Whether one block is the other, or a part of it that was written while it grew.
fn is_same(a: &Block<'_>, b: &Block<'_>) -> bool {
    if a.kind != b.kind {
        return false;
    }
    match a.kind {
        BlockKind::ToolUse | BlockKind::ServerToolUse if a.id.is_some() => a.id == b.id,
        BlockKind::Text | BlockKind::Thinking => {
            let (a_words, b_words) =
                (a.words.map_or(&b""[..], |w| w.raw()), b.words.map_or(&b""[..], |w| w.raw()));
            // Thinking may be empty but for its signature: then only the same bytes are the same block.
            a.raw == b.raw
                || !a_words.is_empty() && b_words.len() > a_words.len() && b_words.starts_with(a_words)
        }
        _ => a.raw == b.raw,
    }
}
