//! One line of a terminal while it is written.

use super::style::Style;
use crate::html::text::escape;
use crate::text::clean;

/// The line that is being written, and all lines before it as markup.
#[derive(Debug, Default)]
pub(super) struct Screen {
    out: String,
    cells: Vec<(char, Style)>,
    cursor: usize,
    pub(super) style: Style,
}

impl Screen {
    /// Writes a character where the cursor is.
    pub(super) fn put(&mut self, c: char) {
        match self.cells.get_mut(self.cursor) {
            Some(cell) => *cell = (c, self.style),
            None => self.cells.push((c, self.style)),
        }
        self.cursor += 1;
    }

    /// Goes back to the start of the line: what comes now is written over it.
    pub(super) fn back_to_start(&mut self) {
        self.cursor = 0;
    }

    /// Goes back by one; at the end of the line the character goes.
    pub(super) fn backspace(&mut self) {
        if self.cursor == self.cells.len() {
            self.cells.pop();
        }
        self.cursor = self.cursor.saturating_sub(1);
    }

    /// Erases the line: from the cursor on, or all of it.
    pub(super) fn erase(&mut self, all: bool) {
        if all {
            self.cursor = 0;
        }
        self.cells.truncate(self.cursor);
    }

    /// Ends the line.
    pub(super) fn new_line(&mut self) {
        self.draw();
        self.out.push('\n');
    }

    /// Returns all that was written.
    pub(super) fn finish(mut self) -> String {
        self.draw();
        self.out
    }

    /// Draws the line: a span for each stretch of one style.
    fn draw(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let mut text = String::new();
        for run in cells.chunk_by(|a, b| a.1 == b.1) {
            text.clear();
            text.extend(run.iter().map(|(c, _)| *c));
            let style = run.first().map_or_else(Style::default, |(_, style)| *style);
            if style.is_plain() {
                escape::push(&mut self.out, &clean::text(&text));
                continue;
            }
            self.out.push_str("<span class=\"");
            style.classes(&mut self.out);
            self.out.push_str("\">");
            escape::push(&mut self.out, &clean::text(&text));
            self.out.push_str("</span>");
        }
        self.cells = cells;
        self.cells.clear();
        self.cursor = 0;
    }
}
