//! Lookups: files by name, folder listings, symbols, tools.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_auto, render_paths, render_pattern_and_path, truncate_line};
use super::call_view::{CallView, array_field};
use super::collapse;
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::html::text::render_plain;
use crate::text::figures;

/// Renders searches for files by a glob pattern.
pub(super) const GLOB: Renderer = Renderer {
    kind: "find",
    headline: fill_glob_headline,
    input: render_pattern_and_path,
    result: render_glob_result,
};

/// Renders listings of a folder.
pub(super) const LS: Renderer = Renderer {
    kind: "find",
    headline: fill_ls_headline,
    input: render_pattern_and_path,
    result: |_, text| html! { div class="listing" { (collapse::fold_lines(render_plain(text))) } },
};

/// Renders requests to a language server.
pub(super) const LSP: Renderer = Renderer {
    kind: "find",
    headline: fill_lsp_headline,
    input: render_lsp_input,
    result: |_, text| render_auto(text),
};

/// Renders searches for tools.
pub(super) const TOOL_SEARCH: Renderer = Renderer {
    kind: "find",
    headline: fill_tools_headline,
    input: render_all_fields,
    result: render_tools_result,
};

/// Adds the pattern, the folder, and the number of files.
fn fill_glob_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(pattern) = view.input_str("pattern") {
        headline.push_code(pattern);
    }
    if let Some(path) = view.input_str("path") {
        headline.push_markup(view.render_path(path));
    }
    if let Some(text) = view.outcome().text() {
        headline.push_stat(figures::count_noun(find_matched_files(view, text).len() as u64, "file"));
    }
    if view.result_meta("truncated").and_then(Value::as_bool) == Some(true) {
        headline.push_stat("truncated");
    }
}

/// Returns the paths of the matching files: from `toolUseResult`, else the lines of the result that are paths.
fn find_matched_files<'m>(view: &'m CallView<'_>, text: &'m str) -> Vec<&'m str> {
    match view.result_meta("filenames").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => {
            let is_path =
                |line: &&str| !line.trim().is_empty() && *line != "No files found" && !line.starts_with('(');
            text.lines().filter(is_path).collect()
        }
    }
}

fn render_glob_result(view: &CallView<'_>, text: &str) -> Markup {
    render_paths(view, find_matched_files(view, text).into_iter())
}

fn fill_ls_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    headline.push_markup(view.render_path(view.input_str("path").unwrap_or(".")));
    if let Some(text) = view.outcome().text() {
        let count = text.lines().filter(|line| line.trim_start().starts_with("- ")).count();
        headline.push_stat(figures::count_noun(count as u64, "entry"));
    }
}

/// Adds the operation, the file, the position, and the number of results.
fn fill_lsp_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(operation) = view.input_str("operation") {
        headline.push_text(operation);
    }
    if let Some(path) = view.input_str("filePath") {
        headline.push_markup(view.render_path(path));
    }
    if let (Some(line), Some(column)) = (view.input_u64("line"), view.input_u64("character")) {
        headline.push_muted(&format!("{line}:{column}"));
    }
    if let Some(count) = view.result_meta("resultCount").and_then(Value::as_u64) {
        headline.push_stat(figures::count_noun(count, "result"));
    }
}

fn render_lsp_input(view: &CallView<'_>) -> Markup {
    let mut rows = FieldList::default();
    if let Some(path) = view.input_str("filePath") {
        rows = rows.markup("file", view.render_path(path));
    }
    rows.fields_except(&view.input, &["filePath"]).render()
}

fn render_all_fields(view: &CallView<'_>) -> Markup {
    FieldList::default().fields_except(&view.input, &[]).render()
}

fn fill_tools_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    if let Some(query) = view.input_str("query") {
        headline.push_code(query);
    }
    if let Some(matches) = view.result_meta("matches").and_then(Value::as_array) {
        headline.push_stat(figures::count_noun(matches.len() as u64, "tool"));
    }
}

/// Renders the names of the tools that were found, or the text of the result if it contains none.
fn render_tools_result(view: &CallView<'_>, text: &str) -> Markup {
    let meta = view.context.result_meta.as_ref();
    let matches = meta.map_or(&[][..], |meta| array_field(meta, "matches")).iter().filter_map(Value::as_str);
    let loaded = text.lines().filter_map(|line| line.strip_prefix("tool loaded: "));
    let mut names: Vec<&str> = matches.collect();
    if names.is_empty() {
        names = loaded.collect();
    }
    if names.is_empty() {
        return render_auto(text);
    }
    html! { ul class="paths" { @for name in names { li { code { (truncate_line(name, 120)) } } } } }
}
