//! Splits bytes into lines.
//!
//! Works on `&[u8]` only and never fails: CR LF, a byte order mark, NULs, an incomplete last line and lines too long
//! to hold in memory are all returned as lines, and oddities are reported as problems (**parse-never-fails**).

mod split;
mod truncate;

pub use split::{Line, LineSplitter};
pub use truncate::LineTruncator;

/// Returns the number of the line with the byte at `offset`, from 1. An offset after the text is in its last line.
pub fn line_number(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    // The end of the text is not a line of its own.
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    line.min(text.lines().count()).max(1)
}
