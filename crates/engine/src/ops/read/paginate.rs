//! Divides a branch into pages that are small enough to be rendered at once.
//!
//! A page break never separates a tool call from its result or the lines of one message, unless they alone are too much
//! for a page.

use std::collections::HashMap;

use rethread_core::entry::EntryRole;
use rethread_core::tree::{NodeId, Tree};

use super::branch_view::{ForkMark, NodeSlice, TurnRef};
use super::result_lines::ResultLines;

/// The number of entries after which a page ends at the next split point.
const PAGE_ENTRIES: usize = 20;
/// The number of bytes after which a page ends at the next split point.
const PAGE_BYTES: u64 = 128 << 10;
/// A page without split points ends when its rendered entries exceed the limits by this factor.
const MAX_FACTOR: usize = 10;
/// The same factor for bytes that are only read: progress of a call may be long, and it is not rendered.
const MAX_READ_FACTOR: u64 = 100;

/// Divides the nodes of a branch into pages, and sets the page of each turn. A slice starts at each fork, or at the last
/// split point before it.
pub(super) fn paginate(
    tree: &Tree,
    nodes: &[NodeId],
    turns: &mut [TurnRef],
    forks: &[ForkMark],
    result_lines: &ResultLines,
) -> Vec<Vec<NodeSlice>> {
    let mut pages: Vec<Vec<NodeSlice>> = vec![Vec::new()];
    let mut forks = forks.iter().map(|fork| fork.position).peekable();
    let mut fill = PageFill::default();
    for (turn_idx, turn) in turns.iter_mut().enumerate() {
        let mut split_points = SplitPoints::new(tree, nodes, turn, result_lines);
        let (mut slice_start, mut last_split) = (turn.nodes.start, turn.nodes.start);
        for position in turn.nodes.clone() {
            let node = nodes[position];
            let can_split =
                position == turn.nodes.start || split_points.can_split_before(tree, node, position);
            let ends_page = can_split && fill.is_full() || fill.exceeds_limit();
            if can_split || ends_page {
                last_split = position;
            }
            let has_fork = std::iter::from_fn(|| forks.next_if(|&fork| fork <= position)).count() > 0;
            if (ends_page || has_fork) && last_split > slice_start {
                last_page(&mut pages).push(NodeSlice { turn_idx, nodes: slice_start..last_split });
                slice_start = last_split;
            }
            if ends_page {
                pages.push(Vec::new());
                fill = PageFill::default();
            }
            if position == turn.nodes.start {
                turn.page = pages.len() - 1;
            }
            split_points.add(tree, node, position);
            fill.add(tree, node);
        }
        last_page(&mut pages).push(NodeSlice { turn_idx, nodes: slice_start..turn.nodes.end });
    }
    pages.retain(|page| !page.is_empty());
    pages
}

/// Returns the last page. Panics if there is none.
fn last_page(pages: &mut [Vec<NodeSlice>]) -> &mut Vec<NodeSlice> {
    pages.last_mut().expect("there is always one page")
}

/// The number of entries and bytes on the current page.
#[derive(Default)]
struct PageFill {
    entries: usize,
    bytes: u64,
    /// The number of entries that are rendered, which excludes structural ones.
    shown: usize,
    shown_bytes: u64,
}

impl PageFill {
    fn add(&mut self, tree: &Tree, node: NodeId) {
        let node = tree.node(node);
        self.entries += 1;
        self.bytes += u64::from(node.span.len);
        if node.role != EntryRole::Structural {
            self.shown += 1;
            self.shown_bytes += u64::from(node.span.len);
        }
    }

    /// Returns `true` if the page should end at the next split point.
    fn is_full(&self) -> bool {
        self.entries >= PAGE_ENTRIES || self.bytes >= PAGE_BYTES
    }

    /// Returns `true` if the page must end even without a split point.
    fn exceeds_limit(&self) -> bool {
        self.shown >= MAX_FACTOR * PAGE_ENTRIES
            || self.shown_bytes >= MAX_FACTOR as u64 * PAGE_BYTES
            || self.bytes >= MAX_READ_FACTOR * PAGE_BYTES
    }
}

/// The split points of a turn: before an answer, a notification or an output, if all earlier calls have their results
/// and all earlier messages are complete.
struct SplitPoints {
    /// For each position in the turn, the position of the last line of the same message or of its result.
    ends: Vec<usize>,
    turn_start: usize,
    /// The last position that belongs to a message or call of the entries added so far.
    open_until: usize,
    /// Whether an entry that is rendered was added.
    has_text: bool,
}

impl SplitPoints {
    /// Finds the last line of each message and the result of each call in the turn.
    fn new(tree: &Tree, nodes: &[NodeId], turn: &TurnRef, result_lines: &ResultLines) -> SplitPoints {
        let positions = || turn.nodes.clone().map(|position| (position, nodes[position]));
        let messages: HashMap<u32, usize> =
            positions().filter_map(|(position, id)| Some((tree.message_of(id)?, position))).collect();
        let results = positions().filter(|&(_, id)| tree.node(id).role == EntryRole::Results);
        let results: HashMap<u32, usize> =
            results.map(|(position, id)| (tree.node(id).span.line, position)).collect();
        let end = |(position, id): (usize, NodeId)| {
            let message = tree.message_of(id).and_then(|message| messages.get(&message).copied());
            let result = result_lines.result_line(tree.node(id).span.line);
            let result = result.and_then(|line| results.get(&line).copied());
            message.max(result).unwrap_or(position)
        };
        SplitPoints {
            ends: positions().map(end).collect(),
            turn_start: turn.nodes.start,
            open_until: 0,
            has_text: false,
        }
    }

    /// Returns `true` if a page may end before `node`, the next entry of the turn, at `position`.
    fn can_split_before(&self, tree: &Tree, node: NodeId, position: usize) -> bool {
        let role = tree.node(node).role;
        self.has_text
            && self.open_until < position
            && matches!(role, EntryRole::Answer | EntryRole::Notification | EntryRole::Output)
    }

    fn add(&mut self, tree: &Tree, node: NodeId, position: usize) {
        self.open_until = self.open_until.max(self.ends[position - self.turn_start]);
        self.has_text |= tree.node(node).role != EntryRole::Structural;
    }
}
