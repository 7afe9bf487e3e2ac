//! What a compaction keeps: old entries that stay in the context, named by the boundary.
//!
//! Since 2.1.104 a boundary may say `preservedSegment {headUuid, anchorUuid, tailUuid}`, since 2.1.163 also
//! `preservedMessages {anchorUuid, uuids}`. The kept entries stand before the boundary in the file and keep their
//! parents; the client puts them right behind the anchor: the summary, or the boundary itself.

use super::node::NodeNo;
use super::weave::Tree;
use crate::entry::{Text, member, strings};
use crate::id::Id;

/// What a boundary names, before the tree is linked.
#[derive(Debug)]
pub(crate) struct Kept {
    anchor: Id,
    uuids: Vec<Id>,
    /// First and last of a run, where the entries are not listed.
    run: Option<(Id, Id)>,
}

impl Kept {
    /// Reads `compactMetadata`.
    pub(crate) fn read(metadata: &[u8]) -> Option<Kept> {
        let id = |object, name| member(object, name).and_then(Text::of_value).map(Text::id);
        if let Some(messages) = member(metadata, "preservedMessages")
            && let (Some(anchor), Some(uuids)) = (id(messages, "anchorUuid"), member(messages, "uuids"))
        {
            let uuids = strings(uuids).into_iter().map(Text::id).collect();
            return Some(Kept { anchor, uuids, run: None });
        }
        let segment = member(metadata, "preservedSegment")?;
        let run = id(segment, "headUuid").zip(id(segment, "tailUuid"));
        Some(Kept { anchor: id(segment, "anchorUuid")?, uuids: Vec::new(), run })
    }

    /// Finds the anchor and the kept entries in the tree.
    pub(crate) fn resolve(&self, tree: &Tree) -> Option<(NodeNo, Vec<NodeNo>)> {
        let anchor = tree.find(self.anchor)?;
        let mut kept: Vec<NodeNo> = self.uuids.iter().filter_map(|id| tree.find(*id)).collect();
        if let Some((head, tail)) = self.run
            && let (Some(head), Some(tail)) = (tree.find(head), tree.find(tail))
        {
            let walk = tree.walk(tail);
            let from = walk.iter().position(|&no| no == head)?;
            kept = walk[from..].to_vec();
        }
        Some((anchor, kept))
    }
}

impl Tree {
    /// Walks to `tip` from the last compaction, with the old entries that it kept behind their anchor.
    pub fn context(&self, tip: NodeNo) -> Vec<NodeNo> {
        let walk = self.walk(tip);
        if self.kept.is_empty() {
            return walk;
        }
        let mut told: std::collections::HashSet<NodeNo> = walk.iter().copied().collect();
        let mut context = Vec::with_capacity(walk.len());
        for no in walk {
            context.push(no);
            let kept = self.kept.iter().filter(|(anchor, _)| *anchor == no).flat_map(|(_, kept)| kept);
            context.extend(kept.copied().filter(|no| told.insert(*no)));
        }
        context
    }
}
