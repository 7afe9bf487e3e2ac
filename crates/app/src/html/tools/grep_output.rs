//! Parses the output of ripgrep into files and line numbers.

use std::collections::HashSet;

/// Maximum number of bytes of a line that are searched for its path and for matches: lines of bundled files have megabytes.
pub(super) const MAX_SCANNED_BYTES: usize = 1000;

/// The output lines of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileMatches<'t> {
    /// The path of the file. Empty if the output names none.
    pub(super) path: &'t str,
    /// The matching lines and their context, in order.
    pub(super) lines: Vec<OutputLine<'t>>,
}

/// A line of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutputLine<'t> {
    /// The line number. `None` if the output has none.
    pub(super) number: Option<u64>,
    /// `true` for a match, `false` for a context line.
    pub(super) is_match: bool,
    /// The text of the line.
    pub(super) text: &'t str,
}

/// Splits the output after `limit` lines. Returns the first lines and the rest; a file may be in both.
pub(super) fn split_files(
    files: Vec<FileMatches<'_>>,
    limit: usize,
) -> (Vec<FileMatches<'_>>, Vec<FileMatches<'_>>) {
    let (mut head, mut rest) = (Vec::new(), Vec::new());
    let mut remaining = limit;
    for mut file in files {
        if remaining == 0 {
            rest.push(file);
            continue;
        }
        let tail = file.lines.split_off(remaining.min(file.lines.len()));
        remaining -= file.lines.len();
        if !tail.is_empty() {
            rest.push(FileMatches { path: file.path, lines: tail });
        }
        head.push(file);
    }
    (head, rest)
}

/// Parses output of ripgrep: `path:12:text` for matches, `path-12-text` for context, without paths if one file was searched.
pub(super) fn parse_output(content: &str) -> Vec<FileMatches<'_>> {
    let paths: HashSet<&str> = content.lines().filter_map(parse_path).map(|(path, _)| path).collect();
    let mut files: Vec<FileMatches<'_>> = Vec::new();
    for line in content.lines() {
        let (path, parsed) = if line == "--" {
            let path = files.last().map_or("", |file| file.path);
            (path, OutputLine { number: None, is_match: false, text: "⋯" })
        } else {
            parse_line(line, &paths)
        };
        match files.last_mut().filter(|file| file.path == path) {
            Some(file) => file.lines.push(parsed),
            None => files.push(FileMatches { path, lines: vec![parsed] }),
        }
    }
    files
}

/// Parses a line of output into its path, which may be empty, and the rest. `paths` are the paths of all matches.
fn parse_line<'t>(line: &'t str, paths: &HashSet<&str>) -> (&'t str, OutputLine<'t>) {
    if let Some((number, separator, text)) = parse_number(line) {
        return ("", OutputLine { number: Some(number), is_match: separator == ':', text });
    }
    if let Some((path, rest)) = parse_path(line)
        && let Some((number, _, text)) = parse_number(rest)
    {
        return (path, OutputLine { number: Some(number), is_match: true, text });
    }
    if let Some((path, number, text)) = parse_context_line(line, paths) {
        return (path, OutputLine { number: Some(number), is_match: false, text });
    }
    // Without line numbers a path can only be recognized by its characters.
    match line.split_once(':') {
        Some((path, text)) if is_path(path) => (path, OutputLine { number: None, is_match: true, text }),
        _ => ("", OutputLine { number: None, is_match: true, text: line }),
    }
}

/// Parses `12:text` or `12-text` into number, separator and text. Returns `None` for other text.
fn parse_number(line: &str) -> Option<(u64, char, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let separator = line[digits..].chars().next().filter(|c| matches!(c, ':' | '-'))?;
    Some((line[..digits].parse().ok()?, separator, &line[digits + 1..]))
}

/// Parses `path:12:`. Returns the path and the text after its colon. Returns `None` for other text.
fn parse_path(line: &str) -> Option<(&str, &str)> {
    let head = &line[..line.floor_char_boundary(MAX_SCANNED_BYTES)];
    for (at, _) in head.match_indices(':') {
        let rest = &line[at + 1..];
        if parse_number(rest).is_some_and(|(_, separator, _)| separator == ':') && at > 0 {
            return Some((&line[..at], rest));
        }
        // A path contains a colon only after a drive letter.
        if at != 1 {
            return None;
        }
    }
    None
}

/// Parses `path-12-text` into path, number and text. Returns `None` for other text, or if no match has this path.
fn parse_context_line<'t>(line: &'t str, paths: &HashSet<&str>) -> Option<(&'t str, u64, &'t str)> {
    let head = &line[..line.floor_char_boundary(MAX_SCANNED_BYTES / 4)];
    head.match_indices('-').find_map(|(at, _)| {
        let (number, separator, text) = parse_number(&line[at + 1..])?;
        (separator == '-' && paths.contains(&line[..at])).then_some((&line[..at], number, text))
    })
}

/// Returns `true` if text looks like a path: it contains a slash or dot, and no white space.
fn is_path(text: &str) -> bool {
    text.len() < MAX_SCANNED_BYTES
        && text.contains(['/', '.', '\\'])
        && !text.contains(char::is_whitespace)
        && !text.contains("//")
}

#[cfg(test)]
mod tests {
    use super::{FileMatches, OutputLine, parse_output, split_files};

    #[test]
    fn lines_are_grouped_by_file() {
        let line = |number, is_match, text| OutputLine { number, is_match, text };
        let cases = [
            (
                "src/a.rs:3:let x",
                vec![FileMatches { path: "src/a.rs", lines: vec![line(Some(3), true, "let x")] }],
            ),
            (
                "a-1-b.rs-2-near\na-1-b.rs:3:hit: 4:\n--\nc.rs:9:z",
                vec![
                    FileMatches {
                        path: "a-1-b.rs",
                        lines: vec![
                            line(Some(2), false, "near"),
                            line(Some(3), true, "hit: 4:"),
                            line(None, false, "⋯"),
                        ],
                    },
                    FileMatches { path: "c.rs", lines: vec![line(Some(9), true, "z")] },
                ],
            ),
            (
                "7-near\n8:hit",
                vec![FileMatches {
                    path: "",
                    lines: vec![line(Some(7), false, "near"), line(Some(8), true, "hit")],
                }],
            ),
            (
                "C:\\x\\y.rs:4:w",
                vec![FileMatches { path: "C:\\x\\y.rs", lines: vec![line(Some(4), true, "w")] }],
            ),
            (
                "src/a.rs:no number",
                vec![FileMatches { path: "src/a.rs", lines: vec![line(None, true, "no number")] }],
            ),
            (
                "see http://x.y/z",
                vec![FileMatches { path: "", lines: vec![line(None, true, "see http://x.y/z")] }],
            ),
            (":::", vec![FileMatches { path: "", lines: vec![line(None, true, ":::")] }]),
        ];
        for (content, expected) in cases {
            assert_eq!(parse_output(content), expected, "{content}");
        }
    }

    #[test]
    fn splitting_loses_no_line() {
        let content = (0..100).map(|idx| format!("f{}.rs:{idx}:x\n", idx / 30)).collect::<String>();
        for limit in [1, 29, 30, 31, 40, 100, 200] {
            let (head, rest) = split_files(parse_output(&content), limit);
            let count = |files: &[FileMatches<'_>]| files.iter().map(|file| file.lines.len()).sum::<usize>();
            assert_eq!(count(&head), limit.min(100));
            assert_eq!(count(&head) + count(&rest), 100);
        }
    }
}
