//! Builds the map of a branch: previews of its turns, and the branches that fork off.

use std::collections::HashSet;

use rethread_core::entry::{EntryRole, Kind};
use rethread_core::tree::NodeId;

use super::branch_view::{BranchView, ForkMark, SiblingBranch};
use super::view::SessionView;
use crate::Error;
use crate::disk::LineReader;
use crate::session::preview::PreviewedEntry;

/// The maximum number of branches named per fork: those nearest in the file.
const NAMED_PER_FORK: usize = 3;
/// The maximum number of branches named per turn.
const NAMED_PER_TURN: usize = 9;

/// A turn on the map.
#[derive(Debug)]
pub struct MapEntry {
    /// The index of the turn in the branch view.
    pub turn_idx: usize,
    /// A preview of the turn.
    pub preview: MapPreview,
    /// The branches that fork off directly before the turn.
    pub before: Vec<MapBranch>,
    /// The branches that fork off within the turn.
    pub within: Vec<MapBranch>,
    /// The number of further branches that are not named.
    pub more_count: usize,
}

/// A preview of an entry, with role and type.
#[derive(Debug)]
pub struct MapPreview {
    /// The preview of the text.
    pub entry: PreviewedEntry,
    /// The role of the entry.
    pub role: EntryRole,
    /// The type of the entry.
    pub kind: Kind,
}

/// A branch that forks off.
#[derive(Debug)]
pub struct MapBranch {
    /// The first line and the tip of the branch.
    pub branch: SiblingBranch,
    /// A preview of its first entry.
    pub preview: MapPreview,
    /// Whether the client resumes from it.
    pub is_active: bool,
}

impl SessionView {
    /// Builds the map of a branch with about `max_entries` turns, in reading order. Turns with forks are preferred.
    pub fn build_map(&self, view: &BranchView, max_entries: usize) -> Result<Vec<MapEntry>, Error> {
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let active_path = self.session.active_path();
        let active: HashSet<NodeId> = self.session.conversation(&active_path).nodes().collect();
        let mut forks_by_turn: Vec<Vec<&ForkMark>> = vec![Vec::new(); view.turns.len()];
        for fork_mark in &view.fork_marks {
            if let Some(forks) = forks_by_turn.get_mut(view.turn_index_of(fork_mark)) {
                forks.push(fork_mark);
            }
        }
        let has_fork: Vec<bool> = forks_by_turn.iter().map(|forks| !forks.is_empty()).collect();
        let mut entries = Vec::new();
        for turn_idx in choose_turns(&has_fork, max_entries) {
            let turn = &view.turns[turn_idx];
            let preview =
                self.read_preview(&mut lines, turn.start_node.unwrap_or(view.nodes[turn.nodes.start]))?;
            let mut entry =
                MapEntry { turn_idx, preview, before: Vec::new(), within: Vec::new(), more_count: 0 };
            for fork_mark in &forks_by_turn[turn_idx] {
                let max_branches = NAMED_PER_TURN - entry.before.len() - entry.within.len();
                let (branches, more_count) =
                    self.read_nearby_branches(&mut lines, fork_mark.first, max_branches, &active)?;
                let is_before = fork_mark.position == turn.nodes.start;
                let side = if is_before { &mut entry.before } else { &mut entry.within };
                side.extend(branches);
                entry.more_count += more_count;
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Reads the siblings nearest to the branch that starts with `first`, up to `max_branches`, and counts the further ones.
    /// `active` contains the nodes of the active path.
    fn read_nearby_branches(
        &self,
        lines: &mut LineReader,
        first: NodeId,
        max_branches: usize,
        active: &HashSet<NodeId>,
    ) -> Result<(Vec<MapBranch>, usize), Error> {
        let Some((fork, own_idx)) = self.branches.fork_starting_at(&self.session.tree, first) else {
            return Ok((Vec::new(), 0));
        };
        let last_start = fork.branches.len().saturating_sub(NAMED_PER_FORK + 1);
        let start = own_idx.saturating_sub(NAMED_PER_FORK).min(last_start);
        let nearby = fork.branches.iter().enumerate().skip(start).take(NAMED_PER_FORK + 1);
        let mut branches = Vec::new();
        for (_, &first) in nearby.filter(|(idx, _)| *idx != own_idx).take(max_branches) {
            let Some(branch) = self.find_sibling_branch(first) else { continue };
            let preview = self.read_preview(lines, self.find_first_shown_node(first))?;
            branches.push(MapBranch { branch, preview, is_active: active.contains(&first) });
        }
        let more_count = (fork.branches.len() - 1).saturating_sub(branches.len());
        Ok((branches, more_count))
    }

    /// Reads the preview of an entry and adds its role and type.
    fn read_preview(&self, lines: &mut LineReader, id: NodeId) -> Result<MapPreview, Error> {
        let preview = self.session.preview_entry(lines, id)?;
        let node = self.session.tree.node(id);
        Ok(MapPreview { entry: preview, role: node.role, kind: node.kind })
    }
}

/// Returns the indices of the turns to show, ascending. `has_fork` has a flag per turn. All turns with forks are chosen
/// if there are at most `max_entries`.
fn choose_turns(has_fork: &[bool], max_entries: usize) -> Vec<usize> {
    let fits_all_forks = has_fork.iter().filter(|has_fork| **has_fork).count() <= max_entries;
    let step = has_fork.len().div_ceil(max_entries).max(1);
    let mut turns = Vec::new();
    for start in (0..has_fork.len()).step_by(step) {
        let forked: Vec<usize> =
            (start..has_fork.len().min(start + step)).filter(|&idx| has_fork[idx]).collect();
        match forked.first() {
            Some(&first) if !fits_all_forks => turns.push(first),
            Some(&first) => {
                turns.extend(Some(start).filter(|_| first > start));
                turns.extend(forked);
            }
            None => turns.push(start),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::choose_turns;

    #[test]
    fn map_size_is_limited_for_every_session() {
        const MAX_ENTRIES: usize = 240;
        assert_eq!(choose_turns(&[false, true, false], MAX_ENTRIES), [0, 1, 2]);
        let mut forks = vec![false; 10 * MAX_ENTRIES];
        forks[7] = true;
        let few = choose_turns(&forks, MAX_ENTRIES);
        assert_eq!(
            (few.len(), &few[..3]),
            (MAX_ENTRIES + 1, &[0, 7, 10][..]),
            "a turn with a fork is on the map"
        );
        let many = choose_turns(&vec![true; 10 * MAX_ENTRIES], MAX_ENTRIES);
        assert_eq!(many.len(), MAX_ENTRIES);
        assert!(choose_turns(&[], MAX_ENTRIES).is_empty());
    }
}
