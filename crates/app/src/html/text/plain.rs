//! Plain text.

use maud::{Markup, html};

use crate::text::clean;

/// Renders text as it is, with its line breaks kept.
pub(crate) fn render_plain(text: &str) -> Markup {
    html! { div class="plain" { (clean::text(text)) } }
}
