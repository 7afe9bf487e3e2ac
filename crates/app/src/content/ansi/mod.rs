//! Interprets terminal output: colours, styles, and lines that were overwritten.
//!
//! Only the escape sequences for colours, styles and erasing a line are interpreted. All others are removed, as in
//! [`crate::text::clean`].

mod interpret;
mod palette;
mod screen;
mod style;

pub(crate) use interpret::interpret;
pub(crate) use palette::{Color, components};
pub(crate) use style::{OutputStyle, flag};
