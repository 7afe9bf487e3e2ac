//! Renders text for a terminal with colours: Markdown, code, diffs, terminal output.
//!
//! ```text
//! Markdown ─▶ blocks ─┐
//! code ─▶ tokens ─────┤
//! texts ─▶ diff rows ─┼─▶ StyledText ─▶ wrapped ─▶ Page: margins, painted lines
//! output ─▶ runs ─────┘
//! ```
//!
//! Text reaches the terminal only through [`styled::StyledText`], which cleans it.

mod call;
mod code;
mod diff;
mod markdown;
mod output;
mod page;
mod styled;
mod table;
#[cfg(test)]
mod tests;
mod wrap;

pub(crate) use call::print_call_body;
pub(crate) use markdown::{TextKind, print_markdown};
pub(crate) use output::print_output;
pub(crate) use page::{Margin, Page};
pub(crate) use styled::StyledText;

/// Returns `true` if a text is short enough to be rendered. The source of longer texts is printed.
pub(crate) fn is_renderable(text: &str) -> bool {
    text.len() <= crate::content::markdown::MAX_BYTES
}
