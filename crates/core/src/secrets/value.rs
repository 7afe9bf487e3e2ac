//! Tells random texts from placeholders, identifiers and code.

/// The shortest value of a key that can be a secret.
pub(super) const MIN_VALUE_LEN: usize = 8;
/// The longest value of a key that can be a secret.
pub(super) const MAX_VALUE_LEN: usize = 512;

/// Parts of texts that documentation and tests write instead of a secret. All are lower case.
const PLACEHOLDER_WORDS: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "replace",
    "redacted",
    "insert",
    "your",
    "xxxx",
    "****",
    "....",
    "todo",
    "fake",
    "mock",
    "notreal",
    "not-real",
    "not_real",
    "testing",
    "foobar",
    "deadbeef",
    "lorem",
    "undefined",
    "1234567890",
    "0123456789",
    "abcdefgh",
    "qwerty",
    "password",
    "passw0rd",
    "secret_",
    "secret-",
    "-secret",
    "_secret",
    "api_key",
    "api-key",
    "apikey",
    "token",
];

/// Returns the entropy of the bytes of a text in bits per byte.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u16; 256];
    for &byte in text {
        counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1);
    }
    let total = text.len() as f64;
    let share = |&count: &u16| f64::from(count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// Returns `true` if the text contains one of the words that stand for a secret, or repeats or counts characters.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    // A random text of hundreds of characters may contain any word.
    let has_word = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    text.len() <= 100 && PLACEHOLDER_WORDS.iter().any(has_word) || is_regular(text)
}

/// Returns `true` if most characters equal their predecessor or follow it in the alphabet.
pub(super) fn is_regular(text: &[u8]) -> bool {
    let steps =
        text.windows(2).filter(|pair| pair[0] == pair[1] || pair[0].wrapping_add(1) == pair[1]).count();
    steps * 2 >= text.len()
}

/// Returns `true` if the bytes are a UUID.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    let is_valid = |(idx, byte): (usize, &u8)| match idx {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.iter().enumerate().all(is_valid)
}

/// Returns `true` if a text that matched the pattern of a known kind is random enough to be a real one.
pub(super) fn is_random(text: &[u8]) -> bool {
    let long_enough = &text[text.len().saturating_sub(64)..];
    let lower = text.to_ascii_lowercase();
    let stands_for_secret =
        ["example", "xxxxxx", "your", "placeholder", "redacted", "000000", "1234567890", "abcdefghij"];
    let has_word = |word: &&str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    !stands_for_secret.iter().any(has_word) && !is_regular(text) && entropy(long_enough) >= 2.9
}

/// How much a key says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyStrength {
    /// A password, which a person may have chosen.
    Password,
    /// A word that only names secrets: `api_key`, `client_secret`.
    Strong,
    /// A word that also names other things: `token`, `auth`.
    Weak,
}

/// Returns `true` if the value of a key that names a secret is one: no placeholder, path, address, identifier or code.
pub(super) fn is_secret_value(value: &[u8], strength: KeyStrength, is_quoted: bool) -> bool {
    if !(MIN_VALUE_LEN..=MAX_VALUE_LEN).contains(&value.len()) || !value.iter().all(u8::is_ascii_graphic) {
        return false;
    }
    if b"${<[(@*#\\/.~-%&!?".contains(&value[0])
        && !(strength == KeyStrength::Password && is_quoted && b"@#!*&".contains(&value[0]))
    {
        return false;
    }
    if is_placeholder(value) || looks_like_code(value) || looks_like_address(value) {
        return false;
    }
    let count = |test: fn(&u8) -> bool| value.iter().filter(|byte| test(byte)).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let (digits, letters) = (count(u8::is_ascii_digit), upper + lower);
    let symbols = value.len() - digits - letters;
    if strength == KeyStrength::Password {
        let has_password_symbol = value.iter().any(|byte| b"!@#$%^&*+=?~".contains(byte));
        let classes =
            [upper, lower, digits].iter().filter(|count| **count > 0).count() + usize::from(symbols > 0);
        let is_chosen = letters > 0 && (digits > 0 || has_password_symbol) && classes >= 3;
        let is_generated =
            is_quoted && digits > 0 && letters > 0 && value.len() >= 10 && !is_identifier(value);
        return (is_chosen && (has_password_symbol || !is_identifier(value)) || is_generated)
            && entropy(value) >= 2.5
            && !is_uuid(value);
    }
    if is_uuid(value) {
        return strength == KeyStrength::Strong;
    }
    if value.len() < 16 || digits == 0 || letters == 0 {
        // Random letters change their case often, names do not.
        let case_changes =
            value.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase());
        return letters == value.len() && value.len() >= 24 && case_changes.count() * 3 > value.len();
    }
    if value.iter().all(u8::is_ascii_hexdigit) {
        return value.len() >= 20 && entropy(value) >= 2.9;
    }
    !is_identifier(value) && entropy(value) >= if value.len() < 24 { 3.0 } else { 3.3 }
}

