//! Jupyter notebooks: reading and changing cells.

use maud::{Markup, html};
use serde_json::Value;

use super::block::{FieldList, render_label, render_markdown, truncate_line};
use super::call_view::{CallView, id_field, str_field};
use super::collapse;
use super::headline::CallHeadline;
use super::render::Renderer;
use crate::content::highlight::Language;
use crate::html::text::{render_code, render_terminal};
use crate::text::figures;

/// Renders calls that change, add or remove a cell.
pub(super) const EDIT: Renderer =
    Renderer { kind: "edit", headline: fill_headline, input: render_input, result: |_, _| html! {} };

fn fill_headline(view: &CallView<'_>, headline: &mut CallHeadline) {
    headline.push_markup(view.render_path(view.input_str("notebook_path").unwrap_or_default()));
    if let Some(cell) = cell_id(view) {
        headline.push_muted(&format!("cell {cell}"));
    }
    headline.push_stat(truncate_line(view.input_str("edit_mode").unwrap_or("replace"), 20));
    if let Some(source) = view.input_str("new_source") {
        headline.push_stat(figures::count_noun(source.lines().count() as u64, "line"));
    }
}

/// Returns the id or the number of the cell. Returns `None` if the input contains neither.
fn cell_id(view: &CallView<'_>) -> Option<String> {
    id_field(&view.input, "cell_id").or_else(|| id_field(&view.input, "cell_number"))
}

/// Renders the notebook, the cell, the kind of change, and the new source.
fn render_input(view: &CallView<'_>) -> Markup {
    let kind = view.input_str("cell_type").or_else(|| view.result_meta_str("cell_type")).unwrap_or("code");
    let language = view.result_meta_str("language").unwrap_or("python");
    let fields = FieldList::default()
        .markup("notebook", view.render_path(view.input_str("notebook_path").unwrap_or_default()))
        .text("cell", cell_id(view).as_deref())
        .text("type", Some(kind))
        .text("mode", view.input_str("edit_mode"));
    html! {
        (fields.render())
        @if let Some(text) = view.input_str("new_source") { (render_source(kind, text, language)) }
    }
}

/// Renders the source of a cell. `kind` is the type of the cell.
fn render_source(kind: &str, text: &str, language: &str) -> Markup {
    if kind == "markdown" {
        render_markdown(text)
    } else {
        collapse::fold_lines(render_code(text, Language::from_name(language), None))
    }
}

/// Renders the cells of a notebook with their outputs.
pub(super) fn render_cells(cells: &[Value]) -> Markup {
    html! {
        @for (idx, cell) in cells.iter().enumerate() {
            @let kind = str_field(cell, "cellType").or_else(|| str_field(cell, "cell_type")).unwrap_or("code");
            (render_label(&format!("cell {}, {}", idx + 1, truncate_line(kind, 20))))
            @if let Some(text) = str_field(cell, "source") {
                (render_source(kind, text, str_field(cell, "language").unwrap_or("python")))
            }
            @for output in super::call_view::array_field(cell, "outputs") {
                @if let Some(text) = str_field(output, "text") { div class="output" { (collapse::fold_lines(render_terminal(text))) } }
            }
        }
    }
}
