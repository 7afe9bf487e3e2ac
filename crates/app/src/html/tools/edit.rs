//! Files that were written or changed.

use maud::{Markup, html};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::block::render_label;
use super::call_view::{CallView, array_field};
use super::collapse;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::{Renderer, render_raw_input};
use crate::content::diff::Hunk;
use crate::content::highlight::Language;
use crate::html::text::{render_code, render_diff, render_hunks};
use crate::text::figures;

/// Renders calls that write a whole file.
pub(super) const WRITE: Renderer = Renderer {
    kind: "write",
    headline: fill_write_headline,
    input: render_write_input,
    result: render_no_result,
};

/// Renders calls that replace text in a file, in one or more places.
pub(super) const EDIT: Renderer = Renderer {
    kind: "edit",
    headline: fill_edit_headline,
    input: render_edit_input,
    result: render_no_result,
};

/// Maximum size in bytes of two texts that are diffed for the headline. Longer texts only have their lines counted.
const MAX_DIFF_BYTES: usize = 64 * 1024;

/// Returns the path of the file. Returns an empty string if it is unknown.
fn file_path<'m>(view: &'m CallView<'_>) -> &'m str {
    view.first_input_str(&["file_path", "path"])
        .or_else(|| view.result_meta_str("filePath"))
        .unwrap_or_default()
}

/// Adds the path, and the numbers of added and removed lines, or of all lines if the previous content is unknown.
fn fill_write_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    headline.push_markup(view.render_path(file_path(view)));
    let hunks = parse_hunks(view);
    if !hunks.is_empty() {
        return push_hunk_counts(headline, &hunks);
    }
    let content = view.input_raw_str("content").unwrap_or_default();
    match original_text(view) {
        Some(old) => {
            let (added, removed) = count_changed_lines(old, content);
            headline.push_line_counts(added, removed);
        }
        None => headline.push_stat(figures::count_noun(content.lines().count() as u64, "line")),
    }
    if view.result_meta_str("type") == Some("create") {
        headline.push_success("new");
    }
}

/// Adds the path, the number of edits, and the numbers of added and removed lines.
fn fill_edit_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    headline.push_markup(view.render_path(file_path(view)));
    let edits = view.input_list("edits");
    if edits.len() > 1 {
        headline.push_stat(figures::count_noun(edits.len() as u64, "edit"));
    }
    if view.input_bool("replace_all") {
        headline.push_stat("all occurrences");
    }
    let hunks = parse_hunks(view);
    if !hunks.is_empty() {
        return push_hunk_counts(headline, &hunks);
    }
    let all = std::iter::once(&view.input).chain(edits);
    let counts =
        all.map(|edit| count_changed_lines(raw_str(edit, "old_string"), raw_str(edit, "new_string")));
    let (added, removed) = counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    headline.push_line_counts(added, removed);
}

/// Adds the numbers of lines that hunks add and remove to the headline.
fn push_hunk_counts(headline: &mut CallHeadline, hunks: &[Hunk]) {
    let count =
        |mark| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.starts_with(mark)).count();
    headline.push_line_counts(count('+'), count('-'));
}

/// Returns the number of added and of removed lines between two texts. Counts all lines of long texts as changed.
fn count_changed_lines(old: &str, new: &str) -> (usize, usize) {
    if old.len() + new.len() > MAX_DIFF_BYTES {
        return (new.lines().count(), old.lines().count());
    }
    let diff = TextDiff::from_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

/// Renders the change as a diff, or the whole content if the previous content is unknown.
fn render_write_input(view: &CallView<'_>) -> Markup {
    let language = Language::from_path(file_path(view));
    let Some(content) = view.input_raw_str("content") else { return render_raw_input(view) };
    let hunks = parse_hunks(view);
    html! {
        (render_file(view))
        @if !hunks.is_empty() { (collapse::fold_lines(render_hunks(&hunks, language))) }
        @else if let Some(old) = original_text(view) { (collapse::fold_lines(render_diff(old, content, language))) }
        @else if content.is_empty() { p class="muted" { "empty file" } }
        @else { (collapse::fold_lines(render_code(content.strip_suffix('\n').unwrap_or(content), language, Some(1)))) }
    }
}

/// Renders the change as a diff: the hunks of `toolUseResult`, else one diff per edit of the input.
fn render_edit_input(view: &CallView<'_>) -> Markup {
    let language = Language::from_path(file_path(view));
    let edits = view.input_list("edits");
    let hunks = parse_hunks(view);
    let is_single = ["old_string", "new_string"].iter().any(|name| view.input_raw_str(name).is_some());
    if !is_single && edits.is_empty() && hunks.is_empty() {
        return render_raw_input(view);
    }
    html! {
        (render_file(view))
        @if view.input_bool("replace_all") { p class="muted" { "replaced all occurrences" } }
        @if !hunks.is_empty() { (collapse::fold_lines(render_hunks(&hunks, language))) }
        @else {
            @if is_single { (render_change(&view.input, language)) }
            @for (idx, edit) in edits.iter().enumerate() {
                (render_label(&format!("edit {}", idx + 1)))
                @if edit.get("replace_all").and_then(Value::as_bool) == Some(true) { p class="muted" { "all occurrences" } }
                (render_change(edit, language))
            }
        }
    }
}

fn render_change(edit: &Value, language: Option<Language>) -> Markup {
    collapse::fold_lines(render_diff(raw_str(edit, "old_string"), raw_str(edit, "new_string"), language))
}

/// Returns a string field with its white space, or an empty string.
fn raw_str<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Renders the path of the file, and whether the user changed the edit.
fn render_file(view: &CallView<'_>) -> Markup {
    let is_user_modified = view.result_meta("userModified").and_then(Value::as_bool) == Some(true);
    html! { div class="file" { (view.render_path(file_path(view))) @if is_user_modified { span class="stat" { "changed by the user before it was written" } } } }
}

/// Returns the previous content of the file. Returns `None` if it is unknown or empty, or the call failed.
fn original_text<'m>(view: &'m CallView<'_>) -> Option<&'m str> {
    if !matches!(view.outcome(), Outcome::Succeeded(_) | Outcome::InResultFile(_)) {
        return None;
    }
    view.result_meta("originalFile").and_then(Value::as_str).filter(|old| !old.is_empty())
}

/// Parses the hunks of a change from `toolUseResult`. Returns an empty list if it contains none.
fn parse_hunks(view: &CallView<'_>) -> Vec<Hunk> {
    let Some(meta) = &view.context.result_meta else { return Vec::new() };
    let number = |hunk: &Value, name| {
        hunk.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
    };
    let lines =
        |hunk| array_field(hunk, "lines").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let hunks = array_field(meta, "structuredPatch").iter().map(|hunk| Hunk {
        old_start: number(hunk, "oldStart"),
        new_start: number(hunk, "newStart"),
        lines: lines(hunk),
    });
    hunks.filter(|hunk| !hunk.lines.is_empty()).collect()
}

/// Renders nothing: the diff of the input already shows the change.
fn render_no_result(_view: &CallView<'_>, _text: &str) -> Markup {
    html! {}
}
