//! The counts of one file, and the features for which it stands out.

use super::collect::{NameCounts, add_names};
use super::fork_counts::ForkCounts;
use crate::entry::{EntryRole, Flags, Kind};
use crate::id::IdSet;
use crate::tree::{Node, ParentLink, Tree};

/// The counts of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// The size in bytes.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are not one strictly valid JSON object.
    pub malformed: u64,
    /// Entries read from malformed lines.
    pub salvaged: u64,
    /// Entries by the type of their line.
    pub types: NameCounts,
    /// Distinct uuids.
    pub uuids: u64,
    /// Uuids on more than one line.
    pub uuids_repeated: u64,
    /// Lines with a uuid and no parent.
    pub roots: u64,
    /// Lines that name a missing parent.
    pub parents_missing: u64,
    /// Distinct uuids of user lines: prompts, tool results, and texts of the client.
    pub user_messages: u64,
    /// Distinct message ids of assistant lines.
    pub messages: u64,
    /// Distinct ids of tool calls.
    pub tool_uses: u64,
    /// Tool calls without a result in the file.
    pub tool_uses_unpaired: u64,
    /// Tool results without a call in the file, by id.
    pub tool_results_unpaired: u64,
    /// Tool result blocks that are marked as errors.
    pub tool_results_is_error: u64,
    /// Turns on all branches. 0 for a subagent, whose prompts are not turns.
    pub turns: u64,
    /// The number of entries of the longest turn, or the maximum over several files.
    pub longest_turn: u64,
    /// Compactions of any kind.
    pub compactions: u64,
    /// Entries with several children.
    pub forks: ForkCounts,
}

crate::pack_fields!(FileCounts {
    bytes,
    lines,
    malformed,
    salvaged,
    types,
    uuids,
    uuids_repeated,
    roots,
    parents_missing,
    user_messages,
    messages,
    tool_uses,
    tool_uses_unpaired,
    tool_results_unpaired,
    tool_results_is_error,
    turns,
    longest_turn,
    compactions,
    forks
});

/// A feature for which a session stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotableFeature {
    /// One turn has at least 100 entries and half of the file's.
    LongTurn,
    /// At least 20 tool calls, and 10 per turn.
    ManyTools,
    /// At least 10 lines of file history, and a tenth of all lines.
    HeavySnapshots,
    /// A `summary` line.
    Summary,
    /// A compaction.
    Compacted,
    /// Several branches.
    Forked,
    /// Malformed lines, repeated uuids or missing parents.
    Damaged,
}

impl NotableFeature {
    /// All features, in display order.
    pub const ALL: [NotableFeature; 7] = [
        NotableFeature::LongTurn,
        NotableFeature::ManyTools,
        NotableFeature::HeavySnapshots,
        NotableFeature::Summary,
        NotableFeature::Compacted,
        NotableFeature::Forked,
        NotableFeature::Damaged,
    ];

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            NotableFeature::LongTurn => "long turn",
            NotableFeature::ManyTools => "many tools",
            NotableFeature::HeavySnapshots => "heavy snapshots",
            NotableFeature::Summary => "summary",
            NotableFeature::Compacted => "compacted",
            NotableFeature::Forked => "forked",
            NotableFeature::Damaged => "damaged",
        }
    }
}

impl FileCounts {
    /// Returns the features for which the file stands out, in display order.
    pub fn notable_features(&self) -> impl Iterator<Item = NotableFeature> {
        NotableFeature::ALL.into_iter().filter(|&feature| self.has_feature(feature))
    }

    fn has_feature(&self, feature: NotableFeature) -> bool {
        let count = |kind: Kind| self.types.get(kind.name()).copied().unwrap_or(0);
        match feature {
            NotableFeature::LongTurn => self.longest_turn >= 100 && self.longest_turn * 2 >= self.uuids,
            NotableFeature::ManyTools => self.tool_uses >= 20 && self.tool_uses >= self.turns * 10,
            NotableFeature::HeavySnapshots => {
                let snapshots = count(Kind::FileHistorySnapshot) + count(Kind::FileHistoryDelta);
                snapshots >= 10 && snapshots * 10 >= self.lines
            }
            NotableFeature::Summary => count(Kind::Summary) > 0,
            NotableFeature::Compacted => self.compactions > 0,
            NotableFeature::Forked => self.forks.extra_branches > 0,
            NotableFeature::Damaged => self.malformed + self.uuids_repeated + self.parents_missing > 0,
        }
    }

