//! Builds the tree while entries come in, in one pass and a short second one.

use super::compact::PreservedEntries;
use super::node::{LineSpan, NONE, Node, NodeId, ParentLink};
use crate::entry::{Entry, EntryRole, Kind};
use crate::id::{Id, IdMap, IdSet};
use crate::problem::{DuplicateUuid, Problem, ProblemKind};

/// Takes entries in file order.
#[derive(Debug, Clone, Default)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    latest: IdMap<NodeId>,
    messages: IdMap<u32>,
    message_ids: Vec<Id>,
    /// Links to uuids that had not been met yet.
    pending: Vec<(NodeId, Id)>,
    logical: Vec<(NodeId, Id)>,
    kept: Vec<(NodeId, PreservedEntries)>,
    repeats: Vec<(NodeId, NodeId, DuplicateUuid)>,
    /// Hashes of the bytes by node, kept only while repeated uuids are to be judged by content.
    hashes: Vec<u64>,
    hashing: bool,
}

/// The entries of one file that have a uuid, linked.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Children by parent: those of node k are `children[starts[k]..starts[k + 1]]`, in file order.
    children: Vec<NodeId>,
    starts: Vec<u32>,
    by_id: IdMap<NodeId>,
    logical: IdMap<NodeId>,
    /// By boundary: what it says that was kept.
    pub(crate) boundaries: Vec<(NodeId, PreservedEntries)>,
    /// Links that were cut because they close a cycle, from child to parent.
    pub(crate) cuts: Vec<(NodeId, NodeId)>,
    /// The turn each node belongs to: the node that starts it.
    turns: Vec<u32>,
    /// Lines that repeat an earlier line's uuid.
    pub(crate) repeats: Vec<(NodeId, NodeId, DuplicateUuid)>,
    /// What is odd about the links.
    pub problems: Vec<Problem>,
    message_ids: Vec<Id>,
    side_file: bool,
}

impl TreeBuilder {
    /// Makes a weaver for a file of so many bytes.
    pub fn with_capacity_for(bytes: u64) -> TreeBuilder {
        // Lines of real files have some two and a half thousand bytes.
        let lines = usize::try_from(bytes / 2500).unwrap_or(0).min(1 << 16);
        let mut weaver = TreeBuilder::default();
        weaver.nodes.reserve(lines);
        weaver.latest.reserve(lines);
        weaver
    }

    /// Makes a weaver that compares the bytes of lines with one uuid.
    pub fn with_content_hashes() -> TreeBuilder {
        TreeBuilder { hashing: true, ..TreeBuilder::default() }
    }

    /// Takes the next entry; returns who speaks in it.
    pub fn add(&mut self, entry: &Entry<'_>, place: LineSpan) -> EntryRole {
        let voice = entry.voice();
        if let Some(uuid) = entry.uuid {
            self.node(entry, uuid.id(), voice, place);
        }
        voice
    }

    fn node(&mut self, entry: &Entry<'_>, id: Id, voice: EntryRole, place: LineSpan) {
        let no = self.nodes.len() as NodeId;
        let mut node = Node {
            id,
            place,
            time: entry.time().map_or(i64::MIN, |moment| moment.0),
            parent: NONE,
            message: NONE,
            kind: entry.kind,
            voice,
            link: ParentLink::Root,
            flags: entry.flags,
        };
        if let Some(parent) = entry.parent {
            let parent = parent.id();
            match self.latest.get(&parent) {
                _ if parent == id => node.link = ParentLink::Cut,
                Some(&found) => {
                    node.parent = found;
                    node.link = ParentLink::Child;
                }
                None => {
                    node.link = ParentLink::Missing;
                    self.pending.push((no, parent));
                }
            }
        }
        if let Some(parent) = entry.logical_parent {
            self.logical.push((no, parent.id()));
        }
        self.kept.extend(entry.compact.and_then(PreservedEntries::read).map(|kept| (no, kept)));
        if entry.kind == Kind::Assistant
            && let Some(message) = entry.message.as_ref().and_then(|message| message.id)
        {
            let next = self.messages.len() as u32;
            let message = message.id();
            node.message = *self.messages.entry(message).or_insert(next);
            if node.message == next {
                self.message_ids.push(message);
            }
        }
        if self.hashing {
            self.hashes.push(xxhash_rust::xxh3::xxh3_64(entry.raw));
        }
        if let Some(first) = self.latest.insert(id, no) {
            let same = self.hashing && self.hashes[first as usize] == self.hashes[no as usize]
                || !self.hashing && self.nodes[first as usize].place.len == place.len;
            self.repeats.push((no, first, if same { DuplicateUuid::Same } else { DuplicateUuid::Other }));
        }
        self.nodes.push(node);
    }

