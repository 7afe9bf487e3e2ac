//! How the context grew: its size at every response, and where it dropped.

use super::block::CompactionInfo;
use super::collect::ContextCollector;
use super::responses::{Response, Responses};
use crate::entry::EntryRole;
use crate::tree::{NodeId, Tree};

/// The context as one response met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextSample {
    /// The first line of the response.
    pub node: NodeId,
    /// What was sent, in tokens: as the API counted it, or as it is judged.
    pub context: u64,
    /// Whether it was counted.
    pub measured: bool,
    /// The response itself, in tokens, counted or judged.
    pub output: u64,
}

/// A place where the context became smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextDrop {
    /// The line that tells of it, or the response that met less.
    pub node: NodeId,
    /// How many points stand before it.
    pub at: usize,
    /// What happened.
    pub how: Dropped,
    /// The size before.
    pub before: Option<u64>,
    /// The size after, where it is known.
    pub after: Option<u64>,
}

/// How the context became smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// A summary took the place of what was said; what made the client do so.
    Compacted(String),
    /// Old results were cleared, and a line says so.
    Cleared,
    /// No line says why.
    Unsaid,
}

/// The sizes along a way.
#[derive(Debug, Clone, Default)]
pub struct ContextHistory {
    /// One per response, in order.
    pub points: Vec<ContextSample>,
    /// Where the context became smaller.
    pub drops: Vec<ContextDrop>,
    /// The model of the last response.
    pub model: String,
    /// What the first counted request held beside recorded words.
    pub(super) client: u64,
    /// How much more the API counts than is judged, in thousandths: models part text into tokens in ways of their own.
    pub(super) tokens_per_estimate: u64,
}

/// A drop below this part of the context is not worth telling: counts differ a little by themselves.
const NOISE: u64 = 50;

/// What is judged to be fewer tokens than this says nothing of the pace: what surrounds it counts too.
const TELLING: u64 = 100;
/// So many requests tell the pace of a session.
const ENOUGH: usize = 4;
/// The pace of the models that were measured lies between these.
const SLOWEST: u64 = 700;
const FASTEST: u64 = 1600;

impl ContextHistory {
    /// Follows a way, in the order of telling.
    pub fn of(tree: &Tree, weigher: &ContextCollector, way: &[NodeId]) -> ContextHistory {
        let mut pen = HistoryBuilder {
            tree,
            weigher,
            responses: Responses::of(tree, weigher),
            met: vec![false; tree.messages()],
            curve: ContextHistory::default(),
            size: 0,
            counted: None,
            open: None,
            first: None,
            loose: 0,
            answered: None,
            paces: Vec::new(),
        };
        way.iter().for_each(|&no| pen.step(no));
        pen.finish()
    }

    /// Returns the largest size.
    pub fn peak(&self) -> u64 {
        self.points.iter().map(|point| point.context).max().unwrap_or(0)
    }
}

struct HistoryBuilder<'a> {
    tree: &'a Tree,
    weigher: &'a ContextCollector,
    responses: Responses,
    /// By response, whether it was met.
    met: Vec<bool>,
    curve: ContextHistory,
    /// The size here: the last count and what is judged to have come since.
    size: u64,
    /// The last count, unless a line told of a drop since.
    counted: Option<u64>,
    /// The place in `drops` of a compaction whose outcome is not yet seen.
    open: Option<usize>,
    /// The first count, and what was judged to stand before it.
    first: Option<(u64, u64)>,
    /// What is judged to have come since the last response.
    loose: u64,
    /// The last response, where it was counted.
    answered: Option<Response>,
    /// What requests grew by beside what they were judged to, in thousandths.
    paces: Vec<u64>,
}

impl HistoryBuilder<'_> {
    fn step(&mut self, no: NodeId) {
        let node = self.tree.node(no);
        let mark = self.weigher.marks.get(&no);
        // The summary behind a boundary is part of the same compaction; old clients wrote the summary alone.
        let summary_alone = node.voice == EntryRole::CompactSummary && self.open.is_none();
        if let Some(mark) = mark {
            self.drop(no, mark);
        } else if summary_alone {
            self.drop(no, &CompactionInfo::default());
        }
        let response =
            self.tree.message_of(no).filter(|&message| self.responses.of_message(message).is_some());
        match response {
            Some(message) if !std::mem::replace(&mut self.met[message as usize], true) => {
                self.point(no, message);
            }
            // All of a response is added where it begins.
            Some(_) => {}
            None => {
                self.loose += self.weigher.weight(no);
                self.size += self.weigher.weight(no);
            }
        }
    }

    fn point(&mut self, no: NodeId, message: u32) {
        let Some(response) = self.responses.of_message(message) else { return };
        let context = response.context.unwrap_or(self.size);
        if let Some(now) = response.context {
            if self.first.is_none() {
                self.first = Some((now, self.size));
                self.curve.client = now.saturating_sub(self.size);
            }
            self.compare(now);
            let unsaid = self.counted.filter(|&before| now + before / NOISE < before);
            if let Some(before) = unsaid {
                let at = self.curve.points.len();
                let drop = ContextDrop {
                    node: no,
                    at,
                    how: Dropped::Unsaid,
                    before: Some(before),
                    after: Some(now),
                };
                self.curve.drops.push(drop);
            }
            self.counted = Some(now);
        }
        if let Some(open) = self.open.take() {
            let after = &mut self.curve.drops[open].after;
            *after = after.or(response.context);
        }
        let output = response.output.unwrap_or(response.estimate);
        self.curve.points.push(ContextSample {
            node: no,
            context,
            measured: response.context.is_some(),
            output,
        });
        self.curve.model = self.weigher.model(&response.counted).to_owned();
        self.size = context + output;
        self.loose = 0;
        self.answered = Some(response).filter(|response| response.context.is_some());
    }

    /// Compares what a request grew by with what that was judged to be.
    fn compare(&mut self, now: u64) {
        let Some((before, last)) = self.counted.zip(self.answered) else { return };
        let grown = now.saturating_sub(before);
        let (grown, judged) = match last.output {
            Some(output) => (grown.saturating_sub(output), self.loose),
            None => (grown, self.loose + last.estimate),
        };
        if judged >= TELLING && grown > 0 {
            self.paces.push(grown * 1000 / judged);
        }
    }

    fn finish(mut self) -> ContextHistory {
        self.paces.sort_unstable();
        let middle = self.paces.get(self.paces.len() / 2).filter(|_| self.paces.len() >= ENOUGH);
        self.curve.tokens_per_estimate = middle.map_or(1000, |&pace| pace.clamp(SLOWEST, FASTEST));
        if let Some((counted, judged)) = self.first {
            self.curve.client = counted.saturating_sub(judged * self.curve.tokens_per_estimate / 1000);
        }
        self.curve
    }

    fn drop(&mut self, no: NodeId, mark: &CompactionInfo) {
        let at = self.curve.points.len();
        let how = if mark.micro { Dropped::Cleared } else { Dropped::Compacted(mark.trigger.clone()) };
        let before = mark.before.or(self.counted.map(|_| self.size));
        self.curve.drops.push(ContextDrop { node: no, at, how, before, after: mark.after });
        self.counted = None;
        self.answered = None;
        self.open = Some(self.curve.drops.len() - 1);
        if !mark.micro {
            self.size = self.curve.client;
        }
    }
}
