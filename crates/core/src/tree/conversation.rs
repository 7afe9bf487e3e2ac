//! The conversation up to an entry: its path across compactions, and what the client loads of it.

use super::builder::Tree;
use super::node::NodeId;
use crate::entry::EntryRole;

/// The relation of a node to the active path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRelation {
    /// On the path.
    OnPath,
    /// On the path, but before a compaction: the model no longer sees it.
    Compacted,
    /// On another branch.
    OtherBranch,
}

/// An entry of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationEntry {
    /// The id of the node.
    pub node: NodeId,
    /// Its relation to the path. A parallel call that is not loaded is on another branch.
    pub relation: PathRelation,
    /// Whether it is an ancestor of the resume point. `false` for parallel calls and results, and for entries that a client
    /// links by other means than their parents.
    pub is_ancestor: bool,
}

/// The entries from the start of the conversation to a resume point, in reading order.
///
/// Each entry occurs once. A line that repeats an earlier one is represented by its [`Tree::original`].
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The entries, root first.
    pub entries: Vec<ConversationEntry>,
}

impl Tree {
    /// Returns the entry of the conversation that a client continues after if it resumes from `leaf`: the nearest entry at or
    /// above it that is not structural, or `leaf` if there is none. A repeated line is represented by its original.
    pub fn resume_point(&self, leaf: NodeId) -> NodeId {
        let is_structural = |id: NodeId| self.node(id).role == EntryRole::Structural;
        let mut nearest = Some(leaf);
        while let Some(id) = nearest.filter(|&id| is_structural(id)) {
            nearest = self.node(id).parent();
        }
        self.original(nearest.unwrap_or(leaf))
    }

    /// Returns the conversation up to `leaf`. `loaded` are the entries that a client loads when it resumes from `leaf`, in its
    /// order.
    ///
    /// An entry is compacted if it is not loaded and precedes the last loaded compaction. Without a loaded summary it is left
    /// out, because nothing represents it. Loaded entries that are no ancestors of `leaf` precede the loaded entry that follows
    /// them.
    pub fn conversation(&self, leaf: NodeId, loaded: &[NodeId]) -> Conversation {
        let steps = self.with_parallel_calls(&self.ancestors_across_compactions(leaf));
        let mut is_loaded = vec![false; self.nodes().len()];
        let mut is_included = vec![false; self.nodes().len()];
        loaded.iter().for_each(|&id| is_loaded[self.original(id) as usize] = true);
        steps.iter().for_each(|step| is_included[self.original(step.node) as usize] = true);
        let (mut before, mut at_end) = self.find_entries_off_path(loaded, &is_included);
        let is_compaction = |id: &NodeId| {
            matches!(self.node(*id).role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        };
        let has_summary = loaded.iter().any(|&id| self.node(id).role == EntryRole::CompactSummary);
        let last_compaction = loaded.iter().copied().filter(is_compaction).max();
        let mut entries = Vec::with_capacity(steps.len());
        let mut is_added = vec![false; self.nodes().len()];
        let mut add = |node: NodeId, is_ancestor: bool| {
            if std::mem::replace(&mut is_added[node as usize], true) {
                return;
            }
            let precedes_compaction = last_compaction.is_some_and(|compaction| node < compaction);
            let relation = match is_loaded[node as usize] {
                false if precedes_compaction && has_summary => PathRelation::Compacted,
                false if precedes_compaction => return,
                // A client may not load the other calls of a response.
                false if !is_ancestor => PathRelation::OtherBranch,
                _ => PathRelation::OnPath,
            };
            entries.push(ConversationEntry { node, relation, is_ancestor });
        };
        for step in steps {
            let node = self.original(step.node);
            for id in before.remove(&node).unwrap_or_default() {
                add(id, false);
            }
            add(node, step.is_ancestor);
        }
        at_end.drain(..).for_each(|id| add(id, false));
        Conversation { entries }
    }

    /// Returns the loaded entries that are not among the included ones: by the next loaded entry that is included, and those
    /// after the last included one.
    fn find_entries_off_path(
        &self,
        loaded: &[NodeId],
        is_included: &[bool],
    ) -> (std::collections::HashMap<NodeId, Vec<NodeId>>, Vec<NodeId>) {
        let mut before = std::collections::HashMap::new();
        let mut pending: Vec<NodeId> = Vec::new();
        for id in loaded.iter().map(|&id| self.original(id)) {
            if !is_included[id as usize] {
                pending.push(id);
            } else if !pending.is_empty() {
                before.entry(id).or_insert_with(Vec::new).append(&mut pending);
            }
        }
        (before, pending)
    }
}

impl Conversation {
    /// Returns the nodes in reading order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.entries.iter().map(|entry| entry.node)
    }

    /// Returns the relation of every node of `tree` to the conversation, by node id. A line that repeats an earlier one has the
    /// relation of its original.
    pub fn relations(&self, tree: &Tree) -> Vec<PathRelation> {
        let mut relations = vec![PathRelation::OtherBranch; tree.nodes().len()];
        for entry in &self.entries {
            relations[entry.node as usize] = entry.relation;
        }
        for copy in tree.copies() {
            relations[copy as usize] = relations[tree.original(copy) as usize];
        }
        relations
    }
}
