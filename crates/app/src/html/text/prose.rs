//! Markdown.

use maud::Markup;

use super::plain;

/// Draws what the model or a user wrote as markdown.
pub(crate) fn prose(markdown: &str) -> Markup {
    plain(markdown)
}

/// Draws what a user typed: markdown in which line breaks stay.
pub(crate) fn prompt(text: &str) -> Markup {
    plain(text)
}
