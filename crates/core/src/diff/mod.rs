//! Compares two paths: their common part, and the turns and totals of each side after it.
//!
//! ```text
//! fingerprints of A ─┐                               ┌─▶ DiffSide A: turns, totals
//!                    ├─find_merge_base─▶ last common ┤
//! fingerprints of B ─┘                               └─▶ DiffSide B
//! ```
//!
//! The paths may be in one file or in two. Copies of a session keep their uuids since 1.0.98; older copies keep only
//! the ids of the responses.

mod merge_base;
mod side;

pub use merge_base::{EntryFingerprint, MatchBasis, MergeBase, find_merge_base};
pub use side::{DiffSide, SideTotals, SideTurn};
