//! Columns that line up by display width and fit the screen.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::error::CliError;
use super::out::Out;
use super::style::{PLAIN, QUIET, paint};

pub(crate) use crate::text::fit::truncate_to_width;

/// A cell: pieces of cleaned text, each in its style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell(Vec<(Style, String)>);

impl Cell {
    /// Makes a cell of one style.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Cell {
        Cell(vec![(style, text.into())])
    }

    /// Adds a piece.
    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Cell {
        self.0.push((style, text.into()));
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// Draws at most `width` columns.
    pub(crate) fn draw(&self, width: usize) -> String {
        let mut left = width;
        let mut behind = self.width();
        let mut drawn = String::new();
        for (style, text) in &self.0 {
            behind -= text.width();
            // What fills the room to the last column is cut where something would follow.
            let fills = behind > 0 && text.width() == left;
            let fitted = if fills {
                truncate_to_width(&format!("{text} "), left)
            } else {
                truncate_to_width(text, left)
            };
            left -= fitted.width().min(left);
            drawn.push_str(&paint(*style, &fitted));
            if fitted != *text {
                break;
            }
        }
        drawn
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(PLAIN, text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(PLAIN, text)
    }
}

/// Cuts text to a display width from its beginning; what is cut begins with `…`.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let wide = |c: char| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
    let fits = |(_, c): &(usize, char)| {
        used += wide(*c);
        used <= width
    };
    let from = text.char_indices().rev().take_while(fits).last().map_or(text.len(), |(at, _)| at);
    if width == 0 { String::new() } else { format!("…{}", &text[from..]) }
}

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows under headings. A column in which no row has anything is left out.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(&'static str, Align, usize)>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
    /// The column that gives way; else the last left-aligned one.
    yielding: Option<usize>,
}

impl Table {
    /// Makes a table that stands `indent` columns to the right.
    pub(crate) fn new(indent: usize) -> Table {
        Table { columns: Vec::new(), rows: Vec::new(), indent, yielding: None }
    }

    /// Adds a column of at most `most` columns.
    pub(crate) fn column(mut self, head: &'static str, align: Align, most: usize) -> Table {
        self.columns.push((head, align, most));
        self
    }

    /// Lets the column that was added last give way where the table is wider than the screen.
    pub(crate) fn yielding(mut self) -> Table {
        self.yielding = self.columns.len().checked_sub(1);
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Draws the table; where it is wider than the screen, one column gives way.
    pub(crate) fn print(&self, out: &mut Out) -> Result<(), CliError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths: Vec<usize> = Vec::with_capacity(self.columns.len());
        for (k, (head, _, most)) in self.columns.iter().enumerate() {
            let widest = self.rows.iter().filter_map(|row| row.get(k)).map(Cell::width).max().unwrap_or(0);
            widths.push(if widest == 0 { 0 } else { widest.max(head.width()).min(*most) });
        }
        let gaps = widths.iter().filter(|&&width| width > 0).count().saturating_sub(1) * 2;
        let total = self.indent + gaps + widths.iter().sum::<usize>();
        let last = || (0..widths.len()).rfind(|&k| self.columns[k].1 == Align::Left && widths[k] > 0);
        if let Some(k) = self.yielding.or_else(last).filter(|_| total > out.width()) {
            widths[k] = widths[k].saturating_sub(total - out.width()).max(12.min(widths[k]));
        }
        if self.columns.iter().any(|(head, ..)| !head.is_empty()) {
            let heads: Vec<Cell> = self.columns.iter().map(|(head, ..)| Cell::new(QUIET, *head)).collect();
            self.draw(&heads, &widths, out)?;
        }
        self.rows.iter().try_for_each(|row| self.draw(row, &widths, out))
    }

    fn draw(&self, row: &[Cell], widths: &[usize], out: &mut Out) -> Result<(), CliError> {
        let mut line = " ".repeat(self.indent);
        let mut owed = 0;
        for (k, cell) in row.iter().enumerate() {
            let width = widths[k];
            if width == 0 {
                continue;
            }
            let blank = " ".repeat(width - cell.width().min(width));
            let drawn = cell.draw(width);
            // Spaces are owed until something follows, so that no line ends in them.
            if self.columns[k].1 == Align::Right {
                owed += blank.len();
            }
            if !drawn.is_empty() {
                line.push_str(&" ".repeat(owed));
                line.push_str(&drawn);
                owed = 0;
            }
            owed += 2 + if self.columns[k].1 == Align::Left { blank.len() } else { 0 };
        }
        out.line(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, PLAIN, fit_end, truncate_to_width};
    use anstream::adapter::strip_str;

    #[test]
    fn a_cell_shows_that_it_was_cut() {
        let cell = Cell::new(PLAIN, "abc").and(super::QUIET, "def").and(PLAIN, "");
        let drawn = |width| strip_str(&cell.draw(width)).to_string();
        assert_eq!([0, 1, 3, 4, 5, 6, 7].map(drawn), ["", "…", "ab…", "abc…", "abcd…", "abcdef", "abcdef"]);
    }

    #[test]
    fn text_is_cut_by_display_width() {
        assert_eq!(
            [
                truncate_to_width("abc", 3),
                truncate_to_width("abcd", 3),
                truncate_to_width("漢字漢字", 5),
                truncate_to_width("abc", 0)
            ],
            ["abc", "ab…", "漢字…", ""]
        );
        assert_eq!(
            [fit_end("abc", 3), fit_end("abcd", 3), fit_end("漢字漢字", 4), fit_end("abc", 0)],
            ["abc", "…cd", "…字", ""]
        );
    }
}
