//! Tokens: spans of code that are highlighted.

use super::{Language, lexer, line_based, markup};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Keyword,
    String,
    Number,
    Comment,
    Function,
    Type,
    /// An attribute, a key or a variable.
    Name,
    Added,
    Removed,
}

impl TokenKind {
    /// Returns the letter of the kind. It is the CSS class in pages.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            TokenKind::Keyword => "k",
            TokenKind::String => "s",
            TokenKind::Number => "n",
            TokenKind::Comment => "c",
            TokenKind::Function => "f",
            TokenKind::Type => "t",
            TokenKind::Name => "a",
            TokenKind::Added => "i",
            TokenKind::Removed => "d",
        }
    }
}

/// A byte range of code and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: TokenKind,
}

/// Splits code into tokens, in order and without overlap. Text between tokens is not highlighted. Returns none if the
/// language is unknown.
pub(crate) fn tokenize(text: &str, language: Option<Language>) -> Vec<Token> {
    let mut tokens = Vec::new();
    match language {
        None => {}
        Some(Language::Html) => markup::tokenize_markup(text, &mut tokens),
        Some(Language::Diff) => line_based::tokenize_diff(text, &mut tokens),
        Some(Language::Markdown) => line_based::tokenize_markdown(text, &mut tokens),
        Some(Language::Yaml) => line_based::tokenize_yaml(text, &mut tokens),
        Some(language) => lexer::tokenize_range(text, 0, text.len(), language, &mut tokens),
    }
    tokens
}
