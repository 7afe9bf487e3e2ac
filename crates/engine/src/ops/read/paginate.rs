//! Where a way is cut into leaves: small enough to be drawn at once, and never between what belongs together, unless that
//! alone is more than can be drawn.

use std::collections::HashMap;

use rethread_core::entry::EntryRole;
use rethread_core::tree::{NodeId, Tree};

use super::branch_view::{ForkMark, Slice, TurnRef};
use super::result_lines::ResultLines;

/// Entries of a leaf, if they can be parted there.
const ENTRIES: usize = 20;
/// Bytes of a leaf, if they can be parted there.
const BYTES: u64 = 128 << 10;
/// How many times as much of what is drawn a leaf may hold where nothing can be parted.
const MOST: usize = 10;
/// The same for what is only read: progress of a call may be long, and none of it is drawn.
const MOST_READ: u64 = 100;

/// Cuts the nodes of a way into leaves, and says of each stop on which it begins. A slice begins where the way crosses a
/// fork, or, where that is within what belongs together, before it.
pub(super) fn paginate(
    tree: &Tree,
    nodes: &[NodeId],
    stops: &mut [TurnRef],
    passes: &[ForkMark],
    waits: &ResultLines,
) -> Vec<Vec<Slice>> {
    let mut leaves: Vec<Vec<Slice>> = vec![Vec::new()];
    let mut passes = passes.iter().map(|pass| pass.place).peekable();
    let mut load = Load::default();
    for (no, stop) in stops.iter_mut().enumerate() {
        let mut seams = Seams::of(tree, nodes, stop, waits);
        let (mut from, mut seam) = (stop.nodes.start, stop.nodes.start);
        for place in stop.nodes.clone() {
            let node = nodes[place];
            let parts = place == stop.nodes.start || seams.is_before(tree, node, place);
            let ends = parts && load.is_full() || load.is_too_much();
            if parts || ends {
                seam = place;
            }
            let crosses = std::iter::from_fn(|| passes.next_if(|&pass| pass <= place)).count() > 0;
            if (ends || crosses) && seam > from {
                last(&mut leaves).push(Slice { stop: no, nodes: from..seam });
                from = seam;
            }
            if ends {
                leaves.push(Vec::new());
                load = Load::default();
            }
            if place == stop.nodes.start {
                stop.leaf = leaves.len() - 1;
            }
            seams.add(tree, node, place);
            load.add(tree, node);
        }
        last(&mut leaves).push(Slice { stop: no, nodes: from..stop.nodes.end });
    }
    leaves.retain(|leaf| !leaf.is_empty());
    leaves
}

fn last(leaves: &mut [Vec<Slice>]) -> &mut Vec<Slice> {
    leaves.last_mut().expect("there is always one leaf")
}

/// What a leaf holds so far.
#[derive(Default)]
struct Load {
    entries: usize,
    bytes: u64,
    drawn: usize,
    drawn_bytes: u64,
}

impl Load {
    fn add(&mut self, tree: &Tree, node: NodeId) {
        let node = tree.node(node);
        self.entries += 1;
        self.bytes += u64::from(node.place.len);
        if node.voice != EntryRole::Structural {
            self.drawn += 1;
            self.drawn_bytes += u64::from(node.place.len);
        }
    }

    fn is_full(&self) -> bool {
        self.entries >= ENTRIES || self.bytes >= BYTES
    }

    fn is_too_much(&self) -> bool {
        self.drawn >= MOST * ENTRIES
            || self.drawn_bytes >= MOST as u64 * BYTES
            || self.bytes >= MOST_READ * BYTES
    }
}

/// Knows within a turn where it may be cut: before an answer, a notice or an output, where no call waits for its result and no
/// line of an earlier message is still to come.
struct Seams {
    /// By place: where the last line stands that belongs to it.
    ends: Vec<usize>,
    start: usize,
    /// Where the last line stands that belongs to what was seen so far.
    open: usize,
    spoken: bool,
}

impl Seams {
    fn of(tree: &Tree, nodes: &[NodeId], stop: &TurnRef, waits: &ResultLines) -> Seams {
        let places = || stop.nodes.clone().map(|place| (place, nodes[place]));
        let messages: HashMap<u32, usize> =
            places().filter_map(|(place, no)| Some((tree.message_of(no)?, place))).collect();
        let results = places().filter(|&(_, no)| tree.node(no).voice == EntryRole::Results);
        let results: HashMap<u32, usize> =
            results.map(|(place, no)| (tree.node(no).place.line, place)).collect();
        let end = |(place, no): (usize, NodeId)| {
            let message = tree.message_of(no).and_then(|message| messages.get(&message).copied());
            let result = waits.result_of(tree.node(no).place.line);
            let result = result.and_then(|line| results.get(&line).copied());
            message.max(result).unwrap_or(place)
        };
        Seams { ends: places().map(end).collect(), start: stop.nodes.start, open: 0, spoken: false }
    }

    fn is_before(&self, tree: &Tree, node: NodeId, place: usize) -> bool {
        let voice = tree.node(node).voice;
        self.spoken
            && self.open < place
            && matches!(voice, EntryRole::Answer | EntryRole::Notification | EntryRole::Output)
    }

    fn add(&mut self, tree: &Tree, node: NodeId, place: usize) {
        self.open = self.open.max(self.ends[place - self.start]);
        self.spoken |= tree.node(node).voice != EntryRole::Structural;
    }
}
