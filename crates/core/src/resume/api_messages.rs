//! From the loaded entries to messages: what the client makes up, what it unites, and in which order.

use super::client_graph::ClientGraph;
use super::filter::{FilteredChain, answers_call, sift};
use super::pair::pair;
use super::resume_index::{BlockSummary, ResumeIndex};
use super::rules::{ContinuePrompt, Filler, Rules, Unanswered};
use super::simulate::SkipReason;
use crate::entry::{EntryRole, Flags, Kind};
use crate::tree::NodeId;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user, or the client in the user's name.
    User,
    /// The model.
    Assistant,
}

/// Something of the client's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntheticBlock {
    /// An answer to what nobody answered.
    Filler,
    /// A prompt to a turn that was cut off.
    GoOn,
    /// What stands for a message that lost everything.
    Placeholder,
    /// What stands for a first message that lost everything.
    Orphaned,
    /// A result for a call that has none.
    Result,
}

impl SyntheticBlock {
    /// Returns its text; of a result, which each version words in its own way, what it is.
    pub fn text(self) -> &'static str {
        match self {
            SyntheticBlock::Filler => "No response requested.",
            SyntheticBlock::GoOn => "Continue from where you left off.",
            SyntheticBlock::Placeholder => "(no content)",
            SyntheticBlock::Orphaned => "[Orphaned tool result removed due to conversation resume]",
            SyntheticBlock::Result => "[tool result missing]",
        }
    }
}

/// Where a sent block comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrigin {
    /// A block of an entry, by its number within it.
    Block(NodeId, u16),
    /// The client made it up; a result names the call it answers.
    MadeUp(SyntheticBlock, Option<(NodeId, u16)>),
}

/// A block that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBlock {
    /// Who it is from.
    pub side: MessageRole,
    /// Which message it is part of, counted from 0.
    pub message: u32,
    /// Where it comes from.
    pub said: BlockOrigin,
    pub(super) piece: BlockSummary,
}

/// A message in the making.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) side: MessageRole,
    pub(super) blocks: Vec<(BlockOrigin, BlockSummary)>,
    /// The response it is a part of.
    pub(super) response: Option<u32>,
    /// Whether it was made of several lines.
    pub(super) united: bool,
}

impl Draft {
    pub(super) fn new(side: MessageRole, blocks: Vec<(BlockOrigin, BlockSummary)>) -> Draft {
        Draft { side, blocks, response: None, united: false }
    }
}

/// Writes what the client sends for a chain of loaded entries; also returns what is left out of it.
pub(super) fn send(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
    chain: &[NodeId],
) -> (Vec<SentBlock>, Vec<(NodeId, SkipReason)>) {
    let mut sifted = sift(links, facts, rules, chain);
    let drafts = Desk { links, facts, rules }.drafts(&mut sifted);
    (pair(drafts, rules), sifted.left_out)
}

struct Desk<'a> {
    links: &'a ClientGraph<'a>,
    facts: &'a ResumeIndex,
    rules: &'a Rules,
}

