//! What a change took away and added.
//!
//! ```text
//! two texts ─▶ lines ─┐
//!      hunks ─────────┴▶ rows ─▶ words that changed ─▶ draw
//! ```

mod render;
mod row;
mod words;

pub(crate) use render::{hunks, patch};
pub(crate) use row::Hunk;
