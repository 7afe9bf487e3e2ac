//! Which words changed within lines that took each other's place.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::row::{Row, Sign};

/// Longer lines are not compared by words.
const LONGEST: usize = 1000;

/// More pairs of lines than these are not compared by words.
const MOST: usize = 1000;

/// Finds for each row the parts of its text that changed.
pub(super) fn changed(rows: &[Row]) -> Vec<Vec<Range<usize>>> {
    let mut marks = vec![Vec::new(); rows.len()];
    let mut pairs = 0;
    let mut at = 0;
    while at < rows.len() {
        let removed = run(rows, at, Sign::Removed);
        let added = run(rows, at + removed, Sign::Added);
        for by in 0..removed.min(added).min(MOST - pairs) {
            let (old, new) = (at + by, at + removed + by);
            if let Some((was, is)) = compare(&rows[old].text, &rows[new].text) {
                (marks[old], marks[new]) = (was, is);
            }
            pairs += 1;
        }
        at += (removed + added).max(1);
    }
    marks
}

/// Counts the rows of one sign that follow each other.
fn run(rows: &[Row], from: usize, sign: Sign) -> usize {
    rows[from..].iter().take_while(|row| row.sign == sign).count()
}

type Marks = Vec<Range<usize>>;

/// Compares two lines by words; lines that have little in common are only different.
fn compare(old: &str, new: &str) -> Option<(Marks, Marks)> {
    if old.len().max(new.len()) > LONGEST {
        return None;
    }
    let (old, new) = (split(old), split(new));
    let ops = capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&new));
    let (mut was, mut is, mut same) = (Vec::new(), Vec::new(), 0);
    for op in &ops {
        let (tag, from, to) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            same += old[from].iter().map(|(_, word)| word.trim().len()).sum::<usize>();
        } else {
            mark(&mut was, &old[from]);
            mark(&mut is, &new[to]);
        }
    }
    let all = |words: &[(usize, &str)]| words.iter().map(|(_, word)| word.trim().len()).sum::<usize>();
    (same * 3 >= all(&old).max(all(&new)) && same > 0).then_some((was, is))
}

fn texts<'a>(words: &[(usize, &'a str)]) -> Vec<&'a str> {
    words.iter().map(|(_, word)| *word).collect()
}

fn mark(marks: &mut Marks, words: &[(usize, &str)]) {
    let (Some((start, _)), Some((last, word))) = (words.first(), words.last()) else { return };
    marks.push(*start..*last + word.len());
}

/// Splits a line into words, spaces and signs, each with its place.
fn split(line: &str) -> Vec<(usize, &str)> {
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
    use super::{Marks, compare, split};

    #[test]
    fn lines_are_split_without_a_loss() {
        for line in ["", "let x_1 = foo(bar);", "naïve — 漢字  !!", "\t\t"] {
            let whole = split(line).iter().map(|(_, word)| *word).collect::<String>();
            assert_eq!(whole, line);
            assert!(split(line).iter().all(|(at, word)| line[*at..].starts_with(word)));
        }
        assert_eq!(split("a_1 +=b").len(), 5);
    }

    #[test]
    fn only_what_changed_is_marked() {
        let marked = |old: &str, new: &str| {
            let (was, is) = compare(old, new)?;
            let of = |line: &str, marks: Marks| {
                marks.into_iter().map(|mark| line[mark].to_owned()).collect::<Vec<_>>()
            };
            Some((of(old, was), of(new, is)))
        };
        let some = |was: &[&str], is: &[&str]| {
            Some((
                was.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(),
                is.iter().map(|s| (*s).to_owned()).collect(),
            ))
        };
        assert_eq!(marked("let a = 1;", "let b = 1;"), some(&["a"], &["b"]));
        assert_eq!(marked("foo(a)", "foo(a, b)"), some(&[], &[", b"]));
        assert_eq!(marked("alpha beta", "gamma delta"), None);
        assert_eq!(marked("", "x"), None);
        assert_eq!(marked(&"x ".repeat(600), "x"), None);
    }
}
