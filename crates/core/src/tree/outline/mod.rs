//! The outline of a drawing: which rows it has, how far each is indented, and what stands at its left.
//!
//! ```text
//! ● t1          a conversation goes straight down;
//! ├─○ t2        where it forks, the other ways come first, two columns to the right,
//! │ ○ t3
//! ● t4          and the way that is loaded, or else the largest, goes on below
//! ```
//!
//! So the indentation does not grow with the length of a conversation, and only with the logarithm of its forks.

mod layout;
mod row;
mod visibility;
mod write_rows;

pub use row::{Outline, OutlineItem, OutlineOptions, PathRelation, Row};
