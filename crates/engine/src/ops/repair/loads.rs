//! The entries that clients load, before and after a repair.

use std::collections::HashSet;

use rethread_core::id::{Id, IdSet};
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, SkipReason, simulate_resume};
use rethread_core::tree::{NodeId, Tree};
use rethread_core::version::Version;

/// The entries that each of several clients loads and the API accepts.
pub(super) struct ClientLoads {
    by_client: Vec<LoadedEntries>,
    /// The lines of the file that the API refuses from one of the clients.
    refused: HashSet<u32>,
}

#[derive(Default)]
struct LoadedEntries {
    /// The uuid and the line of the file of each entry. Inserted lines have no line.
    entries: Vec<(Id, Option<u32>)>,
    /// The uuids of the entries that a loaded summary replaces.
    compacted: Vec<Id>,
}

/// Returns the measured clients.
pub(super) fn known_clients() -> Vec<Version> {
    KNOWN_CLIENTS.iter().map(|client| Version::parse_lenient(client)).collect()
}

impl ClientLoads {
    /// Simulates a resume with each of `clients`. `file_line` returns the line of the file for a line of the tree.
    pub(super) fn simulate(
        tree: &Tree,
        resume_index: &ResumeIndex,
        clients: &[Version],
        file_line: impl Fn(u32) -> Option<u32>,
    ) -> ClientLoads {
        let mut refused = HashSet::new();
        let load = |client: &Version| {
            let resume = simulate_resume(tree, resume_index, client);
            let rejections = resume.expected_rejections(resume_index);
            let rejected: HashSet<NodeId> = rejections.iter().map(|rejection| rejection.node()).collect();
            refused.extend(rejected.iter().filter_map(|&id| file_line(tree.node(id).span.line)));
            let accepted = resume.path.iter().map(|&id| (id, tree.node(id)));
            let accepted = accepted.filter(|(id, _)| !rejected.contains(id));
            let compacted = resume.skipped.iter().filter(|entry| entry.reason == SkipReason::Compacted);
            LoadedEntries {
                entries: accepted.map(|(_, node)| (node.uuid, file_line(node.span.line))).collect(),
                compacted: compacted.filter_map(|entry| Some(tree.node(entry.node?).uuid)).collect(),
            }
        };
        let by_client = clients.iter().map(load).collect();
        ClientLoads { by_client, refused }
    }

    /// Returns `true` if the API refuses content of the line from one of the clients.
    pub(super) fn is_refused(&self, line: u32) -> bool {
        self.refused.contains(&line)
    }

    /// Returns the uuids of the entries that any of the clients loads.
    pub(super) fn uuids(&self) -> IdSet {
        let entries = self.by_client.iter().flat_map(|loaded| &loaded.entries);
        entries.map(|(uuid, _)| *uuid).collect()
    }

    /// Counts the entries that clients load here and not in `after`, over all clients. An entry is the same if its uuid
    /// or its line is. Entries that a summary replaces in `after`, and lines in `removed`, do not count.
    pub(super) fn count_missing_from(&self, after: &ClientLoads, removed: &HashSet<u32>) -> usize {
        let count_missing = |(before, after): (&LoadedEntries, &LoadedEntries)| {
            let loaded = after.entries.iter().map(|(uuid, _)| *uuid);
            let uuids: HashSet<Id> = loaded.chain(after.compacted.iter().copied()).collect();
            let lines: HashSet<u32> = after.entries.iter().filter_map(|(_, line)| *line).collect();
            let is_missing = |(uuid, line): &&(Id, Option<u32>)| {
                !uuids.contains(uuid)
                    && line.is_none_or(|line| !lines.contains(&line) && !removed.contains(&line))
            };
            before.entries.iter().filter(is_missing).count()
        };
        self.by_client.iter().zip(&after.by_client).map(count_missing).sum()
    }
}
