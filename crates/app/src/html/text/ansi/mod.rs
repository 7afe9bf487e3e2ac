//! Renders terminal output.

mod classes;
mod palette;
mod render;

pub(crate) use palette::palette_css;
pub(crate) use render::render_terminal;