/// Returns `true` if the text contains what only code or templates have.
fn looks_like_code(value: &[u8]) -> bool {
    const PARTS: &[&str] = &[
        "${",
        "{{",
        "}}",
        "$(",
        "(",
        ")",
        "<",
        ">",
        "[",
        "]",
        "::",
        "process.env",
        "os.environ",
        ";",
        "\\",
        "\"",
        "'",
        "|",
        ",",
        "`",
        "{",
        "}",
    ];
    PARTS.iter().any(|part| memchr::memmem::find(value, part.as_bytes()).is_some())
}

/// Returns `true` if the text is an address, a path, or an integrity hash.
fn looks_like_address(value: &[u8]) -> bool {
    let starts = [
        "http:", "https:", "file:", "arn:", "urn:", "sha1-", "sha256-", "sha384-", "sha512-", "sha256:",
        "md5-", "data:", "op:", "vault:", "ssm:",
    ];
    let has_scheme = memchr::memmem::find(value, b"://").is_some();
    has_scheme || starts.iter().any(|start| value.starts_with(start.as_bytes())) || is_path(value)
}

/// Returns `true` if the text has slashes or dots between words.
fn is_path(value: &[u8]) -> bool {
    let separators = value.iter().filter(|byte| matches!(byte, b'/' | b'.' | b'-' | b'_' | b':')).count();
    (value.contains(&b'/') || value.contains(&b'.')) && separators * 10 >= value.len() && words_only(value)
}

/// Returns `true` if all parts of the text between separators are words or short numbers, as in `auth_token_v2`.
fn is_identifier(value: &[u8]) -> bool {
    value.len() < 80 && words_only(value)
}

/// Returns `true` if every part is letters in one usual case, followed by at most four digits.
fn words_only(value: &[u8]) -> bool {
    value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).all(is_word)
}

/// Returns `true` if the text is made of words in camel case with at most two numbers of at most four digits.
fn is_word(part: &[u8]) -> bool {
    let numbers = part.split(|byte| !byte.is_ascii_digit()).filter(|number| !number.is_empty());
    let (mut count, mut is_short) = (0, true);
    for number in numbers {
        count += 1;
        is_short &= number.len() <= 4;
    }
    let letters = part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let capitals =
        part.windows(2).filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase()).count();
    let vowels = part.iter().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    let is_pronounceable = letters < 6 || vowels * 5 >= letters && vowels * 4 <= letters * 3;
    count <= 1 && is_short && capitals * 3 <= part.len().max(6) && is_pronounceable
}

#[cfg(test)]
mod tests {
    use super::{KeyStrength, is_random, is_secret_value, is_uuid};

    #[test]
    fn names_paths_code_and_placeholders_are_no_values() {
        let values = [
            "getToken",
            "config.password",
            "process.env.API_KEY",
            "${API_KEY}",
            "<your-token-here>",
            "your_api_key_123456",
            "xxxxxxxxxxxxxxxxxxxx",
            "auth0_client_secret_v2",
            "sha512-oRqq1Z3Ky4P7hK8w2FdAzE5sUuV6xXwYbN0cMjLtGiHe==",
            "https://example.com/a1b2c3d4e5",
            "/var/lib/app/2024/key1.pem",
            "errors.password.tooShort2",
            "12345678",
            "required",
            "UserPasswordResetToken2",
            "src/auth/token_store2.rs",
        ];
        for value in values {
            for strength in [KeyStrength::Password, KeyStrength::Strong, KeyStrength::Weak] {
                assert!(!is_secret_value(value.as_bytes(), strength, true), "{value}");
            }
        }
    }

    #[test]
    fn random_values_and_chosen_passwords_are_values() {
        for value in ["hT7!kq2Zp", "Winter!2031x", "k3jH8sQ2mZ"] {
            assert!(is_secret_value(value.as_bytes(), KeyStrength::Password, true), "{value}");
        }
        for value in ["9f86d081884c7d659a2feaa0c55ad015", "k3jH8sQ2mZx0PqL7vRt5", "qA7-Zt_93kQwLm20sVbX"] {
            assert!(is_secret_value(value.as_bytes(), KeyStrength::Strong, false), "{value}");
        }
    }

    #[test]
    fn regular_texts_are_not_random() {
        assert!(!is_random(b"AKIAIOSFODNN7EXAMPLE"));
        assert!(!is_random(b"ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        assert!(is_random(b"k3jH8sQ2mZx0PqL7vRt5"));
        assert!(is_uuid(b"3f2a11bb-0000-4000-8000-000000000000"));
    }
}
