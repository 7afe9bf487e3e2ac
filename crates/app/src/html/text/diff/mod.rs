//! Renders diffs.
//!
//! ```text
//! two texts ─▶ lines ─┐
//!      hunks ─────────┴▶ rows ─▶ changed words ─▶ render
//! ```

mod render;
mod row;
mod words;

pub(crate) use render::{render_diff, render_hunks};
pub(crate) use row::Hunk;
