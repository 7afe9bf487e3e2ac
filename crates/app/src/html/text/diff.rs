//! Renders the rows of a diff as markup.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::code::{digits_class, render_range};
use crate::content::diff::{Hunk, Row, RowKind, find_changed_words, rows_from_hunks, rows_from_texts};
use crate::content::highlight::{Language, Token, tokenize};
use crate::text::{clean, figures};

/// Renders the difference between two texts, line by line, with changed words marked.
pub(crate) fn render_diff(old: &str, new: &str, language: Option<Language>) -> Markup {
    let rows = rows_from_texts(&clean::text(old), &clean::text(new));
    if rows.is_empty() && old != new {
        return html! { p class="patch-none" { "only line endings or invisible characters differ" } };
    }
    render_rows(&rows, language)
}

/// Renders the hunks of a diff with their line numbers.
pub(crate) fn render_hunks(hunks: &[Hunk], language: Option<Language>) -> Markup {
    render_rows(&rows_from_hunks(hunks), language)
}

/// The shown lines before or after the change, with their tokens.
struct Side {
    text: String,
    tokens: Vec<Token>,
    /// The offset of the next line, and the index of the first token that may overlap it.
    at: usize,
    next: usize,
}

impl Side {
    /// Joins the rows of one side: all except gaps and those of the kind `other`.
    fn new(rows: &[Row], other: RowKind, language: Option<Language>) -> Side {
        let mut text = String::new();
        for row in rows.iter().filter(|row| row.kind != other && !matches!(row.kind, RowKind::Gap(_))) {
            text.push_str(&row.text);
            text.push('\n');
        }
        Side { tokens: tokenize(&text, language), text, at: 0, next: 0 }
    }

    /// Renders the next line, which has `len` bytes, or skips it if `out` is `None`. `marks` are ranges within the
    /// line.
    fn render_line(&mut self, out: Option<&mut String>, len: usize, marks: &[std::ops::Range<usize>]) {
        let marks = marks.iter().map(|mark| mark.start + self.at..mark.end + self.at).collect::<Vec<_>>();
        if let Some(out) = out {
            render_range(out, &self.text, self.at..self.at + len, &self.tokens, &mut self.next, &marks);
        }
        self.at += len + 1;
    }
}

/// Renders the rows as a `<pre>` element.
fn render_rows(rows: &[Row], language: Option<Language>) -> Markup {
    let marks = find_changed_words(rows);
    let mut old = Side::new(rows, RowKind::Added, language);
    let mut new = Side::new(rows, RowKind::Removed, language);
    let mut out = String::with_capacity((old.text.len() + new.text.len()) * 2 + 64);
    let last = rows.iter().map(|row| row.old.max(row.new)).max().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(out, "<pre class=\"patch{}\">", digits_class(last.into()));
    for (row, marks) in rows.iter().zip(&marks) {
        let (class, sign) = match row.kind {
            RowKind::Same => ("pl", ' '),
            RowKind::Removed => ("pl pl-del", '-'),
            RowKind::Added => ("pl pl-add", '+'),
            RowKind::Gap(lines) => {
                let lines = figures::count_noun(u64::from(lines), "line");
                let _ = write!(out, "<span class=\"pl pl-gap\">⋯ {lines}\n</span>");
                continue;
            }
        };
        let _ = write!(out, "<span class=\"{class}\"><span class=\"pn\"");
        if row.kind != RowKind::Added {
            let _ = write!(out, " data-o=\"{}\"", row.old);
        }
        if row.kind != RowKind::Removed {
            let _ = write!(out, " data-n=\"{}\"", row.new);
        }
        out.push_str("></span>");
        out.push(sign);
        let len = row.text.len();
        match row.kind {
            RowKind::Removed => old.render_line(Some(&mut out), len, marks),
            RowKind::Added => new.render_line(Some(&mut out), len, marks),
            _ => {
                old.render_line(None, len, &[]);
                new.render_line(Some(&mut out), len, marks);
            }
        }
        out.push_str("\n</span>");
    }
    out.push_str("</pre>");
    PreEscaped(out)
}

#[cfg(test)]
mod tests;
