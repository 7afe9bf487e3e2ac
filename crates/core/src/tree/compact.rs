//! Entries that a compaction preserves: old entries that stay in the context, named by the boundary.
//!
//! Since 2.1.104 a boundary may contain `preservedSegment {headUuid, anchorUuid, tailUuid}`, since 2.1.163 also
//! `preservedMessages {anchorUuid, uuids}`. The preserved entries precede the boundary in the file and keep
//! their parents. The client inserts them right after the anchor, which is the summary or the boundary itself.

use std::collections::{HashMap, HashSet};

use super::builder::Tree;
use super::node::NodeId;
use crate::entry::{JsonStr, find_member, list_strings};
use crate::id::Id;

/// The uuids of the entries that a compaction boundary preserves. At least one field is set.
#[derive(Debug, Clone)]
pub(crate) struct PreservedEntries {
    /// `preservedMessages`: the anchor, and all preserved entries in order.
    pub(crate) messages: Option<(Id, Vec<Id>)>,
    /// `preservedSegment`: the anchor, the first and the last preserved entry.
    pub(crate) segment: Option<(Id, Id, Id)>,
}

impl PreservedEntries {
    /// Parses `compactMetadata`. Returns `None` if it names no preserved entries, or names them without an anchor.
    pub(crate) fn from_metadata(metadata: &[u8]) -> Option<PreservedEntries> {
        let id = |object, name| find_member(object, name).and_then(JsonStr::from_value).map(JsonStr::to_id);
        let preserved_messages = find_member(metadata, "preservedMessages").and_then(|messages| {
            let uuids =
                list_strings(find_member(messages, "uuids")?).into_iter().map(JsonStr::to_id).collect();
            Some((id(messages, "anchorUuid")?, uuids))
        });
        let preserved_segment = find_member(metadata, "preservedSegment").and_then(|segment| {
            Some((id(segment, "anchorUuid")?, id(segment, "headUuid")?, id(segment, "tailUuid")?))
        });
        (preserved_messages.is_some() || preserved_segment.is_some())
            .then_some(PreservedEntries { messages: preserved_messages, segment: preserved_segment })
    }

    /// Returns the uuid of the entry after which the preserved entries are inserted.
    fn anchor(&self) -> Id {
        let anchor = self.messages.as_ref().map(|(anchor, _)| *anchor);
        anchor.or(self.segment.map(|(anchor, ..)| anchor)).unwrap_or(Id::NIL)
    }

    /// Finds the anchor and the preserved entries in the tree. Entries that are not in the file are omitted; a segment
    /// without its first or last entry is omitted as a whole.
    ///
    /// Returns `None` if the anchor is missing or the ends of the segment are not connected.
    pub(crate) fn resolve(&self, tree: &Tree) -> Option<(NodeId, Vec<NodeId>)> {
        if let Some((anchor, uuids)) = &self.messages {
            return Some((
                tree.find_uuid(*anchor)?,
                uuids.iter().filter_map(|id| tree.find_uuid(*id)).collect(),
            ));
        }
        let (anchor, head, tail) = self.segment?;
        let anchor = tree.find_uuid(anchor)?;
        if tree.find_uuid(head).is_none() || tree.find_uuid(tail).is_none() {
            return Some((anchor, Vec::new()));
        }
        Some((anchor, self.find_segment_nodes(tree)?))
    }

    /// Finds the entries of the preserved segment, in order.
    ///
    /// Returns `None` if there is no segment, an end is not in the file, or its first entry is no ancestor of its last.
    pub(crate) fn find_segment_nodes(&self, tree: &Tree) -> Option<Vec<NodeId>> {
        let (_, head, tail) = self.segment?;
        let (head, mut path) = (tree.find_uuid(head)?, tree.ancestors(tree.find_uuid(tail)?));
        let from = path.iter().position(|&node_id| node_id == head)?;
        Some(path.split_off(from))
    }
}

impl Tree {
    /// Returns the ancestors of `tip` and `tip` itself, root first, with preserved entries inserted after their anchors.
    ///
    /// A compaction boundary is usually a root, so the path starts at the last compaction.
    pub fn context_path(&self, tip: NodeId) -> Vec<NodeId> {
        let path = self.ancestors(tip);
        if self.boundaries.is_empty() {
            return path;
        }
        let mut included: HashSet<NodeId> = path.iter().copied().collect();
        let mut preserved: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (_, entries) in &self.boundaries {
            if self.find_uuid(entries.anchor()).is_some_and(|anchor| included.contains(&anchor))
                && let Some((anchor, entries)) = entries.resolve(self)
            {
                preserved.entry(anchor).or_default().extend(entries);
            }
        }
        let mut context = Vec::with_capacity(path.len());
        for node_id in path {
            context.push(node_id);
            let preserved = preserved.get(&node_id).into_iter().flatten();
            context.extend(preserved.copied().filter(|node_id| included.insert(*node_id)));
        }
        context
    }
}
