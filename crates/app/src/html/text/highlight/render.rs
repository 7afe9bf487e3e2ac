//! From tokens to markup.

use std::fmt::Write;
use std::ops::Range;

use maud::{Markup, PreEscaped};

use super::Language;
use super::token::{Kind, Token, tokens};
use crate::html::text::escape;
use crate::text::clean;

/// Draws code; `first` is the number of its first line, where lines are numbered.
pub(crate) fn code(text: &str, language: Option<Language>, first: Option<u32>) -> Markup {
    let text = clean::text(text);
    let tokens = tokens(&text, language);
    let mut out = String::with_capacity(text.len() + text.len() / 2 + 64);
    let mut next = 0;
    match first {
        None => {
            out.push_str("<pre class=\"code\"><code>");
            paint(&mut out, &text, 0..text.len(), &tokens, &mut next, &[]);
        }
        Some(first) => {
            out.push_str("<pre class=\"code code-no\"><code>");
            let mut start = 0;
            for (number, line) in (u64::from(first)..).zip(text.split_inclusive('\n')) {
                // Writing to a string cannot fail.
                let _ = write!(out, "<span class=\"ln\" data-n=\"{number}\">");
                paint(&mut out, &text, start..start + line.len(), &tokens, &mut next, &[]);
                out.push_str("</span>");
                start += line.len();
            }
        }
    }
    out.push_str("</code></pre>");
    PreEscaped(out)
}

/// Draws a part of a text with its tokens and with the words that are marked.
///
/// `next` is the first token that may matter; parts that follow each other hand it on.
pub(in crate::html::text) fn paint(
    out: &mut String,
    text: &str,
    part: Range<usize>,
    tokens: &[Token],
    next: &mut usize,
    marks: &[Range<usize>],
) {
    let mut at = part.start;
    let mut mark = 0;
    while at < part.end {
        while tokens.get(*next).is_some_and(|token| token.end <= at) {
            *next += 1;
        }
        while marks.get(mark).is_some_and(|mark| mark.end <= at) {
            mark += 1;
        }
        let token = tokens.get(*next).map(|token| (token.start..token.end, Some(token.kind)));
        let (color, until) = here(at, part.end, token);
        let marked = marks.get(mark).map(|mark| (mark.clone(), Some(Kind::Text)));
        let (marked, until) = here(at, until, marked);
        span(out, text.get(at..until).unwrap_or_default(), color, marked.is_some());
        at = until;
    }
}

/// Says what holds at a place, and up to where.
fn here(at: usize, end: usize, next: Option<(Range<usize>, Option<Kind>)>) -> (Option<Kind>, usize) {
    match next {
        Some((range, kind)) if range.start <= at => (kind, range.end.min(end)),
        Some((range, _)) => (None, range.start.min(end)),
        None => (None, end),
    }
}

fn span(out: &mut String, text: &str, color: Option<Kind>, marked: bool) {
    let class = color.map_or("", Kind::class);
    if class.is_empty() && !marked {
        escape::push(out, text);
        return;
    }
    out.push_str("<span class=\"");
    out.push_str(class);
    if marked {
        out.push_str(if class.is_empty() { "pw" } else { " pw" });
    }
    out.push_str("\">");
    escape::push(out, text);
    out.push_str("</span>");
}

#[cfg(test)]
mod tests;
