//! Formats that are made of tags: HTML, XML, SVG, Vue.

use super::Language;
use super::lexer::{is_word, scan as scan_code};
use super::token::{Kind, Token};

/// Scans text with tags; what stands in scripts and styles is scanned as such.
pub(super) fn scan(text: &str, found: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open) {
        let rest = &text[open..];
        let next = bytes.get(open + 1).copied().unwrap_or(b' ');
        at = if rest.starts_with("<!--") {
            put(found, open, after(text, open + 4, "-->"), Kind::Comment)
        } else if rest.starts_with("<![CDATA[") {
            put(found, open, after(text, open + 9, "]]>"), Kind::Text)
        } else if next == b'!' || next == b'?' {
            put(found, open, after(text, open + 1, ">"), Kind::Comment)
        } else if next == b'/' || next.is_ascii_alphabetic() {
            tag(text, open, found)
        } else {
            open + 1
        };
    }
}

/// Returns where the next `mark` ends.
fn after(text: &str, from: usize, mark: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(mark)).map_or(text.len(), |at| from + at + mark.len())
}

fn put(found: &mut Vec<Token>, start: usize, end: usize, kind: Kind) -> usize {
    if end > start {
        found.push(Token { start, end, kind });
    }
    end
}

/// Returns where the name ends that begins at `from`.
fn name_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let also = |b: u8| is_word(b) || b"-:.@#*".contains(&b);
    rest.iter().position(|b| !also(*b)).map_or(bytes.len(), |at| from + at)
}

/// Takes a tag with its attributes, and the code between it and its end; returns where the text goes on.
fn tag(text: &str, open: usize, found: &mut Vec<Token>) -> usize {
    let bytes = text.as_bytes();
    let name_from = open + if bytes.get(open + 1) == Some(&b'/') { 2 } else { 1 };
    let mut at = name_end(bytes, name_from);
    let name = text.get(name_from..at).unwrap_or_default();
    put(found, open, at, Kind::Keyword);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => {
                at = put(found, at, at + 1, Kind::Keyword);
                break;
            }
            b'/' if bytes.get(at + 1) == Some(&b'>') => {
                return put(found, at, at + 2, Kind::Keyword);
            }
            b'"' | b'\'' => {
                at = put(found, at, after(text, at + 1, if *byte == b'"' { "\"" } else { "'" }), Kind::Text);
            }
            b'<' => return at,
            b if is_word(*b) || b"@:#*".contains(b) => at = put(found, at, name_end(bytes, at), Kind::Name),
            _ => at += 1,
        }
    }
    let inner = match name {
        "script" => (Language::JavaScript, "</script"),
        "style" => (Language::Css, "</style"),
        _ => return at,
    };
    let end = text.get(at..).and_then(|rest| rest.find(inner.1)).map_or(text.len(), |len| at + len);
    scan_code(text, at, end, inner.0, found);
    end
}
