//! The current line of a terminal.

use super::style::Style;
use crate::html::text::escape;
use crate::text::clean;

/// The line that is being written, and the rendered lines before it.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// The markup of the finished lines.
    out: String,
    /// The characters of the current line, with their styles.
    cells: Vec<(char, Style)>,
    /// The index of the cell that the next character overwrites.
    cursor: usize,
    /// The style of the next characters.
    pub(super) style: Style,
}

impl Screen {
    /// Writes a character at the cursor.
    pub(super) fn put(&mut self, c: char) {
        match self.cells.get_mut(self.cursor) {
            Some(cell) => *cell = (c, self.style),
            None => self.cells.push((c, self.style)),
        }
        self.cursor += 1;
    }

    /// Moves the cursor to the start of the line. The following characters overwrite it.
    pub(super) fn move_to_start(&mut self) {
        self.cursor = 0;
    }

    /// Moves the cursor back by one. At the end of the line the last character is removed.
    pub(super) fn backspace(&mut self) {
        if self.cursor == self.cells.len() {
            self.cells.pop();
        }
        self.cursor = self.cursor.saturating_sub(1);
    }

    /// Erases the current line from the cursor on. If `all` is set, erases all of it and moves the cursor to its
    /// start.
    pub(super) fn erase(&mut self, all: bool) {
        if all {
            self.cursor = 0;
        }
        self.cells.truncate(self.cursor);
    }

    /// Renders the current line and starts a new one.
    pub(super) fn new_line(&mut self) {
        self.render_line();
        self.out.push('\n');
    }

    /// Renders the current line and returns the markup of all lines.
    pub(super) fn finish(mut self) -> String {
        self.render_line();
        self.out
    }

    /// Appends the markup of the current line, with a span for each run of one style, and clears the line.
    fn render_line(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let mut text = String::new();
        for run in cells.chunk_by(|a, b| a.1 == b.1) {
            text.clear();
            text.extend(run.iter().map(|(c, _)| *c));
            let style = run.first().map_or_else(Style::default, |(_, style)| *style);
            if style.is_plain() {
                escape::push_escaped(&mut self.out, &clean::text(&text));
                continue;
            }
            self.out.push_str("<span class=\"");
            style.write_classes(&mut self.out);
            self.out.push_str("\">");
            escape::push_escaped(&mut self.out, &clean::text(&text));
            self.out.push_str("</span>");
        }
        self.cells = cells;
        self.cells.clear();
        self.cursor = 0;
    }
}
