//! Text that was looked for in files.

use std::cell::Cell;

use maud::{Markup, html};
use regex_lite::{Regex, RegexBuilder};
use serde_json::Value;

use super::block::{Rows, paths, short};
use super::call_view::CallView;
use super::collapse;
use super::grep_output::{Found, Group, LOOKED_AT, group, part};
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::text::{clean, figures};

/// A search in files.
pub(super) const GREP: Renderer = Renderer { kind: "find", gist, input, result };

/// How large a pattern may become to be looked for.
const PATTERN: usize = 10_000;
/// How many bytes of found lines a pattern is looked for in.
const MARKED: usize = 64 << 10;

/// What a search lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Lines,
    Files,
    Counts,
}

fn mode(matter: &CallView<'_>) -> Mode {
    match matter.noted_words("mode").or_else(|| matter.input_str("output_mode")) {
        Some("content") => Mode::Lines,
        Some("count") => Mode::Counts,
        _ => Mode::Files,
    }
}

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(pattern) = matter.input_str("pattern") {
        gist.code(pattern);
    }
    if let Some(path) = matter.asked_any(&["path", "glob"]) {
        gist.aside("in");
        gist.piece(matter.path(path));
    }
    if let Some(kind) = matter.input_str("type") {
        gist.aside(kind);
    }
    let Some(text) = matter.outcome().words() else { return };
    let number = |name| matter.result_meta(name).and_then(Value::as_u64);
    match mode(matter) {
        Mode::Files => {
            let count = number("numFiles").unwrap_or_else(|| files(matter, text).len() as u64);
            gist.figure(figures::things(count, "file"));
        }
        Mode::Lines => {
            let count = number("numLines").unwrap_or_else(|| content(matter, text).lines().count() as u64);
            gist.figure(figures::things(count, "line"));
        }
        Mode::Counts => {
            if let Some(count) = number("numMatches") {
                gist.figure(if count == 1 {
                    "1 match".into()
                } else {
                    format!("{} matches", figures::count(count))
                });
            }
        }
    }
}

fn input(matter: &CallView<'_>) -> Markup {
    let mut rows = Rows::default();
    if let Some(pattern) = matter.input_str("pattern") {
        rows = rows.piece("pattern", html! { code { (short(pattern, 500)) } });
    }
    if let Some(path) = matter.input_str("path") {
        rows = rows.piece("in", matter.path(path));
    }
    rows.fields_but(&matter.input, &["pattern", "path"]).draw()
}

/// Returns the lines found: from the note, else the text without what the client says around them.
fn content<'m>(matter: &'m CallView<'_>, text: &'m str) -> &'m str {
    if let Some(content) = matter.result_meta("content").and_then(Value::as_str) {
        return content;
    }
    if text.starts_with("No matches found") || text.starts_with("No files found") { "" } else { text }
}

fn files<'m>(matter: &'m CallView<'_>, text: &'m str) -> Vec<&'m str> {
    match matter.result_meta("filenames").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => content(matter, text).lines().filter(|line| !line.is_empty() && !is_head(line)).collect(),
    }
}

/// Whether a line says how many files follow.
fn is_head(line: &str) -> bool {
    line.strip_prefix("Found ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn result(matter: &CallView<'_>, text: &str) -> Markup {
    if mode(matter) == Mode::Files {
        return paths(matter, files(matter, text).into_iter());
    }
    let content = content(matter, text);
    if content.trim().is_empty() {
        return html! { p class="quiet" { "nothing found" } };
    }
    if mode(matter) == Mode::Counts {
        return counts(matter, content);
    }
    let groups = group(content);
    let marker = Marker::of(matter);
    let (head, rest) = part(groups, collapse::SHOWN);
    let hidden: usize = rest.iter().map(|group| group.lines.len()).sum();
    html! {
        @for group in &head { (file(matter, group, &marker)) }
        @if hidden > 0 {
            details class="more" {
                summary { (figures::things(hidden as u64, "more line")) }
                @for group in &rest { (file(matter, group, &marker)) }
            }
        }
    }
}

fn counts(matter: &CallView<'_>, content: &str) -> Markup {
    let pair = |line: &str| line.rsplit_once(':').map(|(path, count)| (path.to_owned(), count.to_owned()));
    html! {
        ul class="paths" {
            @for (path, count) in content.lines().filter_map(pair) {
                li { (matter.path(&path)) " " span class="fig" { (short(&count, 20)) } }
            }
        }
    }
}

/// Marks what matched, in lines that are worth it: a pattern costs its size for every letter it is tried at.
struct Marker {
    pattern: Option<Regex>,
    /// How many bytes may still be looked at.
    left: Cell<usize>,
}

impl Marker {
    /// Reads the pattern as what it matches, where it can be told.
    fn of(matter: &CallView<'_>) -> Marker {
        let is_caseless = matter.is_asked("-i");
        let read = |pattern: &str| {
            RegexBuilder::new(pattern).case_insensitive(is_caseless).size_limit(PATTERN).build().ok()
        };
        let pattern = matter.input_str("pattern").filter(|pattern| pattern.len() <= 200);
        let pattern =
            pattern.and_then(|pattern| read(pattern).or_else(|| read(&regex_lite::escape(pattern))));
        Marker { pattern, left: Cell::new(MARKED) }
    }

    /// Returns the pattern, where it is worth to look for it in so many bytes.
    fn pattern_for(&self, bytes: usize) -> Option<&Regex> {
        let left = self.left.get().checked_sub(bytes).filter(|_| bytes <= LOOKED_AT)?;
        self.left.set(left);
        self.pattern.as_ref()
    }
}

fn file(matter: &CallView<'_>, group: &Group<'_>, marker: &Marker) -> Markup {
    html! {
        div class="grep" {
            @if !group.path.is_empty() { div class="file" { (matter.path(group.path)) } }
            pre class="grep-lines" {
                @for line in &group.lines {
                    span class=(if line.is_hit { "hit" } else { "near" }) data-n=[line.number] {
                        (marked(line, marker)) "\n"
                    }
                }
            }
        }
    }
}

/// Draws a line with what matched in it.
fn marked(line: &Found<'_>, marker: &Marker) -> Markup {
    let text = clean::text(line.text);
    let text = text.trim_end_matches('\n');
    let pattern = if line.is_hit { marker.pattern_for(text.len()) } else { None };
    let Some(pattern) = pattern else { return html! { (text) } };
    let mut at = 0;
    html! {
        @for found in pattern.find_iter(text).filter(|found| !found.is_empty()).take(50) {
            (&text[at..found.start()])
            mark { (found.as_str()) }
            ({ at = found.end(); "" })
        }
        (&text[at..])
    }
}
