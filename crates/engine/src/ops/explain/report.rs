//! What one client makes of a session.

use rethread_core::entry::EntryRole;
use rethread_core::resume::{
    BlockOrigin, KNOWN_CLIENTS, LoadFailure, MessageRole, Refusal, ResumeOutcome, SkipReason, SyntheticBlock,
    resume_by_summary,
};
use rethread_core::tree::{NodeId, ParentLink};
use rethread_core::version::Version;

use super::Explanation;
use crate::session::load::Session;

/// What one client makes of a session.
#[derive(Debug)]
pub struct Verdict {
    /// The client; `None` for the reader that goes by summaries.
    pub client: Option<Version>,
    /// The measured client whose rules it is taken to have.
    pub measured: Option<&'static str>,
    /// What it loads and sends.
    pub resume: ResumeOutcome,
    /// Turns that begin on its path.
    pub turns: usize,
    /// About how many tokens the context will have.
    pub tokens: u64,
    /// What the API will refuse.
    pub refusals: Vec<Refusal>,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It is sent.
    Loaded,
    /// A summary stands for it.
    Compacted,
    /// It is within reach, but not sent.
    LeftOut,
    /// Nothing stands for it.
    Lost,
}

impl Fate {
    fn of(why: SkipReason) -> Fate {
        match why {
            _ if why.is_loss() => Fate::Lost,
            SkipReason::Compacted => Fate::Compacted,
            _ => Fate::LeftOut,
        }
    }
}

/// A compaction at the beginning of what is loaded.
#[derive(Debug, Default)]
pub struct Compaction {
    /// The line that marks it.
    pub boundary: Option<NodeId>,
    /// The summary that the model sees.
    pub summary: Option<NodeId>,
    /// Entries from before it that are sent as they are.
    pub kept: Vec<NodeId>,
    /// Entries for which the summary stands.
    pub entries: usize,
    /// Turns that begin in them.
    pub turns: usize,
}

/// Something that the client sends of its own.
#[derive(Debug, Clone, Copy)]
pub struct SyntheticMessage {
    /// What it is.
    pub what: SyntheticBlock,
    /// In whose name.
    pub side: MessageRole,
    /// The entry that is sent before it.
    pub after: Option<NodeId>,
}

impl Session {
    /// Says what a client makes of it; without one, the reader that goes by summaries.
    pub fn verdict(&self, client: Option<Version>) -> Verdict {
        let resume = match &client {
            Some(client) => self.resume(client),
            None => resume_by_summary(&self.tree, &self.facts),
        };
        let mut sent = vec![false; self.tree.nodes().len()];
        resume.path.iter().for_each(|&no| sent[no as usize] = true);
        let measured = client.as_ref().map(measured_like);
        Verdict {
            turns: self.tree.turns().filter(|&no| sent[no as usize]).count(),
            tokens: resume.tokens(&self.facts),
            refusals: resume.refused(&self.facts),
            client,
            measured,
            resume,
        }
    }
}

/// Whether the walk ended where it should not have.
fn is_broken(resume: &ResumeOutcome) -> bool {
    resume.stop.is_some_and(|stop| stop.why.is_loss())
}

/// Returns the newest measured client that is not newer than this one, or the oldest of all.
pub(super) fn measured_like(client: &Version) -> &'static str {
    let older =
        KNOWN_CLIENTS.iter().rev().find(|measured| Version::read(measured).numbers() <= client.numbers());
    older.or(KNOWN_CLIENTS.first()).copied().unwrap_or_default()
}

impl Verdict {
    /// Whether anything is out of reach.
    pub fn is_loss(&self) -> bool {
        self.resume.halt.is_some() || self.resume.lost() > 0
    }

    /// Whether the walk from the leaf ended where it should not have.
    pub fn is_broken(&self) -> bool {
        is_broken(&self.resume)
    }

    /// Counts the entries of a fate.
    pub fn count(&self, fate: Fate) -> usize {
        match fate {
            Fate::Loaded => self.resume.loaded,
            fate => self.resume.unreachable.iter().filter(|lost| Fate::of(lost.why) == fate).count(),
        }
    }

    /// Tells the fate of each entry, in the order of the file.
    pub fn fates(&self, explained: &Explanation) -> Vec<Fate> {
        let line = |no: NodeId| explained.session.tree.node(no).place.line;
        let loaded = self.resume.path.iter().map(|&no| (line(no), Fate::Loaded));
        let others = self.resume.unreachable.iter().map(|lost| (lost.line, Fate::of(lost.why)));
        let mut fates: Vec<(u32, Fate)> = loaded.chain(others).collect();
        fates.sort_by_key(|(line, _)| *line);
        fates.into_iter().map(|(_, fate)| fate).collect()
    }

    /// Returns the lines that are within reach and left out, by reason.
    pub fn left_out(&self) -> Vec<(SkipReason, Vec<u32>)> {
        let mut groups: Vec<(SkipReason, Vec<u32>)> = Vec::new();
        for lost in self.resume.unreachable.iter().filter(|lost| Fate::of(lost.why) == Fate::LeftOut) {
            match groups.iter_mut().find(|(why, _)| *why == lost.why) {
                Some((_, lines)) => lines.push(lost.line),
                None => groups.push((lost.why, vec![lost.line])),
            }
        }
        groups
    }

    /// Describes the compaction that what is loaded begins with.
    pub fn compaction(&self, explained: &Explanation) -> Option<Compaction> {
        let tree = &explained.session.tree;
        let chain = &self.resume.chain;
        let from = chain.iter().rposition(|&no| tree.node(no).voice == EntryRole::CompactBoundary);
        let from =
            from.or_else(|| chain.iter().rposition(|&no| tree.node(no).voice == EntryRole::CompactSummary))?;
        let mark = chain[from];
        let summary =
            chain[from..].iter().copied().find(|&no| tree.node(no).voice == EntryRole::CompactSummary);
        let compacted = |why: SkipReason| why == SkipReason::Compacted;
        let summed_up = self.resume.unreachable.iter().filter(|lost| compacted(lost.why));
        let nodes: Vec<NodeId> = summed_up.filter_map(|lost| lost.node).collect();
        Some(Compaction {
            boundary: Some(mark).filter(|&no| tree.node(no).voice == EntryRole::CompactBoundary),
            summary,
            kept: self.resume.path.iter().copied().filter(|&no| no < mark).collect(),
            entries: nodes.len(),
            turns: nodes.iter().filter(|&&no| tree.turn_of(no) == Some(no)).count(),
        })
    }

    /// Lists what the client makes up.
    pub fn inventions(&self) -> Vec<SyntheticMessage> {
        let mut after = None;
        let mut inventions = Vec::new();
        for sent in &self.resume.sent {
            match sent.said {
                BlockOrigin::Block(no, _) => after = Some(no),
                BlockOrigin::MadeUp(what, _) => {
                    inventions.push(SyntheticMessage { what, side: sent.side, after })
                }
            }
        }
        inventions
    }

    /// Returns the entry at which a client that hangs comes round again.
    pub fn circle(&self, explained: &Explanation) -> Option<NodeId> {
        let tree = &explained.session.tree;
        let (leaf, _) = self.resume.leaf.filter(|_| self.resume.halt == Some(LoadFailure::Hangs))?;
        tree.ancestors(leaf).first().copied().filter(|&no| tree.node(no).link == ParentLink::Cut)
    }
}
