//! From rows to markup.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::row::{Hunk, Row, Sign, compared, placed};
use super::words::changed;
use crate::html::text::Language;
use crate::html::text::highlight::{Token, paint, tokens};
use crate::text::{clean, figures};

/// Draws the change from one text to another.
pub(crate) fn patch(old: &str, new: &str, language: Option<Language>) -> Markup {
    let rows = compared(&clean::text(old), &clean::text(new));
    if rows.is_empty() && old != new {
        return html! { p class="patch-none" { "only line ends or invisible characters differ" } };
    }
    draw(&rows, language)
}

/// Draws a change whose places in the file are known.
pub(crate) fn hunks(hunks: &[Hunk], language: Option<Language>) -> Markup {
    draw(&placed(hunks), language)
}

/// The text before or after a change, as far as it is shown, and what its words are.
struct Side {
    text: String,
    tokens: Vec<Token>,
    /// Where the next line begins, and the first token that may matter to it.
    at: usize,
    next: usize,
}

impl Side {
    fn of(rows: &[Row], other: Sign, language: Option<Language>) -> Side {
        let mut text = String::new();
        for row in rows.iter().filter(|row| row.sign != other && !matches!(row.sign, Sign::Gap(_))) {
            text.push_str(&row.text);
            text.push('\n');
        }
        Side { tokens: tokens(&text, language), text, at: 0, next: 0 }
    }

    /// Draws the next line, or passes over it.
    fn line(&mut self, out: Option<&mut String>, len: usize, marks: &[std::ops::Range<usize>]) {
        let marks = marks.iter().map(|mark| mark.start + self.at..mark.end + self.at).collect::<Vec<_>>();
        if let Some(out) = out {
            paint(out, &self.text, self.at..self.at + len, &self.tokens, &mut self.next, &marks);
        }
        self.at += len + 1;
    }
}

fn draw(rows: &[Row], language: Option<Language>) -> Markup {
    let marks = changed(rows);
    let mut old = Side::of(rows, Sign::Added, language);
    let mut new = Side::of(rows, Sign::Removed, language);
    let mut out = String::with_capacity((old.text.len() + new.text.len()) * 2 + 64);
    out.push_str("<pre class=\"patch\">");
    for (row, marks) in rows.iter().zip(&marks) {
        let (class, sign) = match row.sign {
            Sign::Same => ("pl", ' '),
            Sign::Removed => ("pl pl-del", '-'),
            Sign::Added => ("pl pl-add", '+'),
            Sign::Gap(lines) => {
                let lines = figures::things(u64::from(lines), "line");
                // Writing to a string cannot fail, here and below.
                let _ = write!(out, "<span class=\"pl pl-gap\">⋯ {lines}\n</span>");
                continue;
            }
        };
        let _ = write!(out, "<span class=\"{class}\"><span class=\"pn\"");
        if row.sign != Sign::Added {
            let _ = write!(out, " data-o=\"{}\"", row.old);
        }
        if row.sign != Sign::Removed {
            let _ = write!(out, " data-n=\"{}\"", row.new);
        }
        out.push_str("></span>");
        out.push(sign);
        let len = row.text.len();
        match row.sign {
            Sign::Removed => old.line(Some(&mut out), len, marks),
            Sign::Added => new.line(Some(&mut out), len, marks),
            _ => {
                old.line(None, len, &[]);
                new.line(Some(&mut out), len, marks);
            }
        }
        out.push_str("\n</span>");
    }
    out.push_str("</pre>");
    PreEscaped(out)
}

#[cfg(test)]
mod tests;
