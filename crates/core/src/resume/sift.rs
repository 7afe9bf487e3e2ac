//! What was loaded and is not sent: calls without result, thinking without answer, answers without words.

use super::chain::{calls, results};
use super::facts::{Facts, Piece, Words};
use super::links::Links;
use super::rules::{Blank, Rules, Unanswered};
use super::verdict::Why;
use crate::entry::{Flags, Kind};
use crate::tree::NodeNo;

/// A chain of entries without what is left out.
#[derive(Debug, Default)]
pub(super) struct Sifted {
    pub(super) entries: Vec<NodeNo>,
    /// By number, the calls that have a result.
    pub(super) answered: Vec<bool>,
    /// The last entry, if its calls get a made-up result.
    pub(super) open: Option<NodeNo>,
    pub(super) left_out: Vec<(NodeNo, Why)>,
}

/// Takes out of a chain what is not sent.
pub(super) fn sift(links: &Links<'_>, facts: &Facts, rules: &Rules, chain: &[NodeNo]) -> Sifted {
    let mut answered = vec![false; facts.calls()];
    for call in chain.iter().flat_map(|&no| results(facts, no)) {
        answered[call as usize] = true;
    }
    let mut sieve = Sieve { links, facts, rules, sifted: Sifted { answered, ..Sifted::default() } };
    let kept = sieve.unanswered(chain);
    let kept = sieve.thinking(kept);
    sieve.sifted.entries = sieve.wordless(kept);
    if !sieve.sifted.open.is_some_and(|no| sieve.lacks_results(no) && sieve.sifted.entries.contains(&no)) {
        sieve.sifted.open = None;
    }
    sieve.sifted
}

/// Whether an entry answers calls.
pub(super) fn answers_call(links: &Links<'_>, facts: &Facts, no: NodeNo) -> bool {
    links.tree.node(no).kind == Kind::User && results(facts, no).next().is_some()
}

struct Sieve<'a> {
    links: &'a Links<'a>,
    facts: &'a Facts,
    rules: &'a Rules,
    sifted: Sifted,
}

impl Sieve<'_> {
    fn kind(&self, no: NodeNo) -> Kind {
        self.links.tree.node(no).kind
    }

    fn lacks_results(&self, no: NodeNo) -> bool {
        let mut calls = calls(self.facts, no).peekable();
        calls.peek().is_some() && calls.all(|call| !self.sifted.answered[call as usize])
    }

    fn answers(&self, no: NodeNo) -> bool {
        answers_call(self.links, self.facts, no)
    }

    fn retain(
        &mut self,
        entries: Vec<NodeNo>,
        why: impl Fn(&Self, usize, NodeNo) -> Option<Why>,
    ) -> Vec<NodeNo> {
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
    fn unanswered(&mut self, chain: &[NodeNo]) -> Vec<NodeNo> {
        let last = chain.iter().copied().rfind(|&no| self.links.speaks(no));
        let is_open = |no: &NodeNo| {
            self.rules.unanswered == Unanswered::AnswerOpenTurn
                && (self.answers(*no) || self.lacks_results(*no))
        };
        let open = last.filter(is_open);
        let is_prompt = |&no: &NodeNo| {
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
                Kind::User if pieces.is_empty() && !sieve.rules.empty_prompt_fills => Some(Why::Empty),
                Kind::Assistant if sieve.lacks_results(no) && !in_open_turn => {
                    let words = pieces.iter().any(|piece| !matches!(piece, Piece::Call(_)));
                    let stays = sieve.rules.unanswered == Unanswered::LeaveOutCall && words;
                    (!stays).then_some(Why::Unanswered)
                }
                _ => None,
            }
        })
    }

    /// Leaves out responses that only think.
    fn thinking(&mut self, entries: Vec<NodeNo>) -> Vec<NodeNo> {
        if self.rules.lone_thinking {
            return entries;
        }
        let thinks = |piece: &Piece| *piece == Piece::Thinking;
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
            (only && alone).then_some(Why::LoneThinking)
        })
    }

    /// Leaves out answers without words.
    fn wordless(&mut self, entries: Vec<NodeNo>) -> Vec<NodeNo> {
        let blank = self.rules.blank;
        let is_blank = |piece: &Piece| match piece {
            Piece::Text(Words::Blank) | Piece::Plain(Words::Blank) => blank != Blank::Sent,
            Piece::Text(Words::Placeholder) | Piece::Plain(Words::Placeholder) => {
                blank == Blank::LeftOutAlsoPlaceholder
            }
            _ => false,
        };
        self.retain(entries, |sieve, _, no| {
            let pieces = sieve.facts.pieces(no);
            let wordless =
                sieve.kind(no) == Kind::Assistant && !pieces.is_empty() && pieces.iter().all(is_blank);
            wordless.then_some(Why::Blank)
        })
    }
}
