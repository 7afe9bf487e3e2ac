//! Breaks lines at a width.

use std::ops::Range;

use textwrap::WordSeparator;
use textwrap::core::{Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;
use unicode_width::UnicodeWidthChar;

/// Breaks a line of prose between words, or within a word that is too wide. Returns at least one range.
///
/// Spaces at the breaks are omitted.
pub(super) fn wrap_words(line: &str, width: usize) -> Vec<Range<usize>> {
    let words = break_words(find_words(line), width);
    let mut ranges = Vec::new();
    let mut start = 0;
    for words in wrap_first_fit(&words, &[width as f64]) {
        let len: usize = words.iter().map(|word| word.word.len() + word.whitespace.len()).sum();
        let trailing = words.last().map_or(0, |word| word.whitespace.len());
        ranges.push(start..start + len - trailing);
        start += len;
    }
    ranges
}

/// Splits a line into words. Addresses and paths, which Unicode breaks after a slash, stay whole.
fn find_words(line: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for word in WordSeparator::UnicodeBreakProperties.find_words(line) {
        let end = at + word.word.len() + word.whitespace.len();
        let is_ascii = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
        let bytes = line.as_bytes();
        if at == end || is_ascii(bytes.get(end - 1)) && is_ascii(bytes.get(end)) {
            at = end;
            continue;
        }
        words.push(Word::from(&line[start..end]));
        (start, at) = (end, end);
    }
    words
}

/// Breaks a preformatted line at the width. Returns at least one range.
pub(super) fn wrap_columns(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, c) in line.char_indices() {
        let char_width = c.width().unwrap_or(0);
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
