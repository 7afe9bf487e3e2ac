//! Secrets that no pattern describes: private keys over many lines, and passwords in addresses.

use std::ops::Range;

use super::value::{is_placeholder, is_regular};

/// The longest private key with its escapes.
const MAX_KEY_LEN: usize = 24 << 10;
/// The fewest characters of base64 in a private key.
const MIN_KEY_DIGITS: usize = 40;
const MAX_ADDRESS_LEN: usize = 600;

/// Returns the range of the private key that begins at an anchor. A key without its end is taken as far as it goes.
pub(super) fn find_private_key(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let header = &text[at.end..text.len().min(at.end + 48)];
    let header_len = memchr::memmem::find(header, b"-----")? + 5;
    memchr::memmem::find(&header[..header_len], b"PRIVATE KEY")?;
    let body_start = at.end + header_len;
    let body = &text[body_start..text.len().min(body_start + MAX_KEY_LEN)];
    let (mut len, mut digits, mut slashes) = (0, 0, 0);
    for &byte in body {
        let is_escaped = slashes % 2 == 1;
        match byte {
            b'-' if body[len..].starts_with(b"-----END ") => break,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' | b'=' => digits += 1,
            b'\\' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b',' | b'-' | b'(' | b')' | b'.' | b'@' => {}
            // Inside a string of JSON, quotes of source code are escaped.
            b'"' if is_escaped => {}
            b'\'' | b'>' | b'|' => {}
            // The arrow or bar after a line number: `→` or `│`.
            0xE2 if [&b"\xE2\x86\x92"[..], b"\xE2\x94\x82"]
                .iter()
                .any(|mark| body[len..].starts_with(mark)) => {}
            0x86 | 0x92 | 0x94 | 0x82 => {}
            _ => break,
        }
        slashes = if byte == b'\\' { slashes + 1 } else { 0 };
        len += 1;
    }
    if digits < MIN_KEY_DIGITS || is_regular(&body[..len]) {
        return None;
    }
    let rest = &body[len..];
    if rest.starts_with(b"-----END ") {
        let end = memchr::memmem::find(&rest[..rest.len().min(64)], b"KEY").and_then(|name| {
            Some(name + memchr::memmem::find(&rest[name..rest.len().min(name + 24)], b"-----")? + 5)
        });
        return Some(at.start..body_start + len + end.unwrap_or(8));
    }
    let trailing =
        body[..len].iter().rev().take_while(|byte| !byte.is_ascii_alphanumeric() && **byte != b'=').count();
    let mut end = body_start + len - trailing;
    // `\n` at the end is an escape, not a digit.
    while text[..end].ends_with(b"\\n") || text[..end].ends_with(b"\\r") {
        end -= 2;
    }
    Some(at.start..end)
}

/// Returns the range of the password in `scheme://user:password@host`.
pub(super) fn find_password_in_address(text: &[u8], at: &Range<usize>) -> Option<Range<usize>> {
    let rest = &text[at.end..text.len().min(at.end + MAX_ADDRESS_LEN)];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\/?#(){}|,;".contains(byte);
    let authority = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    let host_start = memchr::memrchr(b'@', authority)?;
    let colon = memchr::memchr(b':', &authority[..host_start])?;
    let (user, password) = (&authority[..colon], &authority[colon + 1..host_start]);
    let range = match password {
        b"x-oauth-basic" | b"" => 0..colon,
        _ => colon + 1..host_start,
    };
    let secret = &authority[range.clone()];
    let is_number = secret.iter().all(u8::is_ascii_digit) && secret.len() < 8;
    let is_secret = secret.len() >= 4
        && !b"$[*%<".contains(&secret[0])
        && secret.iter().all(u8::is_ascii_graphic)
        && (secret != user || password.is_empty() || password == b"x-oauth-basic")
        && authority.len() > host_start + 1
        && !is_number
        && !is_common_password(secret);
    is_secret.then(|| at.end + range.start..at.end + range.end)
}

/// Returns `true` if documentation and local tests use this password.
fn is_common_password(password: &[u8]) -> bool {
    const COMMON: &[&str] = &[
        "pass",
        "passwd",
        "pwd",
        "user",
        "root",
        "admin",
        "guest",
        "test",
        "test123",
        "postgres",
        "mysql",
        "redis",
        "mongo",
        "secret",
        "rabbitmq",
        "minio",
        "minioadmin",
        "changeit",
        "letmein",
        "docker",
        "local",
        "localhost",
        "pw",
        "p4ss",
        "name",
    ];
    let lower = password.to_ascii_lowercase();
    COMMON.iter().any(|common| lower == common.as_bytes()) || is_placeholder(password) || is_regular(password)
}

#[cfg(test)]
mod tests {
    use super::{find_password_in_address, find_private_key};

    #[test]
    fn passwords_are_found_in_addresses() {
        let find = |text: &str| {
            let at = text.find("://").expect("an address");
            find_password_in_address(text.as_bytes(), &(at..at + 3)).map(|range| text[range].to_owned())
        };
        assert_eq!(find("mongodb+srv://app:hT7%21q2Zp@c0.x.net/db"), Some("hT7%21q2Zp".to_owned()));
        assert_eq!(find("redis://:k3jH8sQ2@host"), Some("k3jH8sQ2".to_owned()));
        for text in [
            "http://localhost:3000/@scope",
            "postgres://postgres:postgres@localhost/x",
            "https://u:${PASS}@h",
            "https://x@y",
            "https://u:[url-password-1]@h",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn private_key_ends_at_its_last_line() {
        let body = "b7XkQ2m9Lr0PzT4vNw8Ys5Ja1Hc6Ed3F".repeat(3);
        let text = format!("x -----BEGIN EC PRIVATE KEY-----\\n{body}\\n-----END EC PRIVATE KEY-----\\n\"");
        let range = find_private_key(text.as_bytes(), &(2..13)).expect("a key");
        assert_eq!(&text[range.end..], "\\n\"");
        let torn = format!("-----BEGIN PRIVATE KEY-----\\n{body}\\n\"}}");
        let range = find_private_key(torn.as_bytes(), &(0..11)).expect("a key");
        assert_eq!(&torn[range.end..], "\\n\"}");
        assert_eq!(find_private_key(b"-----BEGIN PUBLIC KEY-----\nabc", &(0..11)), None);
    }
}
