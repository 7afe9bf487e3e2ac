//! Text that must not be wider than there is room.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cuts text to a display width; what is cut ends in `…`.
pub(crate) fn truncate_to_width(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width {
            break;
        }
        used += wide;
        fitted.push(c);
    }
    if width > 0 {
        fitted.push('…');
    }
    fitted
}
