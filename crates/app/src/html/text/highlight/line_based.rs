//! Formats that are made of lines: diffs, Markdown, YAML.

use super::Language;
use super::lexer::scan;
use super::token::{Kind, Token};

/// Calls `each` with where every line begins and ends.
fn each_line(text: &str, mut each: impl FnMut(usize, &str)) {
    let mut start = 0;
    for line in text.split('\n') {
        each(start, line);
        start += line.len() + 1;
    }
}

fn put(found: &mut Vec<Token>, start: usize, len: usize, kind: Kind) {
    if len > 0 {
        found.push(Token { start, end: start + len, kind });
    }
}

/// Tells the lines of a diff by their first sign.
pub(super) fn diff(text: &str, found: &mut Vec<Token>) {
    each_line(text, |start, line| {
        let kind = match line.as_bytes() {
            [b'@', b'@', ..] => Kind::Type,
            bytes
                if [&b"+++ "[..], b"--- ", b"diff ", b"index "]
                    .iter()
                    .any(|head| bytes.starts_with(head)) =>
            {
                Kind::Keyword
            }
            [b'+', ..] => Kind::Added,
            [b'-', ..] => Kind::Removed,
            _ => return,
        };
        put(found, start, line.len(), kind);
    });
}

/// Tells headings, quotes, code and the marks of lists.
pub(super) fn markdown(text: &str, found: &mut Vec<Token>) {
    let mut fence = "";
    each_line(text, |start, line| {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let opens = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark));
        if let Some(mark) = opens.filter(|mark| fence.is_empty() || fence == *mark) {
            fence = if fence.is_empty() { mark } else { "" };
            put(found, start, line.len(), Kind::Comment);
        } else if !fence.is_empty() {
            put(found, start, line.len(), Kind::Text);
        } else if body.starts_with('#') {
            put(found, start, line.len(), Kind::Keyword);
        } else if body.starts_with('>') {
            put(found, start, line.len(), Kind::Comment);
        } else {
            let marks = body.len()
                - body.trim_start_matches(|c: char| c.is_ascii_digit() || "-*+.".contains(c)).len();
            let is_mark = body[marks..].starts_with(' ') && (1..=4).contains(&marks);
            let marks = if is_mark { marks } else { 0 };
            put(found, start + indent, marks, Kind::Type);
            code_in_line(found, start + indent + marks, &body[marks..]);
        }
    });
}

/// Tells what stands between two backticks.
fn code_in_line(found: &mut Vec<Token>, start: usize, line: &str) {
    let mut open = None;
    for (at, _) in line.match_indices('`') {
        match open.take() {
            Some(from) => put(found, start + from, at + 1 - from, Kind::Text),
            None => open = Some(at),
        }
    }
}

/// Tells keys, values and texts over several lines.
pub(super) fn yaml(text: &str, found: &mut Vec<Token>) {
    // The indentation of the key whose text goes on below it.
    let mut block: Option<usize> = None;
    each_line(text, |start, line| {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        if let Some(key) = block {
            if indent > key || body.trim().is_empty() {
                put(found, start + indent, body.len(), Kind::Text);
                return;
            }
            block = None;
        }
        let dashes = body.len() - body.trim_start_matches("- ").len();
        let key = key_len(&body[dashes..]);
        put(found, start + indent + dashes, key, Kind::Name);
        let value = indent + dashes + key;
        yaml_value(text, start + value, start + line.len(), found);
        let last = line.trim_end().trim_end_matches(['-', '+']);
        if last.ends_with(": |") || last.ends_with(": >") || last.ends_with("- |") {
            block = Some(indent);
        }
    });
}

/// Measures the key at the start of a line.
fn key_len(line: &str) -> usize {
    let end = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len));
    end.filter(|end| !line[..*end].contains(['#', '{', '[', '"']) || line.starts_with('"')).unwrap_or(0)
}

/// Tells what a value is: a comment, or the few words and figures that are no text.
fn yaml_value(text: &str, start: usize, end: usize, found: &mut Vec<Token>) {
    let line = &text[start..end];
    let hash = if line.starts_with('#') { Some(0) } else { line.find(" #").map(|at| at + 1) };
    // A hash within quotes begins no comment; the scanner of settings knows quotes.
    let solid = line.trim_start_matches([':', ' ']);
    let from = end - solid.len();
    let comment = hash.map_or(end, |at| start + at);
    if solid.starts_with(['"', '\'', '[', '{']) {
        scan(text, from, end, Language::Toml, found);
        return;
    }
    let value = text.get(from..comment).unwrap_or_default().trim_end();
    let kind = match value {
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "~" => Some(Kind::Keyword),
        _ if value.starts_with(['&', '*', '!']) => Some(Kind::Type),
        _ if value.starts_with(|c: char| c.is_ascii_digit())
            && value.bytes().all(|b| b"0123456789._eE+-x".contains(&b)) =>
        {
            Some(Kind::Number)
        }
        _ => None,
    };
    if let Some(kind) = kind {
        put(found, from, value.len(), kind);
    }
    put(found, comment, end - comment, Kind::Comment);
}
