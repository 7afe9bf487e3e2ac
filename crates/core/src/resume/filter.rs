//! What was loaded and is not sent: calls without result, thinking without answer, answers without words.

use super::chain::{calls, results};
use super::client_graph::ClientGraph;
use super::resume_index::{BlockSummary, ResumeIndex, Words};
use super::rules::{Blank, Rules, Unanswered};
use super::simulate::SkipReason;
use crate::entry::{Flags, Kind};
use crate::tree::NodeId;

/// A chain of entries without what is left out.
#[derive(Debug, Default)]
pub(super) struct FilteredChain {
    pub(super) entries: Vec<NodeId>,
    /// By number, the calls that have a result.
    pub(super) answered: Vec<bool>,
    /// The last entry, if its calls get a made-up result.
    pub(super) open: Option<NodeId>,
    pub(super) left_out: Vec<(NodeId, SkipReason)>,
}

/// Takes out of a chain what is not sent.
pub(super) fn sift(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
    chain: &[NodeId],
) -> FilteredChain {
    let mut answered = vec![false; facts.calls()];
    for call in chain.iter().flat_map(|&no| results(facts, no)) {
        answered[call as usize] = true;
    }
    let mut sieve =
        ChainFilter { links, facts, rules, sifted: FilteredChain { answered, ..FilteredChain::default() } };
    let kept = sieve.unanswered(chain);
    let kept = sieve.thinking(kept);
    sieve.sifted.entries = sieve.wordless(kept);
    if !sieve.sifted.open.is_some_and(|no| sieve.lacks_results(no) && sieve.sifted.entries.contains(&no)) {
        sieve.sifted.open = None;
    }
    sieve.sifted
}

/// Whether an entry answers calls.
pub(super) fn answers_call(links: &ClientGraph<'_>, facts: &ResumeIndex, no: NodeId) -> bool {
    links.tree.node(no).kind == Kind::User && results(facts, no).next().is_some()
}

struct ChainFilter<'a> {
    links: &'a ClientGraph<'a>,
    facts: &'a ResumeIndex,
    rules: &'a Rules,
    sifted: FilteredChain,
}

impl ChainFilter<'_> {
    fn kind(&self, no: NodeId) -> Kind {
        self.links.tree.node(no).kind
    }

    fn lacks_results(&self, no: NodeId) -> bool {
        let mut calls = calls(self.facts, no).peekable();
        calls.peek().is_some() && calls.all(|call| !self.sifted.answered[call as usize])
    }

    fn answers(&self, no: NodeId) -> bool {
        answers_call(self.links, self.facts, no)
    }

    fn retain(
        &mut self,
        entries: Vec<NodeId>,
        why: impl Fn(&Self, usize, NodeId) -> Option<SkipReason>,
    ) -> Vec<NodeId> {
        let mut kept = Vec::with_capacity(entries.len());
        for (k, no) in entries.into_iter().enumerate() {
            match why(self, k, no) {
                Some(why) => self.sifted.left_out.push((no, why)),
                None => kept.push(no),
            }
        }
        kept
    }

    /// Leaves out lines whose calls all lack a result, except in a turn that was cut off.
    fn unanswered(&mut self, chain: &[NodeId]) -> Vec<NodeId> {
        let last = chain.iter().copied().rfind(|&no| self.links.speaks(no));
        let is_open = |no: &NodeId| {
            self.rules.unanswered == Unanswered::AnswerOpenTurn
                && (self.answers(*no) || self.lacks_results(*no))
        };
        let open = last.filter(is_open);
        let is_prompt = |&no: &NodeId| {
            self.kind(no) == Kind::User && !self.answers(no) && !self.links.tree.node(no).is(Flags::META)
        };
        let turn = chain.iter().rposition(is_prompt).map_or(0, |k| k + 1);
        let last_result = chain.iter().rposition(|&no| self.answers(no)).unwrap_or(0);
        self.sifted.open = open;
        self.retain(chain.to_vec(), |sieve, k, no| {
            let in_open_turn = open.is_some_and(|open| {
                open == no || sieve.links.tree.same_message(open, no) || turn <= k && k < last_result
            });
            let pieces = sieve.facts.pieces(no);
            match sieve.kind(no) {
                Kind::User if pieces.is_empty() && !sieve.rules.empty_prompt_fills => Some(SkipReason::Empty),
                Kind::Assistant if sieve.lacks_results(no) && !in_open_turn => {
                    let words = pieces.iter().any(|piece| !matches!(piece, BlockSummary::Call(_)));
                    let stays = sieve.rules.unanswered == Unanswered::LeaveOutCall && words;
                    (!stays).then_some(SkipReason::Unanswered)
                }
                _ => None,
            }
        })
    }

    /// Leaves out responses that only think.
    fn thinking(&mut self, entries: Vec<NodeId>) -> Vec<NodeId> {
        if self.rules.lone_thinking {
            return entries;
        }
        let thinks = |piece: &BlockSummary| *piece == BlockSummary::Thinking;
        let mut speaks = vec![false; self.links.tree.messages()];
        for &no in &entries {
            if let Some(message) = self.links.tree.message_of(no)
                && !self.facts.pieces(no).iter().all(thinks)
            {
                speaks[message as usize] = true;
            }
        }
        self.retain(entries, |sieve, _, no| {
            let pieces = sieve.facts.pieces(no);
            let alone = sieve.links.tree.message_of(no).is_none_or(|message| !speaks[message as usize]);
            let only = sieve.kind(no) == Kind::Assistant && !pieces.is_empty() && pieces.iter().all(thinks);
            (only && alone).then_some(SkipReason::LoneThinking)
        })
    }

    /// Leaves out answers without words.
    fn wordless(&mut self, entries: Vec<NodeId>) -> Vec<NodeId> {
        let blank = self.rules.blank;
        let is_blank = |piece: &BlockSummary| match piece {
            BlockSummary::Text(Words::Blank) | BlockSummary::Plain(Words::Blank) => blank != Blank::Sent,
            BlockSummary::Text(Words::Placeholder) | BlockSummary::Plain(Words::Placeholder) => {
                blank == Blank::LeftOutAlsoPlaceholder
            }
            _ => false,
        };
        self.retain(entries, |sieve, _, no| {
            let pieces = sieve.facts.pieces(no);
            let wordless =
                sieve.kind(no) == Kind::Assistant && !pieces.is_empty() && pieces.iter().all(is_blank);
            wordless.then_some(SkipReason::Blank)
        })
    }
}
