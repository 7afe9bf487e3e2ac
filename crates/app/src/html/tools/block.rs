//! Pieces that several renderers draw alike: rows, folds, paths, words of unknown kind.

use maud::{Markup, html};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::call_view::CallView;
use super::collapse;
use crate::html::text::{json, plain, prose};
use crate::text::{clean, figures};

/// How long a value may be to stand beside its name.
const INLINE: usize = 120;

/// Puts words on one line and cuts them where they are too long.
pub(super) fn short(text: &str, limit: usize) -> String {
    // Text of megabytes is cut before it is cleaned, with room for what cleaning takes away.
    let head = &text[..text.floor_char_boundary(limit * 8)];
    let line = clean::line(head);
    match line.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None if head.len() < text.len() => format!("{line}…"),
        None => line,
    }
}

/// Names and values, each pair on a row.
#[derive(Default)]
pub(super) struct Rows(Vec<(String, Markup, bool)>);

impl Rows {
    /// Adds a row with a drawn value.
    pub(super) fn piece(mut self, name: &str, value: Markup) -> Rows {
        self.0.push((short(name, 60), value, false));
        self
    }

    /// Adds a row of words, where there are any.
    pub(super) fn words(self, name: &str, words: Option<&str>) -> Rows {
        match words {
            Some(words) if is_inline(words) => self.piece(name, html! { (clean::line(words)) }),
            Some(words) => self.wide(name, collapse::lines(plain(words))),
            None => self,
        }
    }

    /// Adds a row for any value: words beside their name or below it, numbers as they are, the rest as JSON.
    pub(super) fn value(self, name: &str, value: &Value) -> Rows {
        match value {
            Value::String(words) if words.is_empty() => {
                self.piece(name, html! { span class="quiet" { "empty" } })
            }
            Value::String(words) => self.words(name, Some(words)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.piece(name, html! { code { (clean::text(&value.to_string())) } })
            }
            Value::Array(_) | Value::Object(_) => {
                let text = value.to_string();
                if text.len() <= INLINE {
                    return self.piece(name, html! { code { (clean::line(&text)) } });
                }
                self.wide(name, collapse::lines(json(&text)))
            }
        }
    }

    /// Adds a row for each field of an object but these.
    pub(super) fn fields_but(self, value: &Value, but: &[&str]) -> Rows {
        let fields = value.as_object().into_iter().flatten();
        let shown = fields.filter(|(name, _)| !but.contains(&name.as_str()));
        shown.fold(self, |rows, (name, value)| rows.value(name, value))
    }

    /// Adds a value that needs the whole width.
    pub(super) fn wide(mut self, name: &str, value: Markup) -> Rows {
        self.0.push((short(name, 60), value, true));
        self
    }

    /// Draws the rows; nothing where there are none.
    pub(super) fn draw(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                dl class="rows" {
                    @for (name, value, is_wide) in &self.0 {
                        div class=[is_wide.then_some("wide")] { dt { (name) } dd { (value) } }
                    }
                }
            }
        }
    }
}

fn is_inline(words: &str) -> bool {
    words.len() <= INLINE && !words.trim_end().contains('\n')
}

/// Puts something behind a line that can be clicked.
pub(super) fn folded(says: &str, inside: &Markup) -> Markup {
    html! { details class="fold" { summary { (says) } (inside) } }
}

/// Draws words that somebody wrote as markdown, the end of long ones folded.
pub(super) fn wrote(text: &str) -> Markup {
    collapse::prose(prose(text))
}

/// Draws words of unknown kind: JSON laid out, markdown as such, the rest as it is.
pub(super) fn told(text: &str) -> Markup {
    if text.trim().is_empty() {
        return html! {};
    }
    if is_json(text) {
        collapse::lines(json(text))
    } else if is_markdown(text) {
        wrote(text)
    } else {
        collapse::lines(plain(text))
    }
}

/// Whether text is JSON worth laying out.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether text looks as if it were written as markdown: by the marks that stand at the start of lines.
pub(super) fn is_markdown(text: &str) -> bool {
    let is_mark = |line: &str| {
        let line = line.trim_start();
        let title = line.trim_start_matches('#');
        line.starts_with("```")
            || line.starts_with("**")
            || line.starts_with("- **")
            || (title.len() < line.len() && line.len() - title.len() <= 6 && title.starts_with(' '))
    };
    text.lines().take(60).filter(|line| is_mark(line)).take(2).count() == 2
}

/// Draws a list of paths.
pub(super) fn paths<'p>(matter: &CallView<'_>, found: impl Iterator<Item = &'p str>) -> Markup {
    let found: Vec<&str> = found.collect();
    let list =
        |some: &[&str]| html! { ul class="paths" { @for path in some { li { (matter.path(path)) } } } };
    if found.is_empty() {
        return html! { p class="quiet" { "nothing found" } };
    }
    if found.len() <= collapse::SHOWN {
        return list(&found);
    }
    let (head, rest) = found.split_at(collapse::SHOWN);
    let says = figures::things(rest.len() as u64, "more file");
    html! { (list(head)) details class="more" { summary { (says) } (list(rest)) } }
}

/// Draws a heading within a body.
pub(super) fn label(says: &str) -> Markup {
    html! { div class="label" { (says) } }
}
