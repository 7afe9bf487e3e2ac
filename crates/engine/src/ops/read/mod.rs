//! A session opened to be read in pieces, as a page shows it: only what is looked at is read from disk.
//!
//! ```text
//! file ──one pass──▶ Reading ──which branch──▶ Way: stops (turns), cut into leaves ──one leaf──▶ scenes, told
//! ```

mod branch_view;
mod map;
mod paginate;
mod result_lines;
mod turn_order;
mod view;

pub use branch_view::{BranchSelector, BranchView, ForkSwitch, SiblingBranch, TurnRef};
pub use map::{MapBranch, MapEntry, MapPreview};
pub use view::{SessionView, TurnSlice, open_view};
