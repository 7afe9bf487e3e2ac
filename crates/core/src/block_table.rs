//! The content blocks of a session file by entry, and the numbering of its tool calls.
//!
//! Three collectors keep a few bytes of each block while the file is read: `resume`, `trim` and `context`.

use std::collections::hash_map::Entry as Slot;
use std::ops::Range;

use crate::id::{Id, IdMap};
use crate::tree::NodeId;

/// The blocks of all entries with a uuid, in file order.
#[derive(Debug, Clone)]
pub(crate) struct BlockTable<B> {
    blocks: Vec<B>,
    /// The index of the first block of each node.
    starts: Vec<u32>,
}

impl<B> Default for BlockTable<B> {
    fn default() -> BlockTable<B> {
        BlockTable { blocks: Vec::new(), starts: Vec::new() }
    }
}

impl<B> BlockTable<B> {
    /// Starts the next node without blocks and returns its id. Must be called for every entry with a uuid.
    pub(crate) fn start_node(&mut self) -> NodeId {
        self.starts.push(self.blocks.len() as u32);
        self.starts.len() as NodeId - 1
    }

    /// Adds a block to the node that was started last.
    pub(crate) fn push(&mut self, block: B) {
        self.blocks.push(block);
    }

    /// Returns the blocks of the node that was started last.
    pub(crate) fn last_blocks_mut(&mut self) -> &mut [B] {
        let start = self.starts.last().map_or(0, |&start| start as usize);
        &mut self.blocks[start..]
    }

    /// Returns the blocks of a node. The slice is empty if the node is unknown.
    pub(crate) fn blocks_of(&self, node_id: NodeId) -> &[B] {
        &self.blocks[self.block_range(node_id)]
    }

    /// Returns the indices of the blocks of a node in [`BlockTable::blocks`]. The range is empty if the node is unknown.
    pub(crate) fn block_range(&self, node_id: NodeId) -> Range<usize> {
        let node_idx = node_id as usize;
        let end = self.starts.get(node_idx + 1).map_or(self.blocks.len(), |&next| next as usize);
        self.starts.get(node_idx).map_or(0..0, |&start| start as usize..end)
    }

    /// Returns the blocks of all nodes, in file order.
    pub(crate) fn blocks(&self) -> &[B] {
        &self.blocks
    }

    /// Returns the number of nodes started so far.
    pub(crate) fn node_count(&self) -> usize {
        self.starts.len()
    }
}

/// The index of a tool call in [`ToolCallIds`].
pub(crate) type ToolCallIdx = u32;

/// Numbers tool calls in the order in which their ids first occur.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolCallIds(IdMap<ToolCallIdx>);

impl ToolCallIds {
    /// Returns the index of the tool call with this id. A new id gets the next index.
    pub(crate) fn intern(&mut self, id: Id) -> ToolCallIdx {
        let next = self.0.len() as ToolCallIdx;
        match self.0.entry(id) {
            Slot::Occupied(slot) => *slot.get(),
            Slot::Vacant(slot) => *slot.insert(next),
        }
    }

    /// Returns the number of distinct ids.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
