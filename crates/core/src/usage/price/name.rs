//! Which names mean a model.

use super::super::file_usage::FAST;

/// Whether a pattern, in which `*` stands for anything, is the whole of a text; letters are alike in either case.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    // Where to go on when what follows the last star does not fit: behind the star, one letter further.
    let mut retry = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, read));
                at += 1;
            }
            Some(letter) if letter.eq_ignore_ascii_case(&text[read]) => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((behind, from)) = retry else { return false };
                retry = Some((behind, from + 1));
                at = behind;
                read = from + 1;
            }
        }
    }
    pattern[at..].iter().all(|&letter| letter == b'*')
}

/// Returns the name without what providers and clients hang on it: `us.anthropic.claude-opus-4-1-20250805-v1:0`,
/// `claude-opus-4-1@20250805` and `anthropic/claude-opus-4.1[1m]` are all `claude-opus-4-1`. What was made in fast mode ends
/// in `-fast`.
///
/// Only forms that are known go. What else is at the end may stand for another price, as `-fast` does.
pub(super) fn plain(model: &str) -> Option<String> {
    const FAMILY: &str = "claude-";
    let lower = model.trim().to_ascii_lowercase();
    let (lower, fast) = lower.strip_suffix(FAST).map_or((lower.as_str(), ""), |name| (name, "-fast"));
    let starts = |at: &usize| !lower[..*at].ends_with(|before: char| before.is_alphanumeric());
    let start = lower.match_indices(FAMILY).map(|(at, _)| at).filter(starts).last()?;
    let name = lower[start..].trim_end_matches("[1m]");
    let name = name.split('@').next().unwrap_or(name);
    let name = match name.rsplit_once(':') {
        Some((rest, revision)) if digits(revision) => rest,
        _ => name,
    };
    let name = without(name, |end| end.strip_prefix('v').is_some_and(digits));
    let name = without(name, |end| end == "latest" || end.len() == 8 && digits(end));
    Some(name.replace('.', "-") + fast)
}

/// Returns a name without its last part, where that is such a one and more than the family is left.
fn without(name: &str, such: impl Fn(&str) -> bool) -> &str {
    match name.rsplit_once('-') {
        Some((rest, end)) if such(end) && rest.contains('-') => rest,
        _ => name,
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit())
}
