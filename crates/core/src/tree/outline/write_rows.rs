//! The rows from top to bottom: at each fork the other ways first, further right, then the one that goes on.

use super::layout::OutlineTree;
use super::row::{OutlineItem, PathRelation, Row};
use super::visibility::{Folds, Visibility};
use crate::tree::node::NONE;

/// What is below a row, itself included.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    rows: usize,
    turns: usize,
    tips: usize,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.rows += other.rows;
        self.turns += other.turns;
        self.tips += other.tips;
    }

    fn gap(self) -> OutlineItem {
        OutlineItem::Gap { turns: self.turns, rows: self.rows, tips: self.tips }
    }
}

/// What is still to be drawn, and where.
#[derive(Clone, Copy)]
struct Next {
    what: Piece,
    depth: usize,
    forks_off: bool,
    parent: Option<usize>,
}

#[derive(Clone, Copy)]
enum Piece {
    Row(u32),
    Gap(Sum, PathRelation),
}

/// Puts the rows in order; also returns where each planned row is shown.
pub(super) fn lines(plan: &OutlineTree, folds: &Folds) -> (Vec<Row>, Vec<u32>) {
    let sums = sums(plan);
    let mut pen = RowWriter {
        plan,
        folds,
        sums: &sums,
        rows: Vec::new(),
        drawn: vec![NONE; plan.rows.len()],
        next: Vec::new(),
    };
    match folds.top {
        Some((top, turns, rows)) => {
            let place = Next { what: Piece::Row(top), depth: 0, forks_off: false, parent: None };
            let standing = plan.rows[top as usize].standing;
            let parent = (rows > 0).then(|| pen.gap(Sum { rows, turns, tips: 0 }, standing, place));
            pen.draw(top, parent);
        }
        None => {
            for root in (0..plan.rows.len() as u32).filter(|&row| plan.parents[row as usize] == NONE) {
                pen.draw(root, None);
            }
        }
    }
    (pen.rows, pen.drawn)
}

fn sums(plan: &OutlineTree) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); plan.rows.len()];
    for k in (0..plan.rows.len()).rev() {
        sums[k].rows += 1;
        sums[k].turns += usize::from(matches!(plan.rows[k].what, OutlineItem::Turn(_)));
        if plan.children(k as u32).is_empty() {
            sums[k].tips = 1;
        }
        if let Some(parent) = Some(plan.parents[k]).filter(|&parent| parent != NONE) {
            let part = sums[k];
            sums[parent as usize].add(part);
        }
    }
    sums
}

struct RowWriter<'p> {
    plan: &'p OutlineTree,
    folds: &'p Folds,
    sums: &'p [Sum],
    rows: Vec<Row>,
    drawn: Vec<u32>,
    next: Vec<Next>,
}

impl RowWriter<'_> {
    /// Draws everything below a row.
    fn draw(&mut self, root: u32, parent: Option<usize>) {
        self.next.push(Next { what: Piece::Row(root), depth: 0, forks_off: false, parent });
        while let Some(next) = self.next.pop() {
            match next.what {
                Piece::Gap(sum, standing) => {
                    self.gap(sum, standing, next);
                }
                Piece::Row(row) => self.row(row, next),
            }
        }
    }

    /// Draws what is left out; it stands to the path as the rows around it.
    fn gap(&mut self, sum: Sum, standing: PathRelation, place: Next) -> usize {
        let Next { depth, forks_off, parent, .. } = place;
        self.rows.push(Row { parent, depth, forks_off, ..Row::new(sum.gap(), standing) });
        self.rows.len() - 1
    }

    fn row(&mut self, row: u32, mut next: Next) {
        let (mut at, mut passed) = (row, Sum::default());
        while self.folds.rows[at as usize] == Visibility::Passed
            && let [child] = self.plan.children(at)
        {
            passed.rows += 1;
            passed.turns += 1;
            at = *child;
        }
        if passed.rows > 0 {
            next.parent = Some(self.gap(passed, self.plan.rows[row as usize].standing, next));
            next.forks_off = false;
        }
        let here = self.rows.len();
        self.drawn[at as usize] = here as u32;
        let planned = self.plan.rows[at as usize].clone();
        self.rows.push(Row { parent: next.parent, depth: next.depth, forks_off: next.forks_off, ..planned });
        self.below(at, here, next.depth);
    }

    /// Lines up what comes below a row: the way that goes on is the last.
    fn below(&mut self, row: u32, here: usize, depth: usize) {
        let children = self.plan.children(row);
        let is_dropped = |child: &u32| self.folds.rows[*child as usize] == Visibility::Dropped;
        let weight = |child: &&u32| {
            (!is_dropped(child), self.plan.on_way[**child as usize], self.sums[**child as usize].rows)
        };
        let Some(&main) = children.iter().max_by_key(weight) else { return };
        let parent = Some(here);
        if is_dropped(&main) {
            let mut sum = Sum::default();
            children.iter().for_each(|&child| sum.add(self.sums[child as usize]));
            let what = Piece::Gap(sum, self.plan.rows[main as usize].standing);
            self.next.push(Next { what, depth, forks_off: false, parent });
            return;
        }
        self.next.push(Next { what: Piece::Row(main), depth, forks_off: false, parent });
        let mut pieces: Vec<Piece> = Vec::new();
        for child in children.iter().filter(|&&child| child != main) {
            match (is_dropped(child), pieces.last_mut()) {
                (true, Some(Piece::Gap(sum, _))) => sum.add(self.sums[*child as usize]),
                (true, _) => pieces.push(Piece::Gap(self.sums[*child as usize], PathRelation::Aside)),
                (false, _) => pieces.push(Piece::Row(*child)),
            }
        }
        let pieces =
            pieces.into_iter().rev().map(|what| Next { what, depth: depth + 1, forks_off: true, parent });
        self.next.extend(pieces);
    }
}
