//! Two paths beside each other: how far they are one, and what each did from there.
//!
//! ```text
//! marks of A ─┐                    ┌─▶ Side A: turns, totals
//!             ├─meet─▶ last common ┤
//! marks of B ─┘                    └─▶ Side B
//! ```
//!
//! The paths may be of one file or of two. Copies of a session keep their uuids since 1.0.98; older ones keep only the
//! ids of the responses.

mod merge_base;
mod side;

pub use merge_base::{EntryFingerprint, MatchBasis, MergeBase, find_merge_base};
pub use side::{DiffSide, SideTurn, Totals};