    /// Links what is left and returns the tree.
    pub fn finish(self) -> Tree {
        let mut tree = Tree {
            nodes: self.nodes,
            by_id: self.latest,
            repeats: self.repeats,
            message_ids: self.message_ids,
            ..Tree::default()
        };
        for &(no, _, how) in &tree.repeats {
            let place = tree.nodes[no as usize].place;
            tree.problems.push(problem(place, ProblemKind::RepeatedUuid(how)));
        }
        for (no, parent) in self.pending {
            let node = &mut tree.nodes[no as usize];
            match tree.by_id.get(&parent) {
                Some(&found) => {
                    node.parent = found;
                    node.link = ParentLink::Child;
                }
                None => tree.problems.push(problem(node.place, ProblemKind::MissingParent)),
            }
        }
        for (no, parent) in self.logical {
            match tree.by_id.get(&parent) {
                Some(&found) => {
                    tree.logical.insert(tree.nodes[no as usize].id, found);
                }
                None => {
                    let place = tree.nodes[no as usize].place;
                    tree.problems.push(problem(place, ProblemKind::MissingLogicalParent));
                }
            }
        }
        tree.side_file = tree.nodes.iter().all(Node::is_sidechain);
        tree.cut_cycles();
        tree.boundaries = self.kept;
        tree.link_children();
        tree.mark_turns();
        tree.problems.sort_by_key(|problem| (problem.line, problem.offset));
        tree
    }
}

fn problem(place: LineSpan, kind: ProblemKind) -> Problem {
    Problem { line: place.line, offset: place.offset, kind }
}

impl Tree {
    /// Returns all nodes, in file order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns a node.
    pub fn node(&self, no: NodeId) -> &Node {
        &self.nodes[no as usize]
    }

    /// Returns the children of a node, in file order.
    pub fn children(&self, no: NodeId) -> &[NodeId] {
        let k = no as usize;
        &self.children[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// Finds the node with a uuid: the last, where it repeats.
    pub fn find(&self, id: Id) -> Option<NodeId> {
        self.by_id.get(&id).copied()
    }

    /// Returns what a compaction boundary followed, if it is in the file.
    pub fn logical_parent(&self, no: NodeId) -> Option<NodeId> {
        self.logical.get(&self.node(no).id).copied()
    }

    /// Returns the node that starts the turn of this node.
    pub fn turn_of(&self, no: NodeId) -> Option<NodeId> {
        let turn = self.turns[no as usize];
        (turn != NONE).then_some(turn)
    }

    /// Returns the nodes that start turns, in file order; in the file of a session, without its subagents' lines.
    pub fn turns(&self) -> impl Iterator<Item = NodeId> + '_ {
        let starts = |no: NodeId| self.turns[no as usize] == no && self.is_main_chain(no);
        (0..self.nodes.len() as NodeId).filter(move |&no| starts(no))
    }

    /// Whether all lines are a subagent's: then none is beside the conversation.
    pub fn is_sidechain_file(&self) -> bool {
        self.side_file
    }

    /// Whether a node is part of the conversation of this file, and not of a subagent inside it.
    pub fn is_main_chain(&self, no: NodeId) -> bool {
        self.side_file || !self.node(no).is_sidechain()
    }

    /// Returns the nodes without a parent in the tree.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as NodeId).filter(|&no| self.node(no).parent == NONE)
    }

    fn cut_cycles(&mut self) {
        for k in 0..self.nodes.len() {
            if self.nodes[k].link == ParentLink::Cut {
                self.problems.push(problem(self.nodes[k].place, ProblemKind::SelfParent));
                self.cuts.push((k as NodeId, k as NodeId));
            }
        }
        // A link to an earlier line cannot close a cycle alone: look only where one points forward.
        if !self.nodes.iter().enumerate().any(|(k, node)| node.parent != NONE && node.parent as usize >= k) {
            return;
        }
        // 0: not seen; otherwise the walk that saw it. Meeting one's own walk again is a cycle.
        let mut seen = vec![0u32; self.nodes.len()];
        for start in 0..self.nodes.len() as u32 {
            let walk = start + 1;
            let mut at = start;
            while at != NONE && seen[at as usize] == 0 {
                seen[at as usize] = walk;
                at = self.nodes[at as usize].parent;
            }
            if at != NONE && seen[at as usize] == walk {
                // Cut at the earliest line of the cycle.
                let mut first = at;
                let mut around = self.nodes[at as usize].parent;
                while around != at {
                    first = first.min(around);
                    around = self.nodes[around as usize].parent;
                }
                let node = &mut self.nodes[first as usize];
                self.cuts.push((first, node.parent));
                node.parent = NONE;
                node.link = ParentLink::Cut;
                let place = node.place;
                self.problems.push(problem(place, ProblemKind::Cycle));
            }
        }
    }

