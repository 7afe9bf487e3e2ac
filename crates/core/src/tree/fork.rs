//! Forks: where a conversation really went two ways, and where the client only writes that way.
//!
//! Of 18,071 places with several children in real files 76 are real. The others are progress, attachments and hooks
//! beside a tool result, results of parallel calls, and local commands.

use std::collections::HashSet;

use super::builder::Tree;
use super::node::{NONE, NodeId, ParentLink};
use crate::entry::EntryRole;
use crate::problem::DuplicateUuid;

/// Why a node has several children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ForkKind {
    /// A prompt was asked again in other words.
    Edit,
    /// The conversation was taken back by more than one turn.
    Rewind,
    /// The same prompt was answered again.
    Retry,
    /// The user stopped the model and said something else.
    Interrupt,
    /// Two processes went on from the same entry.
    Parallel,
    /// The file holds several beginnings.
    Root,
    /// Only recorded so: calls of one response and their results.
    ParallelTools,
    /// Only recorded so: progress lines.
    Progress,
    /// Only recorded so: attachments and hooks.
    Attachment,
    /// Only recorded so: system lines, local commands, repeated lines.
    Record,
}

impl ForkKind {
    /// Whether the conversation really went several ways.
    pub fn is_real(self) -> bool {
        self <= ForkKind::Root
    }

    /// Returns a name for output.
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

/// A place with several children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The parent; `None` for the beginnings of the file.
    pub at: Option<NodeId>,
    /// Why.
    pub kind: ForkKind,
    /// The first node of each way, in file order; of a recording artifact, its children.
    pub branches: Vec<NodeId>,
}

/// What the part of the tree below a node holds.
#[derive(Debug, Clone, Copy, Default)]
struct Below {
    prompts: u32,
    answers: u32,
    last: NodeId,
    /// The first node at or below it that is no mere link.
    head: NodeId,
}

impl Tree {
    /// Returns every fork of the main conversation, in file order, those of the beginnings first.
    pub fn forks(&self) -> Vec<Fork> {
        let crowded = |no: &NodeId| self.children(*no).len() > 1;
        let parents: Vec<NodeId> = (0..self.nodes().len() as NodeId).filter(crowded).collect();
        let beginnings = self.beginnings();
        if parents.is_empty() && beginnings.len() < 2 {
            return Vec::new();
        }
        let below = self.below();
        let copied =
            self.repeats.iter().filter(|(.., how)| *how == DuplicateUuid::Same).map(|&(_, first, _)| first);
        let copied: HashSet<NodeId> = copied.collect();
        let mut forks = Vec::new();
        let begun: Vec<NodeId> =
            beginnings.into_iter().filter(|&no| below[no as usize].prompts > 0).collect();
        if begun.len() > 1 {
            forks.push(Fork { at: None, kind: ForkKind::Root, branches: begun });
        }
        for at in parents {
            if self.is_main_chain(at) {
                forks.extend(self.fork(at, &below, &copied));
            }
        }
        forks
    }

    /// Returns how many real ways the conversation has: one more than it forks.
    pub fn branches(&self) -> usize {
        if self.nodes().is_empty() {
            return 0;
        }
        let real = self.forks();
        1 + real.iter().filter(|fork| fork.kind.is_real()).map(|fork| fork.branches.len() - 1).sum::<usize>()
    }

