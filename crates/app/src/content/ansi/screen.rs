//! The current line of a terminal.

use super::style::OutputStyle;
use crate::text::clean;

/// The line that is being written. Finished lines are passed to `emit`.
pub(super) struct Screen<F> {
    /// Receives the cleaned text of each run of one style, and each line break.
    emit: F,
    /// The characters of the current line, with their styles.
    cells: Vec<(char, OutputStyle)>,
    /// The index of the cell that the next character overwrites.
    cursor: usize,
    /// The style of the next characters.
    pub(super) style: OutputStyle,
}

impl<F: FnMut(OutputStyle, &str)> Screen<F> {
    /// Creates an empty screen.
    pub(super) fn new(emit: F) -> Screen<F> {
        Screen { emit, cells: Vec::new(), cursor: 0, style: OutputStyle::default() }
    }

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

    /// Emits the current line and starts a new one.
    pub(super) fn new_line(&mut self) {
        self.emit_line();
        (self.emit)(OutputStyle::default(), "\n");
    }

    /// Emits the current line.
    pub(super) fn finish(mut self) {
        self.emit_line();
    }

    /// Emits the current line, run by run, and clears it.
    fn emit_line(&mut self) {
        let mut text = String::new();
        for run in self.cells.chunk_by(|a, b| a.1 == b.1) {
            text.clear();
            text.extend(run.iter().map(|(c, _)| *c));
            let style = run.first().map_or_else(OutputStyle::default, |(_, style)| *style);
            (self.emit)(style, &clean::text(&text));
        }
        self.cells.clear();
        self.cursor = 0;
    }
}
