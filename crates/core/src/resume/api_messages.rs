//! Builds the messages that the client sends from the loaded entries: merges lines and adds synthetic blocks.

use super::client_graph::ClientGraph;
use super::filter::{ChainEnd, FilteredChain, filter_chain, has_results};
use super::pair::pair_messages;
use super::resume_index::{BlockSummary, ResumeIndex};
use super::rules::{ContinuePrompt, FillerRule, Rules, UnansweredRule};
use super::simulate::SkipReason;
use crate::entry::{EntryRole, Flags, Kind};
use crate::tree::NodeId;

/// The role of a message in a request to the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user, or the client on behalf of the user.
    User,
    /// The model.
    Assistant,
}

/// A block that no line of the file contains and that the client adds to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntheticBlock {
    /// An assistant message after an unanswered prompt.
    Filler,
    /// A prompt to continue an interrupted turn.
    Continue,
    /// The text of a message after all of its own blocks were dropped.
    Placeholder,
    /// The text of a first user message after all of its own blocks were dropped.
    Orphaned,
    /// The text of an answer whose calls were all dropped, because earlier answers contain them.
    Interrupted,
    /// A tool result for a call that has none in the file, or none in the next message.
    Result,
}

impl SyntheticBlock {
    /// Returns the text that the client sends. For a result it is a description: the sent text differs between versions.
    pub fn text(self) -> &'static str {
        match self {
            SyntheticBlock::Filler => "No response requested.",
            SyntheticBlock::Continue => "Continue from where you left off.",
            SyntheticBlock::Placeholder => "(no content)",
            SyntheticBlock::Orphaned => "[Orphaned tool result removed due to conversation resume]",
            SyntheticBlock::Interrupted => "[Tool use interrupted]",
            SyntheticBlock::Result => "[tool result missing]",
        }
    }
}

/// The place that a sent block was copied from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrigin {
    /// A block of an entry: the entry, and the index of the block in its content. A plain string has index 0.
    Block(NodeId, u16),
    /// A synthetic block. For a synthetic result, also the entry and block index of the call that it answers.
    Synthetic(SyntheticBlock, Option<(NodeId, u16)>),
}

/// A block of a message that the client sends to the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBlock {
    /// The role of the message that contains the block.
    pub role: MessageRole,
    /// The index of the message that contains the block, from 0.
    pub message: u32,
    /// The entry that the block was copied from, or the reason why the client added it.
    pub origin: BlockOrigin,
    pub(super) summary: BlockSummary,
}

/// A message that is being built.
#[derive(Debug)]
pub(super) struct MessageDraft {
    pub(super) role: MessageRole,
    pub(super) blocks: Vec<(BlockOrigin, BlockSummary)>,
    /// The response that the message is part of, as an index of `Tree::message_of`. `None` for user messages and for
    /// answers without a message id.
    pub(super) response: Option<u32>,
    /// Whether the message was merged from several lines.
    pub(super) merged: bool,
}

impl MessageDraft {
    pub(super) fn new(role: MessageRole, blocks: Vec<(BlockOrigin, BlockSummary)>) -> MessageDraft {
        MessageDraft { role, blocks, response: None, merged: false }
    }
}

/// Builds the messages that the client sends for a chain of loaded entries. `rewound` is the entry that the user rewound to.
///
/// Returns their blocks in order, and the entries of the chain that are not sent, with the reasons.
pub(super) fn build_messages(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    chain: &[NodeId],
    rewound: Option<NodeId>,
) -> (Vec<SentBlock>, Vec<(NodeId, SkipReason)>) {
    let mut filtered = filter_chain(graph, index, rules, chain, rewound);
    let drafts = MessageBuilder { graph, index, rules }.build_drafts(&mut filtered);
    (pair_messages(drafts, rules), filtered.skipped)
}

struct MessageBuilder<'a> {
    graph: &'a ClientGraph<'a>,
    index: &'a ResumeIndex,
    rules: &'a Rules,
}