    /// Roots of the main conversation that begin it: not what continues after a compaction, not islands.
    fn beginnings(&self) -> Vec<NodeId> {
        let side_file = self.is_sidechain_file();
        let recap = self.first_recap();
        let begins = |&no: &NodeId| {
            let node = self.node(no);
            node.link == ParentLink::Root
                && (side_file || !node.is_sidechain())
                && !matches!(node.voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
                && !self.goes_on_from_compaction(no, recap)
        };
        self.roots().filter(begins).collect()
    }

    /// Returns the first summary of what was compacted.
    pub(crate) fn first_recap(&self) -> Option<NodeId> {
        self.nodes().iter().position(|node| node.voice == EntryRole::CompactSummary).map(|no| no as NodeId)
    }

    /// In 1.x the lines of `/compact` itself are a root of their own, with no prompt but what follows.
    pub(crate) fn goes_on_from_compaction(&self, no: NodeId, recap: Option<NodeId>) -> bool {
        self.node(no).voice != EntryRole::Prompt && recap.is_some_and(|recap| recap < no)
    }

    fn below(&self) -> Vec<Below> {
        let mut below: Vec<Below> = self
            .nodes()
            .iter()
            .enumerate()
            .map(|(no, node)| Below {
                prompts: u32::from(matches!(node.voice, EntryRole::Prompt | EntryRole::ImageOnly)),
                answers: u32::from(node.voice == EntryRole::Answer),
                last: no as NodeId,
                head: no as NodeId,
            })
            .collect();
        for &no in self.topological_order().iter().rev() {
            if let (EntryRole::Structural, Some(&child)) = (self.node(no).voice, self.children(no).first()) {
                below[no as usize].head = below[child as usize].head;
            }
            let part = below[no as usize];
            let parent = self.node(no).parent;
            if parent != NONE {
                let sum = &mut below[parent as usize];
                sum.prompts += part.prompts;
                sum.answers += part.answers;
                sum.last = sum.last.max(part.last);
            }
        }
        below
    }

    fn fork(&self, at: NodeId, below: &[Below], copied: &HashSet<NodeId>) -> Option<Fork> {
        let children = self.children(at);
        let mut ways: Vec<NodeId> = Vec::new();
        let mut tools = false;
        let mut messages = HashSet::new();
        for &child in children {
            let part = below[child as usize];
            let head = part.head;
            let repeated = copied.contains(&child);
            if part.prompts + part.answers == 0 && self.node(head).voice != EntryRole::Results || repeated {
                continue;
            }
            // Results and further lines of the same response are one way, whichever of them goes on.
            if self.is_of_call(head, at) {
                if !tools {
                    tools = true;
                    ways.push(child);
                }
                continue;
            }
            if self.message_of(head).is_none_or(|message| messages.insert(message)) {
                ways.push(child);
            }
        }
        if ways.len() > 1 {
            return Some(Fork { at: Some(at), kind: self.cause(&ways, below), branches: ways });
        }
        let kind = self.artifact(children);
        Some(Fork { at: Some(at), kind, branches: children.to_vec() })
    }

    /// Whether a node below a call is its result or a further line of the same response.
    pub(crate) fn is_of_call(&self, head: NodeId, call: NodeId) -> bool {
        self.node(head).voice == EntryRole::Results || self.same_message(head, call)
    }

    /// Returns the first node at or below each that is no mere link.
    pub(crate) fn heads(&self) -> Vec<NodeId> {
        self.below().iter().map(|part| part.head).collect()
    }

    fn cause(&self, ways: &[NodeId], below: &[Below]) -> ForkKind {
        let voices: Vec<EntryRole> =
            ways.iter().map(|&way| self.node(below[way as usize].head).voice).collect();
        if voices
            .iter()
            .all(|voice| matches!(voice, EntryRole::Answer | EntryRole::ApiError | EntryRole::SyntheticReply))
        {
            return ForkKind::Retry;
        }
        // The older way still grew after the younger one began: nobody left it.
        let pairs = || ways.iter().zip(&ways[1..]);
        if pairs().any(|(&old, &new)| {
            below[old as usize].last > new && self.node(new).voice != EntryRole::Structural
        }) {
            return ForkKind::Parallel;
        }
        if voices.iter().any(|voice| matches!(voice, EntryRole::Answer | EntryRole::Results)) {
            return ForkKind::Interrupt;
        }
        let older = &ways[..ways.len() - 1];
        if older.iter().any(|&way| below[way as usize].prompts > 1) {
            ForkKind::Rewind
        } else if older.iter().any(|&way| below[way as usize].answers > 0) {
            ForkKind::Edit
        } else {
            ForkKind::Interrupt
        }
    }

    fn artifact(&self, children: &[NodeId]) -> ForkKind {
        use crate::entry::Kind;
        let has = |kind: Kind| children.iter().any(|&child| self.node(child).kind == kind);
        if has(Kind::Progress) {
            ForkKind::Progress
        } else if has(Kind::Attachment) {
            ForkKind::Attachment
        } else if has(Kind::System) {
            ForkKind::Record
        } else if children.iter().any(|&child| self.node(child).voice == EntryRole::Results) {
            ForkKind::ParallelTools
        } else {
            ForkKind::Record
        }
    }
}
