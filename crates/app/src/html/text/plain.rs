//! Text as it is.

use maud::{Markup, html};

use crate::text::clean;

/// Draws text with its line breaks.
pub(crate) fn plain(text: &str) -> Markup {
    html! { div class="plain" { (clean::text(text)) } }
}
