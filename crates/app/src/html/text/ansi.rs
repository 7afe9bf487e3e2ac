//! What a terminal would have shown.

use maud::{Markup, html};

use crate::words::clean;

/// Draws terminal output with its colours.
pub(crate) fn terminal(text: &str) -> Markup {
    html! { pre class="ansi" { (clean::text(text)) } }
}
