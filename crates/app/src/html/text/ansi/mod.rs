//! Renders terminal output: colours, styles, and lines that were overwritten.
//!
//! Only the escape sequences for colours, styles and erasing a line are interpreted. All others are removed, as in
//! [`crate::text::clean`].

mod palette;
mod render;
mod screen;
mod style;

pub(crate) use palette::palette_css;
pub(crate) use render::render_terminal;
