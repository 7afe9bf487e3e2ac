//! Bytes to lines: where each line starts and ends, whatever the file went through.
//!
//! Touches `&[u8]` only. Nothing here fails: CR LF, a byte order mark, NULs, a half-written last line and lines
//! longer than memory should hold all come out as lines, and what was odd as problems (**parse-never-fails**).

mod condense;
mod split;

pub use condense::LineTruncator;
pub use split::{Line, LineSplitter};
