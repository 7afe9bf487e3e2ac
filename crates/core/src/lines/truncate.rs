//! Lines too long to hold: the same JSON with its long strings cut short.
//!
//! A 64 MB line is a pasted image or a huge tool result: one long string among the usual fields. The condenser is
//! fed the line in pieces and keeps everything but the middle of long strings, so that what it keeps reads
//! like the line itself.

/// Bytes kept of one string.
const STRING: usize = 16 << 10;
/// Bytes kept of a line; past that it is set aside.
const LINE: usize = 8 << 20;

/// Shortens one line, fed in pieces.
#[derive(Debug, Default)]
pub struct LineTruncator {
    kept: Vec<u8>,
    fed: u64,
    in_string: bool,
    /// Bytes of the escape under way, backslash included; 0 outside one.
    escape: usize,
    /// Whether the escape under way is kept.
    keeps: bool,
    /// Whether the escape just kept is the first half of a surrogate pair.
    half: bool,
    /// Bytes of the string under way that were kept.
    string: usize,
}

impl LineTruncator {
    /// Takes the next piece of the line.
    pub fn feed(&mut self, piece: &[u8]) {
        self.fed += piece.len() as u64;
        let mut rest = piece;
        while !rest.is_empty() && self.kept.len() < LINE {
            rest = if self.in_string { self.in_string(rest) } else { self.outside(rest) };
        }
    }

    fn outside<'b>(&mut self, piece: &'b [u8]) -> &'b [u8] {
        let (keep, rest) = match memchr::memchr(b'"', piece) {
            Some(at) => {
                self.in_string = true;
                self.string = 0;
                piece.split_at(at + 1)
            }
            None => (piece, &piece[..0]),
        };
        self.kept.extend_from_slice(keep);
        rest
    }

    fn in_string<'b>(&mut self, piece: &'b [u8]) -> &'b [u8] {
        if self.escape > 0 {
            return self.in_escape(piece);
        }
        let at = memchr::memchr2(b'"', b'\\', piece).unwrap_or(piece.len());
        let (plain, rest) = piece.split_at(at);
        self.keep(plain);
        self.half &= plain.is_empty();
        match rest {
            [b'"', rest @ ..] => {
                self.kept.push(b'"');
                self.in_string = false;
                rest
            }
            [b'\\', ..] => {
                self.escape = 1;
                // An escape is kept whole or left out whole, and so is a pair of them that is one character.
                self.keeps = self.string < STRING || self.half;
                if self.keeps {
                    self.kept.push(b'\\');
                } else {
                    self.string = usize::MAX;
                }
                &rest[1..]
            }
            _ => rest,
        }
    }

    fn in_escape<'b>(&mut self, piece: &'b [u8]) -> &'b [u8] {
        let (byte, rest) = (piece[0], &piece[1..]);
        if self.keeps {
            self.kept.push(byte);
        }
        self.escape += 1;
        if self.escape == 2 && byte != b'u' || self.escape == 6 {
            let first =
                matches!(self.kept[..], [.., b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _]);
            self.half = self.keeps && self.escape == 6 && first && !self.half;
            self.escape = 0;
            self.string = self.string.saturating_add(2);
        }
        rest
    }

    fn keep(&mut self, plain: &[u8]) {
        let room = STRING.saturating_sub(self.string);
        let (keep, cut) = plain.split_at(room.min(plain.len()));
        self.kept.extend_from_slice(keep);
        self.string = self.string.saturating_add(keep.len());
        if let Some(&next) = cut.first()
            && self.string != usize::MAX
        {
            self.string = usize::MAX;
            // Never cut inside a character, wherever the pieces were cut.
            let begun = self.kept.iter().rev().take(3).take_while(|&&byte| byte >= 0x80);
            if next & 0xC0 == 0x80
                && let Some(back) = begun.copied().position(|byte| byte >= 0xC0)
            {
                self.kept.truncate(self.kept.len() - back - 1);
            }
        }
    }

    /// Returns what was kept, or `None` where even that is too long; and the true length of the line.
    pub fn finish(self) -> (Option<Vec<u8>>, u64) {
        let whole = self.kept.len() < LINE;
        (whole.then_some(self.kept), self.fed)
    }
}
