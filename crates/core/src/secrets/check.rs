//! Checks beyond the pattern: checksums, and the structure of encoded texts.

use super::detector::Check;
use super::value::{is_placeholder, is_random};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Check {
    /// Returns `true` if a text that matched the pattern passes the check.
    pub(super) fn accepts(self, text: &[u8]) -> bool {
        match self {
            Check::Random => is_random(text),
            Check::Crc32 => has_checksum(text),
            Check::Jwt => is_jwt(text),
            Check::BasicAuth => is_basic_auth(text),
        }
    }
}

/// Returns `true` if the last six of the 36 characters after the prefix are the checksum of the others.
fn has_checksum(text: &[u8]) -> bool {
    let Some(body) = text.len().checked_sub(36).map(|start| &text[start..]) else { return false };
    let (random, checksum) = body.split_at(30);
    let mut rest = crc32(random) as usize;
    let mut expected = [b'0'; 6];
    for digit in expected.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    expected == checksum
}

/// Returns the CRC32 of some bytes. Short texts need no table.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Returns `true` if the first part of the token is a JSON object that names an algorithm.
fn is_jwt(text: &[u8]) -> bool {
    let header = text.split(|&byte| byte == b'.').next().unwrap_or_default();
    let decoded = decode_base64(header);
    decoded.starts_with(b"{\"") && memchr::memmem::find(&decoded, b"\"alg\"").is_some()
}

/// Returns `true` if the text is base64 of a printable name and password.
fn is_basic_auth(text: &[u8]) -> bool {
    let decoded = decode_base64(text);
    let Some(colon) = memchr::memchr(b':', &decoded) else { return false };
    let password = &decoded[colon + 1..];
    let is_printable = decoded.iter().all(|byte| (b' '..0x7f).contains(byte));
    is_printable && password.len() >= 4 && !is_placeholder(password) && !password.starts_with(b"[")
}

/// Decodes base64 of either alphabet up to the first other byte. Padding is optional.
pub(super) fn decode_base64(text: &[u8]) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let mut decoded = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut bit_count) = (0u32, 0);
    for digit in text.iter().map_while(|&byte| value(byte)) {
        bits = (bits << 6 | u32::from(digit)) & 0xFF_FFFF;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            decoded.push((bits >> bit_count) as u8);
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::{crc32, decode_base64, has_checksum, is_basic_auth, is_jwt};

    #[test]
    fn checksum_is_that_of_the_service() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        // The example of the service, in two parts so that scanners do not report this file.
        let token = ["ghp_zQWBuTSOoRi4A9sp", "HcVY5ncnsDkxkJ0mLq17"].concat();
        assert!(has_checksum(token.as_bytes()));
        assert!(!has_checksum(token.replace('z', "y").as_bytes()));
        assert!(!has_checksum(b"ghp_"));
    }

    #[test]
    fn encoded_texts_are_decoded() {
        assert_eq!(decode_base64(b"dXNlcjpwYXNz"), b"user:pass");
        assert_eq!(decode_base64(b"dXNlcjpwYXM="), b"user:pas");
        assert_eq!(decode_base64(b"_-8"), [0xff, 0xef]);
        assert!(is_basic_auth(b"YXBwOmhUNyFrcTJacA=="));
        assert!(!is_basic_auth(b"AAAAAAAAAAAAAAAA"));
        assert!(is_jwt(b"eyJhbGciOiJIUzI1NiJ9.e30.x"));
        assert!(!is_jwt(b"eyJhIjoiYiJ9.e30.x"));
    }
}