    /// Adds the counts of the tree: uuids, roots, turns, compactions and forks.
    pub(super) fn add_tree(&mut self, tree: &Tree) {
        let nodes = tree.nodes();
        let count_links = |link: ParentLink| nodes.iter().filter(|node| node.link == link).count() as u64;
        self.uuids_repeated = tree.repeated_ids().len() as u64;
        self.uuids = nodes.len() as u64 - tree.repeated_line_count() as u64;
        self.roots = count_links(ParentLink::Root);
        self.parents_missing = count_links(ParentLink::MissingParent);
        self.user_messages = count_user_uuids(tree);
        self.compactions = nodes.iter().filter(|node| is_compaction(node)).count() as u64;
        self.forks = ForkCounts::from_tree(tree);
        if !tree.is_sidechain_file() {
            self.turns = tree.turn_starts().count() as u64;
            self.longest_turn = measure_longest_turn(tree);
        }
    }

    /// Adds the counts of another file.
    pub(super) fn merge(&mut self, other: FileCounts) {
        for (sum, part) in [
            (&mut self.bytes, other.bytes),
            (&mut self.lines, other.lines),
            (&mut self.malformed, other.malformed),
            (&mut self.salvaged, other.salvaged),
            (&mut self.uuids, other.uuids),
            (&mut self.uuids_repeated, other.uuids_repeated),
            (&mut self.roots, other.roots),
            (&mut self.parents_missing, other.parents_missing),
            (&mut self.user_messages, other.user_messages),
            (&mut self.messages, other.messages),
            (&mut self.tool_uses, other.tool_uses),
            (&mut self.tool_uses_unpaired, other.tool_uses_unpaired),
            (&mut self.tool_results_unpaired, other.tool_results_unpaired),
            (&mut self.tool_results_is_error, other.tool_results_is_error),
            (&mut self.turns, other.turns),
            (&mut self.compactions, other.compactions),
        ] {
            *sum += part;
        }
        self.longest_turn = self.longest_turn.max(other.longest_turn);
        add_names(&mut self.types, other.types);
        self.forks.merge(other.forks);
    }
}

/// Returns `true` for a compaction boundary, and for a summary without one, as clients 1.x write it.
fn is_compaction(node: &Node) -> bool {
    node.role == EntryRole::CompactBoundary
        || node.role == EntryRole::CompactSummary && node.link == ParentLink::Root
}

/// Returns the number of distinct uuids of user lines.
fn count_user_uuids(tree: &Tree) -> u64 {
    let users = tree.nodes().iter().filter(|node| node.kind == Kind::User);
    users.map(|node| node.uuid).collect::<IdSet>().len() as u64
}

/// Returns the number of entries of the longest turn.
fn measure_longest_turn(tree: &Tree) -> u64 {
    let mut lengths = vec![0; tree.nodes().len()];
    // A resume marker is no activity.
    let is_counted = |id: &u32| !tree.node(*id).has_flag(Flags::RESUME_MARKER);
    for turn in (0..lengths.len() as u32).filter(is_counted).filter_map(|node_id| tree.turn_of(node_id)) {
        lengths[turn as usize] += 1;
    }
    lengths.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{FileCounts, NotableFeature};

    #[test]
    fn features_need_a_minimum_and_a_share() {
        let features = |counts: FileCounts| counts.notable_features().collect::<Vec<_>>();
        let long = FileCounts { uuids: 200, longest_turn: 100, ..FileCounts::default() };
        assert_eq!(features(long.clone()), [NotableFeature::LongTurn]);
        assert_eq!(features(FileCounts { uuids: 201, ..long }), []);
        let tools = FileCounts { tool_uses: 20, turns: 2, ..FileCounts::default() };
        assert_eq!(features(tools.clone()), [NotableFeature::ManyTools]);
        assert_eq!(features(FileCounts { turns: 3, ..tools }), []);
        let snapshots = |count: u64, lines: u64| {
            let types = [("file-history-snapshot".to_owned(), count)].into_iter().collect();
            features(FileCounts { types, lines, ..FileCounts::default() })
        };
        assert_eq!(snapshots(10, 100), [NotableFeature::HeavySnapshots]);
        assert_eq!((snapshots(9, 9), snapshots(10, 101)), (vec![], vec![]));
    }
}
