//! Lines of a search as ripgrep prints them, read back into files and numbers.

use std::collections::HashSet;

/// How much of a line is looked at for its path and for the match: lines of bundled files have megabytes.
pub(super) const LOOKED_AT: usize = 1000;

/// Lines of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Group<'t> {
    /// Which file; empty where only one was searched.
    pub(super) path: &'t str,
    /// Its lines, in order.
    pub(super) lines: Vec<Found<'t>>,
}

/// A line of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found<'t> {
    /// Its number.
    pub(super) number: Option<u64>,
    /// Whether it matched, or only stands around one that did.
    pub(super) is_hit: bool,
    /// The words.
    pub(super) text: &'t str,
}

/// Parts groups so that at most `limit` lines are in the first part.
pub(super) fn part(groups: Vec<Group<'_>>, limit: usize) -> (Vec<Group<'_>>, Vec<Group<'_>>) {
    let (mut head, mut rest) = (Vec::new(), Vec::new());
    let mut left = limit;
    for mut group in groups {
        if left == 0 {
            rest.push(group);
            continue;
        }
        let behind = group.lines.split_off(left.min(group.lines.len()));
        left -= group.lines.len();
        if !behind.is_empty() {
            rest.push(Group { path: group.path, lines: behind });
        }
        head.push(group);
    }
    (head, rest)
}

/// Reads lines as ripgrep prints them: `path:12:text`, `path-12-text` around it, without path where one file was searched.
pub(super) fn group(content: &str) -> Vec<Group<'_>> {
    let hits: HashSet<&str> = content.lines().filter_map(hit).map(|(path, _)| path).collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for line in content.lines() {
        let (path, found) = if line == "--" {
            (groups.last().map_or("", |group| group.path), Found { number: None, is_hit: false, text: "⋯" })
        } else {
            place(line, &hits)
        };
        match groups.last_mut().filter(|group| group.path == path) {
            Some(group) => group.lines.push(found),
            None => groups.push(Group { path, lines: vec![found] }),
        }
    }
    groups
}

fn place<'t>(line: &'t str, hits: &HashSet<&str>) -> (&'t str, Found<'t>) {
    if let Some((number, mark, text)) = number(line) {
        return ("", Found { number: Some(number), is_hit: mark == ':', text });
    }
    if let Some((path, rest)) = hit(line)
        && let Some((number, _, text)) = number(rest)
    {
        return (path, Found { number: Some(number), is_hit: true, text });
    }
    if let Some((path, number, text)) = around(line, hits) {
        return (path, Found { number: Some(number), is_hit: false, text });
    }
    // Without numbers a path can only be told by its look.
    match line.split_once(':') {
        Some((path, text)) if is_path(path) => (path, Found { number: None, is_hit: true, text }),
        _ => ("", Found { number: None, is_hit: true, text: line }),
    }
}

/// Reads `12:text` or `12-text`.
fn number(line: &str) -> Option<(u64, char, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark = line[digits..].chars().next().filter(|mark| matches!(mark, ':' | '-'))?;
    Some((line[..digits].parse().ok()?, mark, &line[digits + 1..]))
}

/// Reads `path:12:`; returns the path and what follows its colon.
fn hit(line: &str) -> Option<(&str, &str)> {
    let head = &line[..line.floor_char_boundary(LOOKED_AT)];
    for (at, _) in head.match_indices(':') {
        let rest = &line[at + 1..];
        if number(rest).is_some_and(|(_, mark, _)| mark == ':') && at > 0 {
            return Some((&line[..at], rest));
        }
        // A colon belongs to a path only behind the letter of a drive.
        if at != 1 {
            return None;
        }
    }
    None
}

/// Reads `path-12-text`, where the path is one that has a hit.
fn around<'t>(line: &'t str, hits: &HashSet<&str>) -> Option<(&'t str, u64, &'t str)> {
    let head = &line[..line.floor_char_boundary(LOOKED_AT / 4)];
    head.match_indices('-').find_map(|(at, _)| {
        let (number, mark, text) = number(&line[at + 1..])?;
        (mark == '-' && hits.contains(&line[..at])).then_some((&line[..at], number, text))
    })
}

fn is_path(text: &str) -> bool {
    text.len() < LOOKED_AT
        && text.contains(['/', '.', '\\'])
        && !text.contains(char::is_whitespace)
        && !text.contains("//")
}

#[cfg(test)]
mod tests {
    use super::{Found, Group, group, part};

    #[test]
    fn lines_are_grouped_by_file() {
        let line = |number, is_hit, text| Found { number, is_hit, text };
        let cases = [
            ("src/a.rs:3:let x", vec![Group { path: "src/a.rs", lines: vec![line(Some(3), true, "let x")] }]),
            (
                "a-1-b.rs-2-near\na-1-b.rs:3:hit: 4:\n--\nc.rs:9:z",
                vec![
                    Group {
                        path: "a-1-b.rs",
                        lines: vec![
                            line(Some(2), false, "near"),
                            line(Some(3), true, "hit: 4:"),
                            line(None, false, "⋯"),
                        ],
                    },
                    Group { path: "c.rs", lines: vec![line(Some(9), true, "z")] },
                ],
            ),
            (
                "7-near\n8:hit",
                vec![Group {
                    path: "",
                    lines: vec![line(Some(7), false, "near"), line(Some(8), true, "hit")],
                }],
            ),
            ("C:\\x\\y.rs:4:w", vec![Group { path: "C:\\x\\y.rs", lines: vec![line(Some(4), true, "w")] }]),
            (
                "src/a.rs:no number",
                vec![Group { path: "src/a.rs", lines: vec![line(None, true, "no number")] }],
            ),
            ("see http://x.y/z", vec![Group { path: "", lines: vec![line(None, true, "see http://x.y/z")] }]),
            (":::", vec![Group { path: "", lines: vec![line(None, true, ":::")] }]),
        ];
        for (content, expected) in cases {
            assert_eq!(group(content), expected, "{content}");
        }
    }

    #[test]
    fn parting_loses_no_line() {
        let content = (0..100).map(|no| format!("f{}.rs:{no}:x\n", no / 30)).collect::<String>();
        for limit in [1, 29, 30, 31, 40, 100, 200] {
            let (head, rest) = part(group(&content), limit);
            let count = |groups: &[Group<'_>]| groups.iter().map(|group| group.lines.len()).sum::<usize>();
            assert_eq!(count(&head), limit.min(100));
            assert_eq!(count(&head) + count(&rest), 100);
        }
    }
}
