//! Text with styles.

use std::ops::Range;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::cli::clean;

/// A line of text with styles. Contains no control characters.
#[derive(Debug, Clone, Default)]
pub(crate) struct StyledText {
    text: String,
    /// The end offset and the style of each run.
    runs: Vec<(usize, Style)>,
}

impl StyledText {
    /// Creates a text of one style.
    pub(crate) fn new(style: impl Into<Style>, text: &str) -> StyledText {
        let mut styled = StyledText::default();
        styled.push(style, text);
        styled
    }

    /// Appends text of a line. Cleans it; a tab becomes four spaces, a line break one.
    pub(super) fn push(&mut self, style: impl Into<Style>, text: &str) {
        let style = style.into();
        for part in clean::text(text).split_inclusive(['\t', '\n']) {
            self.text.push_str(part.trim_end_matches(['\t', '\n']));
            match part.bytes().next_back() {
                Some(b'\t') => self.text.push_str("    "),
                Some(b'\n') => self.text.push(' '),
                _ => {}
            }
        }
        let end = self.text.len();
        match self.runs.last_mut() {
            Some((last_end, last)) if *last == style => *last_end = end,
            Some((last_end, _)) if *last_end == end => {}
            None if end == 0 => {}
            _ => self.runs.push((end, style)),
        }
    }

    /// Appends another text with its styles.
    pub(super) fn append(&mut self, other: &StyledText) {
        let mut start = 0;
        for (end, style) in &other.runs {
            self.push(*style, &other.text[start..*end]);
            start = *end;
        }
    }

    /// Returns the text without its styles.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.text.width()
    }

    /// Returns a range of the text with escape codes. `next` is the index of the first run that may overlap the range.
    /// Calls for consecutive ranges pass it on.
    pub(super) fn paint(&self, range: Range<usize>, next: &mut usize) -> String {
        let mut painted = String::with_capacity(range.len() + 16);
        let mut at = range.start;
        while at < range.end {
            while self.runs.get(*next).is_some_and(|(end, _)| *end <= at) {
                *next += 1;
            }
            let (end, style) = self.runs.get(*next).copied().unwrap_or((range.end, Style::new()));
            let end = end.min(range.end);
            painted.push_str(&format!("{style}{}{style:#}", &self.text[at..end]));
            at = end;
        }
        painted
    }

    /// Returns a range of the text. `restyle` maps each style.
    pub(super) fn slice(&self, range: Range<usize>, restyle: impl Fn(Style) -> Style) -> StyledText {
        let mut slice = StyledText::default();
        let mut start = 0;
        for (end, style) in &self.runs {
            let part = start.max(range.start)..(*end).min(range.end);
            if part.start < part.end {
                slice.push(restyle(*style), &self.text[part]);
            }
            start = *end;
        }
        slice
    }

    /// Returns the text with escape codes, without the spaces at its end.
    pub(super) fn paint_trimmed(&self) -> String {
        self.paint(0..self.text.trim_end_matches(' ').len(), &mut 0)
    }

    /// Returns the whole text with escape codes.
    pub(super) fn paint_all(&self) -> String {
        self.paint(0..self.text.len(), &mut 0)
    }
}

/// Returns a style with the effects of both, and the colours of `over` where it has any.
pub(super) fn overlay(base: impl Into<Style>, over: impl Into<Style>) -> Style {
    let (base, over) = (base.into(), over.into());
    Style::new()
        .fg_color(over.get_fg_color().or(base.get_fg_color()))
        .bg_color(over.get_bg_color().or(base.get_bg_color()))
        .effects(base.get_effects() | over.get_effects())
}
