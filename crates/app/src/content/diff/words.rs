//! Finds the words that changed between a removed line and the added line that replaces it.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::row::{Row, RowKind};

/// Maximum length in bytes of lines that are compared by words.
const MAX_LINE_BYTES: usize = 1000;

/// Maximum number of pairs of lines that are compared by words.
const MAX_PAIRS: usize = 1000;

/// Returns for each row the byte ranges of its changed words. Compares at most [`MAX_PAIRS`] pairs of a removed and
/// an added line.
pub(crate) fn find_changed_words(rows: &[Row]) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); rows.len()];
    let mut pairs = 0;
    let mut at = 0;
    while at < rows.len() {
        let removed = count_consecutive(rows, at, RowKind::Removed);
        let added = count_consecutive(rows, at + removed, RowKind::Added);
        for by in 0..removed.min(added).min(MAX_PAIRS - pairs) {
            let (old, new) = (at + by, at + removed + by);
            if let Some(spans) = compare_lines(&rows[old].text, &rows[new].text) {
                (marks[old], marks[new]) = spans;
            }
            pairs += 1;
        }
        at += (removed + added).max(1);
    }
    marks
}

/// Returns the number of consecutive rows of one kind from index `from` on.
fn count_consecutive(rows: &[Row], from: usize, kind: RowKind) -> usize {
    rows[from..].iter().take_while(|row| row.kind == kind).count()
}

/// Byte ranges in a line.
type Spans = Vec<Range<usize>>;

/// Returns the changed ranges of the old and of the new line. Returns `None` if a line is longer than
/// [`MAX_LINE_BYTES`], or if less than a third of the longer line is unchanged.
fn compare_lines(old: &str, new: &str) -> Option<(Spans, Spans)> {
    if old.len().max(new.len()) > MAX_LINE_BYTES {
        return None;
    }
    let (old, new) = (split_words(old), split_words(new));
    let ops = capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&new));
    let (mut old_spans, mut new_spans, mut same) = (Vec::new(), Vec::new(), 0);
    for op in &ops {
        let (tag, from, to) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            same += old[from].iter().map(|(_, word)| word.trim().len()).sum::<usize>();
        } else {
            push_span(&mut old_spans, &old[from]);
            push_span(&mut new_spans, &new[to]);
        }
    }
    let total = |words: &[(usize, &str)]| words.iter().map(|(_, word)| word.trim().len()).sum::<usize>();
    (same * 3 >= total(&old).max(total(&new)) && same > 0).then_some((old_spans, new_spans))
}

fn texts<'a>(words: &[(usize, &'a str)]) -> Vec<&'a str> {
    words.iter().map(|(_, word)| *word).collect()
}

/// Adds the range from the first to the last of these words, if there are any.
fn push_span(spans: &mut Spans, words: &[(usize, &str)]) {
    let (Some((start, _)), Some((last, word))) = (words.first(), words.last()) else { return };
    spans.push(*start..*last + word.len());
}

/// Splits a line into words, white space and punctuation, each with its byte offset.
fn split_words(line: &str) -> Vec<(usize, &str)> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, c) in line.char_indices() {
        let this = kind(c);
        if last.is_some_and(|last| last != this || this == 2) {
            words.push((start, &line[start..at]));
            start = at;
        }
        last = Some(this);
    }
    if start < line.len() {
        words.push((start, &line[start..]));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Spans, compare_lines, split_words};

    #[test]
    fn splitting_preserves_the_line() {
        for line in ["", "let x_1 = foo(bar);", "naïve — 漢字  !!", "\t\t"] {
            let whole = split_words(line).iter().map(|(_, word)| *word).collect::<String>();
            assert_eq!(whole, line);
            assert!(split_words(line).iter().all(|(at, word)| line[*at..].starts_with(word)));
        }
        assert_eq!(split_words("a_1 +=b").len(), 5);
    }

    #[test]
    fn only_changed_words_are_marked() {
        let marked = |old: &str, new: &str| {
            let (old_spans, new_spans) = compare_lines(old, new)?;
            let texts = |line: &str, spans: Spans| {
                spans.into_iter().map(|span| line[span].to_owned()).collect::<Vec<_>>()
            };
            Some((texts(old, old_spans), texts(new, new_spans)))
        };
        let some = |old: &[&str], new: &[&str]| {
            Some((
                old.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(),
                new.iter().map(|s| (*s).to_owned()).collect(),
            ))
        };
        assert_eq!(marked("let a = 1;", "let b = 1;"), some(&["a"], &["b"]));
        assert_eq!(marked("foo(a)", "foo(a, b)"), some(&[], &[", b"]));
        assert_eq!(marked("alpha beta", "gamma delta"), None);
        assert_eq!(marked("", "x"), None);
        assert_eq!(marked(&"x ".repeat(600), "x"), None);
    }
}
