//! Markdown.

use maud::Markup;

use super::plain;

/// Draws what the model or a user wrote as markdown.
pub(crate) fn prose(markdown: &str) -> Markup {
    plain(markdown)
}
