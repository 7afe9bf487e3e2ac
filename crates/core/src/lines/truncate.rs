//! Truncates the strings of lines that are too long to hold in memory.
//!
//! A 64 MB line is a pasted image or a huge tool result: one long string among the usual fields. The truncator is
//! fed the line in chunks and drops the ends of long strings. The result is still the JSON of the same line.

/// The maximum number of bytes kept of each string.
const MAX_STRING_BYTES: usize = 16 << 10;
/// The maximum number of bytes kept of a line. A line that exceeds it is dropped.
const MAX_LINE_BYTES: usize = 8 << 20;

/// Truncates the long strings of one line, fed in chunks.
#[derive(Debug, Default)]
pub struct LineTruncator {
    kept: Vec<u8>,
    total_len: u64,
    in_string: bool,
    /// The number of bytes read of the current escape, backslash included; 0 outside an escape.
    escape_len: usize,
    /// Whether the current escape is kept.
    keeps_escape: bool,
    /// Whether the escape just kept is the first half of a surrogate pair.
    after_high_surrogate: bool,
    /// The number of bytes kept of the current string, where an escape counts as two; `usize::MAX` after the cut.
    string_len: usize,
}

impl LineTruncator {
    /// Adds the next chunk of the line. Chunks may end anywhere, even within an escape or a character.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.total_len += chunk.len() as u64;
        let mut rest = chunk;
        while !rest.is_empty() && self.kept.len() < MAX_LINE_BYTES {
            rest = if self.in_string { self.feed_string(rest) } else { self.feed_outside_string(rest) };
        }
    }

    /// Keeps the bytes up to and including the next opening quote, or all if there is none. Returns the rest.
    fn feed_outside_string<'b>(&mut self, chunk: &'b [u8]) -> &'b [u8] {
        let (keep, rest) = match memchr::memchr(b'"', chunk) {
            Some(at) => {
                self.in_string = true;
                self.string_len = 0;
                chunk.split_at(at + 1)
            }
            None => (chunk, &chunk[..0]),
        };
        self.kept.extend_from_slice(keep);
        rest
    }

    /// Processes the bytes up to the next quote or escape of a string and returns the rest.
    fn feed_string<'b>(&mut self, chunk: &'b [u8]) -> &'b [u8] {
        if self.escape_len > 0 {
            return self.feed_escape(chunk);
        }
        let at = memchr::memchr2(b'"', b'\\', chunk).unwrap_or(chunk.len());
        let (plain, rest) = chunk.split_at(at);
        self.push_plain(plain);
        self.after_high_surrogate &= plain.is_empty();
        match rest {
            [b'"', rest @ ..] => {
                self.kept.push(b'"');
                self.in_string = false;
                rest
            }
            [b'\\', ..] => {
                self.escape_len = 1;
                // Keep or drop an escape as a whole, and likewise the two escapes of a surrogate pair.
                self.keeps_escape = self.string_len < MAX_STRING_BYTES || self.after_high_surrogate;
                if self.keeps_escape {
                    self.kept.push(b'\\');
                } else {
                    self.string_len = usize::MAX;
                }
                &rest[1..]
            }
            _ => rest,
        }
    }

    /// Processes the next byte of an escape and returns the rest.
    fn feed_escape<'b>(&mut self, chunk: &'b [u8]) -> &'b [u8] {
        let (byte, rest) = (chunk[0], &chunk[1..]);
        if self.keeps_escape {
            self.kept.push(byte);
        }
        self.escape_len += 1;
        if self.escape_len == 2 && byte != b'u' || self.escape_len == 6 {
            let is_high =
                matches!(self.kept[..], [.., b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _]);
            self.after_high_surrogate =
                self.keeps_escape && self.escape_len == 6 && is_high && !self.after_high_surrogate;
            self.escape_len = 0;
            self.string_len = self.string_len.saturating_add(2);
        }
        rest
    }

    /// Keeps the bytes without escapes that the current string has space for. Never keeps a part of a character.
    fn push_plain(&mut self, plain: &[u8]) {
        let space = MAX_STRING_BYTES.saturating_sub(self.string_len);
        let (keep, cut) = plain.split_at(space.min(plain.len()));
        self.kept.extend_from_slice(keep);
        self.string_len = self.string_len.saturating_add(keep.len());
        if let Some(&next) = cut.first()
            && self.string_len != usize::MAX
        {
            self.string_len = usize::MAX;
            // Never cut inside a character, wherever the chunks end.
            let last_character = self.kept.iter().rev().take(3).take_while(|&&byte| byte >= 0x80);
            if next & 0xC0 == 0x80
                && let Some(continuation_bytes) = last_character.copied().position(|byte| byte >= 0xC0)
            {
                self.kept.truncate(self.kept.len() - continuation_bytes - 1);
            }
        }
    }

    /// Returns the truncated line and the original length in bytes.
    ///
    /// The line is `None` if it has 8 MiB or more even when truncated.
    pub fn finish(self) -> (Option<Vec<u8>>, u64) {
        let fits = self.kept.len() < MAX_LINE_BYTES;
        (fits.then_some(self.kept), self.total_len)
    }
}
