//! What a terminal would have shown: colours, and lines that were written over.
//!
//! Of all escape sequences only colours, styles and the erasing of a line mean something here; the rest goes, as
//! [`crate::text::clean`] has it.

mod palette;
mod render;
mod screen;
mod style;

pub(crate) use palette::palette;
pub(crate) use render::terminal;
