//! What a picture is, from the first bytes of its base64: never decoded as a whole.

/// A picture format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// None of these.
    Other,
}

impl Format {
    /// Returns its media type.
    pub fn name(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
            Format::Other => "unknown",
        }
    }

    /// Reads a media type.
    pub(super) fn named(name: &str) -> Format {
        match name {
            "image/png" => Format::Png,
            "image/jpeg" | "image/jpg" => Format::Jpeg,
            "image/gif" => Format::Gif,
            "image/webp" => Format::Webp,
            _ => Format::Other,
        }
    }
}

/// Base64 that is decoded only where it is looked at.
struct Peek<'a>(&'a [u8]);

impl Peek<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        let group = at / 3 * 4;
        let bits = |k: usize| digit(*self.0.get(group + k)?);
        let three = match at % 3 {
            0 => bits(0)? << 2 | bits(1)? >> 4,
            1 => (bits(1)? & 15) << 4 | bits(2)? >> 2,
            _ => (bits(2)? & 3) << 6 | bits(3)?,
        };
        Some(three)
    }

    fn is(&self, at: usize, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(k, byte)| self.byte(at + k) == Some(*byte))
    }

    /// Reads two bytes, the higher first.
    fn high(&self, at: usize) -> Option<u32> {
        Some(u32::from(self.byte(at)?) << 8 | u32::from(self.byte(at + 1)?))
    }

    /// Reads two bytes, the lower first.
    fn low(&self, at: usize) -> Option<u32> {
        Some(u32::from(self.byte(at + 1)?) << 8 | u32::from(self.byte(at)?))
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Returns the format of base64 data and, where its beginning tells, width and height.
pub(crate) fn sniff_image(data: &[u8]) -> (Format, Option<(u32, u32)>) {
    let peek = Peek(data);
    if peek.is(0, b"\x89PNG\r\n\x1a\n") {
        (Format::Png, png(&peek))
    } else if peek.is(0, b"\xFF\xD8\xFF") {
        (Format::Jpeg, jpeg(&peek))
    } else if peek.is(0, b"GIF8") {
        (Format::Gif, peek.low(6).zip(peek.low(8)))
    } else if peek.is(0, b"RIFF") && peek.is(8, b"WEBP") {
        (Format::Webp, webp(&peek))
    } else {
        (Format::Other, None)
    }
}

fn png(peek: &Peek<'_>) -> Option<(u32, u32)> {
    let long = |at: usize| Some(peek.high(at)? << 16 | peek.high(at + 2)?);
    peek.is(12, b"IHDR").then(|| long(16).zip(long(20)))?
}

/// Steps over segments to the one that holds the size.
fn jpeg(peek: &Peek<'_>) -> Option<(u32, u32)> {
    const MOST: usize = 4096;
    let mut at = 2;
    for _ in 0..MOST {
        if peek.byte(at)? != 0xFF {
            return None;
        }
        let mark = peek.byte(at + 1)?;
        match mark {
            // Fill bytes and marks without a body.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return peek.high(at + 7).zip(peek.high(at + 5));
            }
            0xD9 | 0xDA => return None,
            _ => at += 2 + (peek.high(at + 2)? as usize).max(2),
        }
    }
    None
}

fn webp(peek: &Peek<'_>) -> Option<(u32, u32)> {
    if peek.is(12, b"VP8X") {
        let three = |at: usize| Some((u32::from(peek.byte(at + 2)?) << 16 | peek.low(at)?) + 1);
        return three(24).zip(three(27));
    }
    if peek.is(12, b"VP8L") {
        let bits = peek.low(21)? | peek.low(23)? << 16;
        return Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1));
    }
    let plain = peek.is(12, b"VP8 ") && peek.is(23, b"\x9D\x01\x2A");
    plain.then(|| Some((peek.low(26)? & 0x3FFF, peek.low(28)? & 0x3FFF)))?
}

#[cfg(test)]
mod tests {
    use super::{Format, sniff_image};

    fn base64(bytes: &[u8]) -> Vec<u8> {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = Vec::new();
        for group in bytes.chunks(3) {
            let three = [group[0], *group.get(1).unwrap_or(&0), *group.get(2).unwrap_or(&0)];
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            let digits = (0..4).map(|k| DIGITS[(bits >> (18 - 6 * k) & 63) as usize]);
            out.extend(digits.take(group.len() + 1));
            out.extend(std::iter::repeat_n(b'=', 3 - group.len()));
        }
        out
    }

    fn seen(bytes: &[&[u8]]) -> (Format, Option<(u32, u32)>) {
        sniff_image(&base64(&bytes.concat()))
    }

    #[test]
    fn sizes_are_read_from_headers() {
        let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x20\x01\0\0\0\x07";
        assert_eq!(seen(&[png]), (Format::Png, Some((8193, 7))));
        assert_eq!(seen(&[b"GIF89a\x34\x12\x02\x00"]), (Format::Gif, Some((0x1234, 2))));
        // A segment of 300 bytes stands before the frame.
        let body = [7; 298];
        let head: &[u8] = b"\xFF\xD8\xFF\xE1\x01\x2C";
        let frame: &[u8] = b"\xFF\xC2\x00\x0B\x08\x0F\xA0\x23\x28\x03";
        assert_eq!(seen(&[head, &body, frame]), (Format::Jpeg, Some((9000, 4000))));
        let vp8x: &[u8] = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x2B\x01\x00\xC7\x00\x00";
        assert_eq!(seen(&[vp8x]), (Format::Webp, Some((300, 200))));
        let vp8: &[u8] = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abc\x9D\x01\x2A\x40\x01\xF0\x00";
        assert_eq!(seen(&[vp8]), (Format::Webp, Some((320, 240))));
        let vp8l: &[u8] = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x3F\xC1\x3B\x00";
        assert_eq!(seen(&[vp8l]), (Format::Webp, Some((320, 240))));
    }

    #[test]
    fn what_is_cut_short_or_none_of_these_has_no_size() {
        assert_eq!(seen(&[b"\x89PNG\r\n\x1a\n\0\0\0\x0dIH"]), (Format::Png, None));
        assert_eq!(seen(&[b"\xFF\xD8\xFF\xE1\xFF\xFF"]), (Format::Jpeg, None));
        assert_eq!(seen(&[b"\xFF\xD8\xFF\xDA\x00\x02"]), (Format::Jpeg, None));
        assert_eq!(seen(&[b"RIFF\0\0\0\0WEBPVP8 "]), (Format::Webp, None));
        assert_eq!(seen(&[b"<svg>"]), (Format::Other, None));
        assert_eq!(sniff_image(b"====\"\\"), (Format::Other, None));
    }
}
