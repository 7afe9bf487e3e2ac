//! Code, with what its words are.
//!
//! A scanner of our own: a table says for each language what opens comments and strings and which words are its own, and one pass
//! over the bytes finds them. It does not understand a program; it is made to be fast, to need nothing at start, and to take any text.
//!
//! ```text
//! Language ─▶ Grammar ─▶ scan (special, word) ─▶ tokens ─▶ draw
//!          └▶ tags (HTML), lines (YAML, Markdown, diffs) ┘
//! ```

mod grammar;
mod identifier;
mod json;
mod keywords;
mod language;
mod lexer;
mod line_based;
mod markup;
mod punctuation;
mod render;
mod script;
mod token;

pub(crate) use json::json;
pub(crate) use language::Language;
pub(crate) use render::code;
pub(super) use render::paint;
pub(super) use token::{Token, tokens};
