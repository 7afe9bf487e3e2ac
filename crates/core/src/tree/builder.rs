//! Builds the tree from entries, in one pass over the file and a short second pass over the nodes.

use std::collections::HashMap;

use super::compact::PreservedEntries;
use super::node::{LineSpan, NONE, Node, NodeId, ParentLink};
use crate::entry::{Entry, EntryRole, Flags, Kind};
use crate::id::{Id, IdMap, IdSet};
use crate::problem::{DuplicateUuid, Problem, ProblemKind};

/// Builds a tree from entries in file order.
#[derive(Debug, Clone, Default)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    /// The last node with each uuid so far.
    latest: IdMap<NodeId>,
    /// The index of each message id in `message_ids`.
    messages: IdMap<u32>,
    message_ids: Vec<Id>,
    /// Children with a parent uuid that has not occurred yet, and that uuid.
    pending: Vec<(NodeId, Id)>,
    /// Entries with a logical parent, usually compaction boundaries, and the uuid of that parent.
    logical: Vec<(NodeId, Id)>,
    preserved: Vec<(NodeId, PreservedEntries)>,
    /// Lines that repeat a uuid, each with the previous line with that uuid.
    duplicates: Vec<(NodeId, NodeId, DuplicateUuid)>,
    /// Hashes of the bytes by node. Kept only if repeated uuids are compared by content.
    hashes: Vec<u64>,
    hashes_content: bool,
}

/// The linked entries with a uuid of one file.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Children by parent: those of node `i` are `children[starts[i]..starts[i + 1]]`, in file order.
    children: Vec<NodeId>,
    starts: Vec<u32>,
    /// The last node with each uuid.
    by_id: IdMap<NodeId>,
    /// The logical parent by the uuid of the child.
    logical: IdMap<NodeId>,
    /// The compaction boundaries that preserve entries.
    pub(crate) boundaries: Vec<(NodeId, PreservedEntries)>,
    /// Links that were cut because they close a cycle, from child to parent.
    pub(crate) cut_links: Vec<(NodeId, NodeId)>,
    /// The first line with the content of each node that repeats an earlier line.
    pub(super) originals: HashMap<NodeId, NodeId>,
    /// The turn of each node, by the node that starts it.
    turns: Vec<u32>,
    /// Lines that repeat a uuid, each with the previous line with that uuid.
    pub(crate) duplicates: Vec<(NodeId, NodeId, DuplicateUuid)>,
    /// Missing parents, cycles and repeated uuids, sorted by position in the file.
    pub problems: Vec<Problem>,
    message_ids: Vec<Id>,
    is_sidechain_file: bool,
}

impl TreeBuilder {
    /// Creates a builder for a file of this many bytes, with memory reserved for at most 65,536 entries.
    pub fn with_capacity_for(bytes: u64) -> TreeBuilder {
        // Lines of real files have about 2,500 bytes on average.
        let lines = usize::try_from(bytes / 2500).unwrap_or(0).min(1 << 16);
        let mut builder = TreeBuilder::default();
        builder.nodes.reserve(lines);
        builder.latest.reserve(lines);
        builder
    }

    /// Creates a builder that compares the bytes of lines with the same uuid. The default builder compares their lengths.
    pub fn with_content_hashes() -> TreeBuilder {
        TreeBuilder { hashes_content: true, ..TreeBuilder::default() }
    }

    /// Adds the next entry of the file and returns its role. An entry without a uuid gets no node.
    pub fn add_entry(&mut self, entry: &Entry<'_>, span: LineSpan) -> EntryRole {
        let role = entry.role();
        if let Some(uuid) = entry.uuid {
            self.add_node(entry, uuid.to_id(), role, span);
        }
        role
    }

