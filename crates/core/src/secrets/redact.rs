//! Replaces secrets by tokens: the same secret by the same token in all files of a session.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use super::context::describe_context;
use super::decode::{decode_json, normalize};
use super::detectors::DETECTORS;
use super::layout::{LineLayout, Place, is_json};
use super::scan::{SecretMatch, find_secrets};

/// Shorter secrets are replaced only where they were recognised, not wherever their text occurs.
const MIN_KNOWN_LEN: usize = 8;
/// The block of thinking that replaces one with a secret.
const REMOVED_THINKING: &str = r#"{"type":"thinking","thinking":"[thinking removed]","signature":""}"#;

/// The start of the directory of a session in a line. In other strings its quotes are escaped.
const DIRECTORY_FIELD: &[u8] = b"\"cwd\":\"";

/// The longest text with escapes that looks like a token, with its bracket.
const MAX_ESCAPED_TOKEN_LEN: usize = 512;
/// The bytes after an escape that are decoded with it.
const ESCAPED_WINDOW_LEN: usize = 4096;

/// The options of a redaction. The default replaces only secrets.
#[derive(Debug, Clone, Default)]
pub struct RedactOptions {
    /// The home folder, which becomes `~`.
    pub home: Option<String>,
    /// The name of the user, which becomes `[user]`.
    pub user: Option<String>,
    /// The name of the computer, which becomes `[host]`.
    pub host: Option<String>,
    /// Whether addresses of e-mail become `[email-1]`.
    pub emails: bool,
    /// Further texts to replace by `[word-1]`, in any case.
    pub words: Vec<String>,
    /// Whether all thinking is removed, not only thinking with a secret.
    pub remove_thinking: bool,
}

/// The secrets of a session and their tokens.
#[derive(Debug, Clone, Default)]
pub struct TokenTable {
    /// The token of each secret, without its escapes.
    tokens: HashMap<Vec<u8>, String>,
    /// The number of tokens by kind.
    counts: BTreeMap<&'static str, u32>,
}

impl TokenTable {
    /// Adds the secrets of a text, in the order of the text.
    pub fn add_text(&mut self, text: &[u8]) {
        for secret in find_secrets(text) {
            self.add_secret(secret.detector().name, &text[secret.range]);
        }
    }

    /// Adds the secrets of a line of a session file.
    pub fn add_line(&mut self, line: &[u8]) {
        for (secret, _) in find_secrets_in_line(line) {
            self.add_secret(secret.detector().name, &line[secret.range]);
        }
    }

    fn add_secret(&mut self, kind: &'static str, secret: &[u8]) {
        let secret = normalize(secret);
        if !self.tokens.contains_key(&*secret) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.tokens.insert(secret.into_owned(), format!("[{kind}-{count}]"));
        }
    }

    /// Returns the number of different secrets by kind, in alphabetical order.
    pub fn counts(&self) -> &BTreeMap<&'static str, u32> {
        &self.counts
    }

    /// Returns `true` if there is no secret.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// Finds the secrets of a line of a session file with their places. Signatures and ids contain none.
pub fn find_secrets_in_line(line: &[u8]) -> Vec<(SecretMatch, Place)> {
    let found = find_secrets(line);
    if found.is_empty() {
        return Vec::new();
    }
    let layout = LineLayout::parse(line).unwrap_or_default();
    let secrets = found.into_iter().filter(|secret| !layout.is_fixed(&secret.range));
    let locate = |secret: SecretMatch| {
        let place = layout.place_at(secret.range.start);
        (secret, place)
    };
    secrets.map(locate).collect()
}

/// A replacement of a range.
struct Span<'r> {
    range: Range<usize>,
    token: Cow<'r, str>,
    /// Whether a signed text with this span may stay as it is.
    is_harmless: bool,
}

/// A text that a redaction replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The reason: the kind of secret, or `home`, `user`, `host`, `email`, `word`, `thinking`, or `token-like` for a text
    /// that looks like a token.
    pub rule: String,
    /// The text that replaces it.
    pub token: String,
    /// The range of the text. It is empty if the token is added before a text.
    pub range: Range<usize>,
    /// The text around it, after the redaction.
    pub context: String,
}

