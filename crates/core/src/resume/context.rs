//! How large the context will be, and what in it the API will refuse.

use std::collections::HashSet;

use super::api_messages::{BlockOrigin, MessageRole, SentBlock};
use super::resume_index::{BlockSummary, ResumeIndex, Words};
use super::simulate::ResumeOutcome;
use crate::tree::NodeId;

/// Something that the API refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A tool call without a result in the message after it.
    UnpairedCall(NodeId, u16),
    /// A tool result without a call in the message before it.
    UnpairedResult(NodeId, u16),
    /// A picture larger than five megabytes.
    LargePicture(NodeId, u16),
    /// An answer whose last block is thinking.
    ThinkingLast(NodeId, u16),
    /// A text without words.
    BlankText(NodeId, u16),
}

impl Refusal {
    /// Returns the entry it is about.
    pub fn node(self) -> NodeId {
        match self {
            Refusal::UnpairedCall(no, _)
            | Refusal::UnpairedResult(no, _)
            | Refusal::LargePicture(no, _)
            | Refusal::ThinkingLast(no, _)
            | Refusal::BlankText(no, _) => no,
        }
    }

    /// Returns the block within the entry.
    pub fn block(self) -> u16 {
        match self {
            Refusal::UnpairedCall(_, block)
            | Refusal::UnpairedResult(_, block)
            | Refusal::LargePicture(_, block)
            | Refusal::ThinkingLast(_, block)
            | Refusal::BlankText(_, block) => block,
        }
    }

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::UnpairedCall(..) => "unpaired-call",
            Refusal::UnpairedResult(..) => "unpaired-result",
            Refusal::LargePicture(..) => "large-picture",
            Refusal::ThinkingLast(..) => "thinking-last",
            Refusal::BlankText(..) => "blank-text",
        }
    }
}

/// The largest picture that the API takes, in kilobytes of base64.
const LARGEST_PICTURE: u32 = 5 * 1024;

impl ResumeOutcome {
    /// Estimates the tokens of the context: what the API counted at the last answer that is still in it, and a quarter of
    /// the bytes said since. What the client itself puts in front (its instructions and tools) is part of the first.
    pub fn tokens(&self, facts: &ResumeIndex) -> u64 {
        let counted = self.path.iter().rposition(|&no| facts.context(no).is_some());
        // A count from before a compaction, or from before the way was cut, is of another context.
        let kept_from_before = |no: NodeId| self.chain.first().is_some_and(|&first| no < first);
        let cut = self.stop.is_some_and(|stop| stop.why.is_loss());
        let (base, from) = match counted {
            Some(k) if !cut && !kept_from_before(self.path[k]) => {
                (facts.context(self.path[k]).unwrap_or(0), k + 1)
            }
            _ => (0, 0),
        };
        base + self.path[from..].iter().map(|&no| facts.bytes(no)).sum::<u64>() / 4
    }

    /// Returns what the API was sent before and did not refuse: all that stands before its last answer.
    pub(crate) fn taken(&self, facts: &ResumeIndex) -> HashSet<NodeId> {
        let answered = self.path.iter().rposition(|&no| facts.context(no).is_some());
        answered.map_or(&[][..], |at| &self.path[..at]).iter().copied().collect()
    }

    /// Lists what the API will refuse, but for texts without words that it has taken before.
    pub fn refused(&self, facts: &ResumeIndex) -> Vec<Refusal> {
        let mut refusals = self.refusals();
        if refusals.iter().any(|refusal| matches!(refusal, Refusal::BlankText(..))) {
            let taken = self.taken(facts);
            refusals.retain(|refusal| !matches!(refusal, Refusal::BlankText(no, _) if taken.contains(no)));
        }
        refusals
    }

    /// Lists what the rules of the API forbid.
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        // Messages of one side that follow each other are one to the API.
        let messages: Vec<&[SentBlock]> = self.sent.chunk_by(|a, b| a.side == b.side).collect();
        for (k, message) in messages.iter().enumerate() {
            let calls = |blocks: &[SentBlock]| blocks.iter().filter_map(call_in).collect::<HashSet<u32>>();
            let results =
                |blocks: &[SentBlock]| blocks.iter().filter_map(result_in).collect::<HashSet<u32>>();
            let answered = messages.get(k + 1).map(|next| results(next)).unwrap_or_default();
            let called = if k > 0 { calls(messages[k - 1]) } else { HashSet::new() };
            for block in *message {
                let BlockOrigin::Block(no, at) = block.said else {
                    continue;
                };
                match block.piece {
                    BlockSummary::Call(call) if !answered.contains(&call) => {
                        refusals.push(Refusal::UnpairedCall(no, at));
                    }
                    BlockSummary::Result(call) if !called.contains(&call) => {
                        refusals.push(Refusal::UnpairedResult(no, at));
                    }
                    BlockSummary::Picture(size) if size > LARGEST_PICTURE => {
                        refusals.push(Refusal::LargePicture(no, at));
                    }
                    BlockSummary::Text(Words::Blank) | BlockSummary::Plain(Words::Blank) => {
                        refusals.push(Refusal::BlankText(no, at));
                    }
                    _ => {}
                }
            }
            if let Some(SentBlock {
                side: MessageRole::Assistant,
                said: BlockOrigin::Block(no, at),
                piece: BlockSummary::Thinking,
                ..
            }) = message.last()
            {
                refusals.push(Refusal::ThinkingLast(*no, *at));
            }
        }
        refusals
    }
}

fn call_in(block: &SentBlock) -> Option<u32> {
    if let BlockSummary::Call(call) = block.piece { Some(call) } else { None }
}

fn result_in(block: &SentBlock) -> Option<u32> {
    if let BlockSummary::Result(call) = block.piece { Some(call) } else { None }
}
