//! Where a way is cut into leaves: small enough to be drawn at once, and never between what belongs together.

use std::collections::HashMap;

use rethread_core::entry::Voice;
use rethread_core::tree::{NodeNo, Tree};

use super::way::{Slice, Stop};

/// Entries of a leaf, if they can be parted there.
const ENTRIES: usize = 20;
/// Bytes of a leaf, if they can be parted there.
const BYTES: u64 = 128 << 10;

/// Cuts the nodes of a way into leaves, and says of each stop on which it begins.
pub(super) fn leaves(
    tree: &Tree,
    nodes: &[NodeNo],
    stops: &mut [Stop],
    is_crossing: impl Fn(NodeNo) -> bool,
) -> Vec<Vec<Slice>> {
    let mut leaves: Vec<Vec<Slice>> = vec![Vec::new()];
    let (mut entries, mut bytes) = (0, 0);
    for (no, stop) in stops.iter_mut().enumerate() {
        let mut seams = Seams::of(tree, nodes, stop);
        let mut from = stop.nodes.start;
        for place in stop.nodes.clone() {
            let node = nodes[place];
            let seam = place == stop.nodes.start || seams.is_before(tree, node, place);
            let full = entries >= ENTRIES || bytes >= BYTES;
            if seam && (full || is_crossing(node)) && place > from {
                last(&mut leaves).push(Slice { stop: no, nodes: from..place });
                from = place;
            }
            if seam && full {
                leaves.push(Vec::new());
                (entries, bytes) = (0, 0);
            }
            if place == stop.nodes.start {
                stop.leaf = leaves.len() - 1;
            }
            seams.add(tree, node);
            entries += 1;
            bytes += u64::from(tree.node(node).place.len);
        }
        last(&mut leaves).push(Slice { stop: no, nodes: from..stop.nodes.end });
    }
    leaves.retain(|leaf| !leaf.is_empty());
    leaves
}

fn last(leaves: &mut [Vec<Slice>]) -> &mut Vec<Slice> {
    leaves.last_mut().expect("there is always one leaf")
}

/// Knows within a turn where it may be cut: before an answer, once all before it had its results and no line of an earlier
/// message is still to come. A call whose result comes late is told without it, and the result by itself.
struct Seams {
    /// Where the last line of each message stands.
    ends: HashMap<u32, usize>,
    /// Where the last line of those seen so far stands.
    open: Option<usize>,
    before: Option<Voice>,
}

impl Seams {
    fn of(tree: &Tree, nodes: &[NodeNo], stop: &Stop) -> Seams {
        let places = stop.nodes.clone();
        let ends = places.filter_map(|place| Some((tree.message_of(nodes[place])?, place))).collect();
        Seams { ends, open: None, before: None }
    }

    fn is_before(&self, tree: &Tree, node: NodeNo, place: usize) -> bool {
        let answers = tree.node(node).voice == Voice::Answer && self.open.is_none_or(|open| open < place);
        // Between two answers there may be calls that wait for their results.
        answers && self.before.is_some_and(|voice| voice != Voice::Answer)
    }

    fn add(&mut self, tree: &Tree, node: NodeNo) {
        let end = tree.message_of(node).and_then(|message| self.ends.get(&message).copied());
        self.open = self.open.max(end);
        let voice = tree.node(node).voice;
        if voice != Voice::Link {
            self.before = Some(voice);
        }
    }
}
