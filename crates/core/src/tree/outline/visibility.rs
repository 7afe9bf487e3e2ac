//! Chooses which rows are hidden: the middle of long runs, most of many branches, rows far from the requested entry.

use super::layout::OutlineTree;
use super::row::{OutlineItem, OutlineOptions};
use crate::tree::node::NONE;

/// Rows shown at both ends of a run.
const RUN_END_ROWS: usize = 2;
/// The smallest number of rows that is worth hiding.
const MIN_HIDDEN_ROWS: usize = 3;
/// The largest number of branches of one fork that are all shown.
const MAX_BRANCHES: usize = 40;
/// If there are more, the number of branches shown at both ends.
const END_BRANCHES: usize = 12;
/// Rows shown above and below the requested entry.
const ROWS_ABOVE: usize = 4;
const ROWS_BELOW: u32 = 6;

/// Whether a row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// The row is shown.
    Shown,
    /// The row is hidden, but the one row below it may be shown.
    Skipped,
    /// The row and everything below it is hidden.
    Hidden,
}

/// The visibility of each row of a layout.
#[derive(Debug)]
pub(super) struct RowVisibility {
    pub(super) rows: Vec<Visibility>,
    /// The index of the first row to show, and the numbers of turns and of rows above it. `None` to start at all roots.
    pub(super) top: Option<(u32, usize, usize)>,
}

/// Chooses which rows are shown: those near the requested entry, or else all except the middle of long runs.
pub(super) fn choose_visibility(layout: &OutlineTree, options: &OutlineOptions<'_>) -> RowVisibility {
    let (mut rows, top) = match layout.requested {
        Some(requested) => show_around(layout, requested),
        None if options.all => (vec![Visibility::Shown; layout.rows.len()], None),
        None => (hide_long_runs(layout), None),
    };
    if !options.all {
        hide_middle_branches(layout, &mut rows);
    }
    RowVisibility { rows, top }
}

/// Returns the visibility of each row: the middle of long runs of turns is skipped, all other rows are shown.
fn hide_long_runs(layout: &OutlineTree) -> Vec<Visibility> {
    let count = layout.rows.len();
    let is_only_child = |row_idx: usize| {
        let parent = layout.parents[row_idx];
        parent != NONE && layout.children(parent).len() == 1
    };
    let is_plain = |row_idx: usize| {
        let row = &layout.rows[row_idx];
        is_only_child(row_idx)
            && layout.children(row_idx as u32).len() == 1
            && matches!(row.item, OutlineItem::Turn(_))
            && row.tip.is_none()
    };
    let mut before = vec![0usize; count];
    let mut after = vec![0usize; count];
    for row_idx in (0..count).filter(|&row_idx| is_plain(row_idx)) {
        before[row_idx] = before[layout.parents[row_idx] as usize] + 1;
    }
    for row_idx in (0..count).rev().filter(|&row_idx| before[row_idx] > 0) {
        after[row_idx] =
            layout.children(row_idx as u32).iter().map(|&child| after[child as usize]).sum::<usize>() + 1;
    }
    let is_middle = |row_idx: usize| {
        before[row_idx] > RUN_END_ROWS
            && after[row_idx] > RUN_END_ROWS
            && before[row_idx] + after[row_idx] > 2 * RUN_END_ROWS + MIN_HIDDEN_ROWS
    };
    (0..count)
        .map(|row_idx| if is_middle(row_idx) { Visibility::Skipped } else { Visibility::Shown })
        .collect()
}

/// Hides all but the first and last 12 branches of forks with over 40 branches, with everything below them.
///
/// The active path and a branch that starts at the requested entry stay visible.
fn hide_middle_branches(layout: &OutlineTree, rows: &mut [Visibility]) {
    for row in 0..layout.rows.len() as u32 {
        let children = layout.children(row);
        if children.len() <= MAX_BRANCHES {
            continue;
        }
        for &child in &children[END_BRANCHES..children.len() - END_BRANCHES] {
            if !layout.on_path[child as usize] && layout.requested != Some(child) {
                rows[child as usize] = Visibility::Hidden;
            }
        }
    }
}

/// Shows only rows near the requested one: four rows above it with their children, and six levels below it.
///
/// Returns the visibility of each row, and the first row to show with the numbers of turns and of rows above it.
fn show_around(layout: &OutlineTree, requested: u32) -> (Vec<Visibility>, Option<(u32, usize, usize)>) {
    let mut rows = vec![Visibility::Hidden; layout.rows.len()];
    let mut top = requested;
    rows[requested as usize] = Visibility::Shown;
    for _ in 0..ROWS_ABOVE {
        let parent = layout.parents[top as usize];
        if parent == NONE {
            break;
        }
        top = parent;
        rows[top as usize] = Visibility::Shown;
        for &child in layout.children(top) {
            rows[child as usize] = Visibility::Shown;
        }
    }
    let mut level = vec![requested];
    for _ in 0..ROWS_BELOW {
        level = level.iter().flat_map(|&row| layout.children(row)).copied().collect();
        level.iter().for_each(|&row| rows[row as usize] = Visibility::Shown);
    }
    let (mut turns_above, mut rows_above) = (0, 0);
    let mut row = layout.parents[top as usize];
    while row != NONE {
        rows_above += 1;
        turns_above += usize::from(matches!(layout.rows[row as usize].item, OutlineItem::Turn(_)));
        row = layout.parents[row as usize];
    }
    (rows, Some((top, turns_above, rows_above)))
}
