//! Detects the format and size of an image from the first bytes of its base64 data.

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// Any other format.
    Other,
}

impl ImageFormat {
    /// Returns the media type, or `unknown` for other formats.
    pub fn name(self) -> &'static str {
        match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
            ImageFormat::Gif => "image/gif",
            ImageFormat::Webp => "image/webp",
            ImageFormat::Other => "unknown",
        }
    }

    /// Parses a media type. Returns [`ImageFormat::Other`] if it is unknown.
    pub(super) fn from_media_type(media_type: &str) -> ImageFormat {
        match media_type {
            "image/png" => ImageFormat::Png,
            "image/jpeg" | "image/jpg" => ImageFormat::Jpeg,
            "image/gif" => ImageFormat::Gif,
            "image/webp" => ImageFormat::Webp,
            _ => ImageFormat::Other,
        }
    }
}

/// Base64 data that is decoded byte by byte on access.
struct Base64Reader<'a>(&'a [u8]);

impl Base64Reader<'_> {
    /// Decodes the byte at index `at`. Returns `None` after the end or if the data is not base64 there.
    fn byte_at(&self, at: usize) -> Option<u8> {
        let group = at / 3 * 4;
        let bits = |digit_idx: usize| decode_digit(*self.0.get(group + digit_idx)?);
        let byte = match at % 3 {
            0 => bits(0)? << 2 | bits(1)? >> 4,
            1 => (bits(1)? & 15) << 4 | bits(2)? >> 2,
            _ => (bits(2)? & 3) << 6 | bits(3)?,
        };
        Some(byte)
    }

    fn matches_at(&self, at: usize, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(offset, byte)| self.byte_at(at + offset) == Some(*byte))
    }

    /// Reads a big-endian 16-bit integer.
    fn read_be16(&self, at: usize) -> Option<u32> {
        Some(u32::from(self.byte_at(at)?) << 8 | u32::from(self.byte_at(at + 1)?))
    }

    /// Reads a little-endian 16-bit integer.
    fn read_le16(&self, at: usize) -> Option<u32> {
        Some(u32::from(self.byte_at(at + 1)?) << 8 | u32::from(self.byte_at(at)?))
    }
}

fn decode_digit(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Returns the format of an image in base64, and its width and height in pixels.
///
/// The size is `None` if the format is unknown or the header is damaged or truncated.
pub(crate) fn sniff_image(data: &[u8]) -> (ImageFormat, Option<(u32, u32)>) {
    let reader = Base64Reader(data);
    if reader.matches_at(0, b"\x89PNG\r\n\x1a\n") {
        (ImageFormat::Png, read_png_size(&reader))
    } else if reader.matches_at(0, b"\xFF\xD8\xFF") {
        (ImageFormat::Jpeg, read_jpeg_size(&reader))
    } else if reader.matches_at(0, b"GIF8") {
        (ImageFormat::Gif, reader.read_le16(6).zip(reader.read_le16(8)))
    } else if reader.matches_at(0, b"RIFF") && reader.matches_at(8, b"WEBP") {
        (ImageFormat::Webp, read_webp_size(&reader))
    } else {
        (ImageFormat::Other, None)
    }
}

/// Returns the width and height in the `IHDR` chunk. Returns `None` if it is missing or truncated.
fn read_png_size(reader: &Base64Reader<'_>) -> Option<(u32, u32)> {
    let read_be32 = |at: usize| Some(reader.read_be16(at)? << 16 | reader.read_be16(at + 2)?);
    reader.matches_at(12, b"IHDR").then(|| read_be32(16).zip(read_be32(20)))?
}

/// Returns the width and height in the frame header. Skips the segments before it.
///
/// Returns `None` if the data is damaged or no frame header follows within 4096 segments.
fn read_jpeg_size(reader: &Base64Reader<'_>) -> Option<(u32, u32)> {
    const MAX_SEGMENTS: usize = 4096;
    let mut at = 2;
    for _ in 0..MAX_SEGMENTS {
        if reader.byte_at(at)? != 0xFF {
            return None;
        }
        let marker = reader.byte_at(at + 1)?;
        match marker {
            // Fill bytes and markers without a body.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return reader.read_be16(at + 7).zip(reader.read_be16(at + 5));
            }
            0xD9 | 0xDA => return None,
            _ => at += 2 + (reader.read_be16(at + 2)? as usize).max(2),
        }
    }
    None
}