    /// Adds a node, linked to its parent if the parent precedes it.
    fn add_node(&mut self, entry: &Entry<'_>, id: Id, role: EntryRole, span: LineSpan) {
        let node_id = self.nodes.len() as NodeId;
        let mut node = Node {
            uuid: id,
            span,
            time: entry.time().map_or(i64::MIN, |time| time.0),
            parent: NONE,
            message: NONE,
            kind: entry.kind,
            role,
            link: ParentLink::Root,
            flags: entry.flags,
        };
        node.flags.set(Flags::RESUME_MARKER, entry.is_resume_marker());
        if let Some(parent) = entry.parent_uuid {
            let parent = parent.to_id();
            match self.latest.get(&parent) {
                _ if parent == id => node.link = ParentLink::CycleBroken,
                Some(&parent_id) => {
                    node.parent = parent_id;
                    node.link = ParentLink::Child;
                }
                None => {
                    node.link = ParentLink::MissingParent;
                    self.pending.push((node_id, parent));
                }
            }
        }
        if let Some(parent) = entry.logical_parent_uuid {
            self.logical.push((node_id, parent.to_id()));
        }
        self.preserved.extend(
            entry
                .compact_metadata
                .and_then(PreservedEntries::from_metadata)
                .map(|entries| (node_id, entries)),
        );
        if entry.kind == Kind::Assistant
            && let Some(message) = entry.message.as_ref().and_then(|message| message.id)
        {
            let next = self.messages.len() as u32;
            let message = message.to_id();
            node.message = *self.messages.entry(message).or_insert(next);
            if node.message == next {
                self.message_ids.push(message);
            }
        }
        if self.hashes_content {
            self.hashes.push(xxhash_rust::xxh3::xxh3_64(entry.raw));
        }
        if let Some(previous) = self.latest.insert(id, node_id) {
            let is_same = self.hashes_content
                && self.hashes[previous as usize] == self.hashes[node_id as usize]
                || !self.hashes_content && self.nodes[previous as usize].span.len == span.len;
            self.duplicates.push((
                node_id,
                previous,
                if is_same { DuplicateUuid::SameContent } else { DuplicateUuid::OtherContent },
            ));
        }
        self.nodes.push(node);
    }

    /// Resolves links to later lines, cuts cycles, computes children and turns, and returns the tree.
    pub fn finish(self) -> Tree {
        let mut tree = Tree {
            nodes: self.nodes,
            by_id: self.latest,
            duplicates: self.duplicates,
            message_ids: self.message_ids,
            ..Tree::default()
        };
        for &(node_id, _, duplicate) in &tree.duplicates {
            let span = tree.nodes[node_id as usize].span;
            tree.problems.push(problem_at(span, ProblemKind::RepeatedUuid(duplicate)));
        }
        for (node_id, parent) in self.pending {
            let node = &mut tree.nodes[node_id as usize];
            match tree.by_id.get(&parent) {
                Some(&parent_id) => {
                    node.parent = parent_id;
                    node.link = ParentLink::Child;
                }
                None => tree.problems.push(problem_at(node.span, ProblemKind::MissingParent)),
            }
        }
        for (node_id, parent) in self.logical {
            match tree.by_id.get(&parent) {
                Some(&parent_id) => {
                    tree.logical.insert(tree.nodes[node_id as usize].uuid, parent_id);
                }
                None => {
                    let span = tree.nodes[node_id as usize].span;
                    tree.problems.push(problem_at(span, ProblemKind::MissingLogicalParent));
                }
            }
        }
        tree.is_sidechain_file = tree.nodes.iter().all(Node::is_sidechain);
        tree.cut_cycles();
        tree.boundaries = self.preserved;
        tree.link_children();
        tree.find_copies();
        tree.mark_turns();
        tree.problems.sort_by_key(|problem| (problem.line, problem.offset));
        tree
    }
}

fn problem_at(span: LineSpan, kind: ProblemKind) -> Problem {
    Problem { line: span.line, offset: span.offset, kind }
}

impl Tree {
    /// Returns all nodes, in file order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns a node.
    pub fn node(&self, node_id: NodeId) -> &Node {
        &self.nodes[node_id as usize]
    }

    /// Returns the children of a node, in file order.
    pub fn children(&self, node_id: NodeId) -> &[NodeId] {
        let parent_idx = node_id as usize;
        &self.children[self.starts[parent_idx] as usize..self.starts[parent_idx + 1] as usize]
    }

