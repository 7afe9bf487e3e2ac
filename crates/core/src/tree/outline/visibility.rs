//! Which rows are left out: the middle of long runs, most of very many ways, what is far from the entry asked for.

use super::layout::OutlineTree;
use super::row::{OutlineItem, OutlineOptions};
use crate::tree::node::NONE;

/// Rows shown at both ends of a run.
const ENDS: usize = 2;
/// Fewer rows than this are not worth leaving out.
const LEAST: usize = 3;
/// Ways of one fork that are all shown.
const WAYS: usize = 40;
/// Of more ways, so many at both ends.
const WAY_ENDS: usize = 12;
/// Rows shown above and below the entry asked for.
const ABOVE: usize = 4;
const BELOW: u32 = 6;

/// Whether a row is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    /// It is.
    Shown,
    /// It is not, but the one row below it may be.
    Passed,
    /// It is not, nor anything below it.
    Dropped,
}

/// Which rows are shown.
#[derive(Debug)]
pub(super) struct Folds {
    pub(super) rows: Vec<Visibility>,
    /// Where to begin, with how many turns and rows above; everywhere at the top, where it is not said.
    pub(super) top: Option<(u32, usize, usize)>,
}

/// Decides which rows are shown.
pub(super) fn folds(plan: &OutlineTree, sight: &OutlineOptions<'_>) -> Folds {
    let (mut rows, top) = match plan.named {
        Some(named) => near(plan, named),
        None if sight.all => (vec![Visibility::Shown; plan.rows.len()], None),
        None => (runs(plan), None),
    };
    if !sight.all {
        ways(plan, &mut rows);
    }
    Folds { rows, top }
}

/// Passes over the middle of long runs of turns.
fn runs(plan: &OutlineTree) -> Vec<Visibility> {
    let count = plan.rows.len();
    let only_child = |k: usize| {
        let parent = plan.parents[k];
        parent != NONE && plan.children(parent).len() == 1
    };
    let is_plain = |k: usize| {
        let row = &plan.rows[k];
        only_child(k)
            && plan.children(k as u32).len() == 1
            && matches!(row.what, OutlineItem::Turn(_))
            && row.tip.is_none()
    };
    let mut before = vec![0usize; count];
    let mut after = vec![0usize; count];
    for k in (0..count).filter(|&k| is_plain(k)) {
        before[k] = before[plan.parents[k] as usize] + 1;
    }
    for k in (0..count).rev().filter(|&k| before[k] > 0) {
        after[k] = plan.children(k as u32).iter().map(|&child| after[child as usize]).sum::<usize>() + 1;
    }
    let is_middle = |k: usize| before[k] > ENDS && after[k] > ENDS && before[k] + after[k] > 2 * ENDS + LEAST;
    (0..count).map(|k| if is_middle(k) { Visibility::Passed } else { Visibility::Shown }).collect()
}

/// Drops the middle of very many ways, but never the one that goes on.
fn ways(plan: &OutlineTree, rows: &mut [Visibility]) {
    for row in 0..plan.rows.len() as u32 {
        let children = plan.children(row);
        if children.len() <= WAYS {
            continue;
        }
        for &child in &children[WAY_ENDS..children.len() - WAY_ENDS] {
            if !plan.on_way[child as usize] && plan.named != Some(child) {
                rows[child as usize] = Visibility::Dropped;
            }
        }
    }
}

/// Shows only what is near a row: some rows above it and the ways beside them, and what is right below it.
fn near(plan: &OutlineTree, named: u32) -> (Vec<Visibility>, Option<(u32, usize, usize)>) {
    let mut rows = vec![Visibility::Dropped; plan.rows.len()];
    let mut top = named;
    rows[named as usize] = Visibility::Shown;
    for _ in 0..ABOVE {
        let parent = plan.parents[top as usize];
        if parent == NONE {
            break;
        }
        top = parent;
        rows[top as usize] = Visibility::Shown;
        for &child in plan.children(top) {
            rows[child as usize] = Visibility::Shown;
        }
    }
    let mut level = vec![named];
    for _ in 0..BELOW {
        level = level.iter().flat_map(|&row| plan.children(row)).copied().collect();
        level.iter().for_each(|&row| rows[row as usize] = Visibility::Shown);
    }
    let (mut turns, mut above) = (0, 0);
    let mut at = plan.parents[top as usize];
    while at != NONE {
        above += 1;
        turns += usize::from(matches!(plan.rows[at as usize].what, OutlineItem::Turn(_)));
        at = plan.parents[at as usize];
    }
    (rows, Some((top, turns, above)))
}