/// Replaces the secrets of a session. It is built once and used for all its lines and titles.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    table: TokenTable,
    /// Texts to replace wherever they occur, and their tokens.
    known: Option<AhoCorasick>,
    known_tokens: Vec<KnownText>,
    words: Option<AhoCorasick>,
    email: Option<Regex>,
    /// Texts that look like a token that was issued.
    forged: Option<Regex>,
    remove_thinking: bool,
}

/// A text with its token.
#[derive(Debug, Clone)]
struct KnownText {
    token: String,
    /// Whether the text must not be a part of a longer word.
    is_word: bool,
}

impl Redactor {
    /// Creates a redactor that replaces the secrets of `table`.
    pub fn new(table: TokenTable, options: &RedactOptions) -> Redactor {
        let mut known: Vec<(Vec<u8>, KnownText)> = Vec::new();
        for (secret, token) in table.tokens.iter().filter(|(secret, _)| secret.len() >= MIN_KNOWN_LEN) {
            let known_text = KnownText { token: token.clone(), is_word: false };
            let escaped = serde_json::Value::from(String::from_utf8_lossy(secret)).to_string();
            let escaped = &escaped.as_bytes()[1..escaped.len() - 1];
            if escaped != secret.as_slice() {
                known.push((escaped.to_vec(), known_text.clone()));
            }
            known.push((secret.clone(), known_text));
        }
        let names = [(&options.home, "~"), (&options.user, "[user]"), (&options.host, "[host]")];
        for (text, token) in names {
            // A shorter home folder is `/` or no folder of a user.
            let text = text.as_deref().map(|text| text.trim_end_matches('/')).filter(|text| text.len() >= 3);
            known.extend(text.map(|text| {
                (text.as_bytes().to_vec(), KnownText { token: token.to_owned(), is_word: true })
            }));
        }
        let build = |texts: &[Vec<u8>], ignore_case: bool| {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).ascii_case_insensitive(ignore_case);
            (!texts.is_empty()).then(|| builder.build(texts).ok()).flatten()
        };
        let (texts, known_tokens): (Vec<_>, Vec<_>) = known.into_iter().unzip();
        let words: Vec<Vec<u8>> = options
            .words
            .iter()
            .map(|word| word.trim().as_bytes().to_vec())
            .filter(|word| !word.is_empty())
            .collect();
        let kinds: Vec<&str> =
            table.counts.keys().copied().chain((!words.is_empty()).then_some("word")).collect();
        let forged = format!("(?i)(?:{})-[0-9]+", kinds.join("|"));
        Redactor {
            known: build(&texts, false),
            known_tokens,
            words: build(&words, true),
            email: options
                .emails
                .then(|| {
                    Regex::new(r"(?i-u)\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,12}\b").ok()
                })
                .flatten(),
            forged: (!kinds.is_empty()).then(|| Regex::new(&forged).ok()).flatten(),
            remove_thinking: options.remove_thinking,
            table,
        }
    }

    /// Returns the secrets and their tokens.
    pub fn table(&self) -> &TokenTable {
        &self.table
    }

    /// Returns a text without its secrets.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.find_spans(text.as_bytes(), find_secrets(text.as_bytes()));
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(&replace_spans(text.as_bytes(), &spans)).into_owned())
    }

    /// Returns bytes without their secrets, for files that are not JSON.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.replace_in_bytes(bytes, find_secrets(bytes))
    }

    /// Returns bytes in which [`find_secrets`] found none without the other texts to replace, for files that are not JSON.
    pub fn redact_searched_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        self.replace_in_bytes(bytes, Vec::new())
    }

    fn replace_in_bytes<'t>(&self, bytes: &'t [u8], secrets: Vec<SecretMatch>) -> Cow<'t, [u8]> {
        let spans = self.find_spans(bytes, secrets);
        if spans.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(replace_spans(bytes, &spans)) }
    }

    /// Returns a line of a session file without its secrets. Ids, types and signatures stay; thinking with a secret is
    /// replaced as a whole, because it is signed. All other bytes are those of the line.
    pub fn redact_line<'t>(&self, line: &'t [u8]) -> Cow<'t, [u8]> {
        self.replace_in_line(line, find_secrets(line))
    }

    /// Returns lines of a session file in which [`find_secrets`] found none without the other texts to replace.
    pub fn redact_searched_lines<'t>(&self, lines: &'t [u8]) -> Cow<'t, [u8]> {
        if self.remove_thinking {
            let lines = lines.split_inclusive(|&byte| byte == b'\n');
            let redacted = lines.map(|line| self.replace_in_line(line, Vec::new()));
            return Cow::Owned(redacted.collect::<Vec<_>>().concat());
        }
        let mut spans = self.find_spans(lines, Vec::new()).into_iter().peekable();
        if spans.peek().is_none() {
            return Cow::Borrowed(lines);
        }
        let mut redacted = Vec::with_capacity(lines.len());
        let mut done_until = 0;
        while let Some(first) = spans.peek() {
            let at = first.range.start;
            let start = memchr::memrchr(b'\n', &lines[..at]).map_or(0, |newline| newline + 1);
            let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |len| at + len + 1);
            redacted.extend_from_slice(&lines[done_until..start]);
            let mut spans_in_line = Vec::new();
            while let Some(mut span) = spans.next_if(|span| span.range.start < end) {
                span.range = span.range.start - start..span.range.end.min(end) - start;
                spans_in_line.push(span);
            }
            let line = &lines[start..end];
            let spans_in_line = self.select_spans_in_line(line, spans_in_line);
            redacted.extend_from_slice(&replace_spans(line, &spans_in_line));
            done_until = end;
        }
        redacted.extend_from_slice(&lines[done_until..]);
        Cow::Owned(redacted)
    }

    fn replace_in_line<'t>(&self, line: &'t [u8], secrets: Vec<SecretMatch>) -> Cow<'t, [u8]> {
        let spans = self.find_spans_in_line(line, secrets);
        if spans.is_empty() {
            return Cow::Borrowed(line);
        }
        let redacted = replace_spans(line, &spans);
        debug_assert!(is_json(&redacted) || !is_json(line), "a redacted line is JSON");
        Cow::Owned(redacted)
    }

    /// Lists what [`redact_line`](Self::redact_line) replaces in a line.
    pub fn list_replacements_in_line(&self, line: &[u8]) -> Vec<Replacement> {
        describe_spans(line, &self.find_spans_in_line(line, find_secrets(line)), true)
    }

    /// Lists what [`redact_bytes`](Self::redact_bytes) replaces.
    pub fn list_replacements(&self, bytes: &[u8]) -> Vec<Replacement> {
        describe_spans(bytes, &self.find_spans(bytes, find_secrets(bytes)), false)
    }

    /// Returns the ranges of a line to replace.
    fn find_spans_in_line(&self, line: &[u8], secrets: Vec<SecretMatch>) -> Vec<Span<'_>> {
        self.select_spans_in_line(line, self.find_spans(line, secrets))
    }

    /// Returns those of the ranges of a line that may change: ids and types stay, and thinking is removed as a whole.
    fn select_spans_in_line<'r>(&self, line: &[u8], mut spans: Vec<Span<'r>>) -> Vec<Span<'r>> {
        // Almost every line names the home folder once, as the directory of the session.
        let is_only_directory =
            spans.iter().all(|span| span.is_harmless && line[..span.range.start].ends_with(DIRECTORY_FIELD));
        if !self.remove_thinking && is_only_directory {
            return spans;
        }
        let Some(layout) = LineLayout::parse(line) else { return spans };
        spans.retain(|span| !layout.is_fixed(&span.range) && is_inside_string(line, &span.range));
        for block in &layout.thinking {
            let touches = |span: &Span<'_>| span.range.start < block.end && block.start < span.range.end;
            let is_removed = self.remove_thinking && &line[block.clone()] != REMOVED_THINKING.as_bytes();
            let is_removed = is_removed || spans.iter().any(|span| touches(span) && !span.is_harmless);
            spans.retain(|span| !touches(span));
            if is_removed {
                spans.push(Span {
                    range: block.clone(),
                    token: Cow::Borrowed(REMOVED_THINKING),
                    is_harmless: false,
                });
            }
        }
        spans.sort_by_key(|span| span.range.start);
        spans
    }

    /// Returns all ranges to replace, sorted and without overlaps. `secrets` are those that were found in the text.
    fn find_spans(&self, text: &[u8], secrets: Vec<SecretMatch>) -> Vec<Span<'_>> {
        let mut spans = Vec::new();
        for secret in secrets {
            let kind = DETECTORS[usize::from(secret.detector)].name;
            let token = self.table.tokens.get(&*normalize(&text[secret.range.clone()]));
            let token =
                token.map_or_else(|| Cow::Owned(format!("[{kind}]")), |token| Cow::Borrowed(token.as_str()));
            spans.push(Span { range: secret.range, token, is_harmless: false });
        }
        for found in self.known.iter().flat_map(|known| known.find_iter(text)) {
            let known_text = &self.known_tokens[found.pattern().as_usize()];
            if !known_text.is_word || is_whole_word(text, &found.range()) {
                let is_harmless = known_text.is_word;
                spans.push(Span {
                    range: found.range(),
                    token: Cow::Borrowed(&known_text.token),
                    is_harmless,
                });
            }
        }
        for found in self.words.iter().flat_map(|words| words.find_iter(text)) {
            let token = Cow::Owned(format!("[word-{}]", found.pattern().as_usize() + 1));
            spans.push(Span { range: found.range(), token, is_harmless: false });
        }
        for found in self.email.iter().flat_map(|email| email.find_iter(text)) {
            spans.push(Span { range: found.range(), token: Cow::Borrowed("[email]"), is_harmless: false });
        }
        for at in self.forged.iter().flat_map(|forged| find_forged_tokens(forged, text)) {
            spans.push(Span { range: at..at, token: Cow::Borrowed("text:"), is_harmless: false });
        }
        if spans.len() > 1 {
            merge_spans(&mut spans);
        }
        spans
    }
}

