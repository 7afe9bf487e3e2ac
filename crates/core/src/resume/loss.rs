//! Finds out why entries are lost: the user left them, two branches grew at once, or the file is damaged.

use std::collections::HashMap;

use super::resume_index::ResumeIndex;
use super::simulate::ResumeOutcome;
use crate::entry::{EntryRole, Flags};
use crate::tree::{Node, NodeId, ParentLink, Tree};

/// The value for "no entry".
const NONE: NodeId = NodeId::MAX;

/// Why an entry of a branch that is not loaded is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossCause {
    /// The user left it: rewound to an earlier entry, resumed from another one, or retried an answer.
    User,
    /// Its branch and the loaded one grew at the same time, so that the user left neither of them.
    Parallel,
    /// A link is broken, or the client does not follow it.
    Damage,
}

/// Returns `true` if no conversation starts with this entry: it is an answer, an API error or a tool result.
pub(crate) fn cannot_start_conversation(tree: &Tree, id: NodeId) -> bool {
    matches!(
        tree.node(id).role,
        EntryRole::Answer | EntryRole::Results | EntryRole::ApiError | EntryRole::SyntheticReply
    )
}

/// Connected entries that are not in the context.
#[derive(Debug, Clone)]
struct LostBranch {
    /// The parent of the first entry. It is in the context. `NONE` for a root.
    fork: NodeId,
    /// The first entry.
    top: NodeId,
    /// The times of the first and the last message in milliseconds. The first is later if no message has a time.
    times: (i64, i64),
    /// The last message in file order.
    last: NodeId,
    has_prompt: bool,
    has_answer_or_result: bool,
    /// Whether it contains a line of a response that is in the context. Old clients write some prompts twice, with
    /// the same answer.
    is_copy: bool,
}

/// The branches of a session that are not in the context of a client.
pub(super) struct LostBranches<'a> {
    tree: &'a Tree,
    /// Whether the context contains an entry, or a summary in it represents the entry.
    represented: &'a [bool],
    /// By entry that is not represented: the index of its branch.
    branch_of: Vec<u32>,
    branches: Vec<LostBranch>,
    /// The times of the represented messages in milliseconds, sorted.
    times: Vec<i64>,
    /// The represented messages, sorted.
    messages: Vec<NodeId>,
    /// The entry from which the client resumes, or 0.
    leaf: NodeId,
    /// By entry: the first one at or below it that is not structural.
    heads: Vec<NodeId>,
    /// The number of entries that preceded the choice of the leaf by the user. 0 if the user did not choose it.
    entries_before_choice: NodeId,
    /// The last compaction in the context, if its summary is there.
    summarized: Option<NodeId>,
    /// By branch: why it is lost.
    causes: Vec<LossCause>,
}

