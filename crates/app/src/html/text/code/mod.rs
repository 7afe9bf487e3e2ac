//! Code, with what its words are.
//!
//! A scanner of our own: a table says for each language what opens comments and strings and which words are its own, and one pass
//! over the bytes finds them. It does not understand a program; it is made to be fast, to need nothing at start, and to take any text.
//!
//! ```text
//! Language ─▶ Grammar ─▶ scan (special, word) ─▶ tokens ─▶ draw
//!          └▶ tags (HTML), lines (YAML, Markdown, diffs) ┘
//! ```

mod draw;
mod grammar;
mod json;
mod language;
mod lines;
mod scan;
mod script;
mod special;
mod tags;
mod token;
mod word;
mod words;

pub(crate) use draw::code;
pub(super) use draw::paint;
pub(crate) use json::json;
pub(crate) use language::Language;
pub(super) use token::{Token, tokens};
