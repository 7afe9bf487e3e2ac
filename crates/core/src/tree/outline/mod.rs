//! The outline of a tree: its rows, their indentation, and the graph that precedes each row.
//!
//! ```text
//! ● t1          a conversation is a straight line;
//! ├─○ t2        at a fork, the other branches are drawn first, two columns to the right,
//! │ ○ t3
//! ● t4          and the active branch, or else the largest one, continues below
//! ```
//!
//! So the indentation does not depend on the length of a conversation. It grows with the logarithm of the number of
//! forks.

mod layout;
mod row;
mod visibility;
mod write_rows;

pub use row::{Outline, OutlineItem, OutlineOptions, OutlineRow};
