//! A session opened to be read in pieces, as a page shows it: only what is looked at is read from disk.
//!
//! ```text
//! file ──one pass──▶ Reading ──which branch──▶ Way: stops (turns), cut into leaves ──one leaf──▶ scenes, told
//! ```

mod cut;
mod map;
mod order;
mod reading;
mod waits;
mod way;

pub use map::{MapBranch, MapEntry, MapPreview};
pub use reading::{SessionView, TurnSlice, open_view};
pub use way::{BranchSelector, BranchView, ForkSwitch, SiblingBranch, TurnRef};
