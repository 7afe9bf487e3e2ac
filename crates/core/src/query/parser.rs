//! The search language: a line as people type it → a [`Query`].
//!
//! ```text
//! docker "exact phrase" -not a OR b /reg.x/ role:user tool:Bash since:7d
//! ```
//!
//! What the language does not know is text: `std::fs`, `http://x`, `--flag` and `/usr/bin/` are words. Quotes make words
//! of anything; a quote inside them is written twice.

use std::ops::Range;

use super::ast::{Literal, Predicate, Query};
use super::field::Field;
use super::needle::Needle;
use crate::entry::Timestamp;

/// Longer queries are refused: nobody types them, and reading one must stay quick.
const LONGEST: usize = 10_000;

/// Why a query cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The bytes of the query it is about.
    pub at: Range<usize>,
    /// What is wrong there.
    pub what: String,
    /// What to type instead.
    pub hint: String,
}

impl QueryError {
    pub(super) fn new(at: Range<usize>, what: impl Into<String>, hint: impl Into<String>) -> QueryError {
        QueryError { at, what: what.into(), hint: hint.into() }
    }
}

impl Query {
    /// Reads a query; `when` reads the moments that `since:` and `until:` name.
    pub fn parse(text: &str, when: &dyn Fn(&str) -> Option<Timestamp>) -> Result<Query, QueryError> {
        if text.len() > LONGEST {
            let what = format!("the query is longer than {LONGEST} bytes");
            return Err(QueryError::new(0..text.len(), what, "a few of its words find the same"));
        }
        let mut reader = Reader { text, at: 0, when };
        let mut groups: Vec<Vec<Literal>> = Vec::new();
        let mut open: Option<Range<usize>> = None;
        while let Some((at, token)) = reader.next()? {
            match (token, open.take()) {
                (Token::Or, before) if groups.is_empty() || before.is_some() => {
                    return Err(lonely_or(text, at, "before"));
                }
                (Token::Or, _) => open = Some(at),
                (Token::Atom(atom), joined) => match groups.last_mut().filter(|_| joined.is_some()) {
                    Some(group) => group.push(atom),
                    None => groups.push(vec![atom]),
                },
            }
        }
        match open {
            Some(at) => Err(lonely_or(text, at, "behind")),
            None => Query { clauses: groups }.check(text),
        }
    }

    fn check(self, text: &str) -> Result<Query, QueryError> {
        let all = 0..text.len();
        if self.clauses.is_empty() {
            let hint = "type some words, or what they stand in: role:user, tool:Bash, since:7d";
            return Err(QueryError::new(all, "there is nothing to look for", hint));
        }
        if self.clauses.iter().flatten().all(|atom| atom.not) {
            let hint = "add what to look for, such as a word, tool:Bash or since:7d";
            return Err(QueryError::new(all, "the query only says what not to find", hint));
        }
        Ok(self)
    }
}

/// What stands somewhere in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryToken {
    /// Its bytes.
    pub at: Range<usize>,
    /// Whether it stands between two others of which one is enough.
    pub is_or: bool,
}

/// Parts a query into its pieces, also one that cannot be read.
pub fn pieces(text: &str) -> Vec<QueryToken> {
    let mut reader = Reader { text, at: 0, when: &|_| None };
    let mut pieces = Vec::new();
    loop {
        let before = reader.at;
        match reader.next() {
            Ok(None) => return pieces,
            Ok(Some((at, token))) => pieces.push(QueryToken { at, is_or: matches!(token, Token::Or) }),
            // What it says is wrong, and where it ends is known all the same.
            Err(_) => {
                let start = text.len() - text[before..].trim_start().len();
                pieces.push(QueryToken { at: start..reader.at, is_or: false });
            }
        }
    }
}

fn lonely_or(text: &str, at: Range<usize>, side: &str) -> QueryError {
    let word = &text[at.clone()];
    let hint =
        format!("it stands between two words, as in `a {word} b`; in quotes, \"{word}\", it is a word");
    QueryError::new(at, format!("nothing stands {side} `{word}`"), hint)
}

