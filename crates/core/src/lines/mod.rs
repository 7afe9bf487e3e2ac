//! Bytes to lines: where each line starts and ends, whatever the file went through.
//!
//! Touches `&[u8]` only. Nothing here fails: CR LF, a byte order mark, NULs, a half-written last line and lines
//! longer than memory should hold all come out as lines, and what was odd as problems (**parse-never-fails**).

mod split;
mod truncate;

pub use split::{Line, LineSplitter};
pub use truncate::LineTruncator;
