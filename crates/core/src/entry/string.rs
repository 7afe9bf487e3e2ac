//! The skimmer inside a string: where it ends, and whether its escapes are escapes.

use super::json::{JsonResult, JsonScanner};
use super::string_simd::{find_closing_quote, special_byte_mask};

/// Bytes of a string after which it is worth looking at many bytes at once.
const LONG: usize = 48;

impl<'a> JsonScanner<'a> {
    /// Takes a string whose opening quote is the next byte; returns its body, escapes untouched.
    #[inline]
    pub(crate) fn string(&mut self) -> JsonResult<&'a [u8]> {
        let bytes = self.bytes;
        let start = self.at + 1;
        let mut at = start;
        self.escaped = false;
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let marks = special_byte_mask(chunk);
            if marks != 0 {
                let end = at + marks.trailing_zeros() as usize;
                if bytes[end] != b'"' {
                    return self.odd_string(start, end);
                }
                self.at = end + 1;
                return Ok(&bytes[start..end]);
            }
            at += 16;
            if at - start == LONG {
                return self.odd_string(start, at);
            }
        }
        self.string_end(start, at)
    }

    /// Takes the rest of a string that is long, or has an escape or a control byte at `at`.
    #[inline(never)]
    fn odd_string(&mut self, start: usize, mut at: usize) -> JsonResult<&'a [u8]> {
        let bytes = self.bytes;
        // The way through the escapes one by one is exact but slow, because nobody can predict where the next one is.
        if let Some(end) = find_closing_quote(bytes, at) {
            self.at = end + 1;
            // It may have escapes; saying so when it has none costs only time.
            self.escaped = true;
            return Ok(&bytes[start..end]);
        }
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let mut marks = special_byte_mask(chunk);
            let mut next = at + 16;
            while marks != 0 {
                let mark = marks.trailing_zeros() as usize;
                let here = at + mark;
                match bytes[here] {
                    b'"' => {
                        self.at = here + 1;
                        return Ok(&bytes[start..here]);
                    }
                    b'\\' => {
                        self.escaped = true;
                        self.escape(here)?;
                        // The escaped byte is no stop, even if it looks like one.
                        marks &= !(0b11 << mark);
                        next = next.max(here + 2);
                    }
                    _ => {
                        self.control.get_or_insert(here);
                        marks &= marks - 1;
                    }
                }
            }
            at = next;
        }
        self.string_end(start, at)
    }

    /// Takes the last bytes of a string near the end of the line.
    #[inline(never)]
    fn string_end(&mut self, start: usize, mut at: usize) -> JsonResult<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'"' => {
                    self.at = at + 1;
                    return Ok(&self.bytes[start..at]);
                }
                b'\\' => {
                    self.escaped = true;
                    self.escape(at)?;
                    at += 1;
                }
                0..0x20 => {
                    self.control.get_or_insert(at);
                }
                _ => {}
            }
            at += 1;
        }
        self.at = self.bytes.len();
        self.bad()
    }

    /// Checks the escape whose backslash is at `at`.
    #[inline]
    fn escape(&mut self, at: usize) -> JsonResult<()> {
        match self.bytes.get(at + 1) {
            Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f') => Ok(()),
            Some(b'u') => self.unicode(at + 2),
            _ => {
                self.at = at + 1;
                self.bad()
            }
        }
    }

    /// Checks the four digits of an escape.
    #[inline(never)]
    fn unicode(&mut self, from: usize) -> JsonResult<()> {
        let digits = self.bytes.get(from..).unwrap_or_default();
        let good = digits.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if good < 4 {
            self.at = from + good;
            return self.bad();
        }
        self.surrogates |= matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
        Ok(())
    }
}
