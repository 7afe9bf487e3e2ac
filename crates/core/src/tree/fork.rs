//! Forks: real branches of the conversation, and artifacts of how the client records it.
//!
//! Real files had 18,071 nodes with several children, of which 76 are real forks. The others are progress lines,
//! attachments and hooks next to a tool result, results of parallel calls, and local commands.

use std::collections::HashSet;

use super::builder::Tree;
use super::node::{NONE, NodeId, ParentLink};
use crate::entry::{EntryRole, Flags};
use crate::problem::DuplicateUuid;

/// Why a node has several children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ForkKind {
    /// The user edited a prompt.
    Edit,
    /// The user rewound the conversation by more than one turn.
    Rewind,
    /// The model answered the same prompt again.
    Retry,
    /// The user interrupted the model and sent another prompt.
    Interrupt,
    /// Two processes resumed from the same entry.
    Parallel,
    /// The file has several roots.
    Root,
    /// Artifact: calls of one response and their results.
    ParallelTools,
    /// Artifact: progress lines.
    Progress,
    /// Artifact: attachments and hooks.
    Attachment,
    /// Artifact: system lines, local commands, repeated lines.
    Record,
}

impl ForkKind {
    /// Returns `true` if the conversation has several branches at such a fork. Otherwise it is a recording artifact.
    pub fn is_real(self) -> bool {
        self <= ForkKind::Root
    }

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            ForkKind::Edit => "edit",
            ForkKind::Rewind => "rewind",
            ForkKind::Retry => "retry",
            ForkKind::Interrupt => "interrupt",
            ForkKind::Parallel => "parallel writer",
            ForkKind::Root => "root",
            ForkKind::ParallelTools => "parallel tools",
            ForkKind::Progress => "progress",
            ForkKind::Attachment => "attachment",
            ForkKind::Record => "record",
        }
    }
}

/// A node with several children, or the roots of a file that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The parent. `None` for the roots of the file.
    pub at: Option<NodeId>,
    /// Why the node has several children.
    pub kind: ForkKind,
    /// The first node of each branch, in file order. For an artifact, all children.
    pub branches: Vec<NodeId>,
}

/// Statistics of the subtree of a node.
#[derive(Debug, Clone, Copy, Default)]
struct SubtreeStats {
    prompt_count: u32,
    answer_count: u32,
    /// The last message in file order, or 0. Messages after a resume marker are not counted: the user returned to the branch.
    last: NodeId,
    /// The first node at or below the root of the subtree that is not structural, following first children.
    head: NodeId,
}

impl Tree {
    /// Returns every fork of the main conversation, artifacts included, in file order. The fork of the roots is the first.
    pub fn find_forks(&self) -> Vec<Fork> {
        let has_several_children = |id: &NodeId| self.children(*id).len() > 1;
        let parents: Vec<NodeId> = (0..self.nodes().len() as NodeId).filter(has_several_children).collect();
        let roots = self.find_conversation_roots();
        if parents.is_empty() && roots.len() < 2 {
            return Vec::new();
        }
        let stats = self.collect_subtree_stats();
        let copies = self
            .duplicates
            .iter()
            .filter(|(.., duplicate)| *duplicate == DuplicateUuid::SameContent)
            .map(|&(_, previous, _)| previous);
        let copies: HashSet<NodeId> = copies.collect();
        let mut forks = Vec::new();
        let started_roots: Vec<NodeId> =
            roots.into_iter().filter(|&id| stats[id as usize].prompt_count > 0).collect();
        if started_roots.len() > 1 {
            forks.push(Fork { at: None, kind: ForkKind::Root, branches: started_roots });
        }
        for at in parents {
            if self.is_main_chain(at) {
                forks.push(self.build_fork(at, &stats, &copies));
            }
        }
        forks
    }

    /// Returns the number of branches that real forks create: 1 for a conversation without forks, 0 for an empty tree.
    pub fn branch_count(&self) -> usize {
        if self.nodes().is_empty() {
            return 0;
        }
        let forks = self.find_forks();
        1 + forks.iter().filter(|fork| fork.kind.is_real()).map(|fork| fork.branches.len() - 1).sum::<usize>()
    }

