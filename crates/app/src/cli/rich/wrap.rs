//! Breaks lines at a width.

use std::ops::Range;

use textwrap::WordSeparator;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Makes the character before it an emoji, which has two columns.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// Breaks a line of prose between words, or within a word that is too wide. Returns at least one range.
///
/// Spaces at the breaks are omitted. The width is that of whole words: the characters of an emoji have another one.
pub(super) fn wrap_words(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    // The current line, its width, and the width of the spaces after it.
    let (mut range, mut used, mut spaces) = (0..0, 0, 0);
    for word in find_words(line) {
        let end = word.start + line[word.clone()].trim_end_matches(' ').len();
        if used + spaces + line[word.start..end].width() > width && range.end > range.start {
            ranges.push(range);
            (range, used, spaces) = (word.start..word.start, 0, 0);
        }
        // Only the first word of a line is broken, together with the indentation before it.
        let from = if range.is_empty() { range.start } else { word.start };
        let mut parts = wrap_columns(&line[from..end], width);
        let last = parts.pop().unwrap_or_default();
        for part in parts {
            ranges.push(range.start..from + part.end);
            range.start = from + part.end;
        }
        let indentation = if from == word.start { spaces } else { 0 };
        used += indentation + line[from + last.start..end].width();
        range.end = end;
        spaces = word.end - end;
    }
    ranges.push(range);
    ranges
}

/// Splits a line into words, each with the spaces after it.
///
/// Unicode also breaks addresses and paths after a slash, and never a space before a slash. Here only spaces separate
/// ASCII characters.
fn find_words(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let is_ascii = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let is_break = |at: usize| match bytes.get(at - 1) {
        Some(b' ') => bytes.get(at) != Some(&b' '),
        before => !(is_ascii(before) && is_ascii(bytes.get(at))),
    };
    let mut words = Vec::new();
    let (mut start, mut at) = (0, 0);
    for word in WordSeparator::UnicodeBreakProperties.find_words(line) {
        let len = word.word.len() + word.whitespace.len();
        for part in line[at..at + len].split_inclusive(' ') {
            at += part.len();
            if is_break(at) {
                words.push(start..at);
                start = at;
            }
        }
    }
    words
}

/// Breaks a preformatted line at the width. Returns at least one range.
pub(super) fn wrap_columns(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut used) = (0, 0);
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_emoji = chars.peek().is_some_and(|(_, next)| *next == EMOJI_SELECTOR);
        let char_width = if is_emoji { 2 } else { c.width().unwrap_or(0) };
        if used + char_width > width && at > start {
            ranges.push(start..at);
            (start, used) = (at, 0);
        }
        used += char_width;
    }
    ranges.push(start..line.len());
    ranges
}

#[cfg(test)]
mod tests {
    use super::{wrap_columns, wrap_words};

    #[test]
    fn lines_are_broken_at_the_width() {
        let cut = |line: &str, ranges: Vec<std::ops::Range<usize>>| -> Vec<String> {
            ranges.into_iter().map(|range| line[range].to_owned()).collect()
        };
        for (line, parts) in [
            ("", vec![""]),
            ("  a b", vec!["  a b"]),
            ("abcdef 🖥\u{fe0f}\u{fe0f} x", vec!["abcdef", "🖥\u{fe0f}\u{fe0f} x"]),
            ("    abcdefgh i", vec!["    abcd", "efgh i"]),
            ("a, /b/c, /d/e", vec!["a, /b/c,", "/d/e"]),
            ("aa bb  ", vec!["aa bb"]),
            ("a b://c/d", vec!["a", "b://c/d"]),
            ("alpha beta gamma", vec!["alpha", "beta", "gamma"]),
            ("abcdefghijkl m", vec!["abcdefgh", "ijkl m"]),
            ("漢字漢字漢字", vec!["漢字漢字", "漢字"]),
            ("cafe\u{301} cafe\u{301}", vec!["cafe\u{301}", "cafe\u{301}"]),
        ] {
            assert_eq!(cut(line, wrap_words(line, 8)), parts, "{line}");
        }
        for (line, parts) in [
            ("", vec![""]),
            ("a  b  c  d", vec!["a  b  c ", " d"]),
            ("x漢字漢字", vec!["x漢字漢", "字"]),
            ("1234567e\u{301}x", vec!["1234567e\u{301}", "x"]),
        ] {
            assert_eq!(cut(line, wrap_columns(line, 8)), parts, "{line}");
        }
    }
}
