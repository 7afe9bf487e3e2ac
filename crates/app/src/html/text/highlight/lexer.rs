//! One pass over the bytes of a program.
//!
//! What is looked at ahead is taken, or lies within a bound, or is remembered as looked at: time grows with the length of the text alone.
//! Tokens begin and end at ASCII, so that no character is ever cut.

use super::Language;
use super::grammar::{Grammar, has};
use super::token::{Kind, Token};

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Word,
    Digit,
    Special,
}

/// Where the scanner is, and what it must remember.
pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) grammar: Grammar,
    pub(super) at: usize,
    pub(super) end: usize,
    found: &'a mut Vec<Token>,
    /// How many braces are open in each template string that is left for the code in it.
    pub(super) templates: Vec<u32>,
    /// How many braces are open.
    pub(super) depth: u32,
    /// Whether the next word of a shell is a command.
    pub(super) command: bool,
    /// The word that ends the text after this line of a shell, as a range.
    pub(super) heredoc: Option<(usize, usize)>,
    /// Up to here no regular expression ends.
    pub(super) no_regex: usize,
    /// For each first letter the lengths of the words that begin with it: most words are told to be none of the language by this alone.
    lengths: [u32; 128],
}

/// Scans a part of a text.
pub(super) fn scan(text: &str, start: usize, end: usize, language: Language, found: &mut Vec<Token>) {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        grammar: language.grammar(),
        at: start,
        end: end.min(text.len()),
        found,
        templates: Vec::new(),
        depth: 0,
        command: true,
        heredoc: None,
        no_regex: 0,
        lengths: [0; 128],
    };
    scanner.measure();
    let classes = scanner.classes();
    while let Some(byte) = scanner.byte(0) {
        match classes[usize::from(byte)] {
            Class::Plain => scanner.at += 1,
            Class::Word => scanner.word(),
            Class::Digit => scanner.number(),
            Class::Special => {
                if !scanner.special(byte) {
                    scanner.at += 1;
                }
            }
        }
    }
}

/// Whether a byte belongs to a word in any language; those beyond ASCII do.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Scanner<'_> {
    pub(super) fn has(&self, feature: u32) -> bool {
        self.grammar.traits & feature != 0
    }

    /// Notes how long the words of the language are.
    fn measure(&mut self) {
        for word in self.grammar.words.iter().chain(self.grammar.types) {
            let first = word.bytes().next().map_or(0, |b| usize::from(b & 0x7f));
            self.lengths[first] |= 1 << word.len().min(31);
        }
    }

    /// Whether the language may have a word that begins and is as long as this one.
    pub(super) fn may_hold(&self, word: &[u8]) -> bool {
        let first = word.first().map_or(0, |b| if self.has(has::FOLD) { b.to_ascii_lowercase() } else { *b });
        self.lengths[usize::from(first & 0x7f)] & (1 << word.len().min(31)) != 0
    }

    fn classes(&self) -> [Class; 256] {
        let mut classes = [Class::Plain; 256];
        for byte in 0..=255u8 {
            if is_word(byte) {
                classes[usize::from(byte)] = if byte.is_ascii_digit() { Class::Digit } else { Class::Word };
            }
        }
        if self.has(has::SCRIPT) {
            classes[usize::from(b'$')] = Class::Word;
        }
        let mut special = |bytes: &[u8]| bytes.iter().for_each(|b| classes[usize::from(*b)] = Class::Special);
        let openers = self.grammar.comments.iter().copied();
        let openers = openers.chain(self.grammar.blocks.iter().map(|(open, _)| *open));
        for open in openers.chain(self.grammar.quotes.iter().map(|quote| quote.open)) {
            special(&open.as_bytes()[..1]);
        }
        let peculiar: [(u32, &[u8]); 13] = [
            (has::DOLLARS, b"$"),
            (has::AT_NAMES, b"@"),
            (has::RUSTY, b"#'"),
            (has::PREPROCESSOR, b"#"),
            (has::SHELL, b"\n;|&(`<"),
            (has::FLAGS, b"-"),
            (has::EQUAL_KEYS, b"["),
            (has::STYLES, b"{}#.-"),
            (has::SCRIPT, b"`{}/"),
            (has::ATOMS, b":"),
            (has::LONG_BRACKETS, b"[-"),
            (has::PRIMES, b"'"),
            (has::TARGETS, b"."),
        ];
        for (feature, bytes) in peculiar {
            if self.has(feature) {
                special(bytes);
            }
        }
        classes
    }

    /// Returns the byte some way ahead.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at.checked_add(ahead)?;
        if at < self.end { self.bytes.get(at).copied() } else { None }
    }

    /// Returns the byte before this one.
    pub(super) fn before(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// Whether this is how the text goes on.
    pub(super) fn sees(&self, text: &str) -> bool {
        self.bytes.get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Returns where the first byte is, from `from` on, that fits; or the end.
    pub(super) fn find(&self, from: usize, fits: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..self.end).unwrap_or_default();
        rest.iter().position(|b| fits(*b)).map_or(self.end, |at| from + at)
    }

    /// Returns where the line ends.
    pub(super) fn line_end(&self, from: usize) -> usize {
        self.find(from, |b| b == b'\n')
    }

    /// Whether only white space stands before this place on its line.
    pub(super) fn is_line_start(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        matches!(before.iter().rfind(|b| !matches!(**b, b' ' | b'\t')), None | Some(b'\n'))
    }

    /// Takes all up to `end` as a token.
    pub(super) fn take(&mut self, end: usize, kind: Kind) -> bool {
        let end = end.min(self.end);
        if end <= self.at {
            return false;
        }
        self.found.push(Token { start: self.at, end, kind });
        self.at = end;
        true
    }
}

#[cfg(test)]
mod tests;
