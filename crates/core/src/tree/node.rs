//! What the tree keeps of an entry: 56 bytes.

use crate::entry::{EntryRole, Flags, Kind, Timestamp};
use crate::id::Id;

/// The number of a node: its place in file order.
pub type NodeId = u32;

/// Stands for "no node" in compact fields.
pub(crate) const NONE: u32 = u32::MAX;

/// Where the bytes of an entry are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// First byte in the file.
    pub offset: u64,
    /// How many bytes.
    pub len: u32,
    /// The line, from 1.
    pub line: u32,
}

/// How a node hangs in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentLink {
    /// It names no parent.
    Root,
    /// Its parent is in the file.
    Child,
    /// It names a parent that no line has.
    Missing,
    /// It names itself, or was cut from a cycle.
    Cut,
}

/// One entry with a uuid.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Its uuid.
    pub id: Id,
    /// Where it stands.
    pub place: LineSpan,
    pub(crate) time: i64,
    pub(crate) parent: u32,
    /// The message it is a part of: a number of the tree's own.
    pub(crate) message: u32,
    /// Its type.
    pub kind: Kind,
    /// Who speaks.
    pub voice: EntryRole,
    /// How it hangs in the tree.
    pub link: ParentLink,
    pub(crate) flags: Flags,
}

impl Node {
    /// Returns when it was written.
    pub fn time(&self) -> Option<Timestamp> {
        (self.time != i64::MIN).then_some(Timestamp(self.time))
    }

    /// Returns its parent in the tree.
    pub fn parent(&self) -> Option<NodeId> {
        (self.parent != NONE).then_some(self.parent)
    }

    /// Whether it is a line of a subagent.
    pub fn is_sidechain(&self) -> bool {
        self.flags.has(Flags::SIDECHAIN)
    }

    /// Whether a yes-or-no field says yes.
    pub fn is(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_node_is_small() {
        // A file of four gigabytes has more than a million of them.
        assert_eq!(size_of::<super::Node>(), 56);
    }
}
