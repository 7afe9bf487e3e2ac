//! Words, strings with letters before them, and numbers.

use super::grammar::{Quote, has};
use super::lexer::{Scanner, is_word};
use super::token::Kind;

impl Scanner<'_> {
    /// Takes a word.
    pub(super) fn word(&mut self) {
        let start = self.at;
        let mut end = self.find(start + 1, |b| !self.is_inner(b));
        if self.has(has::ASKING) && matches!(self.bytes.get(end), Some(b'?' | b'!')) && end < self.end {
            end += 1;
        }
        if self.has(has::PREFIXES) && end - start <= 3 && self.prefixed(end) {
            return;
        }
        match self.kind(start, end) {
            Some((kind, extra)) => _ = self.take(end + extra, kind),
            None => self.at = end,
        }
    }

    /// Whether a byte goes on a word in this language.
    fn is_inner(&self, byte: u8) -> bool {
        is_word(byte)
            || match byte {
                b'-' => self.has(has::SHELL | has::STYLES | has::EQUAL_KEYS | has::TARGETS),
                b'.' | b'/' => {
                    self.has(has::SHELL | has::TARGETS) || byte == b'.' && self.has(has::EQUAL_KEYS)
                }
                b'$' => self.has(has::SCRIPT),
                b'\'' => self.has(has::PRIMES),
                b'%' => self.has(has::TARGETS),
                _ => false,
            }
    }

    /// Says what a word is, and how many bytes after it belong to it.
    fn kind(&mut self, start: usize, end: usize) -> Option<(Kind, usize)> {
        let word = &self.bytes[start..end];
        if self.has(has::SHELL) {
            return self.shell_word(start, end);
        }
        if self.has(has::EQUAL_KEYS | has::TARGETS) && self.is_line_start() {
            let at = self.find(end, |b| b != b' ' && b != b'\t');
            let next = match self.bytes.get(at..self.end).unwrap_or_default() {
                // Makefiles also assign by `:=`, `?=` and `+=`.
                [b':' | b'?' | b'+', b'=', ..] => Some(b'='),
                rest => rest.first().copied(),
            };
            match next {
                Some(b'=') => return Some((Kind::Name, 0)),
                Some(b':') if self.has(has::TARGETS) => return Some((Kind::Function, 0)),
                _ => {}
            }
        }
        if self.has(has::STYLES) && self.depth > 0 && self.next_solid(end) == Some(b':') {
            return Some((Kind::Name, 0));
        }
        if self.holds(self.grammar.words, word) {
            return Some((Kind::Keyword, 0));
        }
        if self.holds(self.grammar.types, word) {
            return Some((Kind::Type, 0));
        }
        let next = if end < self.end { self.bytes.get(end).copied() } else { None };
        if self.has(has::RUSTY) && next == Some(b'!') && self.bytes.get(end + 1) != Some(&b'=') {
            return Some((Kind::Function, 1));
        }
        if self.has(has::CAPITALS) && word.first().is_some_and(u8::is_ascii_uppercase) {
            return Some((Kind::Type, 0));
        }
        (self.has(has::CALLS) && next == Some(b'(')).then_some((Kind::Function, 0))
    }

    pub(super) fn holds(&self, words: &[&str], word: &[u8]) -> bool {
        if word.len() > 16 || !self.may_hold(word) {
            return false;
        }
        let mut small = [0; 16];
        let word = if self.has(has::FOLD) {
            let small = &mut small[..word.len()];
            small.copy_from_slice(word);
            small.make_ascii_lowercase();
            &*small
        } else {
            word
        };
        words.binary_search_by(|known| known.as_bytes().cmp(word)).is_ok()
    }

    /// Takes a string whose kind is told by letters before it: `r"…"`, `b'…'`, `r#"…"#`, `R"x(…)x"`.
    fn prefixed(&mut self, end: usize) -> bool {
        let word = &self.bytes[self.at..end];
        let raw = word.iter().any(|b| matches!(b, b'r' | b'R'));
        if !word.iter().all(|b| b"rRbBfFuUcL8".contains(b)) {
            return false;
        }
        let hashes = if raw && self.has(has::RUSTY) { self.find(end, |b| b != b'#') - end } else { 0 };
        let rest = self.bytes.get(end + hashes..self.end).unwrap_or_default();
        if raw && self.has(has::RUSTY) && rest.starts_with(b"\"") {
            let close = self.closed(end + hashes + 1, |rest| {
                rest.first() == Some(&b'"')
                    && rest.len() > hashes
                    && rest[1..=hashes].iter().all(|b| *b == b'#')
            });
            return self.take(close.saturating_add(hashes + 1), Kind::Text);
        }
        if raw && self.has(has::PREPROCESSOR) && rest.starts_with(b"\"") {
            let open = self.find(end, |b| b == b'(' || b == b'\n');
            let name = self.bytes.get(end + 1..open).filter(|name| name.len() <= 16).unwrap_or_default();
            let close = self.closed(open, |rest| {
                rest.strip_prefix(b")")
                    .and_then(|rest| rest.strip_prefix(name))
                    .is_some_and(|r| r.first() == Some(&b'"'))
            });
            return self.take(close.saturating_add(name.len() + 2), Kind::Text);
        }
        let quote = self.grammar.quotes.iter().copied().find(|quote| rest.starts_with(quote.open.as_bytes()));
        let Some(quote) = quote.filter(|_| hashes == 0) else { return false };
        let quote = if raw { Quote { escape: None, ..quote } } else { quote };
        self.take(self.quote_end(end + quote.open.len(), quote), Kind::Text)
    }

    /// Returns the first place from `from` on where the rest fits, or the end.
    pub(super) fn closed(&self, from: usize, fits: impl Fn(&[u8]) -> bool) -> usize {
        (from..self.end).find(|at| fits(&self.bytes[*at..self.end])).unwrap_or(self.end)
    }

    /// Takes a number, with its point, its exponent and what is written behind it.
    pub(super) fn number(&mut self) {
        let mut at = self.at;
        let hex = self.byte(0) == Some(b'0') && matches!(self.byte(1), Some(b'x' | b'X'));
        while let Some(byte) = self.bytes.get(at).filter(|_| at < self.end) {
            let next = self.bytes.get(at + 1).copied().unwrap_or(b' ');
            let sign = !hex && matches!(byte, b'e' | b'E') && matches!(next, b'+' | b'-');
            match byte {
                b'.' if next.is_ascii_digit() => at += 1,
                _ if sign => at += 2,
                _ if is_word(*byte) => at += 1,
                b'%' if self.has(has::STYLES) => at += 1,
                _ => break,
            }
        }
        // In a shell and in settings a number may be the beginning of a name.
        let goes_on = self.bytes.get(at).is_some_and(|b| self.is_inner(*b)) && at < self.end;
        if goes_on && self.has(has::SHELL | has::TARGETS) {
            self.at = self.find(at, |b| !self.is_inner(b));
            self.command = false;
        } else {
            self.command = false;
            self.take(at, Kind::Number);
        }
    }
}
