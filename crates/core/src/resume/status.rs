//! How an entry relates to what the client loads.

use crate::pack::{Pack, Unpacker};

/// How an entry relates to what the client loads on resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextStatus {
    /// The client loads it.
    Active,
    /// It is an ancestor of the resume point, but a compaction replaced it.
    Compacted,
    /// It is on a branch that the client does not load.
    OtherBranch,
    /// Its chain of parents ends at an entry that is not in the file.
    Orphaned,
    /// A subagent wrote it.
    Subagent,
    /// It is not part of the tree, such as a line without a uuid.
    Unlinked,
}

impl ContextStatus {
    /// All statuses, in the order of their packed form.
    pub const ALL: [ContextStatus; 6] = [
        ContextStatus::Active,
        ContextStatus::Compacted,
        ContextStatus::OtherBranch,
        ContextStatus::Orphaned,
        ContextStatus::Subagent,
        ContextStatus::Unlinked,
    ];

    /// Returns the name used in JSON and in queries.
    pub fn name(self) -> &'static str {
        match self {
            ContextStatus::Active => "active",
            ContextStatus::Compacted => "compacted",
            ContextStatus::OtherBranch => "abandoned",
            ContextStatus::Orphaned => "orphaned",
            ContextStatus::Subagent => "subagent",
            ContextStatus::Unlinked => "unlinked",
        }
    }

    /// Returns `OtherBranch` for `Orphaned`, and any other status unchanged.
    ///
    /// Neither is loaded, and queries and sums do not distinguish them.
    pub fn merge_orphaned(self) -> ContextStatus {
        if self == ContextStatus::Orphaned { ContextStatus::OtherBranch } else { self }
    }
}

impl Pack for ContextStatus {
    fn pack_into(&self, out: &mut Vec<u8>) {
        (*self as usize).pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<ContextStatus> {
        ContextStatus::ALL.get(usize::unpack_from(from)?).copied()
    }
}
