//! Text at the width of the screen.

use super::clean;

/// Prose wider than this is tiring to read.
const WIDEST: usize = 100;

/// Wraps cleaned text at `width` columns, each line behind `indent`. Lines that are set by hand (code, tables,
/// drawings) are broken only where they must.
pub(crate) fn wrap(text: &str, indent: &str, width: usize) -> Vec<String> {
    let room = width.min(WIDEST).saturating_sub(indent.len()).max(20);
    let mut lines = Vec::new();
    let mut fenced = false;
    for line in clean::text(text).trim_end().lines() {
        let line = line.replace('\t', "    ");
        let line = line.trim_end();
        let fence = line.trim_start().starts_with("```");
        if line.is_empty() {
            lines.push(String::new());
        } else if fenced || fence || line.starts_with("    ") || line.trim_start().starts_with('|') {
            lines.extend(
                broken(line, width.saturating_sub(indent.len()).max(20))
                    .map(|part| format!("{indent}{part}")),
            );
        } else {
            let hang = format!("{indent}{}", " ".repeat(hanging(line)));
            let start = line.len() - line.trim_start().len();
            let first = format!("{indent}{}", " ".repeat(start));
            let options = textwrap::Options::new(room + indent.len())
                .initial_indent(&first)
                .subsequent_indent(&hang)
                .word_splitter(textwrap::WordSplitter::NoHyphenation);
            lines.extend(
                textwrap::wrap(line.trim_start(), options).into_iter().map(std::borrow::Cow::into_owned),
            );
        }
        fenced ^= fence;
    }
    lines
}

/// Where the lines after the first begin: under the words of a list item.
fn hanging(line: &str) -> usize {
    let start = line.len() - line.trim_start().len();
    let item = line.trim_start();
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match item.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => 2,
        bytes if (1..4).contains(&digits) && bytes[digits..].starts_with(b". ") => digits + 2,
        _ => 0,
    };
    start + mark
}

/// Cuts a line into pieces of a display width.
fn broken(line: &str, width: usize) -> impl Iterator<Item = String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let wide = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + wide > width {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    pieces.into_iter()
}

/// Cuts text that is not prose (output, code) into lines of the screen's width, at most `most` of them; returns
/// how many were left out as well.
pub(crate) fn block(text: &str, indent: &str, width: usize, most: usize) -> (Vec<String>, usize) {
    let clean = clean::text(text);
    let trimmed = clean.trim_matches('\n').trim_end();
    let room = width.saturating_sub(unicode_width::UnicodeWidthStr::width(indent)).max(20);
    let mut lines = Vec::new();
    let mut left_out = 0;
    for line in trimmed.lines() {
        if lines.len() >= most {
            left_out += 1;
            continue;
        }
        let line = line.replace('\t', "    ");
        lines.extend(broken(line.trim_end(), room).map(|piece| format!("{indent}{piece}")));
    }
    (lines, left_out)
}

/// Joins facts with dots between them, breaking lines only between facts.
pub(crate) fn facts(facts: &[String], width: usize) -> Vec<String> {
    use unicode_width::UnicodeWidthStr;
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

/// Counts words.
pub(crate) fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

#[cfg(test)]
mod tests {
    use super::{block, wrap};

    #[test]
    fn prose_is_wrapped_and_code_is_not() {
        let text = "A line that is long enough to be wrapped.\n\n- an item that is long enough too\n```\ncode  stays   as it is\n```";
        let expected = "  A line that is long\n  enough to be wrapped.\n\n  - an item that is long\n    enough too\n  ```\n  code  stays   as it is\n  ```";
        assert_eq!(wrap(text, "  ", 24).join("\n"), expected);
    }

    #[test]
    fn a_block_is_cut_at_the_edge_and_at_its_end() {
        let (lines, left_out) = block("\n0123456789012345678901234567\nb\nc\n", "> ", 22, 2);
        assert_eq!((lines.join("\n").as_str(), left_out), ("> 01234567890123456789\n> 01234567", 2));
    }
}
