//! The tree's record of an entry: 56 bytes.

use crate::entry::{EntryRole, Flags, Kind, Timestamp};
use crate::id::Id;

/// The index of a node in file order.
pub type NodeId = u32;

/// The value for "no node" in compact fields.
pub(crate) const NONE: u32 = u32::MAX;

/// The location of an entry's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    /// The offset of the first byte in the file.
    pub offset: u64,
    /// The length in bytes.
    pub len: u32,
    /// The line number, from 1.
    pub line: u32,
}

/// The state of a node's parent link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentLink {
    /// The entry names no parent.
    Root,
    /// The parent is in the file.
    Child,
    /// The parent is not in the file.
    MissingParent,
    /// The entry names itself, or the link was cut because it closes a cycle.
    CycleBroken,
}

/// An entry with a uuid.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The uuid of the entry.
    pub uuid: Id,
    /// The location of its bytes in the file.
    pub span: LineSpan,
    /// The timestamp in milliseconds, or `i64::MIN` if there is none.
    pub(crate) time: i64,
    /// The parent, or `NONE`.
    pub(crate) parent: u32,
    /// The index of the response that the entry is part of, or `NONE`.
    pub(crate) message: u32,
    /// The type of the line.
    pub kind: Kind,
    /// The role of the entry.
    pub role: EntryRole,
    /// The state of the parent link.
    pub link: ParentLink,
    pub(crate) flags: Flags,
}

impl Node {
    /// Returns the timestamp. Returns `None` if the entry has none or it cannot be parsed.
    pub fn time(&self) -> Option<Timestamp> {
        (self.time != i64::MIN).then_some(Timestamp(self.time))
    }

    /// Returns the parent. Returns `None` unless the link is [`ParentLink::Child`].
    pub fn parent(&self) -> Option<NodeId> {
        (self.parent != NONE).then_some(self.parent)
    }

    /// Returns `true` if the entry belongs to a subagent.
    pub fn is_sidechain(&self) -> bool {
        self.flags.contains(Flags::SIDECHAIN)
    }

    /// Returns `true` if the entry has this flag, one of the constants of [`Flags`].
    pub fn has_flag(&self, flag: Flags) -> bool {
        self.flags.contains(flag)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn node_size_is_56_bytes() {
        // A file of four gigabytes has more than a million nodes.
        assert_eq!(size_of::<super::Node>(), 56);
    }
}
