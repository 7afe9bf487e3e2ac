//! Files that were written or changed.

use maud::{Markup, html};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::block::label;
use super::call_view::{CallView, list};
use super::collapse;
use super::headline::CallHeadline;
use super::outcome::Outcome;
use super::render::{Renderer, as_it_stands};
use crate::html::text::{Hunk, Language, code, hunks, patch};
use crate::text::figures;

/// A file written whole.
pub(super) const WRITE: Renderer =
    Renderer { kind: "write", gist: write_gist, input: write_input, result: remark };

/// A file changed in one or more places.
pub(super) const EDIT: Renderer =
    Renderer { kind: "edit", gist: edit_gist, input: edit_input, result: remark };

/// Above this many bytes the head says only how long the texts are: a difference is not worth its price there.
const WORTH_COUNTING: usize = 64 * 1024;

fn path<'m>(matter: &'m CallView<'_>) -> &'m str {
    matter.asked_any(&["file_path", "path"]).or_else(|| matter.noted_words("filePath")).unwrap_or_default()
}

fn write_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    gist.piece(matter.path(path(matter)));
    let places = places(matter);
    if !places.is_empty() {
        return count(gist, &places);
    }
    let content = matter.asked_text("content").unwrap_or_default();
    match original(matter) {
        Some(old) => {
            let (added, removed) = count_between(old, content);
            gist.lines(added, removed);
        }
        None => gist.figure(figures::things(content.lines().count() as u64, "line")),
    }
    if matter.noted_words("type") == Some("create") {
        gist.good("new");
    }
}

fn edit_gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    gist.piece(matter.path(path(matter)));
    let edits = matter.asked_list("edits");
    if edits.len() > 1 {
        gist.figure(figures::things(edits.len() as u64, "edit"));
    }
    if matter.is_asked("replace_all") {
        gist.figure("all places");
    }
    let places = places(matter);
    if !places.is_empty() {
        return count(gist, &places);
    }
    let all = std::iter::once(&matter.input).chain(edits);
    let counts = all.map(|edit| count_between(text(edit, "old_string"), text(edit, "new_string")));
    let (added, removed) = counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    gist.lines(added, removed);
}

/// Says how many lines a change whose places are known added and removed.
fn count(gist: &mut CallHeadline, places: &[Hunk]) {
    let marked =
        |mark| places.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.starts_with(mark)).count();
    gist.lines(marked('+'), marked('-'));
}

/// Counts the lines that were added and removed between two texts.
fn count_between(old: &str, new: &str) -> (usize, usize) {
    if old.len() + new.len() > WORTH_COUNTING {
        return (new.lines().count(), old.lines().count());
    }
    let diff = TextDiff::from_lines(old, new);
    let of = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (of(ChangeTag::Insert), of(ChangeTag::Delete))
}

fn write_input(matter: &CallView<'_>) -> Markup {
    let language = Language::of_path(path(matter));
    let Some(content) = matter.asked_text("content") else { return as_it_stands(matter) };
    let places = places(matter);
    html! {
        (file(matter))
        @if !places.is_empty() { (collapse::lines(hunks(&places, language))) }
        @else if let Some(old) = original(matter) { (collapse::lines(patch(old, content, language))) }
        @else if content.is_empty() { p class="quiet" { "empty file" } }
        @else { (collapse::lines(code(content.strip_suffix('\n').unwrap_or(content), language, Some(1)))) }
    }
}

fn edit_input(matter: &CallView<'_>) -> Markup {
    let language = Language::of_path(path(matter));
    let edits = matter.asked_list("edits");
    let places = places(matter);
    let is_single = ["old_string", "new_string"].iter().any(|name| matter.asked_text(name).is_some());
    if !is_single && edits.is_empty() && places.is_empty() {
        return as_it_stands(matter);
    }
    html! {
        (file(matter))
        @if matter.is_asked("replace_all") { p class="quiet" { "replaced in all places" } }
        @if !places.is_empty() { (collapse::lines(hunks(&places, language))) }
        @else {
            @if is_single { (change(&matter.input, language)) }
            @for (no, edit) in edits.iter().enumerate() {
                (label(&format!("edit {}", no + 1)))
                @if edit.get("replace_all").and_then(Value::as_bool) == Some(true) { p class="quiet" { "in all places" } }
                (change(edit, language))
            }
        }
    }
}

fn change(edit: &Value, language: Option<Language>) -> Markup {
    collapse::lines(patch(text(edit, "old_string"), text(edit, "new_string"), language))
}

/// Returns a text that is compared: white space counts.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Draws which file it is, and that the user had a hand in it.
fn file(matter: &CallView<'_>) -> Markup {
    let is_theirs = matter.result_meta("userModified").and_then(Value::as_bool) == Some(true);
    html! { div class="file" { (matter.path(path(matter))) @if is_theirs { span class="fig" { "changed by the user before it was written" } } } }
}

/// Returns what the file held before, where the client noted it and there is something to compare.
fn original<'m>(matter: &'m CallView<'_>) -> Option<&'m str> {
    if !matches!(matter.outcome(), Outcome::Fine(_) | Outcome::Kept(_)) {
        return None;
    }
    matter.result_meta("originalFile").and_then(Value::as_str).filter(|old| !old.is_empty())
}

/// Reads the places of a change from the client's note.
fn places(matter: &CallView<'_>) -> Vec<Hunk> {
    let Some(note) = &matter.around.noted else { return Vec::new() };
    let number = |hunk: &Value, name| {
        hunk.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
    };
    let lines = |hunk| list(hunk, "lines").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let all = list(note, "structuredPatch").iter().map(|hunk| Hunk {
        old_start: number(hunk, "oldStart"),
        new_start: number(hunk, "newStart"),
        lines: lines(hunk),
    });
    all.filter(|hunk| !hunk.lines.is_empty()).collect()
}

/// Draws nothing: that the file was written is what the change above says.
fn remark(_matter: &CallView<'_>, _text: &str) -> Markup {
    html! {}
}