/// Returns the positions at which a text looks like a token, without the bracket before it. `names` matches the names of
/// the tokens.
fn find_forged_tokens(names: &Regex, text: &[u8]) -> BTreeSet<usize> {
    let find = |text: &[u8]| -> Vec<Range<usize>> {
        names
            .find_iter(text)
            .map(|found| found.range())
            .filter(|range| ends_with_bracket(&text[..range.start]))
            .collect()
    };
    let mut starts: BTreeSet<usize> = find(text).into_iter().map(|range| range.start).collect();
    // Clients do not escape such characters in JSON, but a reader decodes them: `[aws\u002dkey-1]`.
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&text[from..], b"\\u00").map(|at| from + at) {
        let window = at.saturating_sub(MAX_ESCAPED_TOKEN_LEN)..text.len().min(at + ESCAPED_WINDOW_LEN);
        let decoded = decode_json(&text[window.clone()]);
        let original = |range: Range<usize>| window.start + decoded.original_range(&range).start;
        starts.extend(find(&decoded.bytes).into_iter().map(original));
        from = window.end.saturating_sub(MAX_ESCAPED_TOKEN_LEN).max(at + 1);
    }
    starts
}

/// Returns `true` if a text ends with a bracket, or with an escape or an entity that stands for one.
fn ends_with_bracket(text: &[u8]) -> bool {
    let mut rest = text;
    let mut pop = || {
        let (&last, before) = rest.split_last()?;
        let escape =
            rest.len().checked_sub(6).map(|start| &rest[start..]).filter(|escape| escape.starts_with(b"\\u"));
        let code =
            escape.and_then(|escape| u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok());
        rest = if code.is_some() { &rest[..rest.len() - 6] } else { before };
        Some(code.and_then(char::from_u32).unwrap_or(char::from(last)).to_ascii_lowercase())
    };
    match pop() {
        Some('[') => true,
        // The name of an entity from its end. A number may have any number of zeros before it.
        Some(';') => {
            let mut name = String::new();
            loop {
                match pop() {
                    Some('&') => break,
                    Some('0') if name.ends_with('0') => {}
                    Some(c) if name.len() < 8 && (c.is_ascii_alphanumeric() || c == '#') => name.push(c),
                    _ => return false,
                }
            }
            matches!(name.as_str(), "kcarbl" | "bqsl" | "19#" | "190#" | "b5x#" | "b50x#")
        }
        _ => false,
    }
}

