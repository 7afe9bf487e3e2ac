//! What a report shows of a secret: its surroundings without it, and a number that is equal for equal secrets.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::decode::normalize;
use super::scan::SecretMatch;

/// The bytes of context before a secret, and after it.
const CONTEXT_BEFORE: usize = 56;
const CONTEXT_AFTER: usize = 24;

/// Returns a number that is equal for equal secrets, however they are escaped.
pub fn secret_fingerprint(secret: &[u8]) -> u64 {
    xxh3_64(&normalize(secret))
}

/// Returns the text around a secret on one line, with the name of its kind in brackets instead of it. `all` are all secrets
/// of the text: the context ends before the next one.
pub fn mask_context<'s>(
    text: &[u8],
    secret: &SecretMatch,
    all: impl Iterator<Item = &'s SecretMatch>,
) -> String {
    let Range { start, end } = secret.range;
    let mut from = start.saturating_sub(CONTEXT_BEFORE);
    let mut to = text.len().min(end + CONTEXT_AFTER);
    for other in all {
        if other.range.end <= start {
            from = from.max(other.range.end);
        }
        if other.range.start >= end {
            to = to.min(other.range.start);
        }
    }
    let before = clean_context(&text[from..start]);
    let after = clean_context(&text[end..to]);
    // The nearest words say the most.
    format!("{}[{}]{}", before.trim_start(), secret.detector().name, after.trim_end())
}

/// Returns the text around a range on one line, with the range itself. In JSON the context is a part of one string. The
/// text must contain no secret.
pub(super) fn describe_context(text: &[u8], range: &Range<usize>, is_json: bool) -> String {
    let mut from = range.start.saturating_sub(CONTEXT_BEFORE);
    let mut to = text.len().min(range.end + CONTEXT_AFTER);
    if is_json {
        let is_end = |at: &usize| text[*at] == b'"' && (*at == 0 || text[*at - 1] != b'\\');
        from = (from..range.start).rfind(is_end).map_or(from, |at| at + 1);
        to = (range.end..to).find(is_end).unwrap_or(to);
    }
    clean_context(&text[from..to]).trim().to_owned()
}

/// Decodes escapes, drops characters that were cut, and joins white space.
fn clean_context(text: &[u8]) -> String {
    let decoded = normalize(text);
    let decoded = String::from_utf8_lossy(&decoded);
    let mut cleaned = String::with_capacity(decoded.len());
    for c in decoded.trim_matches('\u{fffd}').chars() {
        let c = if c.is_whitespace() || c.is_control() { ' ' } else { c };
        if c != ' ' || !cleaned.ends_with(' ') {
            cleaned.push(c);
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::{mask_context, secret_fingerprint};
    use crate::secrets::find_secrets;

    #[test]
    fn context_holds_no_secret() {
        let token = ["gsk_", &"hT7kq2ZpX9".repeat(6)[..52]].concat();
        let text = format!("first\\n KEY={token} and {token} end");
        let found = find_secrets(text.as_bytes());
        let contexts: Vec<String> =
            found.iter().map(|secret| mask_context(text.as_bytes(), secret, found.iter())).collect();
        assert_eq!(contexts, ["first KEY=[groq-key] and", "and [groq-key] end"]);
        assert_eq!(secret_fingerprint(b"a\\/b"), secret_fingerprint(b"a/b"));
    }
}