    fn link_children(&mut self) {
        let mut starts = vec![0u32; self.nodes.len() + 1];
        for node in &self.nodes {
            if node.parent != NONE {
                starts[node.parent as usize + 1] += 1;
            }
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; starts[starts.len() - 1] as usize];
        for (no, node) in self.nodes.iter().enumerate() {
            if node.parent != NONE {
                let slot = &mut next[node.parent as usize];
                children[*slot as usize] = no as NodeId;
                *slot += 1;
            }
        }
        self.starts = starts;
        self.children = children;
    }

    /// Returns all nodes so that parents come before children.
    pub(crate) fn topological_order(&self) -> Vec<NodeId> {
        let mut order: Vec<NodeId> = self.roots().collect();
        let mut at = 0;
        while at < order.len() {
            let no = order[at];
            order.extend_from_slice(self.children(no));
            at += 1;
        }
        order
    }

    /// Finds the turn of each node. A command is a turn only if the model answers it.
    fn mark_turns(&mut self) {
        let mut turns = vec![NONE; self.nodes.len()];
        let order = self.topological_order();
        let mut answered = vec![false; self.nodes.len()];
        for &no in &order {
            let node = &self.nodes[no as usize];
            let k = no as usize;
            // Pictures alone start a turn only where no words follow.
            let speaks = |&child: &NodeId| self.nodes[child as usize].voice == EntryRole::Prompt;
            let shows = node.voice == EntryRole::ImageOnly && !self.children(no).iter().any(speaks);
            if node.voice.starts_turn() || shows {
                turns[k] = no;
            } else if node.parent != NONE {
                turns[k] = turns[node.parent as usize];
            }
            if node.voice == EntryRole::Answer && turns[k] != NONE {
                answered[turns[k] as usize] = true;
            }
        }
        for &no in &order {
            let k = no as usize;
            let turn = turns[k];
            let needs_answer = |voice| matches!(voice, EntryRole::Command | EntryRole::Shell);
            if turn != NONE && !answered[turn as usize] && needs_answer(self.nodes[turn as usize].voice) {
                // An unanswered command belongs to the turn before it.
                let parent = self.nodes[turn as usize].parent;
                turns[k] = if parent == NONE { NONE } else { turns[parent as usize] };
            }
        }
        // Pictures belong to the words right below them.
        for k in (0..self.nodes.len()).filter(|&k| self.nodes[k].voice == EntryRole::ImageOnly) {
            let words = |child: &&NodeId| self.nodes[**child as usize].voice == EntryRole::Prompt;
            if turns[k] != k as NodeId
                && let Some(&prompt) = self.children(k as NodeId).iter().find(words)
            {
                turns[k] = prompt;
            }
        }
        self.turns = turns;
    }

    /// Whether two nodes are parts of one response.
    pub fn same_message(&self, a: NodeId, b: NodeId) -> bool {
        let message = self.node(a).message;
        message != NONE && message == self.node(b).message
    }

    /// Returns how many responses there are, by message id.
    pub fn messages(&self) -> usize {
        self.message_ids.len()
    }

    /// Returns the number of the message a node belongs to.
    pub fn message_of(&self, no: NodeId) -> Option<u32> {
        let message = self.node(no).message;
        (message != NONE).then_some(message)
    }

    /// Returns the ids of the messages, by their number.
    pub(crate) fn message_ids(&self) -> &[Id] {
        &self.message_ids
    }

    /// Returns how many lines repeat a uuid.
    pub fn repeated_lines(&self) -> usize {
        self.repeats.len()
    }

    /// Returns the uuids that stand on several lines.
    pub(crate) fn repeated_ids(&self) -> IdSet {
        self.repeats.iter().map(|&(no, ..)| self.node(no).id).collect()
    }
}
