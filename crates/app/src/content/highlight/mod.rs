//! Syntax highlighting.
//!
//! The lexer is our own: a grammar per language states what opens comments and strings and which words are keywords,
//! and one pass over the bytes finds the tokens. It does not parse programs. It is fast, needs no data at start, and
//! accepts any text.
//!
//! ```text
//! Language ─▶ Grammar ─▶ lexer (punctuation, identifier, script) ─▶ tokens
//!          └▶ markup (HTML), line_based (YAML, Markdown, diffs) ──┘
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
mod script;
mod token;

pub(crate) use json::pretty_print;
pub(crate) use language::Language;
pub(crate) use token::{Token, TokenKind, tokenize};
