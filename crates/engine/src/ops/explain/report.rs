//! The result of resuming a session with one client: the entries that it loads, omits and adds.

use std::sync::Arc;

use rethread_core::entry::{EntryRole, Kind};
use rethread_core::resume::{
    ApiRejection, BlockOrigin, KNOWN_CLIENTS, LoadFailure, MessageRole, ResumeOutcome, SkipReason,
    SyntheticBlock, have_same_rules, simulate_by_summary,
};
use rethread_core::tree::{NodeId, ParentLink};
use rethread_core::version::Version;

use super::Explanation;
use crate::session::load::Session;

/// The result of resuming a session with one client.
#[derive(Debug, Clone)]
pub struct ClientVerdict {
    /// The client. `None` for a reader that resumes from the last summary.
    pub client: Option<Version>,
    /// The measured client that defines the rules of the simulation. `None` if `client` is `None`.
    pub rules_of: Option<&'static str>,
    /// The entries that the client loads, sends and skips. Consecutive clients share equal outcomes.
    pub resume: Arc<ResumeOutcome>,
    /// The number of turns that start with a sent entry.
    pub turns: usize,
    /// The estimated number of tokens of the context.
    pub tokens: u64,
    /// The content of the next request that the API will reject.
    pub rejections: Vec<ApiRejection>,
    /// Whether the client cannot load the session, or loses entries that the user did not leave.
    is_loss: bool,
}

/// The fate of an entry in a resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryFate {
    /// The entry is sent to the model.
    Loaded,
    /// A compaction summary replaces it.
    Compacted,
    /// The client could reach it, but does not send it.
    Omitted,
    /// The client cannot reach it.
    Lost,
}

impl EntryFate {
    fn from_reason(reason: SkipReason) -> EntryFate {
        match reason {
            _ if reason.is_loss() => EntryFate::Lost,
            SkipReason::Compacted => EntryFate::Compacted,
            _ => EntryFate::Omitted,
        }
    }
}

/// The compaction with which the loaded entries start.
#[derive(Debug, Default)]
pub struct LoadedCompaction {
    /// The boundary entry. `None` if the compaction has only a summary.
    pub boundary: Option<NodeId>,
    /// The summary that the model sees. `None` if the loaded entries contain none.
    pub summary: Option<NodeId>,
    /// The entries before the boundary that are still sent.
    pub preserved: Vec<NodeId>,
    /// The number of entries that the summary replaces.
    pub entries: usize,
    /// The number of turns that start in them.
    pub turns: usize,
}

/// A block that is in no line of the file. The client adds it to the request.
#[derive(Debug, Clone, Copy)]
pub struct AddedBlock {
    /// The kind of block.
    pub block: SyntheticBlock,
    /// The role of its message.
    pub role: MessageRole,
    /// The entry that is sent before it. `None` if the block is the first one.
    pub after: Option<NodeId>,
}

/// Lines that the client could reach but does not send, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedLines {
    /// The reason.
    pub reason: SkipReason,
    /// The line numbers.
    pub lines: Vec<u32>,
}

impl Session {
    /// Simulates a resume with `client`. `None` simulates a reader that resumes from the last summary.
    pub fn verdict(&self, client: Option<Version>) -> ClientVerdict {
        let resume = match &client {
            Some(client) => self.simulate_resume(client),
            None => simulate_by_summary(&self.tree, &self.resume_index),
        };
        let mut is_sent = vec![false; self.tree.nodes().len()];
        // A queued prompt is an attachment, and a command may be a system line. Both belong to a message that is sent.
        let is_message = |id: NodeId| matches!(self.tree.node(id).kind, Kind::User | Kind::Assistant);
        let other_entries = resume.chain.iter().filter(|&&id| !is_message(id));
        for &id in resume.path.iter().chain(other_entries) {
            is_sent[self.tree.original(id) as usize] = true;
        }
        let rules_of = client.as_ref().map(closest_known_client);
        ClientVerdict {
            turns: self.tree.turn_starts().filter(|&id| is_sent[id as usize]).count(),
            tokens: resume.estimate_tokens(&self.resume_index),
            rejections: resume.expected_rejections(&self.resume_index),
            // No client resumes the file of a subagent.
            is_loss: self.is_unreadable() || !self.is_agent_file() && resume.has_unintended_loss(),
            client,
            rules_of,
            resume: Arc::new(resume),
        }
    }
}

/// Simulates a resume with each client, in the order of their versions. Clients in a row share equal outcomes, because an
/// outcome is as long as the session, and those with the same rules are simulated once.
pub(super) fn build_verdicts(session: &Session, clients: Vec<Option<Version>>) -> Vec<ClientVerdict> {
    let mut verdicts: Vec<ClientVerdict> = Vec::with_capacity(clients.len());
    for client in clients {
        let is_equal = |previous: &&ClientVerdict| {
            previous.client.as_ref().zip(client.as_ref()).is_some_and(|(a, b)| have_same_rules(a, b))
        };
        let verdict = match verdicts.last().filter(is_equal) {
            Some(previous) => ClientVerdict {
                rules_of: client.as_ref().map(closest_known_client),
                client,
                ..previous.clone()
            },
            None => {
                let mut verdict = session.verdict(client);
                if let Some(previous) = verdicts.last().filter(|previous| previous.resume == verdict.resume) {
                    verdict.resume = Arc::clone(&previous.resume);
                }
                verdict
            }
        };
        verdicts.push(verdict);
    }
    verdicts
}

