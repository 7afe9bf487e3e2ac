//! Decodes escapes of JSON and of addresses, and maps positions of the decoded text back to the original.

use std::borrow::Cow;
use std::ops::Range;

/// The number of times that a text is decoded at most: JSON in a string of JSON in a string.
pub(super) const MAX_LEVELS: usize = 4;

/// A decoded text with the original position of each byte.
#[derive(Debug, Clone, Default)]
pub(super) struct DecodedText {
    pub(super) bytes: Vec<u8>,
    /// The position before each byte, and the end.
    starts: Vec<u32>,
}

impl DecodedText {
    fn with_capacity(len: usize) -> DecodedText {
        DecodedText { bytes: Vec::with_capacity(len), starts: Vec::with_capacity(len + 1) }
    }

    /// Returns the range of the original for a range of the decoded bytes.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let position = |idx: usize| self.starts.get(idx).map_or(0, |start| *start as usize);
        position(range.start)..position(range.end)
    }

    fn push(&mut self, bytes: &[u8], start: usize) {
        self.bytes.extend_from_slice(bytes);
        self.starts.extend(bytes.iter().map(|_| start as u32));
    }

    /// Adds bytes that were not escaped.
    fn push_plain(&mut self, bytes: &[u8], start: usize) {
        self.bytes.extend_from_slice(bytes);
        self.starts.extend(start as u32..(start + bytes.len()) as u32);
    }

    /// Replaces the positions by those of the text from which this one was decoded.
    fn compose(&mut self, inner: &DecodedText) {
        for start in &mut self.starts {
            *start = inner.starts.get(*start as usize).copied().unwrap_or_default();
        }
    }
}

/// Decodes the escapes of JSON strings once. Other bytes stay, also invalid escapes.
pub(super) fn decode_json(text: &[u8]) -> DecodedText {
    let mut decoded = DecodedText::with_capacity(text.len());
    let mut pos = 0;
    while pos < text.len() {
        if text[pos] != b'\\' || pos + 1 == text.len() {
            let len = memchr::memchr(b'\\', &text[pos + 1..]).map_or(text.len() - pos, |len| len + 1);
            decoded.push_plain(&text[pos..pos + len], pos);
            pos += len;
            continue;
        }
        let kind = text[pos + 1];
        let (plain, len) = match kind {
            b'n' => (Some('\n'), 2),
            b't' => (Some('\t'), 2),
            b'r' => (Some('\r'), 2),
            b'b' => (Some('\u{8}'), 2),
            b'f' => (Some('\u{c}'), 2),
            b'"' | b'\\' | b'/' => (Some(char::from(kind)), 2),
            b'u' => (parse_hex(text.get(pos + 2..pos + 6)).and_then(char::from_u32), 6),
            _ => (None, 1),
        };
        match plain {
            Some(plain) => decoded.push(plain.encode_utf8(&mut [0; 4]).as_bytes(), pos),
            None => decoded.push(&text[pos..pos + 1], pos),
        }
        pos += if plain.is_some() { len } else { 1 };
    }
    decoded.starts.push(text.len() as u32);
    decoded
}

/// Decodes the escapes of addresses once. Other bytes stay.
pub(super) fn decode_percent(text: &[u8]) -> DecodedText {
    let mut decoded = DecodedText::default();
    let mut pos = 0;
    while pos < text.len() {
        match parse_hex(text.get(pos + 1..pos + 3).filter(|_| text[pos] == b'%')) {
            Some(byte) => {
                decoded.push(&[byte as u8], pos);
                pos += 3;
            }
            None => {
                decoded.push(&text[pos..=pos], pos);
                pos += 1;
            }
        }
    }
    decoded.starts.push(text.len() as u32);
    decoded
}

/// Decodes the next level of a text: the escapes of JSON if it has some, in the positions of the original.
pub(super) fn decode_next(previous: &DecodedText) -> DecodedText {
    let mut next = decode_json(&previous.bytes);
    next.compose(previous);
    next
}

fn parse_hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = std::str::from_utf8(digits?)
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Returns a secret without any escapes, so that all spellings of it are equal.
pub(super) fn normalize(secret: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(secret);
    for _ in 0..MAX_LEVELS {
        if memchr::memchr(b'\\', &text).is_none() {
            break;
        }
        text = Cow::Owned(decode_json(&text).bytes);
    }
    if memchr::memchr(b'%', &text).is_some() {
        text = Cow::Owned(decode_percent(&text).bytes);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decode_json, decode_next, decode_percent, normalize};

    #[test]
    fn positions_lead_back_to_the_escapes() {
        let text = br#"a\nb\u0041\/c\x"#;
        let decoded = decode_json(text);
        assert_eq!(decoded.bytes, b"a\nbA/c\\x");
        assert_eq!(&text[decoded.original_range(&(3..5))], br"\u0041\/");
        assert_eq!(decoded.original_range(&(0..8)), 0..text.len());
    }

    #[test]
    fn nested_escapes_are_decoded_by_level() {
        let text = br#"x\\u002fy"#;
        let first = decode_json(text);
        let second = decode_next(&first);
        assert_eq!(second.bytes, b"x/y");
        assert_eq!(&text[second.original_range(&(1..2))], br"\\u002f");
    }

    #[test]
    fn addresses_are_decoded() {
        let decoded = decode_percent(b"p%40ss%2");
        assert_eq!(decoded.bytes, b"p@ss%2");
        assert_eq!(decoded.original_range(&(1..2)), 1..4);
        assert_eq!(&*normalize(br"a\\/b%2Fc"), b"a/b/c");
    }
}
