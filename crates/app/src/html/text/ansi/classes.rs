//! The CSS classes of text styles.

use std::fmt::Write;

use crate::content::ansi::OutputStyle;
use crate::content::ansi::flag::INVERSE;

/// The CSS classes of the flags, in the order of their bits.
const CLASSES: [&str; 6] = ["bo", "di", "it", "un", "in", "st"];

/// Appends the CSS classes of a style, separated by spaces.
pub(super) fn write_classes(style: OutputStyle, out: &mut String) {
    let inverse = style.flags & INVERSE != 0;
    let (front, back) =
        if inverse { (style.background, style.foreground) } else { (style.foreground, style.background) };
    // Inverse text without a foreground colour uses the theme's colours; otherwise it has a normal background colour.
    let plain = inverse && back.is_none();
    let (front, flags) = if plain { (None, style.flags) } else { (front, style.flags & !INVERSE) };
    let start = out.len();
    for (bit, class) in CLASSES.iter().enumerate() {
        if flags & (1 << bit) != 0 {
            out.push_str(class);
            out.push(' ');
        }
    }
    // Writing to a string cannot fail.
    let _ = front.map(|color| write!(out, "f{color} "));
    let _ = back.map(|color| write!(out, "b{color} "));
    if out.len() > start {
        out.pop();
    }
}