impl Desk<'_> {
    fn kind(&self, no: NodeId) -> Kind {
        self.links.tree.node(no).kind
    }

    fn is(&self, no: NodeId, flag: Flags) -> bool {
        self.links.tree.node(no).is(flag)
    }

    /// Writes one message per entry, lines of one response together, with what the client makes up.
    fn drafts(&self, sifted: &mut FilteredChain) -> Vec<Draft> {
        let (at, made_up) = self.made_up(sifted);
        let mut drafts: Vec<Draft> = Vec::with_capacity(sifted.entries.len() + 2);
        let mut before = Before::default();
        for (k, &no) in sifted.entries.iter().enumerate() {
            match self.kind(no) {
                Kind::User if self.facts.pieces(no).is_empty() => {
                    sifted.left_out.push((no, SkipReason::Empty))
                }
                Kind::User => {
                    drafts.push(Draft::new(MessageRole::User, self.blocks(no)));
                }
                Kind::Assistant if self.is(no, Flags::API_ERROR) && !self.rules.api_errors => {
                    sifted.left_out.push((no, SkipReason::ApiError));
                }
                Kind::Assistant => self.answer(&mut drafts, &mut before, no, &sifted.answered),
                Kind::System if self.rules.local && self.is_local_command(no) => {
                    let words = vec![(BlockOrigin::Block(no, 0), BlockSummary::Other)];
                    drafts.push(Draft::new(MessageRole::User, words));
                }
                _ => {}
            }
            if k == at {
                drafts.extend(made_up.iter().map(|what| self.invent(*what, no)));
            }
        }
        drafts
    }

    fn is_local_command(&self, no: NodeId) -> bool {
        matches!(self.links.tree.node(no).voice, EntryRole::Command | EntryRole::Output)
    }

    fn blocks(&self, no: NodeId) -> Vec<(BlockOrigin, BlockSummary)> {
        let pieces = self.facts.pieces(no).iter().enumerate();
        pieces
            .map(|(k, piece)| (BlockOrigin::Block(no, u16::try_from(k).unwrap_or(u16::MAX)), *piece))
            .collect()
    }

    /// Says what the client puts behind the last entry that speaks, and which that is.
    fn made_up(&self, sifted: &FilteredChain) -> (usize, Vec<SyntheticBlock>) {
        let entries = &sifted.entries;
        let speaker = entries.iter().rposition(|&no| self.links.speaks(no));
        let (Some(at), Some(&end)) = (speaker, entries.last()) else {
            return (0, Vec::new());
        };
        let speaker = entries[at];
        let says = |no: &&NodeId| !matches!(self.kind(**no), Kind::System | Kind::Progress);
        let attached = entries.iter().rev().find(says).is_some_and(|&no| self.kind(no) == Kind::Attachment);
        let recap = self.is(speaker, Flags::COMPACT_SUMMARY) && attached;
        if recap && !self.rules.recap_waits {
            return (at, Vec::new());
        }
        if self.goes_on(speaker, attached) {
            return (entries.len() - 1, vec![SyntheticBlock::GoOn, SyntheticBlock::Filler]);
        }
        let made_up = if sifted.open.is_some() {
            vec![SyntheticBlock::Result, SyntheticBlock::Filler]
        } else if self.fills(&entries[..=at], end) {
            vec![SyntheticBlock::Filler]
        } else {
            Vec::new()
        };
        (at, made_up)
    }

    fn goes_on(&self, speaker: NodeId, attachment: bool) -> bool {
        let result = answers_call(self.links, self.facts, speaker);
        match self.rules.go_on {
            ContinuePrompt::Never => false,
            ContinuePrompt::Result => result,
            ContinuePrompt::ResultOrAttachment => result || attachment,
            ContinuePrompt::ResultOrAttachmentToPrompt => {
                result || attachment && self.kind(speaker) == Kind::User
            }
        }
    }

    /// Whether what was said last waits for an answer; `entries` end with the last that speaks.
    fn fills(&self, entries: &[NodeId], end: NodeId) -> bool {
        let last = match self.rules.filler {
            Filler::Entry => Some(end),
            _ => entries.last().copied(),
        };
        let from_user = last.is_some_and(|no| self.kind(no) == Kind::User);
        let said = entries.iter().rev().filter(|&&no| self.links.speaks(no));
        let mut local = said.take_while(|&&no| self.facts.is_local(no));
        let hushed =
            self.rules.filler == Filler::SpeakerNotLocal && local.any(|&no| self.is(no, Flags::META));
        from_user && !hushed
    }

    fn invent(&self, what: SyntheticBlock, behind: NodeId) -> Draft {
        let (side, blocks) = match what {
            SyntheticBlock::Filler => {
                (MessageRole::Assistant, vec![(BlockOrigin::MadeUp(what, None), BlockSummary::Other)])
            }
            SyntheticBlock::Result => (
                MessageRole::User,
                self.blocks(behind).into_iter().filter_map(|block| result_for(&block)).collect(),
            ),
            _ => (MessageRole::User, vec![(BlockOrigin::MadeUp(what, None), BlockSummary::Other)]),
        };
        Draft::new(side, blocks)
    }

    fn answer(&self, drafts: &mut Vec<Draft>, before: &mut Before, no: NodeId, answered: &[bool]) {
        let response = self.links.tree.message_of(no);
        let mut blocks = self.blocks(no);
        if self.rules.unanswered == Unanswered::LeaveOutCall {
            blocks
                .retain(|(_, piece)| !matches!(piece, BlockSummary::Call(call) if !answered[*call as usize]));
        }
        let is_mate = |draft: &Draft| {
            draft.side == MessageRole::Assistant && response.is_some() && draft.response == response
        };
        match before.find(drafts).map(|k| &mut drafts[k]) {
            Some(draft) if self.rules.unite && is_mate(draft) => {
                draft.blocks.append(&mut blocks);
                draft.united = true;
            }
            _ => drafts.push(Draft { response, ..Draft::new(MessageRole::Assistant, blocks) }),
        }
    }
}

/// The last answer among the drafts, and whether the user answered its calls since.
#[derive(Default)]
struct Before {
    at: Option<usize>,
    answered: bool,
    seen: usize,
}

impl Before {
    /// Finds the answer that a further line of its response joins: what the user says between hides it, unless results
    /// are part of it.
    fn find(&mut self, drafts: &[Draft]) -> Option<usize> {
        for (k, draft) in drafts.iter().enumerate().skip(self.seen) {
            match draft.side {
                MessageRole::Assistant => (self.at, self.answered) = (Some(k), false),
                MessageRole::User => {
                    self.answered |=
                        draft.blocks.iter().any(|(_, piece)| matches!(piece, BlockSummary::Result(_)));
                }
            }
        }
        self.seen = drafts.len();
        self.at.filter(|&at| at + 1 == drafts.len() || self.answered)
    }
}

/// Makes up the result of a call.
pub(super) fn result_for(block: &(BlockOrigin, BlockSummary)) -> Option<(BlockOrigin, BlockSummary)> {
    match block {
        (BlockOrigin::Block(no, k), BlockSummary::Call(call)) => {
            Some((BlockOrigin::MadeUp(SyntheticBlock::Result, Some((*no, *k))), BlockSummary::Result(*call)))
        }
        _ => None,
    }
}
