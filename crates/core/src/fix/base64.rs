//! Base64, decoded: pictures that are taken out of a session.

/// Decodes base64 of either alphabet; `None` where something else stands in it than digits, line ends and `=` at the end.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    let end = text.iter().rposition(|&byte| byte != b'=').map_or(0, |at| at + 1);
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
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    // A single digit over says less than a byte.
    (held < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn digits_become_bytes() {
        let cases: [(&str, Option<&[u8]>); 9] = [
            ("", Some(b"")),
            ("TQ==", Some(b"M")),
            ("TWE=", Some(b"Ma")),
            ("TWFu", Some(b"Man")),
            ("TWFuTWE", Some(b"ManMa")),
            ("+/-_", Some(&[0xfb, 0xff, 0xbf])),
            ("TW\r\nFu", Some(b"Man")),
            ("TWFuT", None),
            ("T=Q=", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text.as_bytes()).as_deref(), bytes, "{text}");
        }
    }
}