impl MessageBuilder<'_> {
    fn kind(&self, id: NodeId) -> Kind {
        self.graph.tree.node(id).kind
    }

    fn has_flag(&self, id: NodeId, flag: Flags) -> bool {
        self.graph.tree.node(id).has_flag(flag)
    }

    /// Creates one message per entry or response, and adds the synthetic blocks. Appends dropped entries to
    /// `filtered.skipped`.
    fn build_drafts(&self, filtered: &mut FilteredChain) -> Vec<MessageDraft> {
        let (insertion_idx, synthetic) = self.choose_synthetic_blocks(filtered);
        let mut drafts: Vec<MessageDraft> = Vec::with_capacity(filtered.entries.len() + 2);
        let mut last_answer = LastAnswer::default();
        for (entry_idx, &id) in filtered.entries.iter().enumerate() {
            match self.kind(id) {
                Kind::User if self.index.blocks(id).is_empty() => {
                    filtered.skipped.push((id, SkipReason::Empty));
                }
                Kind::User => {
                    drafts.push(MessageDraft::new(MessageRole::User, self.list_entry_blocks(id)));
                }
                Kind::Assistant if self.has_flag(id, Flags::API_ERROR) && !self.rules.api_errors => {
                    filtered.skipped.push((id, SkipReason::ApiError));
                }
                Kind::Assistant => self.add_answer(&mut drafts, &mut last_answer, id, &filtered.answered),
                Kind::System if self.rules.local_commands && self.is_local_command(id) => {
                    let blocks = vec![(BlockOrigin::Block(id, 0), BlockSummary::Other)];
                    drafts.push(MessageDraft::new(MessageRole::User, blocks));
                }
                _ => {}
            }
            if entry_idx == insertion_idx {
                drafts.extend(synthetic.iter().map(|block| self.build_synthetic(*block, filtered.open_turn)));
            }
        }
        drafts
    }

    fn is_local_command(&self, id: NodeId) -> bool {
        matches!(self.graph.tree.node(id).role, EntryRole::Command | EntryRole::Output)
    }

    fn list_entry_blocks(&self, id: NodeId) -> Vec<(BlockOrigin, BlockSummary)> {
        let blocks = self.index.blocks(id).iter().enumerate();
        blocks
            .map(|(idx, block)| (BlockOrigin::Block(id, u16::try_from(idx).unwrap_or(u16::MAX)), *block))
            .collect()
    }

    /// Returns the index in `filtered.entries` after which the client adds blocks, and these blocks in order.
    ///
    /// The list is empty if the client adds none.
    fn choose_synthetic_blocks(&self, filtered: &FilteredChain) -> (usize, Vec<SyntheticBlock>) {
        let entries = &filtered.entries;
        let Some(&last_entry) = entries.last() else {
            return (0, Vec::new());
        };
        let end = filtered.find_end(self.graph, self.index, self.rules, entries);
        if self.needs_continue_prompt(filtered, end) {
            return (entries.len() - 1, vec![SyntheticBlock::Continue, SyntheticBlock::Filler]);
        }
        let Some(end) = end else {
            return (0, Vec::new());
        };
        if filtered.open_turn.is_some() {
            return (entries.len() - 1, vec![SyntheticBlock::Result, SyntheticBlock::Filler]);
        }
        // A turn that was not interrupted waits for a prompt if an attachment is last.
        let is_summary = self.has_flag(entries[end.message], Flags::COMPACT_SUMMARY);
        let is_complete =
            filtered.is_rewound && !self.rules.rewind_waits || is_summary && !self.rules.summary_waits;
        if end.has_attachment() && is_complete || !self.needs_filler(&entries[..=end.message], last_entry) {
            return (0, Vec::new());
        }
        (end.content, vec![SyntheticBlock::Filler])
    }

    /// Returns `true` if the client adds "Continue from where you left off." after a chain with this end.
    fn needs_continue_prompt(&self, filtered: &FilteredChain, end: Option<ChainEnd>) -> bool {
        let message = end.map(|end| filtered.entries[end.message]);
        let is_result = message.is_some_and(|id| has_results(self.graph, self.index, id));
        let has_kind = |id: NodeId, kind| self.kind(id) == kind;
        match self.rules.continue_prompt {
            ContinuePrompt::Never => false,
            _ if filtered.is_rewound => false,
            ContinuePrompt::ResultOrAttachment => {
                is_result
                    || end.map_or_else(
                        || filtered.entries.iter().any(|&id| has_kind(id, Kind::Attachment)),
                        ChainEnd::has_attachment,
                    )
            }
            ContinuePrompt::ResultOrAttachmentToPrompt => {
                let is_summary = |id| self.has_flag(id, Flags::COMPACT_SUMMARY) && !self.rules.summary_waits;
                is_result
                    || end.is_some_and(ChainEnd::has_attachment)
                        && message.is_some_and(|id| has_kind(id, Kind::User) && !is_summary(id))
            }
        }
    }

    /// Returns `true` if the client answers the last message with a filler. `entries` ends with the last message.
    fn needs_filler(&self, entries: &[NodeId], last_entry: NodeId) -> bool {
        let last = match self.rules.filler {
            FillerRule::Entry => Some(last_entry),
            _ => entries.last().copied(),
        };
        let is_from_user = last.is_some_and(|id| self.kind(id) == Kind::User);
        let messages = entries.iter().rev().filter(|&&id| self.graph.is_message(id));
        let mut local_commands = messages.take_while(|&&id| self.index.is_local_command(id));
        let is_suppressed = self.rules.filler == FillerRule::MessageNotLocal
            && local_commands.any(|&id| self.has_flag(id, Flags::META));
        is_from_user && !is_suppressed
    }

    /// Creates the message of a synthetic block. A synthetic result answers all calls of `open_turn`.
    fn build_synthetic(&self, block: SyntheticBlock, open_turn: Option<NodeId>) -> MessageDraft {
        let (role, blocks) = match block {
            SyntheticBlock::Filler => {
                (MessageRole::Assistant, vec![(BlockOrigin::Synthetic(block, None), BlockSummary::Other)])
            }
            SyntheticBlock::Result => (
                MessageRole::User,
                open_turn
                    .iter()
                    .flat_map(|&id| self.list_entry_blocks(id))
                    .filter_map(|block| synthesize_result(&block))
                    .collect(),
            ),
            _ => (MessageRole::User, vec![(BlockOrigin::Synthetic(block, None), BlockSummary::Other)]),
        };
        MessageDraft::new(role, blocks)
    }

    /// Adds the blocks of an assistant line, as a new message or merged into the message of the same response.
    ///
    /// `answered` contains for each call whether it has a result.
    fn add_answer(
        &self,
        drafts: &mut Vec<MessageDraft>,
        last_answer: &mut LastAnswer,
        id: NodeId,
        answered: &[bool],
    ) {
        let response = self.graph.tree.message_of(id);
        let mut blocks = self.list_entry_blocks(id);
        if self.rules.unanswered == UnansweredRule::DropCall {
            blocks
                .retain(|(_, block)| !matches!(block, BlockSummary::Call(call) if !answered[*call as usize]));
        }
        let is_same_response = |draft: &MessageDraft| {
            draft.role == MessageRole::Assistant && response.is_some() && draft.response == response
        };
        match last_answer.find_mergeable(drafts).map(|idx| &mut drafts[idx]) {
            Some(draft) if self.rules.merge_lines && is_same_response(draft) => {
                draft.blocks.append(&mut blocks);
                draft.merged = true;
            }
            _ => drafts.push(MessageDraft { response, ..MessageDraft::new(MessageRole::Assistant, blocks) }),
        }
    }
}

