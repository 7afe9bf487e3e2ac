//! Renders code as markup, with syntax highlighting.

use std::fmt::Write;
use std::ops::Range;

use maud::{Markup, PreEscaped};

use super::escape;
use crate::content::highlight::{Language, Token, TokenKind, pretty_print, tokenize};
use crate::text::clean;

/// Renders code with highlighting, or without if `language` is `None`. Numbers the lines from `first`, if it is set.
pub(crate) fn render_code(text: &str, language: Option<Language>, first: Option<u32>) -> Markup {
    let text = clean::text(text);
    let tokens = tokenize(&text, language);
    let mut out = String::with_capacity(text.len() + text.len() / 2 + 64);
    let mut next = 0;
    match first {
        None => {
            out.push_str("<pre class=\"code\"><code>");
            render_range(&mut out, &text, 0..text.len(), &tokens, &mut next, &[]);
        }
        Some(first) => {
            // Writing to a string cannot fail.
            let last = u64::from(first) + (text.lines().count() as u64).saturating_sub(1);
            let _ = write!(out, "<pre class=\"code code-numbered{}\"><code>", digits_class(last));
            let mut start = 0;
            for (number, line) in (u64::from(first)..).zip(text.split_inclusive('\n')) {
                let _ = write!(out, "<span class=\"ln\" data-n=\"{number}\">");
                render_range(&mut out, &text, start..start + line.len(), &tokens, &mut next, &[]);
                out.push_str("</span>");
                start += line.len();
            }
        }
    }
    out.push_str("</code></pre>");
    PreEscaped(out)
}

/// Renders JSON with indentation. Text that is too long or not JSON keeps its layout.
pub(crate) fn render_json(text: &str) -> Markup {
    render_code(pretty_print(text).as_deref().unwrap_or(text), Some(Language::Json), None)
}

/// Returns the class for the width of the line numbers up to `last`, with a space before it. Returns an empty string if
/// they have at most three digits.
pub(super) fn digits_class(last: u64) -> String {
    match last.checked_ilog10().unwrap_or_default() + 1 {
        ..=3 => String::new(),
        digits => format!(" digits-{}", digits.min(10)),
    }
}

/// Renders a range of a text with its tokens and marks.
///
/// `next` is the index of the first token that may overlap the range. Calls for consecutive ranges pass it on.
pub(super) fn render_range(
    out: &mut String,
    text: &str,
    range: Range<usize>,
    tokens: &[Token],
    next: &mut usize,
    marks: &[Range<usize>],
) {
    let mut at = range.start;
    let mut mark = 0;
    while at < range.end {
        while tokens.get(*next).is_some_and(|token| token.end <= at) {
            *next += 1;
        }
        while marks.get(mark).is_some_and(|mark| mark.end <= at) {
            mark += 1;
        }
        let token = tokens.get(*next).map(|token| (token.start..token.end, Some(token.kind)));
        let (kind, end) = find_current_span(at, range.end, token);
        let marked = marks.get(mark).map(|mark| (mark.clone(), Some(TokenKind::String)));
        let (marked, end) = find_current_span(at, end, marked);
        render_span(out, text.get(at..end).unwrap_or_default(), kind, marked.is_some());
        at = end;
    }
}

/// Returns the token kind at the offset `at`, or `None` outside of `next`, and the offset up to which it applies, at most
/// `end`. `next` is the first span that ends after `at`.
fn find_current_span(
    at: usize,
    end: usize,
    next: Option<(Range<usize>, Option<TokenKind>)>,
) -> (Option<TokenKind>, usize) {
    match next {
        Some((range, kind)) if range.start <= at => (kind, range.end.min(end)),
        Some((range, _)) => (None, range.start.min(end)),
        None => (None, end),
    }
}

/// Renders text with the class of its kind. `marked` text is emphasized.
fn render_span(out: &mut String, text: &str, kind: Option<TokenKind>, marked: bool) {
    let class = kind.map_or("", TokenKind::letter);
    if class.is_empty() && !marked {
        escape::push_escaped(out, text);
        return;
    }
    out.push_str("<span class=\"");
    out.push_str(class);
    if marked {
        out.push_str(if class.is_empty() { "pw" } else { " pw" });
    }
    out.push_str("\">");
    escape::push_escaped(out, text);
    out.push_str("</span>");
}

#[cfg(test)]
mod tests;