/// Returns the width and height in the first chunk of any WebP variant. Returns `None` if it is unknown or truncated.
fn read_webp_size(reader: &Base64Reader<'_>) -> Option<(u32, u32)> {
    if reader.matches_at(12, b"VP8X") {
        let side = |at: usize| Some((u32::from(reader.byte_at(at + 2)?) << 16 | reader.read_le16(at)?) + 1);
        return side(24).zip(side(27));
    }
    if reader.matches_at(12, b"VP8L") {
        let bits = reader.read_le16(21)? | reader.read_le16(23)? << 16;
        return Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1));
    }
    let plain = reader.matches_at(12, b"VP8 ") && reader.matches_at(23, b"\x9D\x01\x2A");
    plain.then(|| Some((reader.read_le16(26)? & 0x3FFF, reader.read_le16(28)? & 0x3FFF)))?
}

#[cfg(test)]
mod tests {
    use super::{ImageFormat, sniff_image};

    fn base64(bytes: &[u8]) -> Vec<u8> {
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = Vec::new();
        for group in bytes.chunks(3) {
            let byte = [group[0], *group.get(1).unwrap_or(&0), *group.get(2).unwrap_or(&0)];
            let bits = u32::from(byte[0]) << 16 | u32::from(byte[1]) << 8 | u32::from(byte[2]);
            let digits = (0..4).map(|k| DIGITS[(bits >> (18 - 6 * k) & 63) as usize]);
            out.extend(digits.take(group.len() + 1));
            out.extend(std::iter::repeat_n(b'=', 3 - group.len()));
        }
        out
    }

    fn sniff_bytes(bytes: &[&[u8]]) -> (ImageFormat, Option<(u32, u32)>) {
        sniff_image(&base64(&bytes.concat()))
    }

    #[test]
    fn size_is_read_from_the_header() {
        let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x20\x01\0\0\0\x07";
        assert_eq!(sniff_bytes(&[png]), (ImageFormat::Png, Some((8193, 7))));
        assert_eq!(sniff_bytes(&[b"GIF89a\x34\x12\x02\x00"]), (ImageFormat::Gif, Some((0x1234, 2))));
        // A segment of 300 bytes precedes the frame.
        let body = [7; 298];
        let head: &[u8] = b"\xFF\xD8\xFF\xE1\x01\x2C";
        let frame: &[u8] = b"\xFF\xC2\x00\x0B\x08\x0F\xA0\x23\x28\x03";
        assert_eq!(sniff_bytes(&[head, &body, frame]), (ImageFormat::Jpeg, Some((9000, 4000))));
        let vp8x: &[u8] = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x2B\x01\x00\xC7\x00\x00";
        assert_eq!(sniff_bytes(&[vp8x]), (ImageFormat::Webp, Some((300, 200))));
        let vp8: &[u8] = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abc\x9D\x01\x2A\x40\x01\xF0\x00";
        assert_eq!(sniff_bytes(&[vp8]), (ImageFormat::Webp, Some((320, 240))));
        let vp8l: &[u8] = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x3F\xC1\x3B\x00";
        assert_eq!(sniff_bytes(&[vp8l]), (ImageFormat::Webp, Some((320, 240))));
    }

    #[test]
    fn truncated_or_unknown_images_have_no_size() {
        assert_eq!(sniff_bytes(&[b"\x89PNG\r\n\x1a\n\0\0\0\x0dIH"]), (ImageFormat::Png, None));
        assert_eq!(sniff_bytes(&[b"\xFF\xD8\xFF\xE1\xFF\xFF"]), (ImageFormat::Jpeg, None));
        assert_eq!(sniff_bytes(&[b"\xFF\xD8\xFF\xDA\x00\x02"]), (ImageFormat::Jpeg, None));
        assert_eq!(sniff_bytes(&[b"RIFF\0\0\0\0WEBPVP8 "]), (ImageFormat::Webp, None));
        assert_eq!(sniff_bytes(&[b"<svg>"]), (ImageFormat::Other, None));
        assert_eq!(sniff_image(b"====\"\\"), (ImageFormat::Other, None));
    }
}
