//! Renders text as markup: markdown, code, terminal output, diffs.
//!
//! All functions accept text of a session as it is, clean and escape it, and take time linear in its length, whatever
//! it contains. Markup consists only of text written by [`escape`] and of tags that are literals in these sources. A
//! test parses every tag.

mod ansi;
#[cfg(test)]
pub(crate) mod check;
mod code;
mod diff;
mod escape;
mod markdown;
mod plain;

pub(crate) use ansi::{palette_css, render_terminal};
pub(crate) use code::{render_code, render_json};
pub(crate) use diff::{render_diff, render_hunks};
pub(super) use escape::push_escaped;
pub(crate) use markdown::{Block, last_block, render_prompt, render_prose};
pub(crate) use plain::render_plain;