/// Describes the replacements of a text by what is left of it.
fn describe_spans(text: &[u8], spans: &[Span<'_>], is_json: bool) -> Vec<Replacement> {
    let redacted = replace_spans(text, spans);
    let mut removed = 0;
    let mut added = 0;
    let describe = |span: &Span<'_>| {
        let start = span.range.start - removed + added;
        removed += span.range.len();
        added += span.token.len();
        let around = describe_context(&redacted, &(start..start + span.token.len()), is_json);
        let range = span.range.clone();
        let is_thinking = span.token == REMOVED_THINKING;
        let token =
            if is_thinking { "[thinking removed]".to_owned() } else { span.token.clone().into_owned() };
        Replacement {
            rule: name_rule(&span.token).to_owned(),
            context: around.replace(REMOVED_THINKING, &token),
            token,
            range,
        }
    };
    spans.iter().map(describe).collect()
}

/// Returns the name of the rule that issues a token.
fn name_rule(token: &str) -> &str {
    match token {
        "~" => "home",
        "text:" => "token-like",
        REMOVED_THINKING => "thinking",
        _ => {
            let name = token.trim_matches(['[', ']']);
            name.rsplit_once('-')
                .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
                .map_or(name, |(name, _)| name)
        }
    }
}

/// Joins spans that overlap. The longer one names the token.
fn merge_spans(spans: &mut Vec<Span<'_>>) {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    let mut merged: Vec<Span<'_>> = Vec::with_capacity(spans.len());
    for span in spans.drain(..) {
        match merged.last_mut().filter(|last| span.range.start < last.range.end) {
            Some(last) => {
                let end = last.range.end.max(span.range.end);
                if span.range.len() > last.range.len() {
                    last.token = span.token;
                }
                last.range.end = end;
                last.is_harmless &= span.is_harmless;
            }
            None => merged.push(span),
        }
    }
    *spans = merged;
}

