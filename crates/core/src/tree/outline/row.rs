//! The rows and options of an outline.

use super::{layout, visibility, write_rows};
use crate::tree::branch::{Branches, ForkPoint};
use crate::tree::builder::Tree;
use crate::tree::conversation::PathRelation;
use crate::tree::node::{NONE, NodeId, ParentLink};

/// The options of an outline.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutlineOptions<'a> {
    /// One row per entry instead of one per turn.
    pub all: bool,
    /// Show only rows near this entry. `None` for all rows.
    pub around: Option<NodeId>,
    /// The leaf of the active path. `None` if there is no active path.
    pub leaf: Option<NodeId>,
    /// The entries that the client loads, which are shown as on the path.
    pub loaded: &'a [NodeId],
}

/// The item that a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineItem {
    /// A turn, by the entry that starts it.
    Turn(NodeId),
    /// A compaction, by its boundary or its summary.
    Compaction(NodeId),
    /// Any other entry.
    Entry(NodeId),
    /// Hidden rows.
    Gap {
        /// The number of turns among the hidden rows.
        turns: usize,
        /// The number of hidden rows.
        rows: usize,
        /// The number of hidden rows without rows below them. 0 if the hidden rows continue in the next row.
        tips: usize,
    },
}

/// A row of an outline.
#[derive(Debug, Clone)]
pub struct OutlineRow {
    /// The turn, compaction, entry or gap that the row shows.
    pub item: OutlineItem,
    /// The index of the row above it in the tree. `None` for the first row of a tree.
    pub parent: Option<usize>,
    /// The indentation level: the number of forks at which the row is on an indented branch.
    pub depth: usize,
    /// Whether it is the first row of an indented branch.
    pub forks_off: bool,
    /// The fork point, if a branch of a real fork starts here.
    pub fork_point: Option<ForkPoint>,
    /// The broken link, if an orphaned part starts here.
    pub broken_link: Option<ParentLink>,
    /// The relation to the active path.
    pub relation: PathRelation,
    /// Whether it is the requested entry.
    pub requested: bool,
    /// The index in `Branches::list` of the branch that ends here. `None` if none does.
    pub tip: Option<usize>,
}

/// The rows of an outline, from top to bottom.
#[derive(Debug, Default)]
pub struct Outline {
    /// The rows.
    pub rows: Vec<OutlineRow>,
    /// The index of the row that shows each node, or `NONE` if it is hidden.
    by_node: Vec<u32>,
}

impl OutlineItem {
    /// Returns the entry of the row. Returns `None` for a gap.
    pub fn node(self) -> Option<NodeId> {
        match self {
            OutlineItem::Turn(id) | OutlineItem::Compaction(id) | OutlineItem::Entry(id) => Some(id),
            OutlineItem::Gap { .. } => None,
        }
    }
}

impl OutlineRow {
    pub(super) fn new(item: OutlineItem, relation: PathRelation) -> OutlineRow {
        OutlineRow {
            item,
            parent: None,
            depth: 0,
            forks_off: false,
            fork_point: None,
            broken_link: None,
            relation,
            requested: false,
            tip: None,
        }
    }

    /// Returns the lines of the graph that precede the symbol of the row, two columns per level.
    pub fn gutter(&self) -> String {
        let (lane_count, connector) =
            if self.forks_off { (self.depth - 1, "├─") } else { (self.depth, "") };
        format!("{}{connector}", "│ ".repeat(lane_count))
    }

    /// Returns the symbol of the row: filled if it is loaded, dotted before a compaction, hollow otherwise.
    pub fn symbol(&self) -> char {
        match (self.item, self.relation) {
            (OutlineItem::Gap { .. }, _) => '⋮',
            (OutlineItem::Compaction(_), PathRelation::OnPath) => '◆',
            (OutlineItem::Compaction(_), _) => '◇',
            (_, PathRelation::OnPath) => '●',
            (_, PathRelation::Compacted) => '◌',
            (_, PathRelation::OtherBranch) => '○',
        }
    }
}

impl Outline {
    /// Lays out the rows of a tree and hides some of them, as the options demand.
    pub fn from_tree(tree: &Tree, branches: &Branches, options: &OutlineOptions<'_>) -> Outline {
        let layout = layout::build_layout(tree, branches, options);
        let visibility = visibility::choose_visibility(&layout, options);
        let (rows, row_numbers) = write_rows::write_rows(&layout, &visibility);
        let by_node = layout
            .by_node
            .iter()
            .map(|&row| row_numbers.get(row as usize).copied().unwrap_or(NONE))
            .collect();
        Outline { rows, by_node }
    }

    /// Returns the index of the row that shows a node, itself or as part of its turn.
    ///
    /// Returns `None` if that row is hidden, or if the node precedes all rows.
    pub fn row_of(&self, id: NodeId) -> Option<usize> {
        self.by_node.get(id as usize).filter(|&&row| row != NONE).map(|&row| row as usize)
    }
}
