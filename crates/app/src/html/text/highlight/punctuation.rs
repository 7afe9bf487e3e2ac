//! What begins with a sign: comments, strings, attributes, variables, flags.

use super::grammar::{Quote, has};
use super::lexer::{Scanner, is_word};
use super::token::Kind;

/// How far a variable in braces or a character may reach.
const NEAR: usize = 80;

impl Scanner<'_> {
    /// Takes what begins with a sign; says whether anything did.
    pub(super) fn special(&mut self, byte: u8) -> bool {
        self.has(has::LONG_BRACKETS) && self.long_bracket()
            || self.comment()
            || self.block()
            || self.quoted()
            || self.peculiar(byte)
    }

    fn comment(&mut self) -> bool {
        let Some(open) = self.grammar.comments.iter().copied().find(|open| self.sees(open)) else {
            return false;
        };
        // In a shell, in styles and in settings `a#b` and `http://a` are no comments.
        let careful = self.has(has::SHELL | has::STYLES | has::EQUAL_KEYS | has::TARGETS);
        if careful && self.before().is_some_and(|b| !b.is_ascii_whitespace() && b != b';') {
            return false;
        }
        // In PHP a hash before a bracket begins an attribute.
        if open == "#" && self.has(has::DOLLARS) && self.has(has::CAPITALS) && self.byte(1) == Some(b'[') {
            return false;
        }
        self.take(self.line_end(self.at), Kind::Comment)
    }

    fn block(&mut self) -> bool {
        let Some((open, close)) = self.grammar.blocks.iter().copied().find(|(open, _)| self.sees(open))
        else {
            return false;
        };
        let (mut at, mut depth) = (self.at + open.len(), 1u32);
        while let Some(rest) = self.bytes.get(at..self.end).filter(|rest| !rest.is_empty() && depth > 0) {
            if rest.starts_with(close.as_bytes()) {
                depth -= 1;
                at += close.len();
            } else if self.grammar.nests && rest.starts_with(open.as_bytes()) {
                depth += 1;
                at += open.len();
            } else {
                at += 1;
            }
        }
        self.take(at, Kind::Comment)
    }

    /// Takes a string; one before a colon is a key where the language has such.
    fn quoted(&mut self) -> bool {
        let Some(quote) = self.grammar.quotes.iter().copied().find(|quote| self.sees(quote.open)) else {
            return false;
        };
        let end = self.quote_end(self.at + quote.open.len(), quote);
        self.command = false;
        let is_key = match () {
            () if self.has(has::COLON_KEYS) => self.next_solid(end) == Some(b':'),
            () if self.has(has::EQUAL_KEYS) => self.next_solid(end) == Some(b'='),
            () => false,
        };
        self.take(end, if is_key { Kind::Name } else { Kind::Text })
    }

    /// Returns where a string ends whose text begins at `from`.
    pub(super) fn quote_end(&self, from: usize, quote: Quote) -> usize {
        let close = quote.close.as_bytes();
        let mut at = from;
        while let Some(byte) = self.bytes.get(at..self.end).and_then(|rest| rest.first()) {
            if !quote.lines && *byte == b'\n' {
                return at;
            }
            if close.first() == Some(byte) && self.bytes[at..self.end].starts_with(close) {
                return at + close.len();
            }
            at += if quote.escape == Some(*byte) { 2 } else { 1 };
        }
        self.end
    }

    /// Returns the next byte that is no space.
    pub(super) fn next_solid(&self, from: usize) -> Option<u8> {
        let at = self.find(from, |b| b != b' ' && b != b'\t');
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    fn peculiar(&mut self, byte: u8) -> bool {
        match byte {
            b'@' if self.has(has::AT_NAMES) => self.at_name(),
            b'#' if self.has(has::RUSTY) => self.attribute(),
            b'#' if self.has(has::PREPROCESSOR) => self.directive(),
            b'$' if self.has(has::DOLLARS) => self.variable(),
            b'\'' if self.has(has::RUSTY | has::PRIMES) => self.character(),
            b'-' if self.has(has::FLAGS) => self.flag(),
            b':' if self.has(has::ATOMS) => self.atom(),
            b'[' if self.has(has::EQUAL_KEYS) => self.section(),
            b'`' | b'{' | b'}' | b'/' if self.has(has::SCRIPT) => self.script(byte),
            _ if self.has(has::STYLES) => self.style(byte),
            b'.' if self.has(has::TARGETS) => {
                self.word();
                true
            }
            _ if self.has(has::SHELL) => self.shell(byte),
            _ => false,
        }
    }

    /// Returns where the word ends that begins at `from`; dots and dashes may be part of it.
    fn name_end(&self, from: usize, also: &[u8]) -> usize {
        self.find(from, |b| !is_word(b) && !also.contains(&b))
    }

    fn at_name(&mut self) -> bool {
        let from = self.at + 1 + usize::from(self.byte(1) == Some(b'@'));
        let end = self.name_end(from, if self.has(has::STYLES) { b"-" } else { b"." });
        let kind = if self.has(has::STYLES) { Kind::Keyword } else { Kind::Name };
        end > from && self.take(end, kind)
    }

    fn attribute(&mut self) -> bool {
        let from = self.at + if self.sees("#![") { 3 } else { 2 };
        (self.sees("#[") || self.sees("#![")) && self.take(self.name_end(from, b":"), Kind::Name)
    }

    fn directive(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let from = self.find(self.at + 1, |b| b != b' ' && b != b'\t');
        let end = self.name_end(from, b"");
        let includes = self.bytes.get(from..end) == Some(b"include");
        let taken = self.take(end, Kind::Name);
        let file = self.find(end, |b| b != b' ');
        if includes && self.bytes.get(file) == Some(&b'<') && file < self.end {
            self.at = file;
            let close = self.find(file, |b| b == b'>' || b == b'\n');
            self.take(close + 1, Kind::Text);
        }
        taken
    }

    fn variable(&mut self) -> bool {
        self.command = false;
        let near = (self.at + NEAR).min(self.end);
        match self.byte(1) {
            Some(open @ (b'{' | b'(')) if open == b'{' || self.has(has::TARGETS) => {
                let close = if open == b'{' { b'}' } else { b')' };
                let rest = self.bytes.get(self.at..near).unwrap_or_default();
                let len = rest.iter().position(|b| *b == close || *b == b'\n');
                let closed = len.filter(|len| rest.get(*len) == Some(&close));
                self.take(self.at + closed.map_or(1, |len| len + 1), Kind::Name)
            }
            Some(b) if is_word(b) => {
                let also: &[u8] = if self.has(has::STYLES) { b"-" } else { b"" };
                self.take(self.name_end(self.at + 1, also), Kind::Name)
            }
            Some(b'@' | b'?' | b'#' | b'!' | b'*' | b'$' | b'<' | b'^') => self.take(self.at + 2, Kind::Name),
            _ => false,
        }
    }

    /// Takes a character, or a lifetime, which only begins like one.
    fn character(&mut self) -> bool {
        let near = (self.at + 12).min(self.end);
        if self.byte(1) == Some(b'\\') {
            let rest = self.bytes.get(self.at + 3..near).unwrap_or_default();
            let len = rest.iter().position(|b| *b == b'\'');
            return len.is_some_and(|len| self.take(self.at + len + 4, Kind::Text));
        }
        let len = self.byte(1).map_or(1, |first| match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        });
        if self.byte(1 + len) == Some(b'\'') && self.byte(1) != Some(b'\'') {
            return self.take(self.at + len + 2, Kind::Text);
        }
        let end = self.name_end(self.at + 1, b"");
        self.has(has::RUSTY) && end > self.at + 1 && self.take(end, Kind::Name)
    }

    fn flag(&mut self) -> bool {
        let apart = self.before().is_none_or(|b| b.is_ascii_whitespace() || b == b'[');
        let named = self.byte(1).is_some_and(|b| b.is_ascii_alphabetic() || b == b'-');
        if apart && named {
            self.command = false;
        }
        apart && named && self.take(self.name_end(self.at + 1, b"-"), Kind::Name)
    }

    fn atom(&mut self) -> bool {
        let apart = self.before().is_none_or(|b| !is_word(b) && b != b':');
        let named = self.byte(1).is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        apart && named && self.take(self.name_end(self.at + 1, b"?!"), Kind::Name)
    }

    fn section(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let line = self.line_end(self.at);
        let end = self.bytes[self.at..line].iter().rposition(|b| *b == b']').map(|at| self.at + at + 1);
        // What is not closed on its line, or goes on after it, is a list.
        end.is_some_and(|end| matches!(self.next_solid(end), None | Some(b'\n' | b'\r' | b'#' | b';')))
            && self.take(end.unwrap_or(self.at), Kind::Type)
    }

    fn style(&mut self, byte: u8) -> bool {
        match byte {
            b'{' => self.depth = self.depth.saturating_add(1),
            b'}' => self.depth = self.depth.saturating_sub(1),
            b'#' | b'.' => {
                let end = self.name_end(self.at + 1, b"-");
                let number = self.byte(1).is_some_and(|b| b.is_ascii_digit());
                // In the value of a property a hash begins a colour.
                let is_color = byte == b'#' && end - self.at <= 9 && self.depth > 0;
                let kind = if is_color || number { Kind::Number } else { Kind::Type };
                return end > self.at + 1 && self.take(end, kind);
            }
            b'-' if self.byte(1).is_some_and(|b| b == b'-' || b.is_ascii_alphabetic()) => {
                return self.take(self.name_end(self.at + 1, b"-"), Kind::Name);
            }
            _ => {}
        }
        false
    }
}
