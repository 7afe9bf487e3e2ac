//! Truncates text, wraps it, and splits it at matches.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::clean;

/// Truncates text to a display width in columns. Truncated text ends in `…`, which is included in the width.
pub(crate) fn truncate_to_width(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for c in text.chars() {
        let char_width = c.width().unwrap_or(0);
        if used + char_width > width {
            break;
        }
        used += char_width;
        fitted.push(c);
    }
    if width > 0 {
        fitted.push('…');
    }
    fitted
}

/// Whether a part of a text is a match, and the part.
pub(crate) type Run = (bool, String);

/// Splits a text from byte `start` at its matches and cleans the parts. Empty parts are omitted.
///
/// `marks` are the sorted byte ranges of the matches.
pub(crate) fn split_at_matches(
    text: &str,
    marks: &[Range<usize>],
    start: usize,
    clean: impl Fn(&str) -> String,
) -> Vec<Run> {
    let mut runs = Vec::with_capacity(marks.len() * 2 + 1);
    let mut pos = start;
    for mark in marks {
        runs.push((false, clean(text.get(pos..mark.start).unwrap_or_default())));
        runs.push((true, clean(text.get(mark.clone()).unwrap_or_default())));
        pos = mark.end;
    }
    runs.push((false, clean(text.get(pos..).unwrap_or_default())));
    runs.retain(|(_, run)| !run.is_empty());
    runs
}

/// Cleans a part of a line and collapses white space into single spaces. Spaces at its ends are kept as one space.
pub(crate) fn clean_inline(part: &str) -> String {
    let text = clean::line(part);
    let space_if = |is_space: bool| if is_space { " " } else { "" };
    let (start, end) = (part.starts_with(char::is_whitespace), part.ends_with(char::is_whitespace));
    if text.is_empty() {
        return space_if(start).to_owned();
    }
    format!("{}{text}{}", space_if(start), space_if(end))
}

/// The maximum width of prose in columns. Wider text is hard to read.
const MAX_PROSE_WIDTH: usize = 100;

/// The number of bytes after which a line is broken at a space: a line may have a GB.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Iterates over the lines of a text, each cleaned, with spaces for tabs and without trailing spaces. Empty lines at the end
/// of the text are omitted, and very long lines are broken.
///
/// Only one line is in memory at a time, in addition to `text`.
pub(crate) fn clean_lines(text: &str) -> impl Iterator<Item = String> {
    let mut empty_count = 0;
    let lines = text.split('\n').flat_map(|line| split_long_line(line.strip_suffix('\r').unwrap_or(line)));
    lines.flat_map(clean_piece).flat_map(move |line| {
        if line.is_empty() {
            empty_count += 1;
        }
        let count = if line.is_empty() { 0 } else { std::mem::take(&mut empty_count) };
        let line = Some(line).filter(|line| !line.is_empty());
        std::iter::repeat_n(String::new(), count).chain(line)
    })
}

/// Cleans a line or a piece of one. Carriage returns in it become line ends.
fn clean_piece(piece: &str) -> Vec<String> {
    let clean_line = |line: &str| line.replace('\t', "    ").trim_end().to_owned();
    clean::text(piece).split('\n').map(clean_line).collect()
}

/// Splits a line over [`MAX_LINE_BYTES`] into pieces, after a space if there is one.
fn split_long_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest.take()?;
        if line.len() <= MAX_LINE_BYTES {
            return Some(line);
        }
        let limit = line.floor_char_boundary(MAX_LINE_BYTES);
        let at = line[..limit].rfind(' ').map_or(limit, |at| at + 1);
        rest = Some(&line[at..]);
        Some(&line[..at])
    })
}

/// Cleans text and wraps it at `width` columns, prose at 100 or less, with `indent` before each line.
///
/// Preformatted lines (code blocks, indented lines, tables) are broken only at the width. Text is at least 20 wide. Lines are
/// produced one after the other: a text may be too long for a list of them.
pub(crate) fn wrap_text(text: &str, indent: &str, width: usize) -> impl Iterator<Item = String> {
    let mut in_code_block = false;
    clean_lines(text).flat_map(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        let is_code =
            in_code_block || is_fence || line.starts_with("    ") || line.trim_start().starts_with('|');
        in_code_block ^= is_fence;
        match is_code {
            _ if line.is_empty() => vec![String::new()],
            true => split_at_width(&line, width.saturating_sub(indent.len()).max(20))
                .map(|part| format!("{indent}{part}"))
                .collect(),
            false => wrap_line(&line, indent, width),
        }
    })
}

