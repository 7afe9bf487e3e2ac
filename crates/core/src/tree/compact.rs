//! What a compaction keeps: old entries that stay in the context, named by the boundary.
//!
//! Since 2.1.104 a boundary may say `preservedSegment {headUuid, anchorUuid, tailUuid}`, since 2.1.163 also
//! `preservedMessages {anchorUuid, uuids}`. The kept entries stand before the boundary in the file and keep their
//! parents; the client puts them right behind the anchor: the summary, or the boundary itself.

use std::collections::{HashMap, HashSet};

use super::builder::Tree;
use super::node::NodeId;
use crate::entry::{JsonStr, member, strings};
use crate::id::Id;

/// What a boundary names.
#[derive(Debug, Clone)]
pub(crate) struct PreservedEntries {
    /// `preservedMessages`: the anchor and every entry.
    pub(crate) list: Option<(Id, Vec<Id>)>,
    /// `preservedSegment`: the anchor, the first and the last entry of a run.
    pub(crate) run: Option<(Id, Id, Id)>,
}

impl PreservedEntries {
    /// Reads `compactMetadata`.
    pub(crate) fn read(metadata: &[u8]) -> Option<PreservedEntries> {
        let id = |object, name| member(object, name).and_then(JsonStr::of_value).map(JsonStr::id);
        let list = member(metadata, "preservedMessages").and_then(|messages| {
            let uuids = strings(member(messages, "uuids")?).into_iter().map(JsonStr::id).collect();
            Some((id(messages, "anchorUuid")?, uuids))
        });
        let run = member(metadata, "preservedSegment").and_then(|segment| {
            Some((id(segment, "anchorUuid")?, id(segment, "headUuid")?, id(segment, "tailUuid")?))
        });
        (list.is_some() || run.is_some()).then_some(PreservedEntries { list, run })
    }

    /// Returns the entry behind which the kept ones come.
    fn anchor(&self) -> Id {
        let listed = self.list.as_ref().map(|(anchor, _)| *anchor);
        listed.or(self.run.map(|(anchor, ..)| anchor)).unwrap_or(Id::NIL)
    }

    /// Finds the anchor and the kept entries in the tree.
    pub(crate) fn resolve(&self, tree: &Tree) -> Option<(NodeId, Vec<NodeId>)> {
        if let Some((anchor, uuids)) = &self.list {
            return Some((tree.find(*anchor)?, uuids.iter().filter_map(|id| tree.find(*id)).collect()));
        }
        let (anchor, head, tail) = self.run?;
        let anchor = tree.find(anchor)?;
        if tree.find(head).is_none() || tree.find(tail).is_none() {
            return Some((anchor, Vec::new()));
        }
        Some((anchor, self.run_in(tree)?))
    }

    /// Finds the entries of the run that was kept, the first one first.
    pub(crate) fn run_in(&self, tree: &Tree) -> Option<Vec<NodeId>> {
        let (_, head, tail) = self.run?;
        let (head, mut walk) = (tree.find(head)?, tree.ancestors(tree.find(tail)?));
        let from = walk.iter().position(|&no| no == head)?;
        Some(walk.split_off(from))
    }
}

impl Tree {
    /// Walks to `tip` from the last compaction, with the old entries that it kept behind their anchor.
    pub fn context_path(&self, tip: NodeId) -> Vec<NodeId> {
        let walk = self.ancestors(tip);
        if self.boundaries.is_empty() {
            return walk;
        }
        let mut told: HashSet<NodeId> = walk.iter().copied().collect();
        let mut kept: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (_, named) in &self.boundaries {
            if self.find(named.anchor()).is_some_and(|anchor| told.contains(&anchor))
                && let Some((anchor, entries)) = named.resolve(self)
            {
                kept.entry(anchor).or_default().extend(entries);
            }
        }
        let mut context = Vec::with_capacity(walk.len());
        for no in walk {
            context.push(no);
            let kept = kept.get(&no).into_iter().flatten();
            context.extend(kept.copied().filter(|no| told.insert(*no)));
        }
        context
    }
}
