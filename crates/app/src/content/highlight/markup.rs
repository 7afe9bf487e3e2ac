//! Tokenizes markup languages: HTML, XML, SVG, Vue.

use super::Language;
use super::lexer::{is_word_byte, tokenize_range};
use super::token::{Token, TokenKind};

/// Tokenizes markup. Scripts and style sheets in it are tokenized in their own language.
pub(super) fn tokenize_markup(text: &str, tokens: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|open| at + open) {
        let rest = &text[open..];
        let next = bytes.get(open + 1).copied().unwrap_or(b' ');
        at = if rest.starts_with("<!--") {
            push_token(tokens, open, find_after(text, open + 4, "-->"), TokenKind::Comment)
        } else if rest.starts_with("<![CDATA[") {
            push_token(tokens, open, find_after(text, open + 9, "]]>"), TokenKind::String)
        } else if next == b'!' || next == b'?' {
            push_token(tokens, open, find_after(text, open + 1, ">"), TokenKind::Comment)
        } else if next == b'/' || next.is_ascii_alphabetic() {
            tokenize_tag(text, open, tokens)
        } else {
            open + 1
        };
    }
}

/// Returns the offset after the next `delimiter` from `from` on, or the end of the text.
fn find_after(text: &str, from: usize, delimiter: &str) -> usize {
    let found = text.get(from..).and_then(|rest| rest.find(delimiter));
    found.map_or(text.len(), |at| from + at + delimiter.len())
}

/// Adds a token, unless it is empty. Returns `end`.
fn push_token(tokens: &mut Vec<Token>, start: usize, end: usize, kind: TokenKind) -> usize {
    if end > start {
        tokens.push(Token { start, end, kind });
    }
    end
}

/// Returns the offset after the tag or attribute name that starts at `from`.
fn find_name_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let is_name_byte = |b: u8| is_word_byte(b) || b"-:.@#*".contains(&b);
    rest.iter().position(|b| !is_name_byte(*b)).map_or(bytes.len(), |at| from + at)
}

/// Tokenizes the tag at offset `open` with its attributes, and the code in a `script` or `style` element. Returns the
/// offset after it.
fn tokenize_tag(text: &str, open: usize, tokens: &mut Vec<Token>) -> usize {
    let bytes = text.as_bytes();
    let name_from = open + if bytes.get(open + 1) == Some(&b'/') { 2 } else { 1 };
    let mut at = find_name_end(bytes, name_from);
    let name = text.get(name_from..at).unwrap_or_default();
    push_token(tokens, open, at, TokenKind::Keyword);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'>' => {
                at = push_token(tokens, at, at + 1, TokenKind::Keyword);
                break;
            }
            b'/' if bytes.get(at + 1) == Some(&b'>') => {
                return push_token(tokens, at, at + 2, TokenKind::Keyword);
            }
            b'"' | b'\'' => {
                at = push_token(
                    tokens,
                    at,
                    find_after(text, at + 1, if *byte == b'"' { "\"" } else { "'" }),
                    TokenKind::String,
                );
            }
            b'<' => return at,
            b if is_word_byte(*b) || b"@:#*".contains(b) => {
                at = push_token(tokens, at, find_name_end(bytes, at), TokenKind::Name);
            }
            _ => at += 1,
        }
    }
    let inner = match name {
        "script" => (Language::JavaScript, "</script"),
        "style" => (Language::Css, "</style"),
        _ => return at,
    };
    let end = text.get(at..).and_then(|rest| rest.find(inner.1)).map_or(text.len(), |len| at + len);
    tokenize_range(text, at, end, inner.0, tokens);
    end
}
