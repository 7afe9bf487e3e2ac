//! The map of a way: its turns in a few words, and the ways that leave it.

use std::collections::HashSet;

use rethread_core::entry::{EntryRole, Kind};
use rethread_core::tree::NodeId;

use super::branch_view::{BranchView, ForkMark, SiblingBranch};
use super::view::SessionView;
use crate::Error;
use crate::disk::LineReader;
use crate::session::preview::PreviewedEntry;

/// Of the ways that leave at one place, so many are named: those that are nearest in the file.
const NAMED: usize = 3;
/// So many are named at most of those that leave one stop.
const MOST: usize = 9;

/// A stop of a way, on its map.
#[derive(Debug)]
pub struct MapEntry {
    /// Which of the stops, by its place.
    pub stop: usize,
    /// What is said there.
    pub spoken: MapPreview,
    /// The ways that leave just before it.
    pub before: Vec<MapBranch>,
    /// The ways that leave within it.
    pub within: Vec<MapBranch>,
    /// How many more leave there, which are not named.
    pub more: usize,
}

/// An entry in short, and who speaks.
#[derive(Debug)]
pub struct MapPreview {
    /// What it says.
    pub said: PreviewedEntry,
    /// Who speaks.
    pub voice: EntryRole,
    /// Its type.
    pub kind: Kind,
}

/// A way that leaves another.
#[derive(Debug)]
pub struct MapBranch {
    /// Where it leads.
    pub to: SiblingBranch,
    /// What is said there first.
    pub spoken: MapPreview,
    /// Whether it is the one that the client goes on from.
    pub is_active: bool,
}

impl SessionView {
    /// Draws up the map of a way that has room for so many stops; those where ways leave are on it even if it has not.
    pub fn map(&self, way: &BranchView, room: usize) -> Result<Vec<MapEntry>, Error> {
        let path = &self.session.path;
        let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
        let active: HashSet<NodeId> = self
            .leaf
            .map(|leaf| self.session.tree.ancestors_across_compactions(leaf))
            .into_iter()
            .flatten()
            .collect();
        let mut passes: Vec<Vec<&ForkMark>> = vec![Vec::new(); way.stops.len()];
        for pass in &way.passes {
            if let Some(here) = passes.get_mut(way.stop_of(pass)) {
                here.push(pass);
            }
        }
        let forks: Vec<bool> = passes.iter().map(|passes| !passes.is_empty()).collect();
        let mut signs = Vec::new();
        for stop in chosen(&forks, room) {
            let nodes = &way.stops[stop].nodes;
            let spoken = self.spoken(&mut lines, way.stops[stop].turn.unwrap_or(way.nodes[nodes.start]))?;
            let mut sign = MapEntry { stop, spoken, before: Vec::new(), within: Vec::new(), more: 0 };
            for pass in &passes[stop] {
                let named = sign.before.len() + sign.within.len();
                let (offs, more) = self.turnoffs(&mut lines, pass.first, MOST - named, &active)?;
                let side = if pass.place == nodes.start { &mut sign.before } else { &mut sign.within };
                side.extend(offs);
                sign.more += more;
            }
            signs.push(sign);
        }
        Ok(signs)
    }

    /// Names the nearest ways that begin beside a node, as many as there is room for, and says how many more there are.
    fn turnoffs(
        &self,
        lines: &mut LineReader,
        first: NodeId,
        room: usize,
        active: &HashSet<NodeId>,
    ) -> Result<(Vec<MapBranch>, usize), Error> {
        let Some((fork, own)) = self.branches.fork_starting_at(&self.session.tree, first) else {
            return Ok((Vec::new(), 0));
        };
        let from = own.saturating_sub(NAMED).min(fork.branches.len().saturating_sub(NAMED + 1));
        let near = fork.branches.iter().enumerate().skip(from).take(NAMED + 1).filter(|(way, _)| *way != own);
        let mut named = Vec::new();
        for (_, &first) in near.take(room) {
            let Some(to) = self.neighbour(first) else { continue };
            let spoken = self.spoken(lines, self.speaker(first))?;
            named.push(MapBranch { to, spoken, is_active: active.contains(&first) });
        }
        let more = (fork.branches.len() - 1).saturating_sub(named.len());
        Ok((named, more))
    }

    fn spoken(&self, lines: &mut LineReader, no: NodeId) -> Result<MapPreview, Error> {
        let said = self.session.said(lines, no)?;
        let node = self.session.tree.node(no);
        Ok(MapPreview { said, voice: node.voice, kind: node.kind })
    }
}

/// Chooses the stops that get a sign, given where ways leave: all of them, if they are not too many.
fn chosen(forks: &[bool], room: usize) -> Vec<usize> {
    let each = forks.iter().filter(|forks| **forks).count() <= room;
    let step = forks.len().div_ceil(room).max(1);
    let mut chosen = Vec::new();
    for from in (0..forks.len()).step_by(step) {
        let forked: Vec<usize> = (from..forks.len().min(from + step)).filter(|&at| forks[at]).collect();
        match forked.first() {
            Some(&first) if !each => chosen.push(first),
            Some(&first) => {
                chosen.extend(Some(from).filter(|_| first > from));
                chosen.extend(forked);
            }
            None => chosen.push(from),
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn a_map_has_room_for_every_session() {
        const ROOM: usize = 240;
        assert_eq!(chosen(&[false, true, false], ROOM), [0, 1, 2]);
        let mut forks = vec![false; 10 * ROOM];
        forks[7] = true;
        let few = chosen(&forks, ROOM);
        assert_eq!((few.len(), &few[..3]), (ROOM + 1, &[0, 7, 10][..]), "a fork has a sign where it is");
        let many = chosen(&vec![true; 10 * ROOM], ROOM);
        assert_eq!(many.len(), ROOM);
        assert!(chosen(&[], ROOM).is_empty());
    }
}
