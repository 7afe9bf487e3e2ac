//! Finds secrets in any bytes: a line of JSON, a text, a page.

use std::ops::Range;

use super::anchors::{AnchorFinder, AnchorUse};
use super::assignment::{classify_key, may_be_assigned, parse_assignment};
use super::check::decode_base64;
use super::decode::{DecodedText, MAX_LEVELS, decode_json, decode_next, decode_percent, normalize};
use super::detector::{Detector, Position};
use super::detectors::{DETECTORS, find_detector};
use super::special::{find_password_in_address, find_private_key};
use super::value::{KeyStrength, is_secret_value};

/// The longest secret, except for private keys.
const MAX_SECRET_LEN: usize = 4200;
/// The bytes before a key word that are decoded with it.
const CONTEXT_LEN: usize = 128;

/// A secret in some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// The index in [`DETECTORS`](super::DETECTORS).
    pub detector: u16,
    /// The range of the secret, escapes included.
    pub range: Range<usize>,
}

impl SecretMatch {
    /// Returns the detector that matched.
    pub fn detector(&self) -> &'static Detector {
        &DETECTORS[usize::from(self.detector)]
    }
}

/// Finds all secrets, sorted by position and without overlaps. Texts may be JSON, also nested in strings of JSON, and
/// addresses may be percent-encoded: the ranges are those of the bytes as they are.
pub fn find_secrets(text: &[u8]) -> Vec<SecretMatch> {
    let mut found = Vec::new();
    find_at_depth(text, 0, &mut found);
    if found.len() > 1 {
        merge_overlaps(&mut found);
    }
    found
}

/// Keeps the longer of two matches that overlap, extended over both; of equal ones that of the earlier detector.
fn merge_overlaps(found: &mut Vec<SecretMatch>) {
    found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end), secret.detector));
    let mut merged: Vec<SecretMatch> = Vec::with_capacity(found.len());
    for secret in found.drain(..) {
        match merged.last_mut().filter(|last| secret.range.start < last.range.end) {
            Some(last) => {
                if secret.range.len() > last.range.len() {
                    last.detector = secret.detector;
                }
                last.range.end = last.range.end.max(secret.range.end);
            }
            None => merged.push(secret),
        }
    }
    *found = merged;
}

fn find_at_depth(text: &[u8], depth: usize, found: &mut Vec<SecretMatch>) {
    let Some(mut anchors) = AnchorFinder::new(text) else { return };
    // Escapes before these positions are decoded already.
    let (mut json_until, mut percent_until) = (0, 0);
    let mut from = 0;
    while let Some((start, uses)) = anchors.find(from) {
        // A part of an anchor without a secret may begin another one: `napi_` in `\napi_key`.
        from = start + 1;
        for &(anchor_use, len) in uses {
            let at = start..start + len;
            let end = match anchor_use {
                AnchorUse::Detector(idx) => find_by_detector(text, idx, at, depth, found),
                AnchorUse::Word => {
                    from = from.max(at.end);
                    find_value(text, &at, found);
                    None
                }
                AnchorUse::JsonEscape if at.start >= json_until => {
                    let window =
                        at.start.saturating_sub(CONTEXT_LEN)..text.len().min(at.end + MAX_SECRET_LEN);
                    json_until = window.end.saturating_sub(CONTEXT_LEN).max(at.end);
                    find_decoded(text, window, depth, decode_json, found);
                    None
                }
                AnchorUse::PercentEscape if at.start >= percent_until => {
                    let window = address_around(text, &at);
                    percent_until = window.end;
                    find_decoded(text, window, depth, decode_percent, found);
                    None
                }
                _ => None,
            };
            if let Some(end) = end {
                from = from.max(end);
                break;
            }
        }
    }
}

/// Finds the secrets in the decoded bytes of a range.
fn find_decoded(
    text: &[u8],
    range: Range<usize>,
    depth: usize,
    decode: fn(&[u8]) -> DecodedText,
    found: &mut Vec<SecretMatch>,
) {
    if depth >= MAX_LEVELS {
        return;
    }
    let decoded = decode(&text[range.clone()]);
    let mut inner = Vec::new();
    find_at_depth(&decoded.bytes, depth + 1, &mut inner);
    for SecretMatch { detector, range: inner_range } in inner {
        let original = decoded.original_range(&inner_range);
        found.push(SecretMatch { detector, range: range.start + original.start..range.start + original.end });
    }
}

/// Returns the run of bytes around an escape that may belong to one address.
fn address_around(text: &[u8], at: &Range<usize>) -> Range<usize> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\".contains(byte);
    let before = text[at.start.saturating_sub(MAX_SECRET_LEN)..at.start].iter().rev().position(is_end);
    let start = before.map_or(at.start.saturating_sub(MAX_SECRET_LEN), |len| at.start - len);
    let rest = &text[at.end..text.len().min(at.end + MAX_SECRET_LEN)];
    start..at.end + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// Tries one detector at an anchor. Returns the end of the secret if no other one can begin in it.
