//! Matches model names against the patterns of a price table.

use crate::usage::file_usage::FAST_SUFFIX;

/// Returns whether a pattern matches a whole text, ignoring ASCII case. `*` matches any characters.
pub(super) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut pattern_pos, mut text_pos) = (0, 0);
    // The positions to retry from if the characters after the last star do not match: after the star in the
    // pattern, one character later in the text.
    let mut retry = None;
    while text_pos < text.len() {
        match pattern.get(pattern_pos) {
            Some(b'*') => {
                retry = Some((pattern_pos + 1, text_pos));
                pattern_pos += 1;
            }
            Some(byte) if byte.eq_ignore_ascii_case(&text[text_pos]) => {
                pattern_pos += 1;
                text_pos += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                retry = Some((after_star, from + 1));
                pattern_pos = after_star;
                text_pos = from + 1;
            }
        }
    }
    pattern[pattern_pos..].iter().all(|&byte| byte == b'*')
}

/// Returns the model name without the prefixes and suffixes of providers and clients:
/// `us.anthropic.claude-opus-4-1-20250805-v1:0`, `claude-opus-4-1@20250805` and
/// `anthropic/claude-opus-4.1[1m]` all become `claude-opus-4-1`. Names in fast mode end in `-fast`.
///
/// Only known forms are removed. Any other suffix may indicate a different price, as `-fast` does. Returns `None` if
/// the name does not contain `claude-`.
pub(super) fn canonicalize_name(model: &str) -> Option<String> {
    const FAMILY: &str = "claude-";
    let lower = model.trim().to_ascii_lowercase();
    let (lower, fast) = lower.strip_suffix(FAST_SUFFIX).map_or((lower.as_str(), ""), |name| (name, "-fast"));
    let is_name_start = |start: &usize| !lower[..*start].ends_with(|before: char| before.is_alphanumeric());
    let start = lower.match_indices(FAMILY).map(|(start, _)| start).filter(is_name_start).last()?;
    let name = lower[start..].trim_end_matches("[1m]");
    let name = name.split('@').next().unwrap_or(name);
    let name = match name.rsplit_once(':') {
        Some((rest, revision)) if is_digits(revision) => rest,
        _ => name,
    };
    let name = strip_last_part(name, |end| end.strip_prefix('v').is_some_and(is_digits));
    let name = strip_last_part(name, |end| end == "latest" || end.len() == 8 && is_digits(end));
    Some(name.replace('.', "-") + fast)
}

/// Removes the last `-` and the part after it, if `is_suffix` holds for that part and another `-` remains.
fn strip_last_part(name: &str, is_suffix: impl Fn(&str) -> bool) -> &str {
    match name.rsplit_once('-') {
        Some((rest, end)) if is_suffix(end) && rest.contains('-') => rest,
        _ => name,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
