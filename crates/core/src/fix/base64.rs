//! Base64 decoding, for images that are extracted from a session.

/// Decodes base64 of the standard or the URL-safe alphabet. Padding is optional.
///
/// Returns `None` if the text contains anything except base64 digits, whitespace and `=` after all digits, or if the
/// last group has a single digit, which encodes less than a byte.
pub fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut bit_count) = (0u32, 0);
    let is_digit = |byte: &u8| *byte != b'=' && !byte.is_ascii_whitespace();
    let end = text.iter().rposition(is_digit).map_or(0, |at| at + 1);
    for &byte in text[..end].iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push((bits >> bit_count) as u8);
        }
    }
    // A single remaining digit encodes less than a byte.
    (bit_count < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode_base64;

    #[test]
    fn base64_digits_decode_to_bytes() {
        let cases: [(&str, Option<&[u8]>); 12] = [
            ("", Some(b"")),
            ("TQ==", Some(b"M")),
            ("TWE=", Some(b"Ma")),
            ("TWFu", Some(b"Man")),
            ("TWFuTWE", Some(b"ManMa")),
            ("+/-_", Some(&[0xfb, 0xff, 0xbf])),
            ("TW\r\nFu", Some(b"Man")),
            ("TQ==\n", Some(b"M")),
            ("TQ=\r\n=\r\n", Some(b"M")),
            ("=\n", Some(b"")),
            ("TWFuT", None),
            ("T=Q=", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode_base64(text.as_bytes()).as_deref(), bytes, "{text}");
        }
    }
}