fn find_by_detector(
    text: &[u8],
    idx: u16,
    at: Range<usize>,
    depth: usize,
    found: &mut Vec<SecretMatch>,
) -> Option<usize> {
    let detector = &DETECTORS[usize::from(idx)];
    let range = match detector.position {
        Position::Anchor { lead: 0 } => {
            if !has_boundary_before(text, at.start) || !is_followed_by_token(text, at.end) {
                return None;
            }
            match_at(detector, text, at.start)?
        }
        Position::Anchor { lead } => match_around(detector, text, &at, usize::from(lead))?,
        Position::After => match_at(detector, text, at.end)?,
        Position::Special => match detector.name {
            "private-key" => find_private_key(text, &at)?,
            "url-password" => find_password_in_address(text, &at)?,
            _ => find_encoded_header(text, &at, depth)?,
        },
        Position::Value => return None,
    };
    // A secret after a word may be of a kind that its form reveals.
    let end = matches!(detector.position, Position::Anchor { .. }).then_some(range.end);
    found.push(SecretMatch { detector: idx, range });
    end
}

/// Returns `true` if no word reaches up to a position. The letter of an escape belongs to no word.
fn has_boundary_before(text: &[u8], pos: usize) -> bool {
    let Some(&previous) = pos.checked_sub(1).and_then(|before| text.get(before)) else { return true };
    if !previous.is_ascii_alphanumeric() && previous != b'_' {
        return true;
    }
    let before = &text[pos.saturating_sub(12)..pos];
    let is_hex =
        |len: usize| before.len() >= len && before[before.len() - len..].iter().all(u8::is_ascii_hexdigit);
    let ends_with_escape =
        |len: usize, start: &[u8]| before.len() > len && before[..before.len() - len].ends_with(start);
    // A newline, a character by its code, an escaped byte of an address, or a colour of a terminal.
    before.len() >= 2 && before[before.len() - 2] == b'\\' && b"nrtbf".contains(&previous)
        || is_hex(4) && ends_with_escape(4, b"\\u")
        || is_hex(2) && ends_with_escape(2, b"%")
        || previous == b'm' && is_colour(before)
}

/// Returns `true` if the bytes end with the escape sequence of a colour, such as `[32m`.
fn is_colour(before: &[u8]) -> bool {
    let codes = before[..before.len() - 1]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    before.len() >= 2 + codes && before[before.len() - 2 - codes] == b'['
}

/// Returns `true` if the next bytes may belong to a secret. Most anchors that are part of a word are rejected here.
fn is_followed_by_token(text: &[u8], end: usize) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/=.$%@\\".contains(byte);
    text.len() >= end + 8 && text[end..end + 8].iter().all(is_token)
}

/// Returns `true` if the bytes at a position continue a secret: a word, or an escape of a character that secrets have.
fn continues_after(text: &[u8], end: usize) -> bool {
    text.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// Returns `true` if an escape at a position stands for a character that secrets contain.
fn has_token_escape(text: &[u8], pos: usize) -> bool {
    let rest = &text[pos.min(text.len())..];
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let escaped = &rest[slashes..];
    slashes > 0
        && (escaped.first() == Some(&b'/')
            || [&b"u002"[..], b"u003", b"u007"].iter().any(|code| escaped.starts_with(code)))
}

/// Matches the pattern at a position, also if characters of the secret are escaped. Returns its range.
fn match_at(detector: &Detector, text: &[u8], start: usize) -> Option<Range<usize>> {
    let window = &text[start..text.len().min(start + MAX_SECRET_LEN)];
    let regex = detector.regex()?;
    let matched_len = regex.find(window).map(|found| found.end());
    let is_broken = |len: usize| has_token_escape(window, len);
    let run =
        || window.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(byte)).count();
    if !matched_len.map_or_else(|| is_broken(run()), is_broken) {
        let len = matched_len?;
        let is_whole = !continues_after(window, len) && detector.accepts(&window[..len]);
        return is_whole.then_some(start..start + len);
    }
    let mut decoded = decode_json(window);
    let mut longest: Option<Range<usize>> = None;
    for _ in 0..MAX_LEVELS {
        if let Some(len) = regex
            .find(&decoded.bytes)
            .map(|found| found.end())
            .filter(|len| !continues_after(&decoded.bytes, *len))
            && detector.accepts(&decoded.bytes[..len])
        {
            let range = decoded.original_range(&(0..len));
            longest = longest.filter(|longest| longest.end >= range.end).or(Some(range));
        }
        if memchr::memchr(b'\\', &decoded.bytes).is_none() {
            break;
        }
        decoded = decode_next(&decoded);
    }
    longest.map(|range| start + range.start..start + range.end)
}