/// Wraps a line of prose with `indent` before each line.
fn wrap_line(line: &str, indent: &str, width: usize) -> Vec<String> {
    let prose_width = width.min(MAX_PROSE_WIDTH).saturating_sub(indent.len()).max(20);
    let rest_indent = format!("{indent}{}", " ".repeat(hanging_indent(line)));
    let start = line.len() - line.trim_start().len();
    let first_indent = format!("{indent}{}", " ".repeat(start));
    let options = textwrap::Options::new(prose_width + indent.len())
        .initial_indent(&first_indent)
        .subsequent_indent(&rest_indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(line.trim_start(), options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// Returns the number of columns by which the lines after the first are indented.
/// For a list item, this is the column of its text.
fn hanging_indent(line: &str) -> usize {
    let start = line.len() - line.trim_start().len();
    let item = line.trim_start();
    let digit_count = item.bytes().take_while(u8::is_ascii_digit).count();
    let marker_width = match item.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 2,
        bytes if (1..4).contains(&digit_count) && bytes[digit_count..].starts_with(b". ") => digit_count + 2,
        _ => 0,
    };
    start + marker_width
}

/// Splits a line into parts of at most `width` columns. Returns one empty part for an empty line.
fn split_at_width(line: &str, width: usize) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let char_width = c.width().unwrap_or(0);
        if used + char_width > width {
            parts.push(String::new());
            used = 0;
        }
        used += char_width;
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.into_iter()
}

/// Cleans preformatted text (output, code) and breaks it into indented lines of at most `width` columns. Empty lines at its
/// start and end are omitted.
pub(crate) fn split_block(text: &str, indent: &str, width: usize) -> impl Iterator<Item = String> {
    let text_width = width.saturating_sub(indent.width()).max(20);
    let lines = clean_lines(text).skip_while(String::is_empty);
    lines.flat_map(move |line| {
        split_at_width(&line, text_width).map(|part| format!("{indent}{part}")).collect::<Vec<_>>()
    })
}

/// Breaks the first lines of a text like [`split_block`].
///
/// Returns the lines, and the number of lines of `text` that were omitted because `max_lines` was reached.
/// The last line of `text` may exceed `max_lines` if it is broken.
pub(crate) fn split_block_start(
    text: &str,
    indent: &str,
    width: usize,
    max_lines: usize,
) -> (Vec<String>, usize) {
    let text_width = width.saturating_sub(indent.width()).max(20);
    let mut lines = Vec::new();
    let mut omitted = 0;
    for line in clean_lines(text).skip_while(String::is_empty) {
        if lines.len() >= max_lines {
            omitted += 1;
            continue;
        }
        lines.extend(split_at_width(&line, text_width).map(|part| format!("{indent}{part}")));
    }
    (lines, omitted)
}

/// Joins facts with ` · ` into lines of at most `width` columns. Breaks lines only between facts.
pub(crate) fn join_facts(facts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if line.width() + 3 + fact.width() <= width => {
                line.push_str(" · ");
                line.push_str(fact);
            }
            _ => lines.push(fact.clone()),
        }
    }
    lines
}

/// Returns the number of words, separated by white space.
pub(crate) fn count_words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINE_BYTES, split_block, split_block_start, wrap_text};

    #[test]
    fn prose_is_wrapped_but_code_is_not() {
        let text = "A line that is long enough to be wrapped.\n\n- an item that is long enough too\n```\ncode  stays   as it is\n```";
        let expected = "  A line that is long\n  enough to be wrapped.\n\n  - an item that is long\n    enough too\n  ```\n  code  stays   as it is\n  ```";
        assert_eq!(wrap_text(text, "  ", 24).collect::<Vec<_>>().join("\n"), expected);
    }

    #[test]
    fn blocks_are_limited_in_width_and_length() {
        let text = "\n0123456789012345678901234567\nb\nc\n";
        let (lines, omitted) = split_block_start(text, "> ", 22, 2);
        assert_eq!((lines.join("\n").as_str(), omitted), ("> 01234567890123456789\n> 01234567", 2));
        let all: Vec<String> = split_block(text, "> ", 22).collect();
        assert_eq!(all.join("\n"), "> 01234567890123456789\n> 01234567\n> b\n> c");
    }

    #[test]
    fn lines_end_as_in_the_whole_text() {
        let lines = |text: &str| split_block(text, "", 40).collect::<Vec<_>>().join("|");
        for (text, expected) in [
            ("", ""),
            ("\n\na\r\n\r\n\tb  \n \n", "a||    b"),
            ("one\rtwo\r\rthree\r\r\n", "one|two||three"),
            ("a\u{1b}[2K\u{2028}b\u{1b}]0;title\nc", "a|b|c"),
        ] {
            assert_eq!(lines(text), expected, "{text:?}");
        }
    }

    #[test]
    fn very_long_line_is_broken_and_no_word_is_lost() {
        let line = "word ".repeat(MAX_LINE_BYTES);
        let words = |text: &str| text.split_whitespace().count();
        assert_eq!(words(&wrap_text(&line, "", 80).collect::<Vec<_>>().join(" ")), MAX_LINE_BYTES);
        assert!(wrap_text(&line, "", 80).all(|line| line.len() <= 80));
        let solid = "é".repeat(MAX_LINE_BYTES);
        let split: Vec<String> = split_block(&solid, "", 80).collect();
        assert_eq!(split.concat(), solid);
    }
}