    /// Finds the node with a uuid, the last one if several lines have it. Returns `None` if no line has it.
    pub fn find_uuid(&self, id: Id) -> Option<NodeId> {
        self.by_id.get(&id).copied()
    }

    /// Returns the logical parent of a compaction boundary.
    ///
    /// Returns `None` if the entry names none, or if the named entry is not in the file.
    pub fn logical_parent(&self, node_id: NodeId) -> Option<NodeId> {
        self.logical.get(&self.node(node_id).uuid).copied()
    }

    /// Returns the node that starts the turn of this node. Returns `None` if the node is not part of a turn.
    pub fn turn_of(&self, node_id: NodeId) -> Option<NodeId> {
        let turn = self.turns[node_id as usize];
        (turn != NONE).then_some(turn)
    }

    /// Returns the nodes that start turns, in file order. Turns of subagents inside a session file are excluded.
    pub fn turn_starts(&self) -> impl Iterator<Item = NodeId> + '_ {
        let starts_turn =
            |node_id: NodeId| self.turns[node_id as usize] == node_id && self.is_main_chain(node_id);
        (0..self.nodes.len() as NodeId).filter(move |&node_id| starts_turn(node_id))
    }

    /// Returns `true` if all nodes are sidechain entries, as in the file of a subagent, or if there are none.
    pub fn is_sidechain_file(&self) -> bool {
        self.is_sidechain_file
    }

    /// Returns `true` if a node is part of the conversation of this file, and not of a subagent inside it.
    pub fn is_main_chain(&self, node_id: NodeId) -> bool {
        self.is_sidechain_file || !self.node(node_id).is_sidechain()
    }

    /// Returns the nodes without a parent in the tree, in file order. Includes nodes with a missing parent or cut link.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as NodeId).filter(|&node_id| self.node(node_id).parent == NONE)
    }

    /// Cuts each cycle of parent links at its earliest line, and reports it. Reports entries that name themselves.
    fn cut_cycles(&mut self) {
        for idx in 0..self.nodes.len() {
            if self.nodes[idx].link == ParentLink::CycleBroken {
                self.problems.push(problem_at(self.nodes[idx].span, ProblemKind::SelfParent));
                self.cut_links.push((idx as NodeId, idx as NodeId));
            }
        }
        // A link to an earlier line cannot close a cycle alone, so a cycle needs a forward link.
        if !self
            .nodes
            .iter()
            .enumerate()
            .any(|(idx, node)| node.parent != NONE && node.parent as usize >= idx)
        {
            return;
        }
        // 0: not visited; otherwise the number of the walk. Reaching the current walk again is a cycle.
        let mut seen = vec![0u32; self.nodes.len()];
        for start in 0..self.nodes.len() as u32 {
            let walk = start + 1;
            let mut node_id = start;
            while node_id != NONE && seen[node_id as usize] == 0 {
                seen[node_id as usize] = walk;
                node_id = self.nodes[node_id as usize].parent;
            }
            if node_id != NONE && seen[node_id as usize] == walk {
                // Cut at the earliest line of the cycle.
                let mut first = node_id;
                let mut other = self.nodes[node_id as usize].parent;
                while other != node_id {
                    first = first.min(other);
                    other = self.nodes[other as usize].parent;
                }
                let node = &mut self.nodes[first as usize];
                self.cut_links.push((first, node.parent));
                node.parent = NONE;
                node.link = ParentLink::CycleBroken;
                let span = node.span;
                self.problems.push(problem_at(span, ProblemKind::Cycle));
            }
        }
    }

    /// Computes `children` and `starts` from the parents.
    fn link_children(&mut self) {
        let mut starts = vec![0u32; self.nodes.len() + 1];
        for node in &self.nodes {
            if node.parent != NONE {
                starts[node.parent as usize + 1] += 1;
            }
        }
        for idx in 1..starts.len() {
            starts[idx] += starts[idx - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; starts[starts.len() - 1] as usize];
        for (node_id, node) in self.nodes.iter().enumerate() {
            if node.parent != NONE {
                let slot = &mut next[node.parent as usize];
                children[*slot as usize] = node_id as NodeId;
                *slot += 1;
            }
        }
        self.starts = starts;
        self.children = children;
    }

    /// Returns all nodes, parents before children, siblings in file order.
    pub(crate) fn topological_order(&self) -> Vec<NodeId> {
        let mut order: Vec<NodeId> = self.roots().collect();
        let mut at = 0;
        while at < order.len() {
            let node_id = order[at];
            order.extend_from_slice(self.children(node_id));
            at += 1;
        }
        order
    }

    /// Computes the turn of each node. A command starts a turn only if the model answers it.
    fn mark_turns(&mut self) {
        let mut turns = vec![NONE; self.nodes.len()];
        let order = self.topological_order();
        let mut answered = vec![false; self.nodes.len()];
        for &node_id in &order {
            let node = &self.nodes[node_id as usize];
            let idx = node_id as usize;
            // An image without text starts a turn only if no prompt follows.
            let is_prompt = |&child: &NodeId| self.nodes[child as usize].role == EntryRole::Prompt;
            let is_lone_image =
                node.role == EntryRole::ImageOnly && !self.children(node_id).iter().any(is_prompt);
            if node.role.starts_turn() || is_lone_image {
                turns[idx] = node_id;
            } else if node.parent != NONE {
                turns[idx] = turns[node.parent as usize];
            }
            if node.role == EntryRole::Answer && turns[idx] != NONE {
                answered[turns[idx] as usize] = true;
            }
        }
        for &node_id in &order {
            let idx = node_id as usize;
            let turn = turns[idx];
            let needs_answer = |role| matches!(role, EntryRole::Command | EntryRole::Shell);
            if turn != NONE && !answered[turn as usize] && needs_answer(self.nodes[turn as usize].role) {
                // An unanswered command belongs to the turn before it.
                let parent = self.nodes[turn as usize].parent;
                turns[idx] = if parent == NONE { NONE } else { turns[parent as usize] };
            }
        }
        // Images belong to the prompt right below them.
        for idx in (0..self.nodes.len()).filter(|&idx| self.nodes[idx].role == EntryRole::ImageOnly) {
            let is_prompt = |child: &&NodeId| self.nodes[**child as usize].role == EntryRole::Prompt;
            if turns[idx] != idx as NodeId
                && let Some(&prompt) = self.children(idx as NodeId).iter().find(is_prompt)
            {
                turns[idx] = prompt;
            }
        }
        // A repeated prompt starts no turn: what follows it belongs to the turn of the first one.
        let is_start = |id: NodeId| turns[id as usize] == id;
        let repeated: HashMap<NodeId, NodeId> = self
            .originals
            .iter()
            .map(|(&copy, &original)| (copy, original))
            .filter(|&(copy, original)| is_start(copy) && is_start(original))
            .collect();
        if !repeated.is_empty() {
            turns.iter_mut().for_each(|turn| *turn = repeated.get(turn).copied().unwrap_or(*turn));
        }
        self.turns = turns;
    }

    /// Returns `true` if two nodes are lines of one response, that is, have the same message id.
    pub fn is_same_message(&self, a: NodeId, b: NodeId) -> bool {
        let message = self.node(a).message;
        message != NONE && message == self.node(b).message
    }

    /// Returns the number of distinct message ids of assistant entries, that is, the number of responses.
    pub fn message_count(&self) -> usize {
        self.message_ids.len()
    }

    /// Returns the index of the response that a node belongs to, below `message_count`.
    ///
    /// Returns `None` if the node is not an assistant entry or has no message id.
    pub fn message_of(&self, node_id: NodeId) -> Option<u32> {
        let message = self.node(node_id).message;
        (message != NONE).then_some(message)
    }

    /// Returns the message ids by response index, in order of first occurrence.
    pub(crate) fn message_ids(&self) -> &[Id] {
        &self.message_ids
    }

    /// Returns the number of lines with a uuid that occurred on an earlier line.
    pub fn repeated_line_count(&self) -> usize {
        self.duplicates.len()
    }

    /// Returns the uuids that occur on several lines.
    pub(crate) fn repeated_ids(&self) -> IdSet {
        self.duplicates.iter().map(|&(node_id, ..)| self.node(node_id).uuid).collect()
    }
}
