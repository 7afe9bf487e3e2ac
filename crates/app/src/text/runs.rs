//! Text parted at what matches.

use std::ops::Range;

use super::clean;

/// Some of a text, and whether it is what was looked for.
pub(crate) type Run = (bool, String);

/// Parts a text at its matches and cleans the parts.
pub(crate) fn split_at_matches(
    text: &str,
    marks: &[Range<usize>],
    from: usize,
    clean: impl Fn(&str) -> String,
) -> Vec<Run> {
    let mut runs = Vec::with_capacity(marks.len() * 2 + 1);
    let mut at = from;
    for mark in marks {
        runs.push((false, clean(text.get(at..mark.start).unwrap_or_default())));
        runs.push((true, clean(text.get(mark.clone()).unwrap_or_default())));
        at = mark.end;
    }
    runs.push((false, clean(text.get(at..).unwrap_or_default())));
    runs.retain(|(_, run)| !run.is_empty());
    runs
}

/// Cleans a part of a text, every run of white space a single one, also at its ends.
pub(crate) fn joined(part: &str) -> String {
    let words = clean::line(part);
    let space = |is: bool| if is { " " } else { "" };
    let (start, end) = (part.starts_with(char::is_whitespace), part.ends_with(char::is_whitespace));
    if words.is_empty() {
        return space(start).to_owned();
    }
    format!("{}{words}{}", space(start), space(end))
}
