//! What an outline is made of.

use super::{layout, visibility, write_rows};
use crate::tree::branch::{Branches, ForkPoint};
use crate::tree::builder::Tree;
use crate::tree::node::{NONE, NodeId, ParentLink};

/// How something stands to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRelation {
    /// On it.
    OnPath,
    /// On it, but before a compaction: the model no longer sees it.
    Compacted,
    /// On another branch.
    Aside,
}

/// What to draw.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutlineOptions<'a> {
    /// Every entry, and not one row per turn.
    pub all: bool,
    /// Only what is near this entry.
    pub around: Option<NodeId>,
    /// The tip of the path that is loaded.
    pub leaf: Option<NodeId>,
    /// The entries that are loaded.
    pub loaded: &'a [NodeId],
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineItem {
    /// A turn, by the entry that starts it.
    Turn(NodeId),
    /// A compaction, by its boundary or its summary.
    Compaction(NodeId),
    /// Any other entry.
    Entry(NodeId),
    /// Rows that are left out.
    Gap {
        /// Turns among them.
        turns: usize,
        /// How many rows.
        rows: usize,
        /// How many ways end there; 0 where they go on to the next row.
        tips: usize,
    },
}

/// One row.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it stands for.
    pub what: OutlineItem,
    /// The row it hangs below.
    pub parent: Option<usize>,
    /// How many ways of forks it is to the right.
    pub depth: usize,
    /// Whether it is the first of a way that forks off to the right.
    pub forks_off: bool,
    /// Where a way of a real fork begins: how it came.
    pub from: Option<ForkPoint>,
    /// Where an island begins: how it is cut off.
    pub cut: Option<ParentLink>,
    /// How it stands to the path that is loaded.
    pub standing: PathRelation,
    /// Whether it is the entry that was asked for.
    pub named: bool,
    /// The branch that ends here.
    pub tip: Option<usize>,
}

/// The rows of a drawing, from top to bottom.
#[derive(Debug, Default)]
pub struct Outline {
    /// The rows.
    pub rows: Vec<Row>,
    /// The row that shows each node.
    shown: Vec<u32>,
}

impl OutlineItem {
    /// Returns the entry that the row stands for.
    pub fn node(self) -> Option<NodeId> {
        match self {
            OutlineItem::Turn(no) | OutlineItem::Compaction(no) | OutlineItem::Entry(no) => Some(no),
            OutlineItem::Gap { .. } => None,
        }
    }
}

impl Row {
    pub(super) fn new(what: OutlineItem, standing: PathRelation) -> Row {
        Row {
            what,
            parent: None,
            depth: 0,
            forks_off: false,
            from: None,
            cut: None,
            standing,
            named: false,
            tip: None,
        }
    }

    /// Draws the lines to the left of the row, two columns for each way to the right.
    pub fn gutter(&self) -> String {
        let (lanes, joint) = if self.forks_off { (self.depth - 1, "├─") } else { (self.depth, "") };
        format!("{}{joint}", "│ ".repeat(lanes))
    }

    /// Returns the sign of the row: filled where it is loaded, dotted before a compaction, hollow elsewhere.
    pub fn sign(&self) -> char {
        match (self.what, self.standing) {
            (OutlineItem::Gap { .. }, _) => '⋮',
            (OutlineItem::Compaction(_), PathRelation::OnPath) => '◆',
            (OutlineItem::Compaction(_), _) => '◇',
            (_, PathRelation::OnPath) => '●',
            (_, PathRelation::Compacted) => '◌',
            (_, PathRelation::Aside) => '○',
        }
    }
}

impl Outline {
    /// Lays out a tree.
    pub fn of(tree: &Tree, branches: &Branches, sight: &OutlineOptions<'_>) -> Outline {
        let plan = layout::plan(tree, branches, sight);
        let folds = visibility::folds(&plan, sight);
        let (rows, drawn) = write_rows::lines(&plan, &folds);
        let shown =
            plan.by_node.iter().map(|&row| drawn.get(row as usize).copied().unwrap_or(NONE)).collect();
        Outline { rows, shown }
    }

    /// Returns the row that shows a node, itself or as part of its turn.
    pub fn row_of(&self, no: NodeId) -> Option<usize> {
        self.shown.get(no as usize).filter(|&&row| row != NONE).map(|&row| row as usize)
    }
}
