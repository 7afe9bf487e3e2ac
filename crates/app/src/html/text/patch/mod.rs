//! What a change took away and added.
//!
//! ```text
//! two texts ─▶ lines ─┐
//!      hunks ─────────┴▶ rows ─▶ words that changed ─▶ draw
//! ```

mod draw;
mod row;
mod words;

pub(crate) use draw::{hunks, patch};
pub(crate) use row::Hunk;
