//! The active path: the entries that the client of the newest line would load.

use rethread_core::resume::{
    KNOWN_CLIENTS, ResumeIndex, ResumeOutcome, TrailingEntries, active_path, active_path_at, simulate_resume,
};
use rethread_core::tree::{Conversation, NodeId, Tree};
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
        find_client(&self.resume_index)
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
            None => self.tree.newest_tip().map(|tip| self.tree_path_to(tip)).unwrap_or_default(),
        }
    }

    /// Returns the path that the client of the newest line would load if it resumed from `leaf`.
    ///
    /// If the client cannot resume from it, returns the path in the tree.
    pub(crate) fn path_to(&self, leaf: NodeId) -> ActivePath {
        match active_path_at(&self.tree, &self.resume_index, &self.client(), leaf, TrailingEntries::All) {
            Some(nodes) => ActivePath { leaf: Some(leaf), nodes },
            None => self.tree_path_to(leaf),
        }
    }

    /// Returns the path to an entry by the links of the tree, from the last compaction on.
    fn tree_path_to(&self, leaf: NodeId) -> ActivePath {
        let steps = self.tree.with_parallel_calls(&self.tree.context_path(leaf));
        ActivePath { leaf: Some(leaf), nodes: steps.into_iter().map(|step| step.node).collect() }
    }

    /// Returns the conversation that ends with a path: also its entries before a compaction.
    pub(crate) fn conversation(&self, path: &ActivePath) -> Conversation {
        path.leaf.map(|leaf| self.tree.conversation(leaf, &path.nodes)).unwrap_or_default()
    }
}

impl ActivePath {
    /// Returns the entry that the conversation continues after: the last one that is not structural. `None` if the session
    /// has no entries.
    pub fn resume_point(&self, tree: &Tree) -> Option<NodeId> {
        self.leaf.map(|leaf| tree.resume_point(leaf))
    }
}

/// Returns the client that wrote the newest line. Returns the newest known client if no line has a numeric version.
pub(crate) fn find_client(resume_index: &ResumeIndex) -> Version {
    let newest = KNOWN_CLIENTS.last().copied().unwrap_or_default();
    let version = resume_index.version().filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    Version::parse_lenient(version.unwrap_or(newest))
}
