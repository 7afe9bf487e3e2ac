//! The entries as a client holds them: by uuid, the last line of a uuid standing for all of them.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::rules::{PreservedSupport, Progress, Rules};
use crate::entry::{EntryRole, Flags, Kind};
use crate::id::Id;
use crate::tree::{Node, NodeId, ParentLink, Tree};

/// Stands for "no entry".
pub(super) const NONE: NodeId = NodeId::MAX;

/// What the client knows after reading the file.
pub(super) struct ClientGraph<'t> {
    pub(super) tree: &'t Tree,
    /// The entries in the order in which their uuids were met first.
    pub(super) order: Vec<NodeId>,
    /// The parent of each entry, as the client finds it.
    pub(super) parent: Vec<NodeId>,
    /// Whether the client holds the entry.
    pub(super) loaded: Vec<bool>,
    /// The anchor of what a compaction kept, and the last of the kept entries.
    pub(super) spliced: Option<(NodeId, NodeId)>,
}

impl<'t> ClientGraph<'t> {
    pub(super) fn new(tree: &'t Tree, rules: &Rules) -> ClientGraph<'t> {
        let mut links = ClientGraph::plain(tree, rules);
        if rules.bridge {
            links.bridge();
        }
        if rules.keep != PreservedSupport::Nothing {
            links.keep(rules);
        }
        links
    }

    /// Links entries by their uuids alone.
    pub(super) fn plain(tree: &'t Tree, rules: &Rules) -> ClientGraph<'t> {
        let count = tree.nodes().len();
        let mut links = ClientGraph {
            tree,
            order: Vec::with_capacity(count),
            parent: vec![NONE; count],
            loaded: vec![false; count],
            spliced: None,
        };
        links.hold(rules);
        links.link(rules);
        links
    }

    /// Returns the entry that stands for a line: the last one with its uuid.
    fn standing(&self, no: NodeId) -> NodeId {
        if self.tree.repeated_lines() == 0 {
            return no;
        }
        self.tree.find(self.tree.node(no).id).unwrap_or(no)
    }

    fn hold(&mut self, rules: &Rules) {
        for no in 0..self.tree.nodes().len() as NodeId {
            let standing = self.standing(no);
            let known = match self.tree.node(standing).kind {
                _ if self.tree.node(standing).is(Flags::SALVAGED) => false,
                Kind::User | Kind::Assistant | Kind::System | Kind::Attachment => true,
                Kind::Progress => rules.progress == Progress::Entry,
                _ => false,
            };
            if known && !self.loaded[standing as usize] {
                self.loaded[standing as usize] = true;
                self.order.push(standing);
            }
        }
    }

    fn link(&mut self, rules: &Rules) {
        let is_progress = |no: NodeId| self.tree.node(no).kind == Kind::Progress;
        // What is above a row of progress lines is found once for all of them, as far as parents come first.
        let mut through: Vec<Option<NodeId>> = self.tree.nodes().iter().map(Node::parent).collect();
        for no in 0..through.len() {
            if let Some(parent) = through[no].filter(|&parent| (parent as usize) < no && is_progress(parent))
            {
                through[no] = through[parent as usize];
            }
        }
        for &no in &self.order {
            let mut parent = self.tree.node(no).parent();
            // The links of the tree have no cycles.
            while let Some(above) =
                parent.filter(|&above| rules.progress == Progress::SeenThrough && is_progress(above))
            {
                parent = through[above as usize];
            }
            self.parent[no as usize] = parent.map_or(NONE, |parent| self.standing(parent));
        }
        for &(child, parent) in &self.tree.cuts {
            if self.loaded[child as usize] {
                self.parent[child as usize] = self.standing(parent);
            }
        }
        for &no in &self.order {
            let parent = self.parent[no as usize];
            if parent != NONE && !self.loaded[parent as usize] {
                self.parent[no as usize] = NONE;
            }
        }
    }

    /// Whether a client reads lines of this kind at all, whatever it drops later.
    pub(super) fn is_read(&self, no: NodeId) -> bool {
        let node = self.tree.node(no);
        !node.is(Flags::SALVAGED)
            && matches!(node.kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment)
    }

    /// Hangs a line whose parent is missing on the newest entry of the five seconds before it.
    fn bridge(&mut self) {
        const WINDOW: i64 = 5000;
        let is_lost = |&no: &NodeId| {
            let node = self.tree.node(no);
            let damaged = node.parent().is_some_and(|parent| self.tree.node(parent).is(Flags::SALVAGED));
            node.link == ParentLink::Missing || damaged
        };
        let lost: Vec<NodeId> = self.order.iter().copied().filter(is_lost).collect();
        if lost.is_empty() {
            return;
        }
        let time = |no: NodeId| self.tree.node(no).time().map(|moment| moment.0);
        // The newest first; of several, the first in the file. Subagents apart.
        let mut timed: [Vec<(i64, usize)>; 2] = Default::default();
        for (k, &no) in self.order.iter().enumerate() {
            let side = usize::from(self.tree.node(no).is_sidechain());
            timed[side].extend(time(no).map(|time| (time, k)));
        }
        timed.iter_mut().for_each(|timed| timed.sort_unstable_by_key(|&(time, k)| (Reverse(time), k)));
        for no in lost {
            let Some(now) = time(no) else {
                continue;
            };
            let timed = &timed[usize::from(self.tree.node(no).is_sidechain())];
            let from = timed.partition_point(|&(time, _)| time > now);
            let near = timed[from..].iter().take_while(|&&(time, _)| now.saturating_sub(time) <= WINDOW);
            let fits = |&other: &NodeId| other != no && self.parent[other as usize] != no;
            let found = near.map(|&(_, k)| self.order[k]).find(fits);
            self.parent[no as usize] = found.unwrap_or(NONE);
        }
    }

    /// Drops what stands before the last compaction, except what it kept, if any compaction of the file kept something.
    fn keep(&mut self, rules: &Rules) {
        let keepers: HashSet<NodeId> = self
            .tree
            .boundaries
            .iter()
            .filter(|(_, kept)| {
                kept.run.is_some() || rules.keep == PreservedSupport::List && kept.list.is_some()
            })
            .map(|(boundary, _)| *boundary)
            .collect();
        let is_boundary = |no: &NodeId| self.tree.node(*no).voice == EntryRole::CompactBoundary;
        let Some(last) = self.order.iter().rposition(is_boundary) else {
            return;
        };
        let keeper = self.order.iter().rev().find(|&no| is_boundary(no) && keepers.contains(no));
        let Some(&keeper) = keeper else {
            return;
        };
        let kept =
            if keeper == self.order[last] { self.kept(keeper, rules) } else { Some((None, Vec::new())) };
        // Where one of the kept entries is not in the file, nothing is done at all.
        let Some((anchor, kept)) = kept else {
            return;
        };
        self.splice(anchor.unwrap_or(NONE), &kept);
        self.drop_before(last, &kept, rules);
    }

    /// Finds the anchor and the entries that a boundary kept.
    fn kept(&self, boundary: NodeId, rules: &Rules) -> Option<(Option<NodeId>, Vec<NodeId>)> {
        let find = |id: Id| self.tree.find(id).filter(|&no| self.loaded[no as usize]);
        let (_, kept) = self.tree.boundaries.iter().find(|(no, _)| *no == boundary)?;
        if let Some((anchor, uuids)) = kept.list.as_ref().filter(|_| rules.keep == PreservedSupport::List) {
            let found: Option<Vec<NodeId>> = uuids.iter().map(|id| find(*id)).collect();
            return Some((find(*anchor), found?));
        }
        let (anchor, head, tail) = kept.run?;
        let head = find(head)?;
        let mut run = vec![find(tail)?];
        while run[run.len() - 1] != head {
            let parent = self.parent[run[run.len() - 1] as usize];
            if parent == NONE || run.len() > self.order.len() {
                return None;
            }
            run.push(parent);
        }
        run.reverse();
        Some((find(anchor), run))
    }

    /// Hangs the kept entries, in a row, between the anchor and what hung on it.
    fn splice(&mut self, anchor: NodeId, kept: &[NodeId]) {
        let (Some(&first), Some(&last)) = (kept.first(), kept.last()) else {
            return;
        };
        let mut above = anchor;
        for &no in kept {
            self.parent[no as usize] = above;
            above = no;
        }
        if anchor == NONE {
            return;
        }
        self.spliced = Some((anchor, last));
        for &no in &self.order {
            if self.parent[no as usize] == anchor && no != first {
                self.parent[no as usize] = last;
            }
        }
    }

    fn drop_before(&mut self, boundary: usize, kept: &[NodeId], rules: &Rules) {
        let stays: HashSet<NodeId> = kept.iter().copied().collect();
        for &no in &self.order[..boundary] {
            self.loaded[no as usize] = stays.contains(&no);
        }
        let here = std::mem::take(&mut self.loaded);
        self.order.retain(|&no| here[no as usize]);
        let heir = kept.last().copied().filter(|_| rules.keep == PreservedSupport::List).unwrap_or(NONE);
        for &no in &self.order {
            let parent = self.parent[no as usize];
            if parent != NONE && !here[parent as usize] {
                self.parent[no as usize] = heir;
            }
        }
        self.loaded = here;
    }
}
