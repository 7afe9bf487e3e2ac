//! Scans JSON strings: finds the closing quote and checks the escapes.

use super::json::{JsonResult, JsonScanner};
use super::string_simd::{find_closing_quote, special_byte_mask};

/// The number of bytes after which the rest of a string is searched with wider vectors.
const LONG_STRING: usize = 48;

impl<'a> JsonScanner<'a> {
    /// Reads the string that starts with the next byte, its opening quote. Returns its body with escapes not decoded.
    ///
    /// Returns `Err` if an escape is malformed or the string has no end.
    #[inline]
    pub(crate) fn read_string(&mut self) -> JsonResult<&'a [u8]> {
        let bytes = self.bytes;
        let start = self.pos + 1;
        let mut at = start;
        self.has_escapes = false;
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let mask = special_byte_mask(chunk);
            if mask != 0 {
                let end = at + mask.trailing_zeros() as usize;
                if bytes[end] != b'"' {
                    return self.read_string_slow(start, end);
                }
                self.pos = end + 1;
                return Ok(&bytes[start..end]);
            }
            at += 16;
            if at - start == LONG_STRING {
                return self.read_string_slow(start, at);
            }
        }
        self.read_string_tail(start, at)
    }

    /// Reads the rest, from index `at`, of a string that is long, or has an escape or a control byte at `at`.
    ///
    /// `start` is the index of the first byte of its body.
    #[inline(never)]
    fn read_string_slow(&mut self, start: usize, mut at: usize) -> JsonResult<&'a [u8]> {
        let bytes = self.bytes;
        // Try the vectorised search first. Checking escapes one by one is exact but slow, because the branch predictor
        // cannot predict where the next one is.
        if let Some(end) = find_closing_quote(bytes, at) {
            self.pos = end + 1;
            // The string may have escapes. Claiming so when it has none only costs time.
            self.has_escapes = true;
            return Ok(&bytes[start..end]);
        }
        while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let mut mask = special_byte_mask(chunk);
            let mut next = at + 16;
            while mask != 0 {
                let bit = mask.trailing_zeros() as usize;
                let here = at + bit;
                match bytes[here] {
                    b'"' => {
                        self.pos = here + 1;
                        return Ok(&bytes[start..here]);
                    }
                    b'\\' => {
                        self.has_escapes = true;
                        self.check_escape(here)?;
                        // The escaped byte is not special, even if it is a quote or backslash.
                        mask &= !(0b11 << bit);
                        next = next.max(here + 2);
                    }
                    _ => {
                        self.control_byte.get_or_insert(here);
                        mask &= mask - 1;
                    }
                }
            }
            at = next;
        }
        self.read_string_tail(start, at)
    }

    /// Reads the rest, from index `at`, of a string near the end of the input, byte by byte.
    #[inline(never)]
    fn read_string_tail(&mut self, start: usize, mut at: usize) -> JsonResult<&'a [u8]> {
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'"' => {
                    self.pos = at + 1;
                    return Ok(&self.bytes[start..at]);
                }
                b'\\' => {
                    self.has_escapes = true;
                    self.check_escape(at)?;
                    at += 1;
                }
                0..0x20 => {
                    self.control_byte.get_or_insert(at);
                }
                _ => {}
            }
            at += 1;
        }
        self.pos = self.bytes.len();
        self.error()
    }

    /// Checks the escape that starts with the backslash at index `at`. Returns `Err` if it is malformed.
    #[inline]
    fn check_escape(&mut self, at: usize) -> JsonResult<()> {
        match self.bytes.get(at + 1) {
            Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f') => Ok(()),
            Some(b'u') => self.check_unicode_escape(at + 2),
            _ => {
                self.pos = at + 1;
                self.error()
            }
        }
    }

    /// Checks the four hex digits of a `\u` escape, which start at index `from`.
    #[inline(never)]
    fn check_unicode_escape(&mut self, from: usize) -> JsonResult<()> {
        let digits = self.bytes.get(from..).unwrap_or_default();
        let valid_count = digits.iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count();
        if valid_count < 4 {
            self.pos = from + valid_count;
            return self.error();
        }
        self.has_surrogates |= matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
        Ok(())
    }
}
