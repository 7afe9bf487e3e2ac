//! Syntax of scripts and shells: template strings, regular expressions, commands, here documents.

use super::grammar::feature;
use super::lexer::{Lexer, is_word_byte};
use super::token::TokenKind;

/// Words after which the next word is a command.
const COMMAND_PREFIXES: [&[u8]; 12] =
    [b"sudo", b"exec", b"time", b"if", b"then", b"else", b"elif", b"do", b"while", b"until", b"RUN", b"CMD"];

impl Lexer<'_> {
    /// Consumes a token of JavaScript that starts with punctuation. Returns `false` if there is none.
    pub(super) fn lex_script(&mut self, byte: u8) -> bool {
        match byte {
            b'`' => self.lex_template(self.at + 1),
            b'{' => {
                if let Some(open) = self.templates.last_mut() {
                    *open = open.saturating_add(1);
                }
                false
            }
            b'}' => match self.templates.last_mut() {
                Some(0) => {
                    self.templates.pop();
                    self.lex_template(self.at + 1)
                }
                Some(open) => {
                    *open -= 1;
                    false
                }
                None => false,
            },
            _ => self.lex_regex(),
        }
    }

    /// Consumes the text of a template string, which continues at `from`, up to its end or to the next `${`. Returns
    /// `true`, because the byte before `from` is consumed too.
    fn lex_template(&mut self, from: usize) -> bool {
        let mut at = from;
        while let Some(byte) = self.bytes.get(at).filter(|_| at < self.end) {
            match byte {
                b'`' => return self.push_token(at + 1, TokenKind::String),
                b'$' if self.bytes.get(at + 1) == Some(&b'{') => {
                    self.templates.push(0);
                    return self.push_token(at + 2, TokenKind::String);
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.push_token(self.end, TokenKind::String)
    }

    /// Consumes a regular expression. Returns `false` if there is none: after a value the slash is a division.
    fn lex_regex(&mut self) -> bool {
        let before = self.bytes[..self.at].iter().rfind(|b| !matches!(b, b' ' | b'\t'));
        let is_division = before.is_some_and(|b| {
            is_word_byte(*b) || matches!(b, b')' | b']' | b'}' | b'"' | b'\'' | b'<' | b'$' | b'>')
        });
        if is_division || self.at < self.no_regex_before {
            return false;
        }
        let (mut at, mut in_class) = (self.at + 1, false);
        while let Some(byte) = self.bytes.get(at).filter(|_| at < self.end) {
            match byte {
                b'\n' => break,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    let end = self.find(at + 1, |b| !b.is_ascii_lowercase());
                    return self.push_token(end, TokenKind::String);
                }
                _ => {}
            }
            at += 1;
        }
        self.no_regex_before = at;
        false
    }

    /// Consumes a string or comment in long brackets: `[==[ … ]==]`. Returns `false` if there is none.
    pub(super) fn lex_long_bracket(&mut self) -> bool {
        let comment = self.starts_with("--");
        let open = self.at + if comment { 2 } else { 0 };
        let inner = self.find(open + 1, |b| b != b'=');
        let is_open = |at: usize| at < self.end && self.bytes.get(at) == Some(&b'[');
        if !is_open(open) || !is_open(inner) {
            return false;
        }
        let level = inner - open - 1;
        let close = self.find_end(inner + 1, |rest| {
            rest.first() == Some(&b']')
                && rest.get(level + 1) == Some(&b']')
                && rest[1..=level].iter().all(|b| *b == b'=')
        });
        let kind = if comment { TokenKind::Comment } else { TokenKind::String };
        self.push_token(close.saturating_add(level + 2), kind)
    }

    /// Consumes a token of a shell script that starts with punctuation. Returns `false` if there is none.
    pub(super) fn lex_shell(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => {
                self.command = self.at == 0 || self.bytes.get(self.at - 1) != Some(&b'\\');
                self.lex_heredoc_body()
            }
            b'<' => self.lex_heredoc_start(),
            b';' | b'|' | b'&' | b'(' | b'`' => {
                self.command = true;
                false
            }
            _ => false,
        }
    }

    /// Consumes `<<WORD` and remembers the word that ends the here document. Returns `false` if there is none.
    fn lex_heredoc_start(&mut self) -> bool {
        if !self.starts_with("<<") || self.starts_with("<<<") || self.previous_byte() == Some(b'<') {
            return false;
        }
        let from = self.find(self.at + 2, |b| !matches!(b, b'-' | b'~' | b'\'' | b'"' | b' ' | b'\\'));
        let end = self.find(from, |b| !is_word_byte(b));
        // Before a number `<<` is a shift.
        if end == from || self.bytes[from].is_ascii_digit() {
            return self.push_token(self.at + 2, TokenKind::Keyword);
        }
        self.heredoc = Some((from, end));
        let is_quoted = matches!(self.bytes.get(end), Some(b'\'' | b'"'));
        self.push_token(end + usize::from(is_quoted), TokenKind::Keyword)
    }

    /// Consumes the here document that the previous line started. Returns `false` if there is none.
    fn lex_heredoc_body(&mut self) -> bool {
        let Some((from, end)) = self.heredoc.take() else { return false };
        let word = &self.bytes[from..end];
        let mut line = self.at + 1;
        while line < self.end {
            let line_end = self.find_line_end(line);
            if self.bytes[line..line_end].trim_ascii() == word {
                let start = self.find(line, |b| b != b' ' && b != b'\t');
                let taken = self.push_token(start, TokenKind::String);
                self.push_token(line_end, TokenKind::Keyword);
                return taken;
            }
            line = line_end + 1;
        }
        self.push_token(self.end, TokenKind::String)
    }

    /// Returns the token kind of a word in a shell script, and 0 as the number of further bytes. Returns `None` if it
    /// is not highlighted. Updates whether the next word is a command.
    pub(super) fn classify_shell_word(&mut self, start: usize, end: usize) -> Option<(TokenKind, usize)> {
        let word = &self.bytes[start..end];
        let next = if end < self.end { self.bytes.get(end).copied() } else { None };
        let was_command = std::mem::replace(&mut self.command, false);
        if next == Some(b'=') || next == Some(b'+') && self.bytes.get(end + 1) == Some(&b'=') {
            self.command = was_command;
            return was_command.then_some((TokenKind::Name, 0));
        }
        self.command = was_command && COMMAND_PREFIXES.contains(&word);
        let inner = word == b"in" || word == b"AS" || word == b"do" || word == b"then";
        if (was_command || inner) && self.contains_word(self.grammar.keywords, word) {
            return Some((TokenKind::Keyword, 0));
        }
        (was_command && !self.has_feature(feature::CALLS)).then_some((TokenKind::Function, 0))
    }
}
