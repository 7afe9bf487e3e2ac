//! Charts as SVG. Shapes have classes, so that the style sheet can colour them for the light and the dark theme.

pub(crate) mod days;
pub(crate) mod heatmap;
