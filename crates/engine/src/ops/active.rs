//! The active path: what the client that wrote the newest line would load.

use rethread_core::resume::{MEASURED, Resume, active_path, resume};
use rethread_core::tree::NodeNo;
use rethread_core::version::Version;

use super::load::Session;

/// What a client loads of a session.
#[derive(Debug, Clone, Default)]
pub struct Active {
    /// The tip it goes on from.
    pub leaf: Option<NodeNo>,
    /// The entries it loads, in order.
    pub nodes: Vec<NodeNo>,
}

impl Session {
    /// Returns the client that wrote the newest line; where no line says so in numbers, the newest that is known.
    pub fn client(&self) -> Version {
        let newest = MEASURED.last().copied().unwrap_or_default();
        let written =
            self.facts.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        Version::read(written.unwrap_or(newest))
    }

    /// Says what a client loads of it.
    pub fn resume(&self, client: &Version) -> Resume {
        resume(&self.tree, &self.facts, client)
    }

    /// Says what the client that wrote the newest line would load. A file of a subagent is never resumed: there it is
    /// the way to the last line that speaks.
    pub fn active(&self) -> Active {
        match active_path(&self.tree, &self.facts, &self.client()) {
            Some((leaf, nodes)) => Active { leaf: Some(leaf), nodes },
            None => self.newest(),
        }
    }

    fn newest(&self) -> Active {
        let leaf = self.tree.newest_tip();
        let steps = leaf.map(|leaf| self.tree.rejoin(&self.tree.context(leaf))).unwrap_or_default();
        Active { leaf, nodes: steps.into_iter().map(|step| step.node).collect() }
    }
}
