//! Text as markup: markdown, code, terminal output, changes.
//!
//! Everything here takes text of a session as it is, cleans and escapes it, and costs time in proportion to its length, whatever
//! it says. Markup is put together by [`escape`] and tags that stand in these sources; a test reads every tag of it again.

mod ansi;
#[cfg(test)]
pub(crate) mod check;
mod diff;
mod escape;
mod highlight;
mod markdown;
mod plain;

pub(crate) use ansi::{palette, terminal};
pub(crate) use diff::{Hunk, hunks, patch};
pub(crate) use highlight::{Language, code, json};
pub(crate) use markdown::{Block, last_block, prompt, prose, safe_address};
pub(crate) use plain::plain;
