//! Files, symbols and tools that were looked for.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, paths, short, told};
use super::call_view::{CallView, list};
use super::collapse;
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::html::text::plain;
use crate::text::figures;

/// Files found by a pattern of their names.
pub(super) const GLOB: Renderer =
    Renderer { kind: "find", gist: glob_gist, input: where_asked, result: glob_result };

/// What a folder holds.
pub(super) const LS: Renderer = Renderer {
    kind: "find",
    gist: ls_gist,
    input: where_asked,
    result: |_, text| html! { div class="listing" { (collapse::lines(plain(text))) } },
};

/// Questions to a language server.
pub(super) const LSP: Renderer =
    Renderer { kind: "find", gist: lsp_gist, input: lsp_input, result: |_, text| told(text) };

/// Tools that were looked for.
pub(super) const TOOL_SEARCH: Renderer =
    Renderer { kind: "find", gist: tools_gist, input: all_fields, result: tools_result };

fn glob_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(pattern) = matter.input_str("pattern") {
        gist.code(pattern);
    }
    if let Some(path) = matter.input_str("path") {
        gist.piece(matter.path(path));
    }
    if let Some(text) = matter.outcome().words() {
        gist.figure(figures::things(found(matter, text).len() as u64, "file"));
    }
    if matter.result_meta("truncated").and_then(Value::as_bool) == Some(true) {
        gist.figure("cut short");
    }
}

/// Returns the files found: from the note, else the lines of the text that are paths.
fn found<'m>(matter: &'m CallView<'_>, text: &'m str) -> Vec<&'m str> {
    match matter.result_meta("filenames").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => {
            let is_path =
                |line: &&str| !line.trim().is_empty() && *line != "No files found" && !line.starts_with('(');
            text.lines().filter(is_path).collect()
        }
    }
}

fn where_asked(matter: &CallView<'_>) -> Markup {
    let mut rows = Rows::default();
    if let Some(pattern) = matter.input_str("pattern") {
        rows = rows.piece("pattern", html! { code { (short(pattern, 500)) } });
    }
    if let Some(path) = matter.input_str("path") {
        rows = rows.piece("in", matter.path(path));
    }
    rows.fields_but(&matter.input, &["pattern", "path"]).draw()
}

fn glob_result(matter: &CallView<'_>, text: &str) -> Markup {
    paths(matter, found(matter, text).into_iter())
}

fn ls_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    gist.piece(matter.path(matter.input_str("path").unwrap_or(".")));
    if let Some(text) = matter.outcome().words() {
        let count = text.lines().filter(|line| line.trim_start().starts_with("- ")).count();
        gist.figure(figures::things(count as u64, "entry"));
    }
}

fn lsp_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(operation) = matter.input_str("operation") {
        gist.say(operation);
    }
    if let Some(path) = matter.input_str("filePath") {
        gist.piece(matter.path(path));
    }
    if let (Some(line), Some(column)) = (matter.asked_number("line"), matter.asked_number("character")) {
        gist.aside(&format!("{line}:{column}"));
    }
    if let Some(count) = matter.result_meta("resultCount").and_then(Value::as_u64) {
        gist.figure(figures::things(count, "result"));
    }
}

fn lsp_input(matter: &CallView<'_>) -> Markup {
    let mut rows = Rows::default();
    if let Some(path) = matter.input_str("filePath") {
        rows = rows.piece("file", matter.path(path));
    }
    rows.fields_but(&matter.input, &["filePath"]).draw()
}

fn all_fields(matter: &CallView<'_>) -> Markup {
    Rows::default().fields_but(&matter.input, &[]).draw()
}

fn tools_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    if let Some(query) = matter.input_str("query") {
        gist.code(query);
    }
    if let Some(matches) = matter.result_meta("matches").and_then(Value::as_array) {
        gist.figure(figures::things(matches.len() as u64, "tool"));
    }
}

fn tools_result(matter: &CallView<'_>, text: &str) -> Markup {
    let note = matter.around.noted.as_ref();
    let noted = note.map_or(&[][..], |note| list(note, "matches")).iter().filter_map(Value::as_str);
    let told_so = text.lines().filter_map(|line| line.strip_prefix("tool loaded: "));
    let mut names: Vec<&str> = noted.collect();
    if names.is_empty() {
        names = told_so.collect();
    }
    if names.is_empty() {
        return told(text);
    }
    html! { ul class="paths" { @for name in names { li { code { (short(name, 120)) } } } } }
}
