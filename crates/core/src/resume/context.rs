//! Estimates the size of the context and finds content that the API rejects.

use std::collections::HashSet;

use super::api_messages::{BlockOrigin, MessageRole, SentBlock};
use super::resume_index::{BlockSummary, ResumeIndex, TextKind};
use super::simulate::ResumeOutcome;
use crate::tree::NodeId;

/// A block that the API rejects: the entry that contains it, and the index of the block in that entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiRejection {
    /// A tool call without a result in the message after it.
    UnpairedCall(NodeId, u16),
    /// A tool result without a call in the message before it.
    UnpairedResult(NodeId, u16),
    /// An image larger than 5 MiB in base64.
    LargeImage(NodeId, u16),
    /// An answer that ends with a thinking block.
    ThinkingLast(NodeId, u16),
    /// A blank text.
    BlankText(NodeId, u16),
}

impl ApiRejection {
    /// Returns the entry that contains the rejected block.
    pub fn node(self) -> NodeId {
        match self {
            ApiRejection::UnpairedCall(id, _)
            | ApiRejection::UnpairedResult(id, _)
            | ApiRejection::LargeImage(id, _)
            | ApiRejection::ThinkingLast(id, _)
            | ApiRejection::BlankText(id, _) => id,
        }
    }

    /// Returns the index of the rejected block within the content of its entry.
    pub fn block(self) -> u16 {
        match self {
            ApiRejection::UnpairedCall(_, block)
            | ApiRejection::UnpairedResult(_, block)
            | ApiRejection::LargeImage(_, block)
            | ApiRejection::ThinkingLast(_, block)
            | ApiRejection::BlankText(_, block) => block,
        }
    }

    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ApiRejection::UnpairedCall(..) => "unpaired-call",
            ApiRejection::UnpairedResult(..) => "unpaired-result",
            ApiRejection::LargeImage(..) => "large-image",
            ApiRejection::ThinkingLast(..) => "thinking-last",
            ApiRejection::BlankText(..) => "blank-text",
        }
    }
}

/// The largest image that the API accepts, in kilobytes of base64.
const MAX_IMAGE_KB: u32 = 5 * 1024;

impl ResumeOutcome {
    /// Estimates the tokens of the context: the count that the API reported with the last answer, plus a quarter of the
    /// bytes since. The reported count includes the client's system prompt and tools.
    ///
    /// Uses a quarter of all bytes if no count was reported, or if it precedes a compaction or a broken link.
    pub fn estimate_tokens(&self, index: &ResumeIndex) -> u64 {
        let counted = self.path.iter().rposition(|&id| index.context_tokens(id).is_some());
        // A count from before a compaction or a broken link belongs to another context.
        let precedes_chain = |id: NodeId| self.chain.first().is_some_and(|&first| id < first);
        let is_broken = self.early_end.is_some_and(|end| end.reason.is_loss());
        let (base, from) = match counted {
            Some(idx) if !is_broken && !precedes_chain(self.path[idx]) => {
                (index.context_tokens(self.path[idx]).unwrap_or(0), idx + 1)
            }
            _ => (0, 0),
        };
        base + self.path[from..].iter().map(|&id| index.text_bytes(id)).sum::<u64>() / 4
    }

    /// Returns the entries that the API has accepted before: all on the path before the last answer with a token count.
    pub(crate) fn accepted_entries(&self, index: &ResumeIndex) -> HashSet<NodeId> {
        let last_answer = self.path.iter().rposition(|&id| index.context_tokens(id).is_some());
        last_answer.map_or(&[][..], |idx| &self.path[..idx]).iter().copied().collect()
    }

    /// Returns the blocks that the API will reject, except blank texts in entries that it has accepted before.
    pub fn expected_rejections(&self, index: &ResumeIndex) -> Vec<ApiRejection> {
        let mut rejections = self.find_rejections();
        if rejections.iter().any(|rejection| matches!(rejection, ApiRejection::BlankText(..))) {
            let accepted = self.accepted_entries(index);
            rejections.retain(
                |rejection| !matches!(rejection, ApiRejection::BlankText(id, _) if accepted.contains(id)),
            );
        }
        rejections
    }

    /// Returns the sent blocks that violate the rules of the API, by message. Synthetic blocks are not checked.
    pub fn find_rejections(&self) -> Vec<ApiRejection> {
        let mut rejections = Vec::new();
        // The API merges consecutive messages of one role.
        let messages: Vec<&[SentBlock]> = self.sent.chunk_by(|a, b| a.role == b.role).collect();
        for (idx, message) in messages.iter().enumerate() {
            let collect_calls =
                |blocks: &[SentBlock]| blocks.iter().filter_map(get_call).collect::<HashSet<u32>>();
            let collect_results =
                |blocks: &[SentBlock]| blocks.iter().filter_map(get_result).collect::<HashSet<u32>>();
            let answered = messages.get(idx + 1).map(|next| collect_results(next)).unwrap_or_default();
            let called = if idx > 0 { collect_calls(messages[idx - 1]) } else { HashSet::new() };
            for block in *message {
                let BlockOrigin::Block(id, block_idx) = block.origin else {
                    continue;
                };
                match block.summary {
                    BlockSummary::Call(call) if !answered.contains(&call) => {
                        rejections.push(ApiRejection::UnpairedCall(id, block_idx));
                    }
                    BlockSummary::Result(call) if !called.contains(&call) => {
                        rejections.push(ApiRejection::UnpairedResult(id, block_idx));
                    }
                    BlockSummary::Image(size) if size > MAX_IMAGE_KB => {
                        rejections.push(ApiRejection::LargeImage(id, block_idx));
                    }
                    BlockSummary::Text(TextKind::Blank) | BlockSummary::Plain(TextKind::Blank) => {
                        rejections.push(ApiRejection::BlankText(id, block_idx));
                    }
                    _ => {}
                }
            }
            if let Some(SentBlock {
                role: MessageRole::Assistant,
                origin: BlockOrigin::Block(id, block_idx),
                summary: BlockSummary::Thinking,
                ..
            }) = message.last()
            {
                rejections.push(ApiRejection::ThinkingLast(*id, *block_idx));
            }
        }
        rejections
    }
}

fn get_call(block: &SentBlock) -> Option<u32> {
    if let BlockSummary::Call(call) = block.summary { Some(call) } else { None }
}

fn get_result(block: &SentBlock) -> Option<u32> {
    if let BlockSummary::Result(call) = block.summary { Some(call) } else { None }
}