impl<'a> LostBranches<'a> {
    /// Groups the entries that are not represented into branches.
    pub(super) fn find(
        tree: &'a Tree,
        index: &ResumeIndex,
        outcome: &ResumeOutcome,
        represented: &'a [bool],
    ) -> LostBranches<'a> {
        let role = |id: &NodeId| tree.node(*id).role;
        let has_summary = outcome.chain.iter().any(|id| role(id) == EntryRole::CompactSummary);
        let boundaries = outcome.chain.iter().filter(|id| role(id) == EntryRole::CompactBoundary);
        let order = tree.topological_order();
        let mut found = LostBranches {
            tree,
            represented,
            branch_of: vec![u32::MAX; tree.nodes().len()],
            branches: Vec::new(),
            times: Vec::new(),
            messages: Vec::new(),
            leaf: outcome.leaf.map_or(0, |(leaf, _)| leaf),
            heads: tree.find_heads(&order),
            entries_before_choice: outcome.find_leaf_choice(tree, index).unwrap_or(0),
            summarized: boundaries.copied().max().filter(|_| has_summary),
            causes: Vec::new(),
        };
        let mut is_response_loaded = vec![false; tree.message_ids().len()];
        for message in outcome.chain.iter().filter_map(|&id| tree.message_of(id)) {
            is_response_loaded[message as usize] = true;
        }
        for id in order {
            if !represented[id as usize] {
                found.add_entry(id, &is_response_loaded);
            } else if is_timed_message(tree.node(id)) {
                found.messages.push(id);
                found.times.extend(tree.node(id).time().map(|time| time.0));
            }
        }
        found.messages.sort_unstable();
        found.times.sort_unstable();
        found.causes = found.find_causes();
        found
    }

    /// Finds the cause of every branch. Branches of one fork share the entries that are represented instead.
    fn find_causes(&self) -> Vec<LossCause> {
        let mut taken_by_fork: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for branch in &self.branches {
            taken_by_fork.entry(branch.fork).or_insert_with(|| self.find_taken(branch.fork));
        }
        self.branches.iter().map(|branch| self.find_cause(branch, &taken_by_fork[&branch.fork])).collect()
    }

    /// Returns the children of a fork that are represented, or the roots for `NONE`.
    fn find_taken(&self, fork: NodeId) -> Vec<NodeId> {
        match fork {
            NONE => self.find_taken_roots(),
            fork => {
                let children = self.tree.children(fork).iter().copied();
                children.filter(|&id| self.represented[id as usize]).collect()
            }
        }
    }

    fn add_entry(&mut self, id: NodeId, is_response_loaded: &[bool]) {
        let node = self.tree.node(id);
        let parent = find_read_parent(self.tree, id);
        let branch_idx = match parent.filter(|&parent| !self.represented[parent as usize]) {
            Some(parent) => self.branch_of[parent as usize],
            None => {
                self.branches.push(LostBranch {
                    fork: parent.unwrap_or(NONE),
                    top: id,
                    times: (i64::MAX, i64::MIN),
                    last: id,
                    has_prompt: false,
                    has_answer_or_result: false,
                    is_copy: false,
                });
                self.branches.len() as u32 - 1
            }
        };
        self.branch_of[id as usize] = branch_idx;
        let branch = &mut self.branches[branch_idx as usize];
        branch.has_prompt |= matches!(node.role, EntryRole::Prompt | EntryRole::ImageOnly);
        branch.has_answer_or_result |= matches!(node.role, EntryRole::Answer | EntryRole::Results);
        branch.is_copy |=
            self.tree.message_of(id).is_some_and(|message| is_response_loaded[message as usize]);
        if is_timed_message(node) {
            branch.last = branch.last.max(id);
            if let Some(time) = node.time() {
                branch.times = (branch.times.0.min(time.0), branch.times.1.max(time.0));
            }
        }
    }

    /// Returns why an entry that is not represented is lost.
    pub(super) fn cause_of(&self, id: NodeId) -> LossCause {
        self.causes.get(self.branch_of[id as usize] as usize).copied().unwrap_or(LossCause::Damage)
    }

    /// Returns why a branch is lost. `taken` are the entries that are represented instead of its first one.
    fn find_cause(&self, branch: &LostBranch, taken: &[NodeId]) -> LossCause {
        let tree = self.tree;
        let head = self.heads[branch.top as usize];
        let is_damaged = match branch.fork {
            NONE => !is_root(tree, branch.top) || cannot_start_conversation(tree, head),
            fork => tree.belongs_to_call(head, fork),
        };
        if is_damaged {
            return LossCause::Damage;
        }
        let was_left_by_choice = branch.fork != NONE && branch.last < self.entries_before_choice;
        if taken.is_empty() {
            let is_summarized = self.summarized.is_some_and(|boundary| branch.fork < boundary);
            let is_left = was_left_by_choice || branch.fork != NONE && is_summarized;
            return if is_left { LossCause::User } else { LossCause::Damage };
        }
        let is_minor = !branch.has_prompt && !branch.has_answer_or_result;
        if was_left_by_choice
            || is_minor
            || branch.is_copy
            || taken.iter().any(|&taken| self.is_left_for(branch, taken))
        {
            LossCause::User
        } else {
            LossCause::Parallel
        }
    }

    /// Returns the roots of conversations that are represented.
    fn find_taken_roots(&self) -> Vec<NodeId> {
        let is_start = |&id: &NodeId| {
            let node = self.tree.node(id);
            self.represented[id as usize]
                && self.tree.is_main_chain(id)
                && is_root(self.tree, id)
                && !matches!(node.role, EntryRole::CompactBoundary | EntryRole::CompactSummary)
                && !cannot_start_conversation(self.tree, self.heads[id as usize])
        };
        self.tree.roots().filter(is_start).collect()
    }

    /// Returns `true` if the user left `branch` and continued with that of `taken`.
    ///
    /// Then no message of the context was written between its messages. The context has a later one, or the leaf was
    /// written later, and it continues with input of the user or with another answer instead of the last one.
    fn is_left_for(&self, branch: &LostBranch, taken: NodeId) -> bool {
        let starts_with_input = !cannot_start_conversation(self.tree, self.heads[taken as usize]);
        let (start, end) = branch.times;
        let (is_interleaved, is_continued) = if start > end || self.times.is_empty() {
            compare_range(&self.messages, branch.top, branch.last)
        } else {
            compare_range(&self.times, start, end)
        };
        let is_continued = is_continued || self.is_leaf_later(branch);
        !is_interleaved && is_continued && (starts_with_input || !branch.has_prompt)
    }

    /// Returns `true` if the leaf was written after a branch: it is below it in the file, and is no line between messages that is
    /// older than the branch, as a line that was moved would be.
    fn is_leaf_later(&self, branch: &LostBranch) -> bool {
        let (start, end) = branch.times;
        let leaf = self.tree.node(self.leaf);
        let is_older = start <= end && leaf.time().is_some_and(|time| time.0 < end);
        self.leaf > branch.last && (is_timed_message(leaf) || !is_older)
    }
}

/// Returns whether a value of `sorted` is between `start` and `end`, and whether one is not before `end`.
fn compare_range<T: Ord + Copy>(sorted: &[T], start: T, end: T) -> (bool, bool) {
    let after_start = sorted.partition_point(|&value| value <= start);
    (
        sorted.get(after_start).is_some_and(|&value| value < end),
        sorted.last().is_some_and(|&last| last >= end),
    )
}

/// Returns the parent of an entry, unless its line is damaged.
fn find_read_parent(tree: &Tree, id: NodeId) -> Option<NodeId> {
    tree.node(id).parent().filter(|&parent| !tree.node(parent).has_flag(Flags::RECOVERED))
}

/// Returns `true` if the line of an entry can be read and names no parent.
fn is_root(tree: &Tree, id: NodeId) -> bool {
    let node = tree.node(id);
    node.link == ParentLink::Root && !node.has_flag(Flags::RECOVERED)
}

/// Returns `true` for messages with a reliable timestamp. Those of local commands are not.
fn is_timed_message(node: &Node) -> bool {
    matches!(node.role, EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Answer | EntryRole::Results)
}
