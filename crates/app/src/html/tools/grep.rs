//! Searches for text in files.

use std::cell::Cell;

use maud::{Markup, html};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::block::{render_paths, render_pattern_and_path, truncate_line};
use super::call_view::CallView;
use super::collapse;
use super::grep_output::{FileMatches, MAX_SCANNED_BYTES, OutputLine, parse_output, split_files};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::text::{clean, figures};

/// Renders searches for text in files.
pub(super) const GREP: Renderer =
    Renderer { kind: "find", headline: fill_headline, input: render_pattern_and_path, result: render_result };

/// Maximum size of the compiled pattern, in bytes.
const MAX_REGEX_SIZE: usize = 200_000;
/// Maximum number of bytes of output in which matches are marked.
const MAX_MARKED_BYTES: usize = 64 << 10;

/// The kind of output that the search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputMode {
    Lines,
    Files,
    Counts,
}

/// Returns the kind of output: from `toolUseResult`, else from the input. The default is files.
fn output_mode(view: &CallView<'_>) -> OutputMode {
    match view.result_meta_str("mode").or_else(|| view.input_str("output_mode")) {
        Some("content") => OutputMode::Lines,
        Some("count") => OutputMode::Counts,
        _ => OutputMode::Files,
    }
}

/// Adds the pattern, the searched path, the file type, and the number of files, lines or matches.
fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(pattern) = view.input_str("pattern") {
        headline.push_code(pattern);
    }
    if let Some(path) = view.first_input_str(&["path", "glob"]) {
        headline.push_muted("in");
        headline.push_markup(view.render_path(path));
    }
    if let Some(kind) = view.input_str("type") {
        headline.push_muted(kind);
    }
    let Some(text) = view.outcome().text() else { return };
    let number = |name| view.result_meta(name).and_then(Value::as_u64);
    match output_mode(view) {
        OutputMode::Files => {
            let count = number("numFiles").unwrap_or_else(|| find_matched_files(view, text).len() as u64);
            headline.push_stat(figures::count_noun(count, "file"));
        }
        OutputMode::Lines => {
            let count =
                number("numLines").unwrap_or_else(|| find_matched_lines(view, text).lines().count() as u64);
            headline.push_stat(figures::count_noun(count, "line"));
        }
        OutputMode::Counts => {
            if let Some(count) = number("numMatches") {
                headline.push_stat(if count == 1 {
                    "1 match".into()
                } else {
                    format!("{} matches", figures::group_digits(count))
                });
            }
        }
    }
}

/// Returns the output of the search: from `toolUseResult`, else the text of the result. Returns an empty string if
/// nothing matched.
fn find_matched_lines<'m>(view: &'m CallView<'_>, text: &'m str) -> &'m str {
    if let Some(content) = view.result_meta("content").and_then(Value::as_str) {
        return content;
    }
    if text.starts_with("No matches found") || text.starts_with("No files found") { "" } else { text }
}

/// Returns the paths of the matching files: from `toolUseResult`, else the lines of the output.
fn find_matched_files<'m>(view: &'m CallView<'_>, text: &'m str) -> Vec<&'m str> {
    match view.result_meta("filenames").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => {
            let lines = find_matched_lines(view, text).lines();
            lines.filter(|line| !line.is_empty() && !is_file_count(line)).collect()
        }
    }
}

/// Returns `true` for the line of the output that states how many files follow.
fn is_file_count(line: &str) -> bool {
    line.strip_prefix("Found ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Renders the matching files, the counts, or the matching lines by file. Lines after the first
/// [`collapse::VISIBLE_LINES`] are collapsed.
fn render_result(view: &CallView<'_>, text: &str) -> Markup {
    if output_mode(view) == OutputMode::Files {
        return render_paths(view, find_matched_files(view, text).into_iter());
    }
    let content = find_matched_lines(view, text);
    if content.trim().is_empty() {
        return html! { p class="muted" { "no matches" } };
    }
    if output_mode(view) == OutputMode::Counts {
        return render_counts(view, content);
    }
    let marker = MatchMarker::new(view);
    let (head, rest) = split_files(parse_output(content), collapse::VISIBLE_LINES);
    let hidden: usize = rest.iter().map(|file| file.lines.len()).sum();
    html! {
        @for file in &head { (render_file(view, file, &marker)) }
        @if hidden > 0 {
            details class="more" {
                summary { (figures::count_noun(hidden as u64, "more line")) }
                @for file in &rest { (render_file(view, file, &marker)) }
            }
        }
    }
}

/// Renders the number of matches of each file.
fn render_counts(view: &CallView<'_>, content: &str) -> Markup {
    let pair = |line: &str| line.rsplit_once(':').map(|(path, count)| (path.to_owned(), count.to_owned()));
    html! {
        ul class="paths" {
            @for (path, count) in content.lines().filter_map(pair) {
                li { (view.render_path(&path)) " " span class="stat" { (truncate_line(&count, 20)) } }
            }
        }
    }
}

/// Marks matches within a budget of bytes: every character costs time in proportion to the size of the pattern.
struct MatchMarker {
    /// The compiled pattern. `None` if no matches are marked.
    pattern: Option<Regex>,
    /// The number of bytes that may still be searched.
    remaining: Cell<usize>,
}

impl MatchMarker {
    /// Compiles the pattern of a search. Falls back to its literal text if it is not a valid regex or too large.
    /// Patterns over 200 bytes are not marked.
    fn new(view: &CallView<'_>) -> MatchMarker {
        let is_caseless = view.input_bool("-i");
        let compile = |pattern: &str| {
            RegexBuilder::new(pattern).case_insensitive(is_caseless).size_limit(MAX_REGEX_SIZE).build().ok()
        };
        let pattern = view.input_str("pattern").filter(|pattern| pattern.len() <= 200);
        let pattern =
            pattern.and_then(|pattern| compile(pattern).or_else(|| compile(&regex::escape(pattern))));
        MatchMarker { pattern, remaining: Cell::new(MAX_MARKED_BYTES) }
    }

    /// Takes the bytes of a line from the budget and returns the pattern. Returns `None` if the line is too long, the
    /// budget is used up, or there is no pattern.
    fn pattern_for(&self, bytes: usize) -> Option<&Regex> {
        let remaining = self.remaining.get().checked_sub(bytes).filter(|_| bytes <= MAX_SCANNED_BYTES)?;
        self.remaining.set(remaining);
        self.pattern.as_ref()
    }
}

/// Renders the output lines of one file, below its path.
fn render_file(view: &CallView<'_>, file: &FileMatches<'_>, marker: &MatchMarker) -> Markup {
    html! {
        div class="grep" {
            @if !file.path.is_empty() { div class="file" { (view.render_path(file.path)) } }
            pre class="grep-lines" {
                @for line in &file.lines {
                    span class=(if line.is_match { "match" } else { "context" }) data-n=[line.number] {
                        (render_line(line, marker)) "\n"
                    }
                }
            }
        }
    }
}

/// Renders a line of output with its first 50 matches marked.
fn render_line(line: &OutputLine<'_>, marker: &MatchMarker) -> Markup {
    let text = clean::text(line.text);
    let text = text.trim_end_matches('\n');
    let pattern = if line.is_match { marker.pattern_for(text.len()) } else { None };
    let Some(pattern) = pattern else { return html! { (text) } };
    let mut at = 0;
    html! {
        @for range in pattern.find_iter(text).filter(|range| !range.is_empty()).take(50) {
            (&text[at..range.start()])
            mark { (range.as_str()) }
            ({ at = range.end(); "" })
        }
        (&text[at..])
    }
}
