//! Files that were read.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, told};
use super::call_view::{CallView, words};
use super::headline::CallHeadline;
use super::notebook;
use super::render::Renderer;
use super::{collapse, outcome};
use crate::html::text::{Language, code};
use crate::text::figures;

/// A file that was read.
pub(super) const READ: Renderer = Renderer { kind: "read", gist, input, result };

/// Lines of a file with the number of the first.
#[derive(Debug, PartialEq, Eq)]
struct Lines {
    first: u32,
    count: usize,
    text: String,
    /// What the client said behind them.
    rest: String,
}

fn path<'m>(matter: &'m CallView<'_>) -> &'m str {
    matter.asked_any(&["file_path", "notebook_path", "path"]).unwrap_or_default()
}

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    gist.piece(matter.path(path(matter)));
    let kind = matter.noted_words("type").unwrap_or_default();
    match (kind, matter.result_meta("file")) {
        ("text", Some(file)) => {
            let number = |name| file.get(name).and_then(Value::as_u64);
            // The client counts the nothing behind a last line break, too.
            let content = words(file, "content").map(|content| content.lines().count() as u64);
            let count = content.or_else(|| number("numLines")).unwrap_or_default();
            match number("startLine") {
                Some(first) if first > 1 => gist.figure(range(first, count)),
                _ => gist.figure(figures::things(count, "line")),
            }
        }
        ("image", Some(file)) => {
            let side =
                |name| file.get("dimensions").and_then(|sides| sides.get(name)).and_then(Value::as_u64);
            if let (Some(width), Some(height)) = (side("originalWidth"), side("originalHeight")) {
                gist.figure(format!("{width}×{height}"));
            }
        }
        ("notebook", Some(file)) => {
            gist.figure(figures::things(super::call_view::list(file, "cells").len() as u64, "cell"));
        }
        ("pdf", _) => gist.figure("PDF"),
        ("file_unchanged", _) => gist.figure("unchanged"),
        _ => match matter.outcome().words().and_then(parse) {
            Some(lines) if lines.first > 1 => gist.figure(range(u64::from(lines.first), lines.count as u64)),
            Some(lines) => gist.figure(figures::things(lines.count as u64, "line")),
            None => {}
        },
    }
}

fn range(first: u64, count: u64) -> String {
    format!("lines {first}–{}", first.saturating_add(count.saturating_sub(1)))
}

fn input(matter: &CallView<'_>) -> Markup {
    let number = |name| matter.asked_number(name).map(figures::count);
    let mut rows = Rows::default();
    if !path(matter).is_empty() {
        rows = rows.piece("file", matter.path(path(matter)));
    }
    rows.words("from line", number("offset").as_deref())
        .words("at most", number("limit").map(|count| format!("{count} lines")).as_deref())
        .fields_but(&matter.input, &["file_path", "notebook_path", "path", "offset", "limit"])
        .draw()
}

fn result(matter: &CallView<'_>, text: &str) -> Markup {
    let language = Language::of_path(path(matter));
    if let Some(file) = matter.result_meta("file") {
        match matter.noted_words("type") {
            Some("text") => {
                if let Some(content) = words(file, "content") {
                    let first = file.get("startLine").and_then(Value::as_u64).unwrap_or(1);
                    let first = u32::try_from(first).unwrap_or(u32::MAX / 2).max(1);
                    let content = content.strip_suffix('\n').unwrap_or(content);
                    return collapse::lines(code(content, language, Some(first)));
                }
            }
            Some("notebook") => return notebook::cells(super::call_view::list(file, "cells")),
            _ => {}
        }
    }
    let has_media = matter.call.result.as_ref().is_some_and(|result| !result.media.is_empty());
    match parse(text) {
        Some(lines) => html! {
            (collapse::lines(code(&lines.text, language, Some(lines.first))))
            (told(outcome::without_reminders(&lines.rest)))
        },
        None if text.trim().is_empty() && !has_media => html! { p class="quiet" { "empty file" } },
        None => told(text),
    }
}

/// Takes the numbers off lines as the client gives them to the model: `   12→text`, or with a tab.
fn parse(text: &str) -> Option<Lines> {
    let mut lines =
        Lines { first: 0, count: 0, text: String::with_capacity(text.len()), rest: String::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let Some((number, words)) = numbered(line) else { break };
        if lines.count == 0 {
            lines.first = number;
        }
        lines.count += 1;
        lines.text.push_str(words);
        at += line.len();
    }
    if lines.count == 0 {
        return None;
    }
    // The client numbers the nothing behind a last line break, too.
    if lines.text.ends_with('\n') {
        lines.text.pop();
    }
    lines.rest.push_str(text[at..].trim());
    Some(lines)
}

fn numbered(line: &str) -> Option<(u32, &str)> {
    let start = line.trim_start_matches(' ');
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let number = start[..digits].parse().ok()?;
    let rest = &start[digits..];
    Some((number, rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?))
}

#[cfg(test)]
mod tests {
    use super::{Lines, parse};

    #[test]
    fn numbers_come_off_and_what_stands_behind_is_kept_apart() {
        let lines = |first, count, text: &str, rest: &str| {
            Some(Lines { first, count, text: text.into(), rest: rest.into() })
        };
        let cases = [
            ("     1→a\n     2→\n     3→  b", lines(1, 3, "a\n\n  b", "")),
            ("12\tx\n13\ty\n", lines(12, 2, "x\ny", "")),
            ("     9→1→2\n\n(the file goes on)\n", lines(9, 1, "1→2", "(the file goes on)")),
            ("no numbers", None),
            ("", None),
            ("99999999999→x", None),
            ("→x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }
}
