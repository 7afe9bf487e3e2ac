//! JSON strings as written in the file, decoded on demand.

use std::borrow::Cow;

use crate::id::Id;

/// The body of a JSON string: the bytes between the quotes, escapes not decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonStr<'a>(pub(crate) &'a [u8]);

impl<'a> JsonStr<'a> {
    /// Wraps a string body. The body must come from [`JsonScanner`](super::JsonScanner).
    pub(crate) fn new(body: &'a [u8]) -> Self {
        JsonStr(body)
    }

    /// Returns the string body of a raw JSON value. Returns `None` if the value is not a string.
    pub(crate) fn from_value(value: &'a [u8]) -> Option<Self> {
        match value {
            [b'"', body @ .., b'"'] => Some(JsonStr(body)),
            _ => None,
        }
    }

    /// Returns the bytes between the quotes.
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Returns `true` if the string is empty.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the decoded string equals `word`, which must not contain backslashes.
    pub fn equals(self, word: &str) -> bool {
        self.0 == word.as_bytes() || (self.has_escapes() && self.decode() == word)
    }

    fn has_escapes(self) -> bool {
        memchr::memchr(b'\\', self.0).is_some()
    }

    /// Decodes the string. Lone surrogates and bytes that are not UTF-8 become U+FFFD.
    pub fn decode(self) -> Cow<'a, str> {
        if !self.has_escapes() {
            return match simdutf8::basic::from_utf8(self.0) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(self.0),
            };
        }
        Cow::Owned(decode_escapes(self.0, usize::MAX))
    }

    /// Appends the decoded string to `out`. Makes no copy of a long string.
    pub fn decode_into(self, out: &mut String) {
        if self.has_escapes() {
            out.reserve(self.0.len());
            push_decoded(out, self.0, usize::MAX);
        } else {
            out.push_str(&self.decode());
        }
    }

    /// Decodes the start of the string: at least `min_len` bytes, up to the end of a character, or all of a shorter string.
    pub fn decode_prefix(self, min_len: usize) -> Cow<'a, str> {
        if self.0.len() <= min_len {
            return self.decode();
        }
        Cow::Owned(decode_escapes(self.0, min_len))
    }

    /// Calls `lookup` with the decoded bytes and returns its result. Copies the bytes only if the string has escapes.
    #[inline]
    pub(crate) fn decode_with<K>(self, lookup: impl Fn(&[u8]) -> K) -> K {
        if self.has_escapes() { lookup(self.decode().as_bytes()) } else { lookup(self.0) }
    }

    /// Returns the id written in this string: a UUID, or the hash of any other text.
    pub fn to_id(self) -> Id {
        // A UUID has no escapes; only other ids need decoding.
        Id::from_uuid(self.0).unwrap_or_else(|| self.decode_with(Id::from_text))
    }

    /// Returns `true` if an escape is one half of a surrogate pair and the other half does not follow or precede it.
    pub fn has_lone_surrogate(self) -> bool {
        let mut rest = self.0;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            let Some(&kind) = rest.get(at + 1) else {
                return false;
            };
            rest = &rest[at + 2..];
            if kind == b'u' {
                match parse_hex4(rest) {
                    Some(0xD800..=0xDBFF) => {
                        if !(rest[4..].starts_with(b"\\u")
                            && matches!(rest.get(6..).and_then(parse_hex4), Some(0xDC00..=0xDFFF)))
                        {
                            return true;
                        }
                        rest = &rest[10..];
                    }
                    Some(0xDC00..=0xDFFF) => return true,
                    _ => {}
                }
            }
        }
        false
    }
}

/// Parses the first four bytes as hex digits. Returns `None` if there are fewer or one is not a hex digit.
fn parse_hex4(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// Decodes escapes until the result has at least `min_len` bytes or the body ends. Never splits a character.
fn decode_escapes(body: &[u8], min_len: usize) -> String {
    let mut out = String::with_capacity(body.len().min(min_len));
    push_decoded(&mut out, body, min_len);
    out
}

/// Decodes escapes like [`decode_escapes`] and appends the result.
fn push_decoded(out: &mut String, body: &[u8], min_len: usize) {
    let min_len = min_len.saturating_add(out.len());
    let mut rest = body;
    while !rest.is_empty() && out.len() < min_len {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let plain_len = plain.min(min_len - out.len());
        let cut = (plain_len..plain).find(|&idx| rest[idx] & 0xC0 != 0x80).unwrap_or(plain);
        match simdutf8::basic::from_utf8(&rest[..cut]) {
            Ok(text) => out.push_str(text),
            Err(_) => out.push_str(&String::from_utf8_lossy(&rest[..cut])),
        }
        if cut < plain || plain == rest.len() {
            break;
        }
        let Some(&kind) = rest.get(plain + 1) else { break };
        rest = &rest[plain + 2..];
        match kind {
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'u' => {
                let (character, used) = decode_unicode_escape(rest);
                out.push(character);
                rest = &rest[used.min(rest.len())..];
            }
            escaped_byte => out.push(char::from(escaped_byte)),
        }
    }
}

/// Decodes a `\u` escape. Its digits are at the start of `rest`. Returns the character and the number of bytes read.
///
/// Two escapes of a surrogate pair are one character. Lone surrogates and malformed digits become U+FFFD.
fn decode_unicode_escape(rest: &[u8]) -> (char, usize) {
    let Some(first) = parse_hex4(rest) else {
        return (char::REPLACEMENT_CHARACTER, 0);
    };
    if (0xD800..0xDC00).contains(&first)
        && rest[4..].starts_with(b"\\u")
        && let Some(second @ 0xDC00..=0xDFFF) = rest.get(6..).and_then(parse_hex4)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}
