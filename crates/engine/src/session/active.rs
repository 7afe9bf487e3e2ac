//! The active path: the entries that the client of the newest line would load.

use rethread_core::resume::{KNOWN_CLIENTS, ResumeOutcome, active_path, simulate_resume};
use rethread_core::tree::NodeId;
use rethread_core::version::Version;

use super::load::Session;

/// The entries that a client loads from a session.
#[derive(Debug, Clone, Default)]
pub struct ActivePath {
    /// The entry from which it resumes. `None` if the session has no entries.
    pub leaf: Option<NodeId>,
    /// The loaded entries, root first.
    pub nodes: Vec<NodeId>,
}

impl Session {
    /// Returns the client that wrote the newest line. Returns the newest known client if no line has a numeric version.
    pub fn client(&self) -> Version {
        let newest = KNOWN_CLIENTS.last().copied().unwrap_or_default();
        let version =
            self.resume_index.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        Version::parse_lenient(version.unwrap_or(newest))
    }

    /// Predicts the entries that `client` loads and the blocks that it sends when it resumes the session.
    pub fn simulate_resume(&self, client: &Version) -> ResumeOutcome {
        simulate_resume(&self.tree, &self.resume_index, client)
    }

    /// Returns the path that the client of the newest line would load.
    ///
    /// If the client would load nothing, as from the file of a subagent, returns the path to the newest tip.
    pub fn active_path(&self) -> ActivePath {
        match active_path(&self.tree, &self.resume_index, &self.client()) {
            Some((leaf, nodes)) => ActivePath { leaf: Some(leaf), nodes },
            None => self.newest_path(),
        }
    }

    /// Returns the path to the newest tip, from the last compaction on.
    fn newest_path(&self) -> ActivePath {
        let leaf = self.tree.newest_tip();
        let steps =
            leaf.map(|leaf| self.tree.with_parallel_calls(&self.tree.context_path(leaf))).unwrap_or_default();
        ActivePath { leaf, nodes: steps.into_iter().map(|step| step.node).collect() }
    }
}
