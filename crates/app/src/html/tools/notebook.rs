//! Notebooks: cells that were read or changed.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{Rows, label, short, wrote};
use super::call_view::{CallView, label as id_of, words};
use super::collapse;
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::html::text::{Language, code, terminal};
use crate::text::figures;

/// A cell that was changed, added or removed.
pub(super) const EDIT: Renderer = Renderer { kind: "edit", gist, input, result: |_, _| html! {} };

fn gist(matter: &CallView<'_>, gist: &mut CallHeadline) {
    gist.piece(matter.path(matter.input_str("notebook_path").unwrap_or_default()));
    if let Some(cell) = cell(matter) {
        gist.aside(&format!("cell {cell}"));
    }
    gist.figure(short(matter.input_str("edit_mode").unwrap_or("replace"), 20));
    if let Some(source) = matter.input_str("new_source") {
        gist.figure(figures::things(source.lines().count() as u64, "line"));
    }
}

fn cell(matter: &CallView<'_>) -> Option<String> {
    id_of(&matter.input, "cell_id").or_else(|| id_of(&matter.input, "cell_number"))
}

fn input(matter: &CallView<'_>) -> Markup {
    let kind = matter.input_str("cell_type").or_else(|| matter.noted_words("cell_type")).unwrap_or("code");
    let language = matter.noted_words("language").unwrap_or("python");
    let rows = Rows::default()
        .piece("notebook", matter.path(matter.input_str("notebook_path").unwrap_or_default()))
        .words("cell", cell(matter).as_deref())
        .words("kind", Some(kind))
        .words("how", matter.input_str("edit_mode"));
    html! {
        (rows.draw())
        @if let Some(text) = matter.input_str("new_source") { (source(kind, text, language)) }
    }
}

fn source(kind: &str, text: &str, language: &str) -> Markup {
    if kind == "markdown" {
        wrote(text)
    } else {
        collapse::lines(code(text, Language::named(language), None))
    }
}

/// Draws the cells of a notebook.
pub(super) fn cells(cells: &[Value]) -> Markup {
    html! {
        @for (no, cell) in cells.iter().enumerate() {
            @let kind = words(cell, "cellType").or_else(|| words(cell, "cell_type")).unwrap_or("code");
            (label(&format!("cell {}, {}", no + 1, short(kind, 20))))
            @if let Some(text) = words(cell, "source") {
                (source(kind, text, words(cell, "language").unwrap_or("python")))
            }
            @for output in super::call_view::list(cell, "outputs") {
                @if let Some(text) = words(output, "text") { div class="output" { (collapse::lines(terminal(text))) } }
            }
        }
    }
}
