//! Parses the query language: a line as typed → a [`Query`].
//!
//! ```text
//! docker "exact phrase" -not a OR b /reg.x/ role:user tool:Bash since:7d
//! ```
//!
//! Anything outside of the language is text: `std::fs`, `http://x`, `--flag` and `/usr/bin/` are words.
//! Quotes make any characters text; a quote inside of them is doubled.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::ast::{Literal, Predicate, Query};
use super::field::Field;
use super::needle::Needle;
use crate::entry::Timestamp;

/// The maximum length of a query in bytes. Users do not type longer ones, and parsing must stay fast.
const MAX_QUERY_LEN: usize = 10_000;

/// An error in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// The range of the invalid bytes in the query.
    pub span: Range<usize>,
    /// A description of the error.
    pub message: String,
    /// A suggestion for a valid query.
    pub hint: String,
}

impl QueryError {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> QueryError {
        QueryError { span, message: message.into(), hint: hint.into() }
    }
}

impl Query {
    /// Parses a query. Times are RFC 3339 timestamps or days (`2026-01-31`) in UTC. See [`Query::parse_with_times`].
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        Query::parse_with_times(text, &parse_utc_time)
    }

    /// Parses a query. `parse_time` parses the values of `since:` and `until:`, and returns `None` if it cannot.
    ///
    /// Returns an error if the query is empty, has only negated literals, exceeds 10,000 bytes or has an invalid part.
    pub fn parse_with_times(
        text: &str,
        parse_time: &dyn Fn(&str) -> Option<Timestamp>,
    ) -> Result<Query, QueryError> {
        if text.len() > MAX_QUERY_LEN {
            let message = format!("the query is longer than {MAX_QUERY_LEN} bytes");
            return Err(QueryError::new(0..text.len(), message, "use a few of its words"));
        }
        let mut parser = QueryParser { text, pos: 0, parse_time };
        let mut clauses: Vec<Vec<Literal>> = Vec::new();
        let mut pending_or: Option<Range<usize>> = None;
        while let Some((span, token)) = parser.next_token()? {
            match (token, pending_or.take()) {
                (ParsedToken::Or, previous_or) if clauses.is_empty() || previous_or.is_some() => {
                    return Err(dangling_or_error(text, span, "before"));
                }
                (ParsedToken::Or, _) => pending_or = Some(span),
                (ParsedToken::Literal(literal), or_span) => {
                    match clauses.last_mut().filter(|_| or_span.is_some()) {
                        Some(clause) => clause.push(literal),
                        None => clauses.push(vec![literal]),
                    }
                }
            }
        }
        match pending_or {
            Some(span) => Err(dangling_or_error(text, span, "after")),
            None => Query { clauses: remove_repeated(clauses) }.validate(text),
        }
    }

    /// Returns an error if the query is empty or has only negated literals. `text` is the query as typed.
    fn validate(self, text: &str) -> Result<Query, QueryError> {
        let all = 0..text.len();
        if self.clauses.is_empty() {
            let hint = "type some words or a filter, such as role:user, tool:Bash, since:7d";
            return Err(QueryError::new(all, "the query is empty", hint));
        }
        if self.clauses.iter().flatten().all(|literal| literal.negated) {
            let hint = "add something to find, such as a word, tool:Bash or since:7d";
            return Err(QueryError::new(all, "the query only excludes", hint));
        }
        Ok(self)
    }
}

/// Removes repeated clauses, and repeated literals of a clause. A word that is typed again narrows nothing, but every line
/// would be searched for it again.
fn remove_repeated(mut clauses: Vec<Vec<Literal>>) -> Vec<Vec<Literal>> {
    let mut seen_clauses = HashSet::new();
    clauses.retain_mut(|clause| {
        let mut seen = BTreeSet::new();
        clause.retain(|literal| seen.insert(literal.to_string()));
        seen_clauses.insert(seen)
    });
    clauses
}

/// A token of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryToken {
    /// The byte range of the token in the query.
    pub span: Range<usize>,
    /// Whether it is an `OR`.
    pub is_or: bool,
}

/// Splits a query into its tokens: operators `OR` and literals. Invalid tokens are included.
pub fn tokenize_query(text: &str) -> Vec<QueryToken> {
    let mut parser = QueryParser { text, pos: 0, parse_time: &|_| None };
    let mut tokens = Vec::new();
    loop {
        let previous_end = parser.pos;
        match parser.next_token() {
            Ok(None) => return tokens,
            Ok(Some((span, token))) => {
                tokens.push(QueryToken { span, is_or: matches!(token, ParsedToken::Or) });
            }
            // The token is invalid, but its end is known.
            Err(_) => {
                let start = text.len() - text[previous_end..].trim_start().len();
                tokens.push(QueryToken { span: start..parser.pos, is_or: false });
            }
        }
    }
}

/// Creates the error for an `OR` at `span` without a term on one side. `side` is `before` or `after`.
fn dangling_or_error(text: &str, span: Range<usize>, side: &str) -> QueryError {
    let word = &text[span.clone()];
    let hint = format!("it joins two terms, as in `a {word} b`; quote it to search for the word: \"{word}\"");
    QueryError::new(span, format!("nothing {side} `{word}`"), hint)
}

