//! What only scripts and shells have: templates with code in them, regular expressions, commands, texts that end at a word.

use super::grammar::has;
use super::lexer::{Scanner, is_word};
use super::token::Kind;

/// Words after which the next one is a command too.
const LEADING: [&[u8]; 12] =
    [b"sudo", b"exec", b"time", b"if", b"then", b"else", b"elif", b"do", b"while", b"until", b"RUN", b"CMD"];

impl Scanner<'_> {
    /// Takes what begins with a sign in a script.
    pub(super) fn script(&mut self, byte: u8) -> bool {
        match byte {
            b'`' => self.template(self.at + 1),
            b'{' => {
                if let Some(open) = self.templates.last_mut() {
                    *open = open.saturating_add(1);
                }
                false
            }
            b'}' => match self.templates.last_mut() {
                Some(0) => {
                    self.templates.pop();
                    self.template(self.at + 1)
                }
                Some(open) => {
                    *open -= 1;
                    false
                }
                None => false,
            },
            _ => self.regex(),
        }
    }

    /// Takes the text of a template up to its end or to the code in it.
    fn template(&mut self, from: usize) -> bool {
        let mut at = from;
        while let Some(byte) = self.bytes.get(at).filter(|_| at < self.end) {
            match byte {
                b'`' => return self.take(at + 1, Kind::Text),
                b'$' if self.bytes.get(at + 1) == Some(&b'{') => {
                    self.templates.push(0);
                    return self.take(at + 2, Kind::Text);
                }
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.take(self.end, Kind::Text)
    }

    /// Takes a regular expression; where a value stands before the slash, it divides.
    fn regex(&mut self) -> bool {
        let before = self.bytes[..self.at].iter().rfind(|b| !matches!(b, b' ' | b'\t'));
        let divides = before.is_some_and(|b| {
            is_word(*b) || matches!(b, b')' | b']' | b'}' | b'"' | b'\'' | b'<' | b'$' | b'>')
        });
        if divides || self.at < self.no_regex {
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
                    return self.take(end, Kind::Text);
                }
                _ => {}
            }
            at += 1;
        }
        self.no_regex = at;
        false
    }

    /// Takes a string or comment in long brackets: `[==[ … ]==]`.
    pub(super) fn long_bracket(&mut self) -> bool {
        let comment = self.sees("--");
        let open = self.at + if comment { 2 } else { 0 };
        let inner = self.find(open + 1, |b| b != b'=');
        let is_open = |at: usize| at < self.end && self.bytes.get(at) == Some(&b'[');
        if !is_open(open) || !is_open(inner) {
            return false;
        }
        let level = inner - open - 1;
        let close = self.closed(inner + 1, |rest| {
            rest.first() == Some(&b']')
                && rest.get(level + 1) == Some(&b']')
                && rest[1..=level].iter().all(|b| *b == b'=')
        });
        let kind = if comment { Kind::Comment } else { Kind::Text };
        self.take(close.saturating_add(level + 2), kind)
    }

    /// Takes what begins with a sign in a shell.
    pub(super) fn shell(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' => {
                self.command = self.at == 0 || self.bytes.get(self.at - 1) != Some(&b'\\');
                self.heredoc_text()
            }
            b'<' => self.heredoc_word(),
            b';' | b'|' | b'&' | b'(' | b'`' => {
                self.command = true;
                false
            }
            _ => false,
        }
    }

    /// Remembers the word at which a text will end that begins on the next line.
    fn heredoc_word(&mut self) -> bool {
        if !self.sees("<<") || self.sees("<<<") || self.before() == Some(b'<') {
            return false;
        }
        let from = self.find(self.at + 2, |b| !matches!(b, b'-' | b'~' | b'\'' | b'"' | b' ' | b'\\'));
        let end = self.find(from, |b| !is_word(b));
        // A number is shifted by.
        if end == from || self.bytes[from].is_ascii_digit() {
            return self.take(self.at + 2, Kind::Keyword);
        }
        self.heredoc = Some((from, end));
        let quoted = matches!(self.bytes.get(end), Some(b'\'' | b'"'));
        self.take(end + usize::from(quoted), Kind::Keyword)
    }

    /// Takes the text after a line that asked for it.
    fn heredoc_text(&mut self) -> bool {
        let Some((from, end)) = self.heredoc.take() else { return false };
        let word = &self.bytes[from..end];
        let mut line = self.at + 1;
        while line < self.end {
            let line_end = self.line_end(line);
            if self.bytes[line..line_end].trim_ascii() == word {
                let start = self.find(line, |b| b != b' ' && b != b'\t');
                let taken = self.take(start, Kind::Text);
                self.take(line_end, Kind::Keyword);
                return taken;
            }
            line = line_end + 1;
        }
        self.take(self.end, Kind::Text)
    }

    /// Says what a word of a shell is.
    pub(super) fn shell_word(&mut self, start: usize, end: usize) -> Option<(Kind, usize)> {
        let word = &self.bytes[start..end];
        let next = if end < self.end { self.bytes.get(end).copied() } else { None };
        let was_command = std::mem::replace(&mut self.command, false);
        if next == Some(b'=') || next == Some(b'+') && self.bytes.get(end + 1) == Some(&b'=') {
            self.command = was_command;
            return was_command.then_some((Kind::Name, 0));
        }
        self.command = was_command && LEADING.contains(&word);
        let inner = word == b"in" || word == b"AS" || word == b"do" || word == b"then";
        if (was_command || inner) && self.holds(self.grammar.words, word) {
            return Some((Kind::Keyword, 0));
        }
        (was_command && !self.has(has::CALLS)).then_some((Kind::Function, 0))
    }
}
