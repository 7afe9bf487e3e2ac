//! Removes loaded entries that are not sent: unanswered calls, thinking without an answer, blank answers.

use super::chain::{list_calls, list_results};
use super::client_graph::ClientGraph;
use super::resume_index::{BlockSummary, ResumeIndex, TextKind};
use super::rules::{BlankRule, RewindRule, Rules, UnansweredRule};
use super::simulate::SkipReason;
use crate::entry::{Flags, Kind};
use crate::tree::NodeId;

/// The entries of a chain that are sent, and those that are not.
#[derive(Debug, Default)]
pub(super) struct FilteredChain {
    pub(super) entries: Vec<NodeId>,
    /// Whether each call has a result in the chain, indexed by `ToolCallIdx`.
    pub(super) answered: Vec<bool>,
    /// The last message, if its calls get synthetic results.
    pub(super) open_turn: Option<NodeId>,
    /// Whether the user rewound to the last message.
    pub(super) is_rewound: bool,
    /// The removed entries, with the reasons.
    pub(super) skipped: Vec<(NodeId, SkipReason)>,
}

/// The last message, and the last message or attachment, as indexes of a chain.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainEnd {
    pub(super) message: usize,
    pub(super) content: usize,
}

impl ChainEnd {
    /// Returns `true` if an attachment follows the last message.
    pub(super) fn has_attachment(self) -> bool {
        self.content > self.message
    }
}

impl FilteredChain {
    /// Finds the end of `entries`. Returns `None` if they contain no message.
    ///
    /// Calls that get a result only because the turn was interrupted do not count if the rules answer them.
    pub(super) fn find_end(
        &self,
        graph: &ClientGraph<'_>,
        index: &ResumeIndex,
        rules: &Rules,
        entries: &[NodeId],
    ) -> Option<ChainEnd> {
        let skips_calls = rules.unanswered == UnansweredRule::AnswerBeforeResult;
        let is_last = |&id: &NodeId| {
            graph.is_message(id) && !(skips_calls && self.has_only_unanswered_calls(index, id))
        };
        let message = entries.iter().rposition(is_last)?;
        let is_attachment = |&id: &NodeId| graph.tree.node(id).kind == Kind::Attachment;
        let attachment = entries[message..].iter().rposition(is_attachment);
        Some(ChainEnd { message, content: message + attachment.unwrap_or(0) })
    }

    /// Returns `true` if an entry has at least one tool call and none of its calls has a result.
    pub(super) fn has_only_unanswered_calls(&self, index: &ResumeIndex, id: NodeId) -> bool {
        let mut calls = list_calls(index, id).peekable();
        calls.peek().is_some() && calls.all(|call| !self.answered[call as usize])
    }
}

/// Separates the entries of a chain that are sent from unanswered calls, lone thinking, blank answers and empty prompts.
///
/// `rewound` is the entry that the user rewound to.
pub(super) fn filter_chain(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    chain: &[NodeId],
    rewound: Option<NodeId>,
) -> FilteredChain {
    let mut answered = vec![false; index.call_count()];
    for call in chain.iter().flat_map(|&id| list_results(index, id)) {
        answered[call as usize] = true;
    }
    let mut filter =
        ChainFilter { graph, index, rules, chain: FilteredChain { answered, ..FilteredChain::default() } };
    let ends_with_rewound = |entries: &[NodeId]| {
        let last = entries.iter().copied().rfind(|&id| graph.is_message(id));
        rewound.is_some() && last == rewound
    };
    filter.chain.is_rewound = ends_with_rewound(chain);
    let entries = filter.drop_unanswered(chain);
    let entries = filter.drop_lone_thinking(entries);
    filter.chain.entries = filter.drop_blank(entries);
    if rules.rewind == RewindRule::LastSent {
        filter.chain.is_rewound = ends_with_rewound(&filter.chain.entries);
    }
    if !filter
        .chain
        .open_turn
        .is_some_and(|id| filter.has_only_unanswered_calls(id) && filter.chain.entries.contains(&id))
    {
        filter.chain.open_turn = None;
    }
    filter.chain
}

/// Returns `true` if an entry is a user entry with tool results.
pub(super) fn has_results(graph: &ClientGraph<'_>, index: &ResumeIndex, id: NodeId) -> bool {
    graph.tree.node(id).kind == Kind::User && list_results(index, id).next().is_some()
}

struct ChainFilter<'a> {
    graph: &'a ClientGraph<'a>,
    index: &'a ResumeIndex,
    rules: &'a Rules,
    chain: FilteredChain,
}

