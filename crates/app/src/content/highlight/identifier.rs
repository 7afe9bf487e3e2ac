//! Identifiers, keywords, prefixed strings and numbers.

use super::grammar::{Quote, feature};
use super::lexer::{Lexer, is_word_byte};
use super::token::TokenKind;

impl Lexer<'_> {
    /// Consumes a word, and adds a token if it is highlighted.
    pub(super) fn lex_word(&mut self) {
        let start = self.at;
        let mut end = self.find(start + 1, |b| !self.is_word_part(b));
        if self.has_feature(feature::MARK_SUFFIXES)
            && matches!(self.bytes.get(end), Some(b'?' | b'!'))
            && end < self.end
        {
            end += 1;
        }
        if self.has_feature(feature::PREFIXES) && end - start <= 3 && self.lex_prefixed_string(end) {
            return;
        }
        match self.classify_word(start, end) {
            Some((kind, extra)) => _ = self.push_token(end + extra, kind),
            None => self.at = end,
        }
    }

    /// Returns `true` if a byte continues a word in this language.
    fn is_word_part(&self, byte: u8) -> bool {
        is_word_byte(byte)
            || match byte {
                b'-' => self.has_feature(
                    feature::SHELL | feature::STYLESHEET | feature::EQUAL_KEYS | feature::TARGETS,
                ),
                b'.' | b'/' => {
                    self.has_feature(feature::SHELL | feature::TARGETS)
                        || byte == b'.' && self.has_feature(feature::EQUAL_KEYS)
                }
                b'$' => self.has_feature(feature::SCRIPT),
                b'\'' => self.has_feature(feature::PRIMES),
                b'%' => self.has_feature(feature::TARGETS),
                _ => false,
            }
    }

    /// Returns the token kind of a word, and how many bytes after it belong to the token. Returns `None` if it is not
    /// highlighted.
    fn classify_word(&mut self, start: usize, end: usize) -> Option<(TokenKind, usize)> {
        let word = &self.bytes[start..end];
        if self.has_feature(feature::SHELL) {
            return self.classify_shell_word(start, end);
        }
        if self.has_feature(feature::EQUAL_KEYS | feature::TARGETS) && self.is_line_start() {
            let at = self.find(end, |b| b != b' ' && b != b'\t');
            let next = match self.bytes.get(at..self.end).unwrap_or_default() {
                // Makefiles also assign by `:=`, `?=` and `+=`.
                [b':' | b'?' | b'+', b'=', ..] => Some(b'='),
                rest => rest.first().copied(),
            };
            match next {
                Some(b'=') => return Some((TokenKind::Name, 0)),
                Some(b':') if self.has_feature(feature::TARGETS) => return Some((TokenKind::Function, 0)),
                _ => {}
            }
        }
        if self.has_feature(feature::STYLESHEET) && self.depth > 0 && self.next_non_blank(end) == Some(b':') {
            return Some((TokenKind::Name, 0));
        }
        if self.contains_word(self.grammar.keywords, word) {
            return Some((TokenKind::Keyword, 0));
        }
        if self.contains_word(self.grammar.types, word) {
            return Some((TokenKind::Type, 0));
        }
        let next = if end < self.end { self.bytes.get(end).copied() } else { None };
        if self.has_feature(feature::RUST_SYNTAX)
            && next == Some(b'!')
            && self.bytes.get(end + 1) != Some(&b'=')
        {
            return Some((TokenKind::Function, 1));
        }
        if self.has_feature(feature::CAPITALIZED_TYPES) && word.first().is_some_and(u8::is_ascii_uppercase) {
            return Some((TokenKind::Type, 0));
        }
        (self.has_feature(feature::CALLS) && next == Some(b'(')).then_some((TokenKind::Function, 0))
    }

    /// Returns `true` if a sorted list of keywords contains a word. Words over 16 bytes are never found.
    pub(super) fn contains_word(&self, words: &[&str], word: &[u8]) -> bool {
        if word.len() > 16 || !self.may_be_keyword(word) {
            return false;
        }
        let mut lower = [0; 16];
        let word = if self.has_feature(feature::CASE_INSENSITIVE) {
            let lower = &mut lower[..word.len()];
            lower.copy_from_slice(word);
            lower.make_ascii_lowercase();
            &*lower
        } else {
            word
        };
        words.binary_search_by(|candidate| candidate.as_bytes().cmp(word)).is_ok()
    }

    /// Consumes a string with a prefix: `r"…"`, `b'…'`, `r#"…"#`, `R"x(…)x"`. `end` is the end of the prefix. Returns
    /// `false` if there is none.
    fn lex_prefixed_string(&mut self, end: usize) -> bool {
        let word = &self.bytes[self.at..end];
        let is_raw = word.iter().any(|b| matches!(b, b'r' | b'R'));
        if !word.iter().all(|b| b"rRbBfFuUcL8".contains(b)) {
            return false;
        }
        let hashes = if is_raw && self.has_feature(feature::RUST_SYNTAX) {
            self.find(end, |b| b != b'#') - end
        } else {
            0
        };
        let rest = self.bytes.get(end + hashes..self.end).unwrap_or_default();
        if is_raw && self.has_feature(feature::RUST_SYNTAX) && rest.starts_with(b"\"") {
            let close = self.find_end(end + hashes + 1, |rest| {
                rest.first() == Some(&b'"')
                    && rest.len() > hashes
                    && rest[1..=hashes].iter().all(|b| *b == b'#')
            });
            return self.push_token(close.saturating_add(hashes + 1), TokenKind::String);
        }
        if is_raw && self.has_feature(feature::PREPROCESSOR) && rest.starts_with(b"\"") {
            let open = self.find(end, |b| b == b'(' || b == b'\n');
            let name = self.bytes.get(end + 1..open).filter(|name| name.len() <= 16).unwrap_or_default();
            let close = self.find_end(open, |rest| {
                rest.strip_prefix(b")")
                    .and_then(|rest| rest.strip_prefix(name))
                    .is_some_and(|r| r.first() == Some(&b'"'))
            });
            return self.push_token(close.saturating_add(name.len() + 2), TokenKind::String);
        }
        let quote = self.grammar.quotes.iter().copied().find(|quote| rest.starts_with(quote.open.as_bytes()));
        let Some(quote) = quote.filter(|_| hashes == 0) else { return false };
        let quote = if is_raw { Quote { escape: None, ..quote } } else { quote };
        self.push_token(self.find_quote_end(end + quote.open.len(), quote), TokenKind::String)
    }

    /// Returns the first offset from `from` on at which `matches` accepts the rest of the text, or the end of the
    /// text.
    pub(super) fn find_end(&self, from: usize, matches: impl Fn(&[u8]) -> bool) -> usize {
        (from..self.end).find(|at| matches(&self.bytes[*at..self.end])).unwrap_or(self.end)
    }

    /// Consumes a number with its fraction, exponent and suffix.
    pub(super) fn lex_number(&mut self) {
        let mut at = self.at;
        let is_hex = self.byte(0) == Some(b'0') && matches!(self.byte(1), Some(b'x' | b'X'));
        while let Some(byte) = self.bytes.get(at).filter(|_| at < self.end) {
            let next = self.bytes.get(at + 1).copied().unwrap_or(b' ');
            let is_signed_exponent = !is_hex && matches!(byte, b'e' | b'E') && matches!(next, b'+' | b'-');
            match byte {
                b'.' if next.is_ascii_digit() => at += 1,
                _ if is_signed_exponent => at += 2,
                _ if is_word_byte(*byte) => at += 1,
                b'%' if self.has_feature(feature::STYLESHEET) => at += 1,
                _ => break,
            }
        }
        // In shells and makefiles a name may start with a number.
        let continues = self.bytes.get(at).is_some_and(|b| self.is_word_part(*b)) && at < self.end;
        if continues && self.has_feature(feature::SHELL | feature::TARGETS) {
            self.at = self.find(at, |b| !self.is_word_part(b));
            self.command = false;
        } else {
            self.command = false;
            self.push_token(at, TokenKind::Number);
        }
    }
}