/// The last answer among the drafts, and whether later user messages contain results.
#[derive(Default)]
struct LastAnswer {
    idx: Option<usize>,
    has_results: bool,
    /// The number of drafts processed so far.
    seen_drafts: usize,
}

impl LastAnswer {
    /// Processes the new drafts and returns the index of the answer that a further line of its response is merged into.
    ///
    /// Returns `None` if there is no answer yet, or if only user messages without results follow it.
    fn find_mergeable(&mut self, drafts: &[MessageDraft]) -> Option<usize> {
        for (draft_idx, draft) in drafts.iter().enumerate().skip(self.seen_drafts) {
            match draft.role {
                MessageRole::Assistant => (self.idx, self.has_results) = (Some(draft_idx), false),
                MessageRole::User => {
                    self.has_results |=
                        draft.blocks.iter().any(|(_, block)| matches!(block, BlockSummary::Result(_)));
                }
            }
        }
        self.seen_drafts = drafts.len();
        self.idx.filter(|&idx| idx + 1 == drafts.len() || self.has_results)
    }
}

/// Creates a synthetic result for a tool call. Returns `None` if the block is not a call or was itself synthesized.
pub(super) fn synthesize_result(block: &(BlockOrigin, BlockSummary)) -> Option<(BlockOrigin, BlockSummary)> {
    match block {
        (BlockOrigin::Block(id, block_idx), BlockSummary::Call(call)) => Some((
            BlockOrigin::Synthetic(SyntheticBlock::Result, Some((*id, *block_idx))),
            BlockSummary::Result(*call),
        )),
        _ => None,
    }
}
