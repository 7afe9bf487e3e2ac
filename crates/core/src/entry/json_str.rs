//! JSON strings as they stand in the file, decoded only when somebody reads them.

use std::borrow::Cow;

use crate::id::Id;

/// The body of a JSON string: between the quotes, escapes untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonStr<'a>(pub(crate) &'a [u8]);

impl<'a> JsonStr<'a> {
    /// Wraps a string body; the caller vouches that it came out of the skimmer.
    pub(crate) fn new(body: &'a [u8]) -> Self {
        JsonStr(body)
    }

    /// Takes the body of a raw JSON value that is a string.
    pub(crate) fn of_value(value: &'a [u8]) -> Option<Self> {
        match value {
            [b'"', body @ .., b'"'] => Some(JsonStr(body)),
            _ => None,
        }
    }

    /// Returns the bytes between the quotes.
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Whether there is nothing between the quotes.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the string says exactly `word`, which must not need escapes.
    pub fn is(self, word: &str) -> bool {
        self.0 == word.as_bytes() || (self.escaped() && self.decode() == word)
    }

    fn escaped(self) -> bool {
        memchr::memchr(b'\\', self.0).is_some()
    }

    /// Returns what the string says; lone surrogates and bytes that are not UTF-8 become U+FFFD.
    pub fn decode(self) -> Cow<'a, str> {
        if !self.escaped() {
            return match simdutf8::basic::from_utf8(self.0) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(self.0),
            };
        }
        Cow::Owned(decode(self.0, usize::MAX))
    }

    /// Returns the beginning of what the string says, some `most` bytes of it.
    pub fn head(self, most: usize) -> Cow<'a, str> {
        if self.0.len() <= most {
            return self.decode();
        }
        Cow::Owned(decode(self.0, most))
    }

    /// Looks up a name written in this string, escapes resolved.
    #[inline]
    pub(crate) fn decode_with<K>(self, named: impl Fn(&[u8]) -> K) -> K {
        if self.escaped() { named(self.decode().as_bytes()) } else { named(self.0) }
    }

    /// Returns the key of an id written in this string.
    pub fn id(self) -> Id {
        // A UUID has no escapes: only other ids need a look.
        Id::uuid(self.0).unwrap_or_else(|| self.decode_with(Id::of))
    }

    /// Whether an escape stands for half of a surrogate pair without its other half.
    pub fn has_lone_surrogate(self) -> bool {
        let mut rest = self.0;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            let Some(&kind) = rest.get(at + 1) else {
                return false;
            };
            rest = &rest[at + 2..];
            if kind == b'u' {
                match unit(rest) {
                    Some(0xD800..=0xDBFF) => {
                        if !(rest[4..].starts_with(b"\\u")
                            && matches!(rest.get(6..).and_then(unit), Some(0xDC00..=0xDFFF)))
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

/// Reads four hex digits.
fn unit(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

fn decode(body: &[u8], most: usize) -> String {
    let mut out = String::with_capacity(body.len().min(most));
    let mut rest = body;
    while !rest.is_empty() && out.len() < most {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let plain_most = plain.min(most - out.len());
        let cut = (plain_most..plain).find(|&k| rest[k] & 0xC0 != 0x80).unwrap_or(plain);
        out.push_str(&String::from_utf8_lossy(&rest[..cut]));
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
                let (found, used) = unicode(rest);
                out.push(found);
                rest = &rest[used.min(rest.len())..];
            }
            other => out.push(char::from(other)),
        }
    }
    out
}

/// Reads what follows `\u`: a character and how many bytes it took.
fn unicode(rest: &[u8]) -> (char, usize) {
    let Some(first) = unit(rest) else {
        return (char::REPLACEMENT_CHARACTER, 0);
    };
    if (0xD800..0xDC00).contains(&first)
        && rest[4..].starts_with(b"\\u")
        && let Some(second @ 0xDC00..=0xDFFF) = rest.get(6..).and_then(unit)
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 10);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}
