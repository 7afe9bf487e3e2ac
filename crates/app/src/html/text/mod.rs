//! Text as markup: markdown, code, terminal output, changes.
//!
//! Everything here takes text of a session as it is, cleans and escapes it, and costs time in proportion to its length, whatever
//! it says. Markup is put together by [`escape`] and tags that stand in these sources; a test reads every tag of it again.

mod ansi;
#[cfg(test)]
pub(crate) mod check;
mod code;
mod escape;
mod patch;
mod plain;
mod prose;

pub(crate) use ansi::{palette, terminal};
pub(crate) use code::{Language, code, json};
pub(crate) use patch::{Hunk, hunks, patch};
pub(crate) use plain::plain;
pub(crate) use prose::{Block, last_block, prompt, prose, safe_address};
