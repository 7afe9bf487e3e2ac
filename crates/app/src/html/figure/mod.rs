//! Pictures, drawn as SVG: shapes have classes, so that the style sheet gives them the colours of light and dark.

pub(crate) mod days;
pub(crate) mod heatmap;