enum ParsedToken {
    Or,
    Literal(Literal),
}

struct QueryParser<'a> {
    text: &'a str,
    pos: usize,
    parse_time: &'a dyn Fn(&str) -> Option<Timestamp>,
}

impl<'a> QueryParser<'a> {
    /// Parses the next token and returns it with its byte range. Returns `Ok(None)` at the end of the query.
    ///
    /// Returns an error if the token is invalid. Its end is then the current position.
    fn next_token(&mut self) -> Result<Option<(Range<usize>, ParsedToken)>, QueryError> {
        self.pos = self.text.len() - self.rest().trim_start().len();
        let start = self.pos;
        let word = self.peek_word();
        if word.is_empty() {
            return Ok(None);
        }
        if matches!(word, "OR" | "|") {
            self.pos += word.len();
            return Ok(Some((start..self.pos, ParsedToken::Or)));
        }
        // `--flag` is a word, and so is a dash by itself.
        let negated = word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'));
        self.pos += usize::from(negated);
        let predicate = self.parse_predicate()?;
        Ok(Some((start..self.pos, ParsedToken::Literal(Literal { negated, predicate }))))
    }

    /// Parses the quoted phrase, `/pattern/`, `field:value` or word at the current position.
    fn parse_predicate(&mut self) -> Result<Predicate, QueryError> {
        let start = self.pos;
        if let Some(phrase) = self.take_quoted() {
            return parse_text(&phrase, start..self.pos);
        }
        if let Some(pattern) = parse_pattern_body(self.rest()) {
            self.pos += pattern.len() + 2;
            return self.parse_pattern(pattern, start);
        }
        let word = self.peek_word();
        if let Some((field, name)) = Field::parse_prefix(word) {
            self.pos += name.len() + 1;
            let value = self.take_quoted().unwrap_or_else(|| self.take_word());
            return field.parse_predicate(&value, start..self.pos, self.parse_time);
        }
        let word = self.take_word();
        parse_text(&word, start..self.pos)
    }

    fn parse_pattern(&self, pattern: &str, start: usize) -> Result<Predicate, QueryError> {
        Needle::from_pattern(pattern).map(Predicate::Pattern).map_err(|error| {
            let message = format!("`/{pattern}/` is not a regular expression: {}", error.0);
            let hint = "slashes enclose a pattern; quote the text to search for it literally";
            QueryError::new(start..self.pos, message, hint)
        })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.pos..]
    }

    /// Returns the characters up to the next space, without consuming them.
    fn peek_word(&self) -> &'a str {
        self.rest().split(char::is_whitespace).next().unwrap_or_default()
    }

    fn take_word(&mut self) -> String {
        let word = self.peek_word();
        self.pos += word.len();
        word.to_owned()
    }

    /// Consumes a quoted phrase and returns its text. An unclosed phrase extends to the end of the query.
    ///
    /// Returns `None` if no quote starts at the current position.
    fn take_quoted(&mut self) -> Option<String> {
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
        self.pos = self.text.len() - chars.as_str().len();
        Some(phrase)
    }
}

/// Returns whether a character opens and closes a phrase. Phones replace plain quotes by typographic ones.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

/// Creates the predicate of a word or phrase. Returns an error if it has only white space and control characters.
fn parse_text(text: &str, span: Range<usize>) -> Result<Predicate, QueryError> {
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
        let hint = "put text between the quotes; a quote itself is written twice: \"\"\"\"";
        return Err(QueryError::new(span, "the text is empty", hint));
    }
    Ok(Predicate::Text(Needle::case_insensitive(text)))
}

/// Returns the body of the `/pattern/` at the start of a text. Returns `None` if the text does not start with one.
///
/// Paths have the same form, so a pattern must contain a metacharacter: `/tmp/` and `/etc/conf.d/` are words,
/// `/a.b/` and `/^tmp/` are patterns. A pattern may contain spaces unless a second slash makes its beginning
/// a path: `/usr/bin and src/` is three words.
pub(super) fn parse_pattern_body(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('/').filter(|rest| !rest.starts_with(char::is_whitespace))?;
    let body = &rest[..find_pattern_end(rest)?];
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

/// Returns the byte index of the slash that ends a pattern: the first unescaped one before a space or the end.
///
/// Returns `None` if there is no such slash.
fn find_pattern_end(text: &str) -> Option<usize> {
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

/// Parses an RFC 3339 timestamp, or a day as its first moment in UTC. Returns `None` if the text is neither.
fn parse_utc_time(text: &str) -> Option<Timestamp> {
    let timestamp = text.parse::<jiff::Timestamp>().ok();
    let timestamp = timestamp.or_else(|| {
        let day = text.parse::<jiff::civil::Date>().ok()?;
        Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    });
    timestamp.map(|timestamp| Timestamp(timestamp.as_millisecond()))
}
