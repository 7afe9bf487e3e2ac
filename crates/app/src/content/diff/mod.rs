//! Compares texts line by line, and changed lines word by word.
//!
//! ```text
//! two texts ─▶ lines ─┐
//!      hunks ─────────┴▶ rows ─▶ changed words
//! ```

mod row;
mod words;

pub(crate) use row::{Hunk, Row, RowKind, rows_from_hunks, rows_from_texts};
pub(crate) use words::find_changed_words;