enum Token {
    Or,
    Atom(Literal),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    when: &'a dyn Fn(&str) -> Option<Timestamp>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Range<usize>, Token)>, QueryError> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let start = self.at;
        let word = self.word();
        if word.is_empty() {
            return Ok(None);
        }
        if matches!(word, "OR" | "|") {
            self.at += word.len();
            return Ok(Some((start..self.at, Token::Or)));
        }
        // `--flag` is a word, and so is a dash by itself.
        let not = word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'));
        self.at += usize::from(not);
        let want = self.want()?;
        Ok(Some((start..self.at, Token::Atom(Literal { not, want }))))
    }

    fn want(&mut self) -> Result<Predicate, QueryError> {
        let start = self.at;
        if let Some(phrase) = self.quoted() {
            return words(&phrase, start..self.at);
        }
        if let Some(pattern) = pattern_of(self.rest()) {
            self.at += pattern.len() + 2;
            return self.pattern(pattern, start);
        }
        let word = self.word();
        if let Some((field, name)) = Field::of(word) {
            self.at += name.len() + 1;
            let value = self.quoted().unwrap_or_else(|| self.take_word());
            return field.want(&value, start..self.at, self.when);
        }
        let word = self.take_word();
        words(&word, start..self.at)
    }

    fn pattern(&self, pattern: &str, start: usize) -> Result<Predicate, QueryError> {
        Needle::pattern(pattern).map(Predicate::Pattern).map_err(|bad| {
            let what = format!("`/{pattern}/` is no regular expression: {}", bad.0);
            let hint = "between slashes stands a pattern; in quotes it is looked for as it is";
            QueryError::new(start..self.at, what, hint)
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns what stands here up to the next space.
    fn word(&self) -> &'a str {
        self.rest().split(char::is_whitespace).next().unwrap_or_default()
    }

    fn take_word(&mut self) -> String {
        let word = self.word();
        self.at += word.len();
        word.to_owned()
    }

    /// Takes a phrase in quotes, if one begins here; without a closing quote it goes on to the end.
    fn quoted(&mut self) -> Option<String> {
        let body = self.rest().strip_prefix(is_quote)?;
        let mut phrase = String::new();
        let mut chars = body.char_indices();
        while let Some((_, c)) = chars.next() {
            if is_quote(c) && !chars.as_str().starts_with(c) {
                break;
            }
            if is_quote(c) {
                chars.next();
            }
            phrase.push(c);
        }
        self.at = self.text.len() - chars.as_str().len();
        Some(phrase)
    }
}

/// Whether a character opens and closes a phrase. Phones make typographic quotes of plain ones.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

fn words(text: &str, at: Range<usize>) -> Result<Predicate, QueryError> {
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        let hint = "between quotes stands what to look for; a quote itself is written twice: \"\"\"\"";
        return Err(QueryError::new(at, "there are no words here", hint));
    }
    Ok(Predicate::Words(Needle::folded(text)))
}

/// Returns the body of the `/pattern/` that a text begins with.
///
/// Paths look the same, so a pattern must hold something that means more than itself: `/tmp/` and `/etc/conf.d/` are
/// words, `/a.b/` and `/^tmp/` are patterns. Spaces may stand in it unless a second slash makes its beginning a path:
/// in `/usr/bin and src/` are three words.
pub(super) fn pattern_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('/').filter(|rest| !rest.starts_with(char::is_whitespace))?;
    let body = &rest[..end_of_pattern(rest)?];
    let is_path = body.contains('/') && !body.contains("\\/");
    let is_pattern = body.contains(['\\', '*', '+', '?', '(', ')', '[', ']', '{', '}', '^', '$', '|']);
    let has_spaces = body.contains(char::is_whitespace);
    match (is_path, is_pattern) {
        (true, true) => !has_spaces,
        (false, true) => true,
        (true, false) => false,
        (false, false) => body.contains('.') && !has_spaces,
    }
    .then_some(body)
}

/// Finds the slash that ends a pattern: the first that is not escaped and has a space or nothing behind it.
fn end_of_pattern(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == '/' && chars.as_str().chars().next().is_none_or(char::is_whitespace) {
            return Some(at);
        }
    }
    None
}