/// Returns `true` if the chain of parents from the leaf ends at a broken link.
fn is_chain_broken(resume: &ResumeOutcome) -> bool {
    resume.early_end.is_some_and(|end| end.reason.is_loss())
}

/// Returns the newest measured client that is not newer than `client`, or the oldest measured one.
pub(super) fn closest_known_client(client: &Version) -> &'static str {
    let not_newer =
        KNOWN_CLIENTS.iter().rev().find(|known| Version::parse_lenient(known).numbers() <= client.numbers());
    not_newer.or(KNOWN_CLIENTS.first()).copied().unwrap_or_default()
}

impl ClientVerdict {
    /// Returns `true` if the client cannot load the session, or if entries are lost that the user did not leave.
    pub fn is_loss(&self) -> bool {
        self.is_loss
    }

    /// Returns `true` if the chain of parents from the leaf ends early, at a broken link.
    pub fn is_chain_broken(&self) -> bool {
        is_chain_broken(&self.resume)
    }

    /// Returns the number of entries with the given fate.
    pub fn count(&self, fate: EntryFate) -> usize {
        match fate {
            EntryFate::Loaded => self.resume.loaded,
            fate => self
                .resume
                .skipped
                .iter()
                .filter(|skipped| EntryFate::from_reason(skipped.reason) == fate)
                .count(),
        }
    }

    /// Returns the fate of each entry, in file order.
    pub fn entry_fates(&self, explanation: &Explanation) -> Vec<EntryFate> {
        let line = |id: NodeId| explanation.session.tree.node(id).span.line;
        let loaded = self.resume.path.iter().map(|&id| (line(id), EntryFate::Loaded));
        let not_sent =
            self.resume.skipped.iter().map(|skipped| (skipped.line, EntryFate::from_reason(skipped.reason)));
        let mut fates: Vec<(u32, EntryFate)> = loaded.chain(not_sent).collect();
        fates.sort_by_key(|(line, _)| *line);
        fates.into_iter().map(|(_, fate)| fate).collect()
    }

    /// Groups the lines that the client could reach but does not send by reason, in the order of the first line.
    pub fn omitted_lines(&self) -> Vec<OmittedLines> {
        let mut groups: Vec<OmittedLines> = Vec::new();
        for skipped in self
            .resume
            .skipped
            .iter()
            .filter(|skipped| EntryFate::from_reason(skipped.reason) == EntryFate::Omitted)
        {
            match groups.iter_mut().find(|group| group.reason == skipped.reason) {
                Some(group) => group.lines.push(skipped.line),
                None => groups.push(OmittedLines { reason: skipped.reason, lines: vec![skipped.line] }),
            }
        }
        groups
    }

    /// Returns the compaction with which the loaded entries start. Returns `None` if they start without one.
    pub fn find_compaction(&self, explanation: &Explanation) -> Option<LoadedCompaction> {
        let tree = &explanation.session.tree;
        let chain = &self.resume.chain;
        let start = chain.iter().rposition(|&id| tree.node(id).role == EntryRole::CompactBoundary);
        let start = start
            .or_else(|| chain.iter().rposition(|&id| tree.node(id).role == EntryRole::CompactSummary))?;
        let first = chain[start];
        let summary =
            chain[start..].iter().copied().find(|&id| tree.node(id).role == EntryRole::CompactSummary);
        let compacted_entries =
            self.resume.skipped.iter().filter(|skipped| skipped.reason == SkipReason::Compacted);
        let nodes: Vec<NodeId> = compacted_entries.filter_map(|skipped| skipped.node).collect();
        Some(LoadedCompaction {
            boundary: Some(first).filter(|&id| tree.node(id).role == EntryRole::CompactBoundary),
            summary,
            preserved: self.resume.path.iter().copied().filter(|&id| id < first).collect(),
            entries: nodes.len(),
            turns: nodes.iter().filter(|&&id| tree.turn_of(id) == Some(id)).count(),
        })
    }

    /// Returns the blocks that the client sends although no line contains them, in the order of sending.
    pub fn added_blocks(&self) -> Vec<AddedBlock> {
        let mut after = None;
        let mut added = Vec::new();
        for sent in &self.resume.sent {
            match sent.origin {
                BlockOrigin::Block(id, _) => after = Some(id),
                BlockOrigin::Synthetic(block, _) => {
                    added.push(AddedBlock { block, role: sent.role, after });
                }
            }
        }
        added
    }

    /// Returns the entry with the parent link that closes a cycle. Returns `None` unless the client follows it forever.
    pub fn cycle_entry(&self, explanation: &Explanation) -> Option<NodeId> {
        let tree = &explanation.session.tree;
        let (leaf, _) = self.resume.leaf.filter(|_| self.resume.failure == Some(LoadFailure::Hangs))?;
        tree.ancestors(leaf).first().copied().filter(|&id| tree.node(id).link == ParentLink::CycleBroken)
    }
}
