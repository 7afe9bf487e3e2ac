//! Writes the rows from top to bottom: at each fork first the other branches, indented, then the main branch.

use super::layout::OutlineTree;
use super::row::{OutlineItem, OutlineRow};
use super::visibility::{RowVisibility, Visibility};
use crate::tree::conversation::PathRelation;
use crate::tree::node::NONE;

/// The numbers of rows, turns and rows without children in a subtree, its root included.
#[derive(Debug, Clone, Copy, Default)]
struct SubtreeCounts {
    rows: usize,
    turns: usize,
    tips: usize,
}

impl SubtreeCounts {
    fn add_counts(&mut self, other: SubtreeCounts) {
        self.rows += other.rows;
        self.turns += other.turns;
        self.tips += other.tips;
    }

    fn to_gap(self) -> OutlineItem {
        OutlineItem::Gap { turns: self.turns, rows: self.rows, tips: self.tips }
    }
}

/// A row that is still to be written, and its position.
#[derive(Clone, Copy)]
struct PendingItem {
    content: PendingContent,
    depth: usize,
    forks_off: bool,
    parent: Option<usize>,
}

#[derive(Clone, Copy)]
enum PendingContent {
    Row(u32),
    Gap(SubtreeCounts, PathRelation),
}

/// Returns the visible rows and gaps in order, and the output index of each layout row, `NONE` if it is hidden.
pub(super) fn write_rows(layout: &OutlineTree, visibility: &RowVisibility) -> (Vec<OutlineRow>, Vec<u32>) {
    let counts = count_subtrees(layout);
    let mut writer = RowWriter {
        layout,
        visibility,
        counts: &counts,
        rows: Vec::new(),
        row_numbers: vec![NONE; layout.rows.len()],
        pending: Vec::new(),
    };
    match visibility.top {
        Some((top, turns, rows)) => {
            let position =
                PendingItem { content: PendingContent::Row(top), depth: 0, forks_off: false, parent: None };
            let relation = layout.rows[top as usize].relation;
            let parent = (rows > 0)
                .then(|| writer.write_gap(SubtreeCounts { rows, turns, tips: 0 }, relation, position));
            writer.write_subtree(top, parent);
        }
        None => {
            for root in (0..layout.rows.len() as u32).filter(|&row| layout.parents[row as usize] == NONE) {
                writer.write_subtree(root, None);
            }
        }
    }
    (writer.rows, writer.row_numbers)
}

/// Counts the subtree of each row.
fn count_subtrees(layout: &OutlineTree) -> Vec<SubtreeCounts> {
    let mut counts = vec![SubtreeCounts::default(); layout.rows.len()];
    for row_idx in (0..layout.rows.len()).rev() {
        counts[row_idx].rows += 1;
        counts[row_idx].turns += usize::from(matches!(layout.rows[row_idx].item, OutlineItem::Turn(_)));
        if layout.children(row_idx as u32).is_empty() {
            counts[row_idx].tips = 1;
        }
        if let Some(parent) = Some(layout.parents[row_idx]).filter(|&parent| parent != NONE) {
            let subtree = counts[row_idx];
            counts[parent as usize].add_counts(subtree);
        }
    }
    counts
}

struct RowWriter<'p> {
    layout: &'p OutlineTree,
    visibility: &'p RowVisibility,
    counts: &'p [SubtreeCounts],
    rows: Vec<OutlineRow>,
    row_numbers: Vec<u32>,
    pending: Vec<PendingItem>,
}

impl RowWriter<'_> {
    /// Writes the layout row `root` and everything below it. `parent` is the index of the output row above it.
    fn write_subtree(&mut self, root: u32, parent: Option<usize>) {
        self.pending.push(PendingItem {
            content: PendingContent::Row(root),
            depth: 0,
            forks_off: false,
            parent,
        });
        while let Some(pending) = self.pending.pop() {
            match pending.content {
                PendingContent::Gap(count, relation) => {
                    self.write_gap(count, relation, pending);
                }
                PendingContent::Row(row) => self.write_row(row, pending),
            }
        }
    }

    /// Writes a gap for hidden rows and returns its output index. `relation` is that of the rows around it.
    fn write_gap(&mut self, count: SubtreeCounts, relation: PathRelation, position: PendingItem) -> usize {
        let PendingItem { depth, forks_off, parent, .. } = position;
        self.rows.push(OutlineRow { parent, depth, forks_off, ..OutlineRow::new(count.to_gap(), relation) });
        self.rows.len() - 1
    }

    /// Writes a layout row, or a gap and the first row that is not skipped below it, and schedules its children.
    fn write_row(&mut self, row: u32, mut pending: PendingItem) {
        let (mut layout_row, mut skipped) = (row, SubtreeCounts::default());
        while self.visibility.rows[layout_row as usize] == Visibility::Skipped
            && let [child] = self.layout.children(layout_row)
        {
            skipped.rows += 1;
            skipped.turns += 1;
            layout_row = *child;
        }
        if skipped.rows > 0 {
            pending.parent = Some(self.write_gap(skipped, self.layout.rows[row as usize].relation, pending));
            pending.forks_off = false;
        }
        let row_number = self.rows.len();
        self.row_numbers[layout_row as usize] = row_number as u32;
        let planned = self.layout.rows[layout_row as usize].clone();
        self.rows.push(OutlineRow {
            parent: pending.parent,
            depth: pending.depth,
            forks_off: pending.forks_off,
            ..planned
        });
        self.push_children(layout_row, row_number, pending.depth);
    }

    /// Schedules the children of a row, which has the output index `row_number`.
    ///
    /// The main branch, on the active path or else the largest one, is written last. Hidden children become gaps.
    fn push_children(&mut self, row: u32, row_number: usize, depth: usize) {
        let children = self.layout.children(row);
        let is_hidden = |child: &u32| self.visibility.rows[*child as usize] == Visibility::Hidden;
        let priority = |child: &&u32| {
            (!is_hidden(child), self.layout.on_path[**child as usize], self.counts[**child as usize].rows)
        };
        let Some(&main) = children.iter().max_by_key(priority) else { return };
        let parent = Some(row_number);
        if is_hidden(&main) {
            let mut count = SubtreeCounts::default();
            children.iter().for_each(|&child| count.add_counts(self.counts[child as usize]));
            let content = PendingContent::Gap(count, self.layout.rows[main as usize].relation);
            self.pending.push(PendingItem { content, depth, forks_off: false, parent });
            return;
        }
        self.pending.push(PendingItem {
            content: PendingContent::Row(main),
            depth,
            forks_off: false,
            parent,
        });
        let mut contents: Vec<PendingContent> = Vec::new();
        for child in children.iter().filter(|&&child| child != main) {
            match (is_hidden(child), contents.last_mut()) {
                (true, Some(PendingContent::Gap(count, _))) => count.add_counts(self.counts[*child as usize]),
                (true, _) => contents
                    .push(PendingContent::Gap(self.counts[*child as usize], PathRelation::OtherBranch)),
                (false, _) => contents.push(PendingContent::Row(*child)),
            }
        }
        let contents = contents.into_iter().rev().map(|content| PendingItem {
            content,
            depth: depth + 1,
            forks_off: true,
            parent,
        });
        self.pending.extend(contents);
    }
}
