//! Splits bytes into lines.
//!
//! Works on `&[u8]` only and never fails: CR LF, a byte order mark, NULs, an incomplete last line and lines too long
//! to hold in memory are all returned as lines, and oddities are reported as problems (**parse-never-fails**).

mod split;
mod truncate;

pub use split::{Line, LineSplitter};
pub use truncate::LineTruncator;