/// Returns the text with each range replaced by its token.
fn replace_spans(text: &[u8], spans: &[Span<'_>]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        replaced.extend_from_slice(&text[from..span.range.start]);
        replaced.extend_from_slice(span.token.as_bytes());
        from = span.range.end;
    }
    replaced.extend_from_slice(&text[from..]);
    replaced
}

/// Returns `true` if no letter, digit or dash continues the text at a range.
fn is_whole_word(text: &[u8], range: &Range<usize>) -> bool {
    let continues =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_escape = range.start >= 2 && text[range.start - 2] == b'\\';
    let before = range.start.checked_sub(1).and_then(|before| text.get(before));
    (is_escape || text[range.start] == b'/' || !continues(before)) && !continues(text.get(range.end))
}

/// Returns `true` if a range of a line of JSON can be replaced: it lies within one string and splits no escape.
fn is_inside_string(line: &[u8], range: &Range<usize>) -> bool {
    let slashes_before = |pos: usize| line[..pos].iter().rev().take_while(|byte| **byte == b'\\').count();
    let has_quote = memchr::memchr_iter(b'"', &line[range.clone()])
        .any(|offset| slashes_before(range.start + offset).is_multiple_of(2));
    !has_quote && slashes_before(range.start).is_multiple_of(2) && slashes_before(range.end).is_multiple_of(2)
}
