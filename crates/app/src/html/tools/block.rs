//! Building blocks shared by the renderers: field lists, collapsible blocks, paths, text of unknown format.

use maud::{Markup, html};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::call_view::CallView;
use super::collapse;
use crate::html::text::{render_json, render_plain, render_prose};
use crate::text::{clean, figures};

/// Maximum length in bytes of a value that is shown next to its name.
const MAX_INLINE_LEN: usize = 120;

/// Puts text on one line. Truncates it after `limit` characters and appends an ellipsis.
pub(super) fn truncate_line(text: &str, limit: usize) -> String {
    // Text of megabytes is truncated before it is cleaned, with a margin for what cleaning removes.
    let head = &text[..text.floor_char_boundary(limit * 8)];
    let line = clean::line(head);
    match line.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None if head.len() < text.len() => format!("{line}…"),
        None => line,
    }
}

/// A list of rows: a name, a rendered value, and whether the value spans both columns.
#[derive(Default)]
pub(super) struct FieldList(Vec<(String, Markup, bool)>);

impl FieldList {
    /// Adds a row with a rendered value.
    pub(super) fn markup(mut self, name: &str, value: Markup) -> FieldList {
        self.0.push((truncate_line(name, 60), value, false));
        self
    }

    /// Adds a row of text. Long text is collapsed. Adds nothing for `None`.
    pub(super) fn text(self, name: &str, text: Option<&str>) -> FieldList {
        match text {
            Some(text) if is_inline(text) => self.markup(name, html! { (clean::line(text)) }),
            Some(text) => self.wide_markup(name, collapse::fold_lines(render_plain(text))),
            None => self,
        }
    }

    /// Adds a row for any JSON value: strings as text, numbers as they are, the rest as JSON.
    pub(super) fn value(self, name: &str, value: &Value) -> FieldList {
        match value {
            Value::String(text) if text.is_empty() => {
                self.markup(name, html! { span class="muted" { "empty" } })
            }
            Value::String(text) => self.text(name, Some(text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.markup(name, html! { code { (clean::text(&value.to_string())) } })
            }
            Value::Array(_) | Value::Object(_) => {
                let text = value.to_string();
                if text.len() <= MAX_INLINE_LEN {
                    return self.markup(name, html! { code { (clean::line(&text)) } });
                }
                self.wide_markup(name, collapse::fold_lines(render_json(&text)))
            }
        }
    }

    /// Adds a row for each field of an object except `excluded`.
    pub(super) fn fields_except(self, value: &Value, excluded: &[&str]) -> FieldList {
        let fields = value.as_object().into_iter().flatten();
        let shown = fields.filter(|(name, _)| !excluded.contains(&name.as_str()));
        shown.fold(self, |rows, (name, value)| rows.value(name, value))
    }

    /// Adds a row with a rendered value that spans both columns.
    pub(super) fn wide_markup(mut self, name: &str, value: Markup) -> FieldList {
        self.0.push((truncate_line(name, 60), value, true));
        self
    }

    /// Renders the rows. Renders nothing if there are none.
    pub(super) fn render(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                dl class="field-list" {
                    @for (name, value, is_wide) in &self.0 {
                        div class=[is_wide.then_some("wide")] { dt { (name) } dd { (value) } }
                    }
                }
            }
        }
    }
}

/// Returns `true` if text is short and has only one line, so that it is shown next to its name.
fn is_inline(text: &str) -> bool {
    text.len() <= MAX_INLINE_LEN && !text.trim_end().contains('\n')
}

/// Renders the markup `inside`, collapsed to its label.
pub(super) fn render_collapsed(label: &str, inside: &Markup) -> Markup {
    html! { details class="collapsible" { summary { (label) } (inside) } }
}

/// Renders markdown. The end of long text is collapsed.
pub(super) fn render_markdown(text: &str) -> Markup {
    collapse::fold_prose(render_prose(text))
}

/// Renders text of unknown format: as JSON, as markdown, or as plain text.
pub(super) fn render_auto(text: &str) -> Markup {
    if text.trim().is_empty() {
        return html! {};
    }
    if is_json(text) {
        collapse::fold_lines(render_json(text))
    } else if is_markdown(text) {
        render_markdown(text)
    } else {
        collapse::fold_lines(render_plain(text))
    }
}

/// Returns `true` if the text is a JSON object or array.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns `true` if at least two of the first 60 lines start with a markdown marker.
pub(super) fn is_markdown(text: &str) -> bool {
    let is_marked = |line: &str| {
        let line = line.trim_start();
        let title = line.trim_start_matches('#');
        line.starts_with("```")
            || line.starts_with("**")
            || line.starts_with("- **")
            || (title.len() < line.len() && line.len() - title.len() <= 6 && title.starts_with(' '))
    };
    text.lines().take(60).filter(|line| is_marked(line)).take(2).count() == 2
}

/// Renders a list of file paths. Those after the first [`collapse::VISIBLE_LINES`] are collapsed.
pub(super) fn render_paths<'p>(view: &CallView<'_>, paths: impl Iterator<Item = &'p str>) -> Markup {
    let paths: Vec<&str> = paths.collect();
    let list =
        |some: &[&str]| html! { ul class="paths" { @for path in some { li { (view.render_path(path)) } } } };
    if paths.is_empty() {
        return html! { p class="muted" { "no matches" } };
    }
    if paths.len() <= collapse::VISIBLE_LINES {
        return list(&paths);
    }
    let (head, rest) = paths.split_at(collapse::VISIBLE_LINES);
    let label = figures::count_noun(rest.len() as u64, "more file");
    html! { (list(head)) details class="more" { summary { (label) } (list(rest)) } }
}

/// Renders the pattern and the path of a search, then the other fields of its input.
pub(super) fn render_pattern_and_path(view: &CallView<'_>) -> Markup {
    let mut fields = FieldList::default();
    if let Some(pattern) = view.input_str("pattern") {
        fields = fields.markup("pattern", html! { code { (truncate_line(pattern, 500)) } });
    }
    if let Some(path) = view.input_str("path") {
        fields = fields.markup("in", view.render_path(path));
    }
    fields.fields_except(&view.input, &["pattern", "path"]).render()
}

/// Renders a small heading within the body of a call.
pub(super) fn render_label(label: &str) -> Markup {
    html! { div class="label" { (label) } }
}
