//! The lexer: one pass over the bytes of a program.
//!
//! Lookahead is consumed, bounded, or remembered, so the running time is linear in the length of the text.
//! Tokens start and end at ASCII bytes, so no character is ever split.

use super::Language;
use super::grammar::{Grammar, feature};
use super::token::{Token, TokenKind};

/// The kind of token that a byte may start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Plain,
    Word,
    Digit,
    Punctuation,
}

/// The state of the lexer.
pub(super) struct Lexer<'a> {
    /// The whole text.
    pub(super) bytes: &'a [u8],
    pub(super) grammar: Grammar,
    /// The offset of the next byte to consume.
    pub(super) at: usize,
    /// The offset at which the range to tokenize ends.
    pub(super) end: usize,
    tokens: &'a mut Vec<Token>,
    /// The number of open braces within the code of each enclosing template string.
    pub(super) templates: Vec<u32>,
    /// The number of open braces in a style sheet.
    pub(super) depth: u32,
    /// `true` if the next word of a shell script is a command.
    pub(super) command: bool,
    /// The start and end offset of the word that ends the here document starting on the next line.
    pub(super) heredoc: Option<(usize, usize)>,
    /// No regular expression starts before this offset.
    pub(super) no_regex_before: usize,
    /// For each first letter the lengths of the keywords that start with it, as a bit set. This alone rules out most words.
    keyword_lengths: [u32; 128],
}

/// Appends the tokens of the bytes from `start` to `end` of a text in this language.
pub(super) fn tokenize_range(
    text: &str,
    start: usize,
    end: usize,
    language: Language,
    tokens: &mut Vec<Token>,
) {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        grammar: language.grammar(),
        at: start,
        end: end.min(text.len()),
        tokens,
        templates: Vec::new(),
        depth: 0,
        command: true,
        heredoc: None,
        no_regex_before: 0,
        keyword_lengths: [0; 128],
    };
    lexer.index_keyword_lengths();
    let classes = lexer.build_byte_classes();
    while let Some(byte) = lexer.byte(0) {
        match classes[usize::from(byte)] {
            ByteClass::Plain => lexer.at += 1,
            ByteClass::Word => lexer.lex_word(),
            ByteClass::Digit => lexer.lex_number(),
            ByteClass::Punctuation => {
                if !lexer.lex_punctuation(byte) {
                    lexer.at += 1;
                }
            }
        }
    }
}

/// Returns `true` if a byte is part of a word in every language. Non-ASCII bytes are.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Lexer<'_> {
    /// Returns `true` if the language has at least one of these features.
    pub(super) fn has_feature(&self, feature: u32) -> bool {
        self.grammar.features & feature != 0
    }

    /// Records the lengths of the keywords and built-in types by their first letter.
    fn index_keyword_lengths(&mut self) {
        for word in self.grammar.keywords.iter().chain(self.grammar.types) {
            let first = word.bytes().next().map_or(0, |b| usize::from(b & 0x7f));
            self.keyword_lengths[first] |= 1 << word.len().min(31);
        }
    }

    /// Returns `true` if a keyword with the first letter and the length of this word exists.
    pub(super) fn may_be_keyword(&self, word: &[u8]) -> bool {
        let first = word.first().map_or(0, |b| {
            if self.has_feature(feature::CASE_INSENSITIVE) { b.to_ascii_lowercase() } else { *b }
        });
        self.keyword_lengths[usize::from(first & 0x7f)] & (1 << word.len().min(31)) != 0
    }

    /// Returns for each byte the kind of token that it may start in this language.
    fn build_byte_classes(&self) -> [ByteClass; 256] {
        let mut classes = [ByteClass::Plain; 256];
        for byte in 0..=255u8 {
            if is_word_byte(byte) {
                classes[usize::from(byte)] =
                    if byte.is_ascii_digit() { ByteClass::Digit } else { ByteClass::Word };
            }
        }
        if self.has_feature(feature::SCRIPT) {
            classes[usize::from(b'$')] = ByteClass::Word;
        }
        let mut mark =
            |bytes: &[u8]| bytes.iter().for_each(|b| classes[usize::from(*b)] = ByteClass::Punctuation);
        let openers = self.grammar.line_comments.iter().copied();
        let openers = openers.chain(self.grammar.block_comments.iter().map(|(open, _)| *open));
        for open in openers.chain(self.grammar.quotes.iter().map(|quote| quote.open)) {
            mark(&open.as_bytes()[..1]);
        }
        let feature_bytes: [(u32, &[u8]); 13] = [
            (feature::DOLLAR_VARIABLES, b"$"),
            (feature::AT_NAMES, b"@"),
            (feature::RUST_SYNTAX, b"#'"),
            (feature::PREPROCESSOR, b"#"),
            (feature::SHELL, b"\n;|&(`<"),
            (feature::FLAGS, b"-"),
            (feature::EQUAL_KEYS, b"["),
            (feature::STYLESHEET, b"{}#.-"),
            (feature::SCRIPT, b"`{}/"),
            (feature::ATOMS, b":"),
            (feature::LONG_BRACKETS, b"[-"),
            (feature::PRIMES, b"'"),
            (feature::TARGETS, b"."),
        ];
        for (feature, bytes) in feature_bytes {
            if self.has_feature(feature) {
                mark(bytes);
            }
        }
        classes
    }

    /// Returns the byte `ahead` bytes after the current one. Returns `None` after the end of the range.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at.checked_add(ahead)?;
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    /// Returns the byte before the current one. Returns `None` at the start of the text.
    pub(super) fn previous_byte(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// Returns `true` if the rest of the range starts with `text`.
    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.bytes.get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Returns the offset of the first byte from `from` on that `matches` accepts, or the end of the range.
    pub(super) fn find(&self, from: usize, matches: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..self.end).unwrap_or_default();
        rest.iter().position(|b| matches(*b)).map_or(self.end, |at| from + at)
    }

    /// Returns the offset of the first line break from `from` on, or the end of the range.
    pub(super) fn find_line_end(&self, from: usize) -> usize {
        self.find(from, |b| b == b'\n')
    }

    /// Returns `true` if only white space precedes the current byte on its line.
    pub(super) fn is_line_start(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        matches!(before.iter().rfind(|b| !matches!(**b, b' ' | b'\t')), None | Some(b'\n'))
    }

    /// Adds a token from the current byte up to `end` and moves there. Returns `false` if it would be empty.
    pub(super) fn push_token(&mut self, end: usize, kind: TokenKind) -> bool {
        let end = end.min(self.end);
        if end <= self.at {
            return false;
        }
        self.tokens.push(Token { start: self.at, end, kind });
        self.at = end;
        true
    }
}

#[cfg(test)]
mod tests;
