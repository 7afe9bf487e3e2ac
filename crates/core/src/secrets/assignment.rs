//! Reads a key with its value: `api_key = "…"`, `"apiKey": "…"`, `--token …`, `<password>…</password>`.

use std::ops::Range;

use super::value::{KeyStrength, MAX_VALUE_LEN};

/// Words in keys at which the scanner looks for a value.
pub(super) const KEY_WORDS: &[&str] = &[
    "password",
    "Password",
    "PASSWORD",
    "passwd",
    "Passwd",
    "PASSWD",
    "passphrase",
    "Passphrase",
    "PASSPHRASE",
    "pwd",
    "Pwd",
    "PWD",
    "secret",
    "Secret",
    "SECRET",
    "token",
    "Token",
    "TOKEN",
    "apikey",
    "apiKey",
    "ApiKey",
    "APIKey",
    "APIKEY",
    "api_key",
    "Api_Key",
    "API_KEY",
    "api-key",
    "Api-Key",
    "API-Key",
    "API key",
    "api key",
    "accessKey",
    "AccessKey",
    "access_key",
    "ACCESS_KEY",
    "access-key",
    "privateKey",
    "private_key",
    "PRIVATE_KEY",
    "_KEY",
    "credential",
    "Credential",
    "CREDENTIAL",
    "_auth",
    "_AUTH",
    "authKey",
    "auth_key",
    "signing_key",
    "signingKey",
    "encryption_key",
    "encryptionKey",
    "master_key",
    "masterKey",
    "license_key",
    "licenseKey",
    "AdminKey",
    "adminKey",
];

/// The longest key.
const MAX_KEY_LEN: usize = 64;

/// Words in keys whose values are not secret.
const HARMLESS_WORDS: &[&str] = &[
    "public",
    "tokens",
    "tokenizer",
    "tokentype",
    "tokencount",
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "csrf",
    "xsrf",
    "cancel",
    "secretname",
    "keyname",
    "tokenname",
    "secretref",
    "secretid",
    "keyid",
    "tokenid",
    "keyfile",
    "tokenfile",
    "passwordfile",
    "secretpath",
    "tokenurl",
    "tokenuri",
    "tokenendpoint",
    "url",
    "regex",
    "pattern",
    "length",
    "hint",
    "label",
    "field",
    "expires",
    "expiry",
    "header",
    "prefix",
    "maxtoken",
    "cachekey",
    "primarykey",
    "foreignkey",
    "publishable",
    "anonkey",
    "sitekey",
    "tokenhash",
    "placeholder",
    "hash",
    "digest",
    "checksum",
    "integrity",
    "sha256",
    "stop_token",
    "partition",
    "signature",
    "etag",
    "cursor",
    "lock",
    "version",
];

/// A key and its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    /// The key in lower case, only letters and digits.
    pub(super) key: String,
    pub(super) value: Range<usize>,
    pub(super) is_quoted: bool,
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns `true` if a value may follow the word of a key that ends at `end`. Most words are rejected here.
pub(super) fn may_be_assigned(text: &[u8], end: usize) -> bool {
    let mut pos = end;
    while pos < text.len() && is_key_byte(text[pos]) {
        pos += 1;
    }
    let rest = &text[pos..text.len().min(pos + 16)];
    let separator =
        rest.iter().position(|byte| !matches!(byte, b'"' | b'\'' | b'`' | b' ' | b'\\' | b']' | b'*'));
    let Some(separator) = separator else { return false };
    match rest[separator] {
        b'=' | b':' | b'>' | b',' => true,
        // A phrase, or the value of an option.
        _ => separator > 0,
    }
}

/// Reads the assignment whose key contains the word at a range. Returns `None` if no value follows.
pub(super) fn parse_assignment(text: &[u8], word: &Range<usize>) -> Option<Assignment> {
    let mut start = word.start;
    while start > 0 && word.end - start < MAX_KEY_LEN && is_key_byte(text[start - 1]) {
        start -= 1;
    }
    // The letter of an escape is not part of the key.
    if start > 0 && text[start - 1] == b'\\' && start < word.start && b"nrtbf".contains(&text[start]) {
        start += 1;
    }
    let mut end = word.end;
    while end < text.len() && end - start < MAX_KEY_LEN && is_key_byte(text[end]) {
        end += 1;
    }
    let name = &text[start..end];
    let key: String = name
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let mut pos = end;
    let skip = |pos: &mut usize, set: &[u8], max: usize| {
        let from = *pos;
        while *pos < text.len() && *pos - from < max && set.contains(&text[*pos]) {
            *pos += 1;
        }
        *pos - from
    };
    let closing_quote = skip(&mut pos, b"\"'`]", 2) > 0;
    let spaces = skip(&mut pos, b" \t", 12);
    let rest = &text[pos..];
    let starts_with = |separator: &str| rest.starts_with(separator.as_bytes());
    let (separator_len, needs_quotes) = match rest.first()? {
        _ if starts_with(":=") || starts_with("=>") => (2, false),
        _ if starts_with("==") || starts_with("::") => return None,
        b'=' | b':' => (1, false),
        b'>' if !closing_quote && spaces == 0 => (1, false),
        b',' if closing_quote => (1, true),
        _ if starts_with("is ") || starts_with("is:") => (3, false),
        _ if spaces > 0 && (name.starts_with(b"--") || is_login(text, start)) => (0, false),
        _ => return None,
    };
    pos += separator_len;
    skip(&mut pos, b" \t", 12);
    let quote = text.get(pos).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    if needs_quotes && quote.is_none() {
        return None;
    }
    let (value, is_quoted) = match quote {
        Some(quote) => (read_quoted(text, pos + 1, quote)?, true),
        None => (read_bare(text, pos), false),
    };
    (!value.is_empty()).then_some(Assignment { key, value, is_quoted })
}

