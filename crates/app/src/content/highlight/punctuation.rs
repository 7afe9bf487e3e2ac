//! Tokens that start with punctuation: comments, strings, attributes, variables, flags.

use super::grammar::{Quote, feature};
use super::lexer::{Lexer, is_word_byte};
use super::token::TokenKind;

/// Maximum length in bytes of a variable in braces or of a character escape.
const MAX_LOOKAHEAD: usize = 80;

impl Lexer<'_> {
    /// Consumes a token that starts with the punctuation `byte`. Returns `false` if there is none.
    pub(super) fn lex_punctuation(&mut self, byte: u8) -> bool {
        self.has_feature(feature::LONG_BRACKETS) && self.lex_long_bracket()
            || self.lex_line_comment()
            || self.lex_block_comment()
            || self.lex_string()
            || self.lex_feature(byte)
    }

    /// Consumes a comment up to the end of its line. Returns `false` if there is none.
    fn lex_line_comment(&mut self) -> bool {
        let Some(open) = self.grammar.line_comments.iter().copied().find(|open| self.starts_with(open))
        else {
            return false;
        };
        // In shells, style sheets and configuration files `a#b` and `http://a` contain no comment.
        let needs_space =
            self.has_feature(feature::SHELL | feature::STYLESHEET | feature::EQUAL_KEYS | feature::TARGETS);
        if needs_space && self.previous_byte().is_some_and(|b| !b.is_ascii_whitespace() && b != b';') {
            return false;
        }
        // In PHP `#[` starts an attribute.
        if open == "#"
            && self.has_feature(feature::DOLLAR_VARIABLES)
            && self.has_feature(feature::CAPITALIZED_TYPES)
            && self.byte(1) == Some(b'[')
        {
            return false;
        }
        self.push_token(self.find_line_end(self.at), TokenKind::Comment)
    }

    /// Consumes a block comment, also a nested or unclosed one. Returns `false` if there is none.
    fn lex_block_comment(&mut self) -> bool {
        let Some((open, close)) =
            self.grammar.block_comments.iter().copied().find(|(open, _)| self.starts_with(open))
        else {
            return false;
        };
        let (mut at, mut depth) = (self.at + open.len(), 1u32);
        while let Some(rest) = self.bytes.get(at..self.end).filter(|rest| !rest.is_empty() && depth > 0) {
            if rest.starts_with(close.as_bytes()) {
                depth -= 1;
                at += close.len();
            } else if self.grammar.nested_comments && rest.starts_with(open.as_bytes()) {
                depth += 1;
                at += open.len();
            } else {
                at += 1;
            }
        }
        self.push_token(at, TokenKind::Comment)
    }

    /// Consumes a string; before a colon or an equals sign it is a key, if the language has such keys. Returns
    /// `false` if there is none.
    fn lex_string(&mut self) -> bool {
        let Some(quote) = self.grammar.quotes.iter().copied().find(|quote| self.starts_with(quote.open))
        else {
            return false;
        };
        let end = self.find_quote_end(self.at + quote.open.len(), quote);
        self.command = false;
        let is_key = match () {
            () if self.has_feature(feature::COLON_KEYS) => self.next_non_blank(end) == Some(b':'),
            () if self.has_feature(feature::EQUAL_KEYS) => self.next_non_blank(end) == Some(b'='),
            () => false,
        };
        self.push_token(end, if is_key { TokenKind::Name } else { TokenKind::String })
    }

    /// Returns the offset after the string whose content starts at `from`. An unclosed string ends at the line break,
    /// or at the end of the range if it may span several lines.
    pub(super) fn find_quote_end(&self, from: usize, quote: Quote) -> usize {
        let close = quote.close.as_bytes();
        let mut at = from;
        while let Some(byte) = self.bytes.get(at..self.end).and_then(|rest| rest.first()) {
            if !quote.multiline && *byte == b'\n' {
                return at;
            }
            if close.first() == Some(byte) && self.bytes[at..self.end].starts_with(close) {
                return at + close.len();
            }
            at += if quote.escape == Some(*byte) { 2 } else { 1 };
        }
        self.end
    }

    /// Returns the first byte from `from` on that is not a space or tab. Returns `None` at the end of the range.
    pub(super) fn next_non_blank(&self, from: usize) -> Option<u8> {
        let at = self.find(from, |b| b != b' ' && b != b'\t');
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    /// Consumes a token of the special syntax of the language. Returns `false` if there is none.
    fn lex_feature(&mut self, byte: u8) -> bool {
        match byte {
            b'@' if self.has_feature(feature::AT_NAMES) => self.lex_at_name(),
            b'#' if self.has_feature(feature::RUST_SYNTAX) => self.lex_attribute(),
            b'#' if self.has_feature(feature::PREPROCESSOR) => self.lex_directive(),
            b'$' if self.has_feature(feature::DOLLAR_VARIABLES) => self.lex_variable(),
            b'\'' if self.has_feature(feature::RUST_SYNTAX | feature::PRIMES) => self.lex_character(),
            b'-' if self.has_feature(feature::FLAGS) => self.lex_flag(),
            b':' if self.has_feature(feature::ATOMS) => self.lex_atom(),
            b'[' if self.has_feature(feature::EQUAL_KEYS) => self.lex_section(),
            b'`' | b'{' | b'}' | b'/' if self.has_feature(feature::SCRIPT) => self.lex_script(byte),
            _ if self.has_feature(feature::STYLESHEET) => self.lex_style(byte),
            b'.' if self.has_feature(feature::TARGETS) => {
                self.lex_word();
                true
            }
            _ if self.has_feature(feature::SHELL) => self.lex_shell(byte),
            _ => false,
        }
    }

    /// Returns the offset after the name that starts at `from`. It may contain the bytes in `also`.
    fn find_name_end(&self, from: usize, also: &[u8]) -> usize {
        self.find(from, |b| !is_word_byte(b) && !also.contains(&b))
    }

    fn lex_at_name(&mut self) -> bool {
        let from = self.at + 1 + usize::from(self.byte(1) == Some(b'@'));
        let end = self.find_name_end(from, if self.has_feature(feature::STYLESHEET) { b"-" } else { b"." });
        let kind = if self.has_feature(feature::STYLESHEET) { TokenKind::Keyword } else { TokenKind::Name };
        end > from && self.push_token(end, kind)
    }

    fn lex_attribute(&mut self) -> bool {
        let from = self.at + if self.starts_with("#![") { 3 } else { 2 };
        (self.starts_with("#[") || self.starts_with("#!["))
            && self.push_token(self.find_name_end(from, b":"), TokenKind::Name)
    }

    /// Consumes a preprocessor directive and the `<file>` of an include. Returns `false` if there is none.
    fn lex_directive(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let from = self.find(self.at + 1, |b| b != b' ' && b != b'\t');
        let end = self.find_name_end(from, b"");
        let includes = self.bytes.get(from..end) == Some(b"include");
        let taken = self.push_token(end, TokenKind::Name);
        let file = self.find(end, |b| b != b' ');
        if includes && self.bytes.get(file) == Some(&b'<') && file < self.end {
            self.at = file;
            let close = self.find(file, |b| b == b'>' || b == b'\n');
            self.push_token(close + 1, TokenKind::String);
        }
        taken
    }

    /// Consumes a variable: `$name`, `${…}`, `$(…)` in makefiles, or a special one such as `$?`. Returns `false` if
    /// there is none.
    fn lex_variable(&mut self) -> bool {
        self.command = false;
        let limit = (self.at + MAX_LOOKAHEAD).min(self.end);
        match self.byte(1) {
            Some(open @ (b'{' | b'(')) if open == b'{' || self.has_feature(feature::TARGETS) => {
                let close = if open == b'{' { b'}' } else { b')' };
                let rest = self.bytes.get(self.at..limit).unwrap_or_default();
                let len = rest.iter().position(|b| *b == close || *b == b'\n');
                let closed = len.filter(|len| rest.get(*len) == Some(&close));
                self.push_token(self.at + closed.map_or(1, |len| len + 1), TokenKind::Name)
            }
            Some(b) if is_word_byte(b) => {
                let also: &[u8] = if self.has_feature(feature::STYLESHEET) { b"-" } else { b"" };
                self.push_token(self.find_name_end(self.at + 1, also), TokenKind::Name)
            }
            Some(b'@' | b'?' | b'#' | b'!' | b'*' | b'$' | b'<' | b'^') => {
                self.push_token(self.at + 2, TokenKind::Name)
            }
            _ => false,
        }
    }

    /// Consumes a character literal, or in Rust a lifetime, which starts like one. Returns `false` if there is none.
    fn lex_character(&mut self) -> bool {
        let limit = (self.at + 12).min(self.end);
        if self.byte(1) == Some(b'\\') {
            let rest = self.bytes.get(self.at + 3..limit).unwrap_or_default();
            let len = rest.iter().position(|b| *b == b'\'');
            return len.is_some_and(|len| self.push_token(self.at + len + 4, TokenKind::String));
        }
        let len = self.byte(1).map_or(1, |first| match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        });
        if self.byte(1 + len) == Some(b'\'') && self.byte(1) != Some(b'\'') {
            return self.push_token(self.at + len + 2, TokenKind::String);
        }
        let end = self.find_name_end(self.at + 1, b"");
        self.has_feature(feature::RUST_SYNTAX) && end > self.at + 1 && self.push_token(end, TokenKind::Name)
    }

    fn lex_flag(&mut self) -> bool {
        let is_separate = self.previous_byte().is_none_or(|b| b.is_ascii_whitespace() || b == b'[');
        let has_name = self.byte(1).is_some_and(|b| b.is_ascii_alphabetic() || b == b'-');
        if is_separate && has_name {
            self.command = false;
        }
        is_separate && has_name && self.push_token(self.find_name_end(self.at + 1, b"-"), TokenKind::Name)
    }

    fn lex_atom(&mut self) -> bool {
        let is_separate = self.previous_byte().is_none_or(|b| !is_word_byte(b) && b != b':');
        let has_name = self.byte(1).is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        is_separate && has_name && self.push_token(self.find_name_end(self.at + 1, b"?!"), TokenKind::Name)
    }

    /// Consumes a section header such as `[name]` at the start of a line. Returns `false` if there is none.
    fn lex_section(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let line = self.find_line_end(self.at);
        let end = self.bytes[self.at..line].iter().rposition(|b| *b == b']').map(|at| self.at + at + 1);
        // Brackets that are not closed on the line, or followed by more text, are an array.
        end.is_some_and(|end| matches!(self.next_non_blank(end), None | Some(b'\n' | b'\r' | b'#' | b';')))
            && self.push_token(end.unwrap_or(self.at), TokenKind::Type)
    }

    /// Consumes a selector, colour or custom property of a style sheet, and counts braces. Returns `false` if there
    /// is no token.
    fn lex_style(&mut self, byte: u8) -> bool {
        match byte {
            b'{' => self.depth = self.depth.saturating_add(1),
            b'}' => self.depth = self.depth.saturating_sub(1),
            b'#' | b'.' => {
                let end = self.find_name_end(self.at + 1, b"-");
                let is_number = self.byte(1).is_some_and(|b| b.is_ascii_digit());
                // In the value of a property a hash starts a colour.
                let is_color = byte == b'#' && end - self.at <= 9 && self.depth > 0;
                let kind = if is_color || is_number { TokenKind::Number } else { TokenKind::Type };
                return end > self.at + 1 && self.push_token(end, kind);
            }
            b'-' if self.byte(1).is_some_and(|b| b == b'-' || b.is_ascii_alphabetic()) => {
                return self.push_token(self.find_name_end(self.at + 1, b"-"), TokenKind::Name);
            }
            _ => {}
        }
        false
    }
}
