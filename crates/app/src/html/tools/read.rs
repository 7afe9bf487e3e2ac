//! Reading files.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_auto};
use super::call_view::{CallView, str_field};
use super::headline::CallHeadline;
use super::notebook;
use super::render::Renderer;
use super::{collapse, outcome};
use crate::content::highlight::Language;
use crate::html::text::render_code;
use crate::text::figures;

/// Renders calls that read a file.
pub(super) const READ: Renderer =
    Renderer { kind: "read", headline: fill_headline, input: render_input, result: render_result };

/// The lines of a file, parsed from a result with line numbers.
#[derive(Debug, PartialEq, Eq)]
struct NumberedLines {
    /// The number of the first line.
    first: u32,
    count: usize,
    /// The lines without their numbers.
    text: String,
    /// The text that the client added after the lines.
    rest: String,
}

/// Returns the path of the file. Returns an empty string if it is unknown.
fn file_path<'m>(view: &'m CallView<'_>) -> &'m str {
    view.first_input_str(&["file_path", "notebook_path", "path"]).unwrap_or_default()
}

/// Adds the path, and the lines, image size, number of cells or kind of file that was read.
fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    headline.push_markup(view.render_path(file_path(view)));
    let kind = view.result_meta_str("type").unwrap_or_default();
    match (kind, view.result_meta("file")) {
        ("text", Some(file)) => {
            let number = |name| file.get(name).and_then(Value::as_u64);
            // The client also counts the empty line after the last line break.
            let content = str_field(file, "content").map(|content| content.lines().count() as u64);
            let count = content.or_else(|| number("numLines")).unwrap_or_default();
            match number("startLine") {
                Some(first) if first > 1 => headline.push_stat(format_line_range(first, count)),
                _ => headline.push_stat(figures::count_noun(count, "line")),
            }
        }
        ("image", Some(file)) => {
            let side =
                |name| file.get("dimensions").and_then(|sides| sides.get(name)).and_then(Value::as_u64);
            if let (Some(width), Some(height)) = (side("originalWidth"), side("originalHeight")) {
                headline.push_stat(format!("{width}×{height}"));
            }
        }
        ("notebook", Some(file)) => {
            headline.push_stat(figures::count_noun(
                super::call_view::array_field(file, "cells").len() as u64,
                "cell",
            ));
        }
        ("pdf", _) => headline.push_stat("PDF"),
        ("file_unchanged", _) => headline.push_stat("unchanged"),
        _ => match view.outcome().text().and_then(parse_numbered_lines) {
            Some(lines) if lines.first > 1 => {
                headline.push_stat(format_line_range(u64::from(lines.first), lines.count as u64));
            }
            Some(lines) => headline.push_stat(figures::count_noun(lines.count as u64, "line")),
            None => {}
        },
    }
}

/// Formats the numbers of the first and last of `count` lines.
fn format_line_range(first: u64, count: u64) -> String {
    format!("lines {first}–{}", first.saturating_add(count.saturating_sub(1)))
}

/// Renders the path, the range of lines, and the other fields of the input.
fn render_input(view: &CallView<'_>) -> Markup {
    let number = |name| view.input_u64(name).map(figures::group_digits);
    let mut fields = FieldList::default();
    if !file_path(view).is_empty() {
        fields = fields.markup("file", view.render_path(file_path(view)));
    }
    fields
        .text("from line", number("offset").as_deref())
        .text("at most", number("limit").map(|count| format!("{count} lines")).as_deref())
        .fields_except(&view.input, &["file_path", "notebook_path", "path", "offset", "limit"])
        .render()
}

/// Renders the lines with highlighting or the cells of a notebook: from `toolUseResult`, else from the text of the
/// result.
fn render_result(view: &CallView<'_>, text: &str) -> Markup {
    let language = Language::from_path(file_path(view));
    if let Some(file) = view.result_meta("file") {
        match view.result_meta_str("type") {
            Some("text") => {
                if let Some(content) = str_field(file, "content") {
                    let first = file.get("startLine").and_then(Value::as_u64).unwrap_or(1);
                    let first = u32::try_from(first).unwrap_or(u32::MAX / 2).max(1);
                    let content = content.strip_suffix('\n').unwrap_or(content);
                    return collapse::fold_lines(render_code(content, language, Some(first)));
                }
            }
            Some("notebook") => return notebook::render_cells(super::call_view::array_field(file, "cells")),
            _ => {}
        }
    }
    let has_media = view.call.result.as_ref().is_some_and(|result| !result.media.is_empty());
    match parse_numbered_lines(text) {
        Some(lines) => html! {
            (collapse::fold_lines(render_code(&lines.text, language, Some(lines.first))))
            (render_auto(outcome::strip_reminders(&lines.rest)))
        },
        None if text.trim().is_empty() && !has_media => html! { p class="muted" { "empty file" } },
        None => render_auto(text),
    }
}

/// Removes the line numbers that the client adds for the model: `   12→text`, or with a tab.
///
/// Returns `None` if the first line has no number.
fn parse_numbered_lines(text: &str) -> Option<NumberedLines> {
    let mut lines =
        NumberedLines { first: 0, count: 0, text: String::with_capacity(text.len()), rest: String::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let Some((number, text)) = parse_numbered_line(line) else { break };
        if lines.count == 0 {
            lines.first = number;
        }
        lines.count += 1;
        lines.text.push_str(text);
        at += line.len();
    }
    if lines.count == 0 {
        return None;
    }
    // The client also numbers the empty line after the last line break.
    if lines.text.ends_with('\n') {
        lines.text.pop();
    }
    lines.rest.push_str(text[at..].trim());
    Some(lines)
}

/// Splits a line into its number and its text. Returns `None` if it has no number.
fn parse_numbered_line(line: &str) -> Option<(u32, &str)> {
    let start = line.trim_start_matches(' ');
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let number = start[..digits].parse().ok()?;
    let rest = &start[digits..];
    Some((number, rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t'))?))
}

#[cfg(test)]
mod tests {
    use super::{NumberedLines, parse_numbered_lines};

    #[test]
    fn line_numbers_and_trailing_text_are_separated() {
        let lines = |first, count, text: &str, rest: &str| {
            Some(NumberedLines { first, count, text: text.into(), rest: rest.into() })
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
            assert_eq!(parse_numbered_lines(text), expected, "{text:?}");
        }
    }
}
