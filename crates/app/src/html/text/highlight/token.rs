//! Stretches of code that are drawn in a colour.

use super::{Language, lexer, line_based, markup};

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Keyword,
    Text,
    Number,
    Comment,
    Function,
    Type,
    /// An attribute, a key, a variable: what is named rather than said.
    Name,
    Added,
    Removed,
}

impl Kind {
    /// Returns the class that it is drawn with.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Keyword => "k",
            Kind::Text => "s",
            Kind::Number => "n",
            Kind::Comment => "c",
            Kind::Function => "f",
            Kind::Type => "t",
            Kind::Name => "a",
            Kind::Added => "i",
            Kind::Removed => "d",
        }
    }
}

/// A stretch of code: where it begins and ends, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::html::text) struct Token {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// Finds the stretches of code that have a colour, in order and apart from each other.
pub(in crate::html::text) fn tokens(text: &str, language: Option<Language>) -> Vec<Token> {
    let mut found = Vec::new();
    match language {
        None => {}
        Some(Language::Html) => markup::scan(text, &mut found),
        Some(Language::Diff) => line_based::diff(text, &mut found),
        Some(Language::Markdown) => line_based::markdown(text, &mut found),
        Some(Language::Yaml) => line_based::yaml(text, &mut found),
        Some(language) => lexer::scan(text, 0, text.len(), language, &mut found),
    }
    found
}