impl ChainFilter<'_> {
    fn kind(&self, id: NodeId) -> Kind {
        self.graph.tree.node(id).kind
    }

    fn has_only_unanswered_calls(&self, id: NodeId) -> bool {
        self.chain.has_only_unanswered_calls(self.index, id)
    }

    fn is_result(&self, id: NodeId) -> bool {
        has_results(self.graph, self.index, id)
    }

    /// Returns `true` if an entry is from the user, apart from the summary of a compaction.
    fn is_prompt(&self, id: NodeId) -> bool {
        self.kind(id) == Kind::User && !self.graph.tree.node(id).has_flag(Flags::COMPACT_SUMMARY)
    }

    /// Returns the entries for which `skip_reason` returns `None`; adds the others to `skipped`. `skip_reason` gets the
    /// index of the entry in `entries` and the entry.
    fn retain_entries(
        &mut self,
        entries: Vec<NodeId>,
        skip_reason: impl Fn(&Self, usize, NodeId) -> Option<SkipReason>,
    ) -> Vec<NodeId> {
        let mut retained = Vec::with_capacity(entries.len());
        for (idx, id) in entries.into_iter().enumerate() {
            match skip_reason(self, idx, id) {
                Some(reason) => self.chain.skipped.push((id, reason)),
                None => retained.push(id),
            }
        }
        retained
    }

    /// Removes lines with calls of which none has a result, except in an interrupted turn. Also removes messages without
    /// content if none of them can be the last message.
    fn drop_unanswered(&mut self, chain: &[NodeId]) -> Vec<NodeId> {
        let answers_last_call = self.rules.unanswered == UnansweredRule::AnswerBeforeResult;
        let end = self.chain.find_end(self.graph, self.index, self.rules, chain);
        let is_open = |id: NodeId, end: ChainEnd| match self.rules.unanswered {
            _ if self.chain.is_rewound => false,
            UnansweredRule::DropCall | UnansweredRule::DropLine => false,
            UnansweredRule::AnswerBeforeResult => {
                self.is_result(id) || end.has_attachment() && self.is_prompt(id)
            }
            UnansweredRule::AnswerInterruptedTurn => self.is_result(id) || self.has_only_unanswered_calls(id),
        };
        let open_turn = end.filter(|&end| is_open(chain[end.message], end)).map(|end| chain[end.message]);
        let is_prompt = |&id: &NodeId| {
            self.kind(id) == Kind::User
                && !self.is_result(id)
                && !self.graph.tree.node(id).has_flag(Flags::META)
        };
        let turn_start = chain.iter().rposition(is_prompt).map_or(0, |idx| idx + 1);
        let last_result = chain.iter().rposition(|&id| self.is_result(id)).unwrap_or(0);
        self.chain.open_turn = open_turn;
        self.retain_entries(chain.to_vec(), |filter, idx, id| {
            let in_open_turn = open_turn.is_some_and(|open_turn| {
                open_turn == id
                    || filter.graph.tree.is_same_message(open_turn, id)
                    || turn_start <= idx && (idx < last_result || answers_last_call)
            });
            let blocks = filter.index.blocks(id);
            match filter.kind(id) {
                Kind::User | Kind::Assistant if blocks.is_empty() && !filter.rules.empty_last => {
                    Some(SkipReason::Empty)
                }
                Kind::Assistant if filter.has_only_unanswered_calls(id) && !in_open_turn => {
                    let has_other_blocks = blocks.iter().any(|block| !matches!(block, BlockSummary::Call(_)));
                    let keeps_line = filter.rules.unanswered == UnansweredRule::DropCall && has_other_blocks;
                    (!keeps_line).then_some(SkipReason::Unanswered)
                }
                _ => None,
            }
        })
    }

    /// Removes assistant lines of responses that consist of thinking only, unless the rules allow them.
    fn drop_lone_thinking(&mut self, entries: Vec<NodeId>) -> Vec<NodeId> {
        if self.rules.lone_thinking {
            return entries;
        }
        let is_thinking_block = |block: &BlockSummary| *block == BlockSummary::Thinking;
        let mut has_content = vec![false; self.graph.tree.message_count()];
        for &id in &entries {
            if let Some(message) = self.graph.tree.message_of(id)
                && !self.index.blocks(id).iter().all(is_thinking_block)
            {
                has_content[message as usize] = true;
            }
        }
        self.retain_entries(entries, |filter, _, id| {
            let blocks = filter.index.blocks(id);
            let is_lone =
                filter.graph.tree.message_of(id).is_none_or(|message| !has_content[message as usize]);
            let is_thinking = filter.kind(id) == Kind::Assistant
                && !blocks.is_empty()
                && blocks.iter().all(is_thinking_block);
            (is_thinking && is_lone).then_some(SkipReason::LoneThinking)
        })
    }

    /// Removes assistant lines that consist of blank texts only, or also of `(no content)`, as the rules demand.
    fn drop_blank(&mut self, entries: Vec<NodeId>) -> Vec<NodeId> {
        let blank = self.rules.blank;
        let is_blank = |block: &BlockSummary| match block {
            BlockSummary::Text(TextKind::Blank) | BlockSummary::Plain(TextKind::Blank) => {
                blank != BlankRule::Sent
            }
            BlockSummary::Text(TextKind::Placeholder) | BlockSummary::Plain(TextKind::Placeholder) => {
                blank == BlankRule::DroppedWithPlaceholder
            }
            _ => false,
        };
        self.retain_entries(entries, |filter, _, id| {
            let blocks = filter.index.blocks(id);
            let is_blank_answer =
                filter.kind(id) == Kind::Assistant && !blocks.is_empty() && blocks.iter().all(is_blank);
            is_blank_answer.then_some(SkipReason::Blank)
        })
    }
}
