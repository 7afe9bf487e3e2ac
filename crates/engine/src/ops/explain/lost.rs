//! Groups unreachable entries by reason and by branch.

use std::collections::HashMap;

use rethread_core::entry::Kind;
use rethread_core::resume::SkipReason;
use rethread_core::tree::{NodeId, Tree};

use super::report::ClientVerdict;
use crate::session::load::Session;

/// Why an entry is unreachable, and whether the user left it.
type LossKey = (SkipReason, bool);

/// Entries that are unreachable for one reason, all left by the user or none of them.
#[derive(Debug)]
pub struct LostGroup {
    /// The reason.
    pub reason: SkipReason,
    /// Whether the user left them.
    pub is_left: bool,
    /// The number of entries.
    pub entries: usize,
    /// The number of turns that start in them.
    pub turns: usize,
    /// The connected branches of these entries, largest first.
    pub branches: Vec<UnreachableBranch>,
    /// The numbers of lines without a uuid, which belong to no branch.
    pub unnamed_lines: Vec<u32>,
}

/// Connected entries that are unreachable.
#[derive(Debug, Clone)]
pub struct UnreachableBranch {
    /// The first entry in the file.
    pub top: NodeId,
    /// The first prompt, or the first entry if there is no prompt.
    pub first: NodeId,
    /// The newest entry.
    pub tip: NodeId,
    /// The number of entries.
    pub entries: usize,
    /// The number of turns that start in them.
    pub turns: usize,
}

impl ClientVerdict {
    /// Groups the lost entries by the reason why they are unreachable. Those that the user left come last.
    pub fn lost_groups(&self, session: &Session) -> Vec<LostGroup> {
        let tree = &session.tree;
        let mut reasons: Vec<Option<LossKey>> = vec![None; tree.nodes().len()];
        let mut groups: Vec<LostGroup> = Vec::new();
        for lost in self.resume.skipped.iter().filter(|lost| lost.reason.is_loss()) {
            let key = (lost.reason, !lost.is_unintended());
            let idx = groups.iter().position(|group| group.key() == key).unwrap_or_else(|| {
                groups.push(LostGroup::new(key));
                groups.len() - 1
            });
            groups[idx].entries += 1;
            match lost.node {
                Some(id) => reasons[id as usize] = Some(key),
                None => groups[idx].unnamed_lines.push(lost.line),
            }
        }
        if !groups.is_empty() {
            let top_entries = TopEntries::find(tree, &reasons, &self.resume.chain);
            for group in &mut groups {
                group.collect_branches(tree, &reasons, &top_entries);
            }
        }
        groups.sort_by_key(|group| (group.is_left, group.reason));
        groups
    }
}

impl LostGroup {
    fn new((reason, is_left): LossKey) -> LostGroup {
        LostGroup { reason, is_left, entries: 0, turns: 0, branches: Vec::new(), unnamed_lines: Vec::new() }
    }

    fn key(&self) -> LossKey {
        (self.reason, self.is_left)
    }

    /// Collects the branches of the group: entries with the same topmost entry.
    fn collect_branches(&mut self, tree: &Tree, reasons: &[Option<LossKey>], top_entries: &TopEntries) {
        let key = Some(self.key());
        let mut branch_idxs: HashMap<NodeId, usize> = HashMap::new();
        for id in (0..reasons.len() as NodeId).filter(|&id| reasons[id as usize] == key) {
            let top = top_entries.0[id as usize].map_or(id, |(_, top)| top);
            let idx = *branch_idxs.entry(top).or_insert_with(|| {
                self.branches.push(UnreachableBranch { top: id, first: id, tip: id, entries: 0, turns: 0 });
                self.branches.len() - 1
            });
            let branch = &mut self.branches[idx];
            branch.entries += 1;
            branch.tip = id;
            if tree.turn_of(id) == Some(id) {
                if branch.turns == 0 {
                    branch.first = id;
                }
                branch.turns += 1;
            }
        }
        self.turns = self.branches.iter().map(|branch| branch.turns).sum();
        self.branches.sort_by_key(|branch| (std::cmp::Reverse(branch.entries), branch.top));
    }
}

/// For each node, the reason of its loss and its topmost ancestor. `None` if no lost entry leads through it.
///
/// The ancestor is reached only through entries lost for the same reason, and through unloaded entries without messages.
struct TopEntries(Vec<Option<(LossKey, NodeId)>>);

impl TopEntries {
    /// Finds the topmost ancestors. `reasons` has an element per node; `chain` contains the loaded nodes.
    fn find(tree: &Tree, reasons: &[Option<LossKey>], chain: &[NodeId]) -> TopEntries {
        let mut loaded = vec![false; reasons.len()];
        chain.iter().for_each(|&id| loaded[id as usize] = true);
        let is_message = |id: NodeId| matches!(tree.node(id).kind, Kind::User | Kind::Assistant);
        let mut top_entries: Vec<Option<(LossKey, NodeId)>> = vec![None; reasons.len()];
        let mut visited = Vec::new();
        for id in 0..reasons.len() as NodeId {
            let Some(reason) = reasons[id as usize] else { continue };
            let is_in_group =
                |id: NodeId| reasons[id as usize] == Some(reason) || !is_message(id) && !loaded[id as usize];
            let (mut next, mut top) = (Some(id), id);
            while let Some(current) = next.filter(|&current| is_in_group(current)) {
                top = current;
                if let Some((_, known_top)) =
                    top_entries[current as usize].filter(|(known, _)| *known == reason)
                {
                    top = known_top;
                    break;
                }
                visited.push(current);
                next = tree.node(current).parent();
            }
            visited.drain(..).for_each(|id| top_entries[id as usize] = Some((reason, top)));
        }
        TopEntries(top_entries)
    }
}