/// Returns `true` if the key at `start` is in the line of a login in a `.netrc` file.
fn is_login(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(120)..start];
    memchr::memmem::find(before, b"login ").is_some()
}

/// Returns the value up to the closing quote. Returns `None` if it is too long or not closed.
fn read_quoted(text: &[u8], start: usize, quote: u8) -> Option<Range<usize>> {
    let mut pos = start;
    while pos < text.len().min(start + MAX_VALUE_LEN) {
        match text[pos] {
            b'\\' => pos += 2,
            byte if byte == quote => return Some(start..pos),
            b'\n' => return None,
            _ => pos += 1,
        }
    }
    None
}

/// Returns the value up to white space or punctuation.
fn read_bare(text: &[u8], start: usize) -> Range<usize> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`,;)}]<>&|\\".contains(byte);
    let len = text[start..].iter().take(MAX_VALUE_LEN + 1).position(is_end);
    let mut end = start + len.unwrap_or_else(|| (text.len() - start).min(MAX_VALUE_LEN + 1));
    while end > start && matches!(text[end - 1], b'.' | b':' | b'?') {
        end -= 1;
    }
    start..end
}

/// Returns how much a key says about its value, and the name of the kind. Returns `None` for keys of harmless values.
pub(super) fn classify_key(key: &str) -> Option<(KeyStrength, &'static str)> {
    if HARMLESS_WORDS.iter().any(|word| key.contains(word)) {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    if has(&["password", "passwd", "passphrase"]) || key.ends_with("pwd") && key.len() > 3 || key == "pwd" {
        return Some((KeyStrength::Password, "password"));
    }
    if has(&[
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "signingkey",
        "encryptionkey",
        "masterkey",
        "authkey",
        "licensekey",
        "adminkey",
    ]) {
        return Some((KeyStrength::Strong, "api-key"));
    }
    if has(&["secret"]) {
        return Some((KeyStrength::Strong, "secret"));
    }
    if has(&[
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "apitoken",
        "bottoken",
        "bearertoken",
        "authorizationtoken",
    ]) {
        return Some((KeyStrength::Strong, "token"));
    }
    if has(&["token", "credential"]) || key.ends_with("auth") {
        return Some((KeyStrength::Weak, "token"));
    }
    key.ends_with("key").then_some((KeyStrength::Weak, "api-key"))
}

#[cfg(test)]
mod tests {
    use super::{classify_key, may_be_assigned, parse_assignment};

    fn parse(text: &str, word: &str) -> Option<(String, String)> {
        let start = text.find(word).expect("the word is in the text");
        let range = start..start + word.len();
        let assignment = parse_assignment(text.as_bytes(), &range)?;
        assert!(may_be_assigned(text.as_bytes(), range.end), "{text}");
        Some((assignment.key, text[assignment.value].to_owned()))
    }

    #[test]
    fn values_are_read_in_all_forms() {
        for (text, word, key) in [
            ("api_key=v4lue", "api_key", "apikey"),
            ("\"apiKey\": \"v4lue\"", "apiKey", "apikey"),
            ("APP_API_KEY := 'v4lue'", "API_KEY", "appapikey"),
            ("'password' => 'v4lue',", "password", "password"),
            ("<password>v4lue</password>", "password", "password"),
            ("set(\"db.password\", \"v4lue\")", "password", "dbpassword"),
            ("login --token v4lue now", "token", "token"),
            ("the password is v4lue.", "password", "password"),
            ("machine h login u password v4lue", "password", "password"),
            ("a\\npassword: v4lue\\n", "password", "password"),
            ("?token=v4lue&x=1", "token", "token"),
        ] {
            assert_eq!(parse(text, word), Some((key.to_owned(), "v4lue".to_owned())), "{text}");
        }
        for (text, word) in
            [("token == x", "token"), ("a token of", "token"), ("password", "password"), ("token(", "token")]
        {
            assert_eq!(parse(text, word), None, "{text}");
        }
    }

    #[test]
    fn harmless_keys_have_no_kind() {
        for key in ["inputtokens", "nextpagetoken", "publickey", "passwordhash"] {
            assert_eq!(classify_key(key), None, "{key}");
        }
        assert_eq!(classify_key("dbpwd").map(|kind| kind.1), Some("password"));
    }
}