/// Matches the pattern around an anchor with up to `lead` bytes before it.
fn match_around(detector: &Detector, text: &[u8], at: &Range<usize>, lead: usize) -> Option<Range<usize>> {
    let from = at.start.saturating_sub(lead);
    let window = &text[from..text.len().min(at.end + MAX_SECRET_LEN / 8)];
    let mut start = 0;
    // The letter of an escape may match too, so later starts are tried until the anchor.
    while let Some(found) =
        detector.regex()?.find_at(window, start).filter(|found| from + found.start() < at.start)
    {
        let range = from + found.start()..from + found.end();
        let is_whole = has_boundary_before(text, range.start) && !continues_after(text, range.end);
        if range.end >= at.end && is_whole && detector.accepts(found.as_bytes()) {
            return Some(range);
        }
        start = found.start() + 1;
    }
    None
}

impl Detector {
    /// Returns `true` if a text that matched the pattern is a secret.
    fn accepts(&self, text: &[u8]) -> bool {
        match self.name {
            "bearer-token" => is_secret_value(text, KeyStrength::Weak, false),
            _ => self.check.accepts(text),
        }
    }
}

/// Adds the value of a key that contains the word at a range. Returns `None` if there is no secret.
fn find_value(text: &[u8], word: &Range<usize>, found: &mut Vec<SecretMatch>) -> Option<()> {
    if !may_be_assigned(text, word.end) {
        return None;
    }
    let from = word.start.saturating_sub(CONTEXT_LEN);
    let window = &text[from..text.len().min(word.end + 2 * MAX_SECRET_LEN / 4)];
    let word = word.start - from..word.end - from;
    let secret = match parse_assignment(window, &word) {
        Some(assignment) if !needs_decoding(window, &assignment.value) => {
            let value = &window[assignment.value.clone()];
            let detector = classify_value(&assignment.key, value, assignment.is_quoted)?;
            Some((detector, assignment.value))
        }
        _ => find_escaped_value(window, &word),
    };
    let (detector, range) = secret?;
    let range = from + range.start..from + range.end;
    found.push(SecretMatch { detector, range });
    Some(())
}

fn needs_decoding(text: &[u8], value: &Range<usize>) -> bool {
    memchr::memchr(b'\\', &text[value.clone()]).is_some() || has_token_escape(text, value.end)
}

/// Finds the value of a key in a text with escapes, at the first level at which it has none.
fn find_escaped_value(window: &[u8], word: &Range<usize>) -> Option<(u16, Range<usize>)> {
    // Before the word only the key matters, which has no escapes.
    let start = word.start
        - window[..word.start]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
            .count();
    let start = if start > 0 && window[start - 1] == b'\\' { (start + 1).min(word.start) } else { start };
    let word = word.start - start..word.end - start;
    let window = &window[start..];
    let is_needed = memchr::memchr(b'\\', &window[word.end..]).is_some();
    let mut decoded = is_needed.then(|| decode_json(window))?;
    for _ in 0..MAX_LEVELS {
        if let Some(assignment) = parse_assignment(&decoded.bytes, &word)
            && !needs_decoding(&decoded.bytes, &assignment.value)
        {
            let value = &decoded.bytes[assignment.value.clone()];
            let detector = classify_value(&assignment.key, value, assignment.is_quoted)?;
            let range = decoded.original_range(&assignment.value);
            return Some((detector, start + range.start..start + range.end));
        }
        memchr::memchr(b'\\', &decoded.bytes)?;
        decoded = decode_next(&decoded);
    }
    None
}

/// Returns the kind of a value by its key. Returns `None` if the value is no secret.
fn classify_value(key: &str, value: &[u8], is_quoted: bool) -> Option<u16> {
    let (strength, name) = classify_key(key)?;
    let value = normalize(value);
    let is_known = |detector: &&Detector| {
        detector.position == Position::Value
            && detector.anchors.iter().any(|word| key.contains(word))
            && detector.regex().is_some_and(|regex| regex.is_match(&value))
            && detector.check.accepts(&value)
    };
    if let Some(detector) = DETECTORS.iter().find(is_known) {
        return find_detector(detector.name);
    }
    is_secret_value(&value, strength, is_quoted).then(|| find_detector(name)).flatten()
}

/// Finds base64 around an anchor that contains a secret. Returns the range of the base64.
fn find_encoded_header(text: &[u8], at: &Range<usize>, depth: usize) -> Option<Range<usize>> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let before = &text[at.start.saturating_sub(MAX_SECRET_LEN)..at.start];
    let first = at.start - before.iter().rev().take_while(|byte| is_digit(byte)).count();
    let rest = &text[at.end..text.len().min(at.end + MAX_SECRET_LEN)];
    let end = at.end + rest.iter().take_while(|byte| is_digit(byte)).count();
    // The letter of an escape before the base64 shifts its digits.
    for start in first..at.start.min(first + 3) + 1 {
        let decoded = decode_base64(&text[start..end]);
        let mut inner = Vec::new();
        if depth < MAX_LEVELS {
            find_at_depth(&decoded, depth + 1, &mut inner);
        }
        if !inner.is_empty() {
            return Some(start..end);
        }
    }
    None
}