    /// Returns the roots that start the conversation: neither continuations after a compaction nor orphaned parts.
    fn find_conversation_roots(&self) -> Vec<NodeId> {
        let is_sidechain_file = self.is_sidechain_file();
        let summary = self.first_compact_summary();
        let is_start = |&id: &NodeId| {
            let node = self.node(id);
            node.link == ParentLink::Root
                && (is_sidechain_file || !node.is_sidechain())
                && !matches!(node.role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
                && !self.continues_after_compaction(id, summary)
        };
        self.roots().filter(is_start).collect()
    }

    /// Returns the first compaction summary in file order. Returns `None` if there is none.
    pub(crate) fn first_compact_summary(&self) -> Option<NodeId> {
        self.nodes().iter().position(|node| node.role == EntryRole::CompactSummary).map(|id| id as NodeId)
    }

    /// Returns `true` if a root is no prompt and follows `summary`, the first compaction summary of the file.
    ///
    /// In 1.x the lines of `/compact` itself are a root without a prompt.
    pub(crate) fn continues_after_compaction(&self, id: NodeId, summary: Option<NodeId>) -> bool {
        self.node(id).role != EntryRole::Prompt && summary.is_some_and(|summary| summary < id)
    }

    /// Collects the statistics of the subtree of each node, by node id.
    fn collect_subtree_stats(&self) -> Vec<SubtreeStats> {
        let order = self.topological_order();
        let is_after_marker = self.mark_entries_after_markers(&order);
        let heads = self.find_heads(&order);
        let mut stats: Vec<SubtreeStats> = (0..)
            .zip(self.nodes())
            .map(|(id, node)| {
                let is_new = !self.is_replayed(id);
                let is_counted = node.role != EntryRole::Structural && !is_after_marker[id as usize];
                SubtreeStats {
                    prompt_count: u32::from(
                        is_new && matches!(node.role, EntryRole::Prompt | EntryRole::ImageOnly),
                    ),
                    answer_count: u32::from(is_new && node.role == EntryRole::Answer),
                    last: if is_counted { id } else { 0 },
                    head: heads[id as usize],
                }
            })
            .collect();
        for &id in order.iter().rev() {
            let subtree = stats[id as usize];
            let parent = self.node(id).parent;
            if parent != NONE {
                let total = &mut stats[parent as usize];
                total.prompt_count += subtree.prompt_count;
                total.answer_count += subtree.answer_count;
                total.last = total.last.max(subtree.last);
            }
        }
        stats
    }

    /// Marks the resume markers and all entries below them, by node id. `order` has parents before children.
    fn mark_entries_after_markers(&self, order: &[NodeId]) -> Vec<bool> {
        let mut is_after_marker = vec![false; self.nodes().len()];
        for &id in order {
            let node = self.node(id);
            let is_below = node.parent().is_some_and(|parent| is_after_marker[parent as usize]);
            is_after_marker[id as usize] = is_below || node.has_flag(Flags::RESUME_MARKER);
        }
        is_after_marker
    }

    /// Groups the children of `at` into branches and classifies the fork. `copies` are nodes that a later line repeats.
    ///
    /// Children without prompts, answers and results start no branch. With fewer than two branches it is an artifact.
    fn build_fork(&self, at: NodeId, stats: &[SubtreeStats], copies: &HashSet<NodeId>) -> Fork {
        let children = self.children(at);
        let mut branches: Vec<NodeId> = Vec::new();
        let mut has_call_branch = false;
        let mut messages = HashSet::new();
        for &child in children {
            let subtree = stats[child as usize];
            let head = subtree.head;
            let is_copy = copies.contains(&child);
            if subtree.prompt_count + subtree.answer_count == 0 && self.node(head).role != EntryRole::Results
                || is_copy
            {
                continue;
            }
            // Results and further lines of the same response are one branch, whichever of them continues.
            if self.belongs_to_call(head, at) {
                if !has_call_branch {
                    has_call_branch = true;
                    branches.push(child);
                }
                continue;
            }
            if self.message_of(head).is_none_or(|message| messages.insert(message)) {
                branches.push(child);
            }
        }
        if branches.len() > 1 {
            return Fork { at: Some(at), kind: self.classify_fork(&branches, stats), branches };
        }
        let kind = self.classify_artifact(children);
        Fork { at: Some(at), kind, branches: children.to_vec() }
    }

    /// Returns `true` if the node `head` below the node `call` is a tool result or a further line of the same response.
    pub(crate) fn belongs_to_call(&self, head: NodeId, call: NodeId) -> bool {
        self.node(head).role == EntryRole::Results || self.is_same_message(head, call)
    }

    /// Returns, by node id, the first node at or below each node that is not structural, following first children.
    ///
    /// If all of these are structural, it is the last of them.
    pub(crate) fn find_subtree_heads(&self) -> Vec<NodeId> {
        self.find_heads(&self.topological_order())
    }

    /// Returns the heads of all subtrees. `order` has parents before children.
    pub(crate) fn find_heads(&self, order: &[NodeId]) -> Vec<NodeId> {
        let mut heads: Vec<NodeId> = (0..self.nodes().len() as NodeId).collect();
        for &id in order.iter().rev() {
            if let (EntryRole::Structural, Some(&child)) = (self.node(id).role, self.children(id).first()) {
                heads[id as usize] = heads[child as usize];
            }
        }
        heads
    }

    /// Returns the cause of a real fork with these branches, in file order.
    fn classify_fork(&self, branches: &[NodeId], stats: &[SubtreeStats]) -> ForkKind {
        let roles: Vec<EntryRole> =
            branches.iter().map(|&branch| self.node(stats[branch as usize].head).role).collect();
        if roles
            .iter()
            .all(|role| matches!(role, EntryRole::Answer | EntryRole::ApiError | EntryRole::SyntheticReply))
        {
            return ForkKind::Retry;
        }
        // If the older branch grew after the younger one started, two processes were writing.
        let pairs = || branches.iter().zip(&branches[1..]);
        if pairs().any(|(&old, &new)| {
            stats[old as usize].last > new && self.node(new).role != EntryRole::Structural
        }) {
            return ForkKind::Parallel;
        }
        if roles.iter().any(|role| matches!(role, EntryRole::Answer | EntryRole::Results)) {
            return ForkKind::Interrupt;
        }
        let older = &branches[..branches.len() - 1];
        if older.iter().any(|&branch| stats[branch as usize].prompt_count > 1) {
            ForkKind::Rewind
        } else if older.iter().any(|&branch| stats[branch as usize].answer_count > 0) {
            ForkKind::Edit
        } else {
            ForkKind::Interrupt
        }
    }

    /// Returns the cause of a fork with fewer than two real branches, by the kinds of its children.
    fn classify_artifact(&self, children: &[NodeId]) -> ForkKind {
        use crate::entry::Kind;
        let has = |kind: Kind| children.iter().any(|&child| self.node(child).kind == kind);
        if has(Kind::Progress) {
            ForkKind::Progress
        } else if has(Kind::Attachment) {
            ForkKind::Attachment
        } else if has(Kind::System) {
            ForkKind::Record
        } else if children.iter().any(|&child| self.node(child).role == EntryRole::Results) {
            ForkKind::ParallelTools
        } else {
            ForkKind::Record
        }
    }
}
