//! Tokenizes line-based formats: diffs, Markdown, YAML.

use super::Language;
use super::lexer::tokenize_range;
use super::token::{Token, TokenKind};

/// Calls `each` with the byte offset and the text of each line.
fn for_each_line(text: &str, mut each: impl FnMut(usize, &str)) {
    let mut start = 0;
    for line in text.split('\n') {
        each(start, line);
        start += line.len() + 1;
    }
}

/// Adds a token of `len` bytes, unless it is empty.
fn push_token(tokens: &mut Vec<Token>, start: usize, len: usize, kind: TokenKind) {
    if len > 0 {
        tokens.push(Token { start, end: start + len, kind });
    }
}

/// Tokenizes a diff by the first characters of each line.
pub(super) fn tokenize_diff(text: &str, tokens: &mut Vec<Token>) {
    for_each_line(text, |start, line| {
        let kind = match line.as_bytes() {
            [b'@', b'@', ..] => TokenKind::Type,
            bytes
                if [&b"+++ "[..], b"--- ", b"diff ", b"index "]
                    .iter()
                    .any(|head| bytes.starts_with(head)) =>
            {
                TokenKind::Keyword
            }
            [b'+', ..] => TokenKind::Added,
            [b'-', ..] => TokenKind::Removed,
            _ => return,
        };
        push_token(tokens, start, line.len(), kind);
    });
}

/// Tokenizes headings, quotes, code and list markers of Markdown.
pub(super) fn tokenize_markdown(text: &str, tokens: &mut Vec<Token>) {
    let mut fence = "";
    for_each_line(text, |start, line| {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let opener = ["```", "~~~"].into_iter().find(|fence| body.starts_with(fence));
        if let Some(mark) = opener.filter(|mark| fence.is_empty() || fence == *mark) {
            fence = if fence.is_empty() { mark } else { "" };
            push_token(tokens, start, line.len(), TokenKind::Comment);
        } else if !fence.is_empty() {
            push_token(tokens, start, line.len(), TokenKind::String);
        } else if body.starts_with('#') {
            push_token(tokens, start, line.len(), TokenKind::Keyword);
        } else if body.starts_with('>') {
            push_token(tokens, start, line.len(), TokenKind::Comment);
        } else {
            let marker = body.len()
                - body.trim_start_matches(|c: char| c.is_ascii_digit() || "-*+.".contains(c)).len();
            let is_marker = body[marker..].starts_with(' ') && (1..=4).contains(&marker);
            let marker = if is_marker { marker } else { 0 };
            push_token(tokens, start + indent, marker, TokenKind::Type);
            push_inline_code(tokens, start + indent + marker, &body[marker..]);
        }
    });
}

/// Adds a token for each span between two backticks, including them. `start` is the offset of `line` in the text.
fn push_inline_code(tokens: &mut Vec<Token>, start: usize, line: &str) {
    let mut open = None;
    for (at, _) in line.match_indices('`') {
        match open.take() {
            Some(from) => push_token(tokens, start + from, at + 1 - from, TokenKind::String),
            None => open = Some(at),
        }
    }
}

/// Tokenizes keys, values and block scalars of YAML.
pub(super) fn tokenize_yaml(text: &str, tokens: &mut Vec<Token>) {
    // The indentation of the key whose block scalar is being read.
    let mut block: Option<usize> = None;
    for_each_line(text, |start, line| {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        if let Some(key) = block {
            if indent > key || body.trim().is_empty() {
                push_token(tokens, start + indent, body.len(), TokenKind::String);
                return;
            }
            block = None;
        }
        let dashes = body.len() - body.trim_start_matches("- ").len();
        let key = measure_key(&body[dashes..]);
        push_token(tokens, start + indent + dashes, key, TokenKind::Name);
        let value = indent + dashes + key;
        tokenize_yaml_value(text, start + value, start + line.len(), tokens);
        let last = line.trim_end().trim_end_matches(['-', '+']);
        if last.ends_with(": |") || last.ends_with(": >") || last.ends_with("- |") {
            block = Some(indent);
        }
    });
}

/// Returns the length in bytes of the key at the start of a line, or 0 if there is none.
fn measure_key(line: &str) -> usize {
    let end = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len));
    end.filter(|end| !line[..*end].contains(['#', '{', '[', '"']) || line.starts_with('"')).unwrap_or(0)
}

/// Tokenizes the value from `start` to `end` and the comment after it. Plain text gets no token.
fn tokenize_yaml_value(text: &str, start: usize, end: usize, tokens: &mut Vec<Token>) {
    let line = &text[start..end];
    let hash = if line.starts_with('#') { Some(0) } else { line.find(" #").map(|at| at + 1) };
    // A hash within quotes does not start a comment. The TOML lexer handles quotes.
    let trimmed = line.trim_start_matches([':', ' ']);
    let from = end - trimmed.len();
    let comment = hash.map_or(end, |at| start + at);
    if trimmed.starts_with(['"', '\'', '[', '{']) {
        tokenize_range(text, from, end, Language::Toml, tokens);
        return;
    }
    let value = text.get(from..comment).unwrap_or_default().trim_end();
    let kind = match value {
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "~" => Some(TokenKind::Keyword),
        _ if value.starts_with(['&', '*', '!']) => Some(TokenKind::Type),
        _ if value.starts_with(|c: char| c.is_ascii_digit())
            && value.bytes().all(|b| b"0123456789._eE+-x".contains(&b)) =>
        {
            Some(TokenKind::Number)
        }
        _ => None,
    };
    if let Some(kind) = kind {
        push_token(tokens, from, value.len(), kind);
    }
    push_token(tokens, comment, end - comment, TokenKind::Comment);
}
