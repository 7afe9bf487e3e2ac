//! The active path: what the client that wrote the newest line would load.

use rethread_core::resume::{KNOWN_CLIENTS, ResumeOutcome, active_path, simulate_resume};
use rethread_core::tree::NodeId;
use rethread_core::version::Version;

use super::load::Session;

/// What a client loads of a session.
#[derive(Debug, Clone, Default)]
pub struct ActivePath {
    /// The tip it goes on from.
    pub leaf: Option<NodeId>,
    /// The entries it loads, in order.
    pub nodes: Vec<NodeId>,
}

impl Session {
    /// Returns the client that wrote the newest line; where no line says so in numbers, the newest that is known.
    pub fn client(&self) -> Version {
        let newest = KNOWN_CLIENTS.last().copied().unwrap_or_default();
        let written =
            self.facts.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        Version::read(written.unwrap_or(newest))
    }

    /// Says what a client loads of it.
    pub fn resume(&self, client: &Version) -> ResumeOutcome {
        simulate_resume(&self.tree, &self.facts, client)
    }

    /// Says what the client that wrote the newest line would load. A file of a subagent is never resumed: there it is
    /// the way to the last line that speaks.
    pub fn active(&self) -> ActivePath {
        match active_path(&self.tree, &self.facts, &self.client()) {
            Some((leaf, nodes)) => ActivePath { leaf: Some(leaf), nodes },
            None => self.newest(),
        }
    }

    fn newest(&self) -> ActivePath {
        let leaf = self.tree.newest_tip();
        let steps =
            leaf.map(|leaf| self.tree.with_parallel_calls(&self.tree.context_path(leaf))).unwrap_or_default();
        ActivePath { leaf, nodes: steps.into_iter().map(|step| step.node).collect() }
    }
}
