//! The usage of one file by tree node.

use super::dedupe::{UniqueResponse, dedupe_responses};
use super::file_usage::UsageCollector;
use crate::entry::{Entry, EntryRole, Timestamp, Usage};
use crate::tree::{EntryVisitor, LineSpan, NodeId};

/// Collects the responses of one file and the nodes at which they begin.
#[derive(Debug, Default)]
pub struct UsageByNode {
    collector: UsageCollector,
    /// The first node of each response. `None` until a line of it is in the tree.
    first_nodes: Vec<Option<NodeId>>,
    node_count: NodeId,
}

impl UsageByNode {
    /// Adds the next line of the file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let node = entry.uuid.map(|_| self.node_count);
        self.node_count += NodeId::from(node.is_some());
        if let Some(response_idx) = self.collector.add(entry) {
            self.first_nodes.resize(self.first_nodes.len().max(response_idx + 1), None);
            self.first_nodes[response_idx] = self.first_nodes[response_idx].or(node);
        }
    }

    /// Returns the first node and the usage of each response that has a line in the tree.
    pub fn usage_by_node(self) -> impl Iterator<Item = (NodeId, Usage)> {
        let responses = dedupe_responses(&[self.collector.finish()]);
        responses
            .into_iter()
            .filter_map(move |unique| Some((self.first_nodes[unique.response_idx as usize]?, unique.usage)))
    }

    /// Calls `visit` once per response with its first node, its model, its time and the response itself.
    ///
    /// Skips responses without a line in the tree.
    pub fn for_each_response(self, mut visit: impl FnMut(NodeId, &str, Option<Timestamp>, &UniqueResponse)) {
        let files = [self.collector.finish()];
        for unique in dedupe_responses(&files) {
            let (file, response) = unique.find_origin(&files);
            if let Some(node) = self.first_nodes[unique.response_idx as usize] {
                visit(node, file.model(response), response.time, &unique);
            }
        }
    }
}

impl EntryVisitor for UsageByNode {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        self.add(entry);
    }
}
