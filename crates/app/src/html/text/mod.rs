//! Text as markup: markdown, code, terminal output, changes.

mod ansi;
mod code;
mod patch;
mod plain;
mod prose;

pub(crate) use ansi::terminal;
pub(crate) use code::{Language, code, json};
pub(crate) use patch::{Hunk, hunks, patch};
pub(crate) use plain::plain;
pub(crate) use prose::{prompt, prose};
