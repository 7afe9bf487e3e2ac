//! What a terminal would have shown: colours, and lines that were written over.
//!
//! Of all escape sequences only colours, styles and the erasing of a line mean something here; the rest goes, as
//! [`crate::words::clean`] has it.

mod draw;
mod palette;
mod screen;
mod style;

pub(crate) use draw::terminal;
pub(crate) use palette::palette;
