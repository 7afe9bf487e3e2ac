//! What a change took away and added.

use maud::{Markup, html};

use super::Language;
use crate::words::clean;

/// Lines of a change that stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The number of its first line before the change.
    pub(crate) old_start: u32,
    /// The number of its first line after the change.
    pub(crate) new_start: u32,
    /// The lines, each with ` `, `-` or `+` before it.
    pub(crate) lines: Vec<String>,
}

/// Draws the change from one text to another.
pub(crate) fn patch(old: &str, new: &str, _language: Option<Language>) -> Markup {
    html! { pre class="patch" { del { (clean::text(old)) } ins { (clean::text(new)) } } }
}

/// Draws a change whose places in the file are known.
pub(crate) fn hunks(hunks: &[Hunk], _language: Option<Language>) -> Markup {
    html! { pre class="patch" { @for line in hunks.iter().flat_map(|hunk| &hunk.lines) { (clean::text(line)) "\n" } } }
}
