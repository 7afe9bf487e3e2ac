//! Tables with columns aligned by display width that fit the screen.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::error::CliError;
use super::out::Out;
use super::style::{PLAIN, QUIET, paint};

pub(crate) use crate::text::layout::truncate_to_width;

/// A table cell: parts of cleaned text, each with a style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell(Vec<(Style, String)>);

impl Cell {
    /// Creates a cell with one part.
    pub(crate) fn new(style: Style, text: impl Into<String>) -> Cell {
        Cell(vec![(style, text.into())])
    }

    /// Appends a part with its own style.
    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Cell {
        self.0.push((style, text.into()));
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// Renders the parts with their styles, truncated to `width` columns.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut free = width;
        let mut remaining = self.width();
        let mut rendered = String::new();
        for (style, text) in &self.0 {
            remaining -= text.width();
            // Text that fills the width exactly is truncated if more text follows.
            let must_truncate = remaining > 0 && text.width() == free;
            let fitted = if must_truncate {
                truncate_to_width(&format!("{text} "), free)
            } else {
                truncate_to_width(text, free)
            };
            free -= fitted.width().min(free);
            rendered.push_str(&paint(*style, &fitted));
            if fitted != *text {
                break;
            }
        }
        rendered
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

/// Truncates text at its start to a display width in columns. Truncated text begins with `…`.
pub(crate) fn truncate_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let char_width = |c: char| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
    let fits = |(_, c): &(usize, char)| {
        used += char_width(*c);
        used <= width
    };
    let start = text.char_indices().rev().take_while(fits).last().map_or(text.len(), |(pos, _)| pos);
    if width == 0 { String::new() } else { format!("…{}", &text[start..]) }
}

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table with headings. Columns in which every cell is empty are omitted.
#[derive(Debug)]
pub(crate) struct Table {
    /// Heading, alignment and maximum width of each column.
    columns: Vec<(&'static str, Align, usize)>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
    /// The index of the column that shrinks (default: the last left-aligned one).
    shrinking: Option<usize>,
}

impl Table {
    /// Creates a table, indented by `indent` columns.
    pub(crate) fn new(indent: usize) -> Table {
        Table { columns: Vec::new(), rows: Vec::new(), indent, shrinking: None }
    }

    /// Adds a column with a maximum width. A column of width 0 is hidden.
    pub(crate) fn column(mut self, head: &'static str, align: Align, max_width: usize) -> Table {
        self.columns.push((head, align, max_width));
        self
    }

    /// Makes the last added column shrink if the table is wider than the screen.
    pub(crate) fn shrinking(mut self) -> Table {
        self.shrinking = self.columns.len().checked_sub(1);
        self
    }

    /// Adds a row, with at most one cell per column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Prints the table, or nothing if it has no rows. Prints no heading if all headings are empty.
    ///
    /// If the table is wider than the screen, one column shrinks, to 12 columns at least.
    pub(crate) fn print(&self, out: &mut Out) -> Result<(), CliError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths: Vec<usize> = Vec::with_capacity(self.columns.len());
        for (idx, (head, _, max_width)) in self.columns.iter().enumerate() {
            let widest = self.rows.iter().filter_map(|row| row.get(idx)).map(Cell::width).max().unwrap_or(0);
            widths.push(if widest == 0 { 0 } else { widest.max(head.width()).min(*max_width) });
        }
        let gaps = widths.iter().filter(|&&width| width > 0).count().saturating_sub(1) * 2;
        let total = self.indent + gaps + widths.iter().sum::<usize>();
        let last_left_aligned =
            || (0..widths.len()).rfind(|&idx| self.columns[idx].1 == Align::Left && widths[idx] > 0);
        if let Some(idx) = self.shrinking.or_else(last_left_aligned).filter(|_| total > out.width()) {
            widths[idx] = widths[idx].saturating_sub(total - out.width()).max(12.min(widths[idx]));
        }
        if self.columns.iter().any(|(head, ..)| !head.is_empty()) {
            let heads: Vec<Cell> = self.columns.iter().map(|(head, ..)| Cell::new(QUIET, *head)).collect();
            self.print_row(&heads, &widths, out)?;
        }
        self.rows.iter().try_for_each(|row| self.print_row(row, &widths, out))
    }

    fn print_row(&self, row: &[Cell], widths: &[usize], out: &mut Out) -> Result<(), CliError> {
        let mut line = " ".repeat(self.indent);
        let mut pending_spaces = 0;
        for (idx, cell) in row.iter().enumerate() {
            let width = widths[idx];
            if width == 0 {
                continue;
            }
            let padding = width - cell.width().min(width);
            let text = cell.render(width);
            // Spaces are added only before further text, so that no line ends in spaces.
            if self.columns[idx].1 == Align::Right {
                pending_spaces += padding;
            }
            if !text.is_empty() {
                line.push_str(&" ".repeat(pending_spaces));
                line.push_str(&text);
                pending_spaces = 0;
            }
            pending_spaces += 2 + if self.columns[idx].1 == Align::Left { padding } else { 0 };
        }
        out.line(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, PLAIN, truncate_start, truncate_to_width};
    use anstream::adapter::strip_str;

    #[test]
    fn truncated_cells_are_marked() {
        let cell = Cell::new(PLAIN, "abc").and(super::QUIET, "def").and(PLAIN, "");
        let rendered = |width| strip_str(&cell.render(width)).to_string();
        assert_eq!(
            [0, 1, 3, 4, 5, 6, 7].map(rendered),
            ["", "…", "ab…", "abc…", "abcd…", "abcdef", "abcdef"]
        );
    }

    #[test]
    fn text_is_truncated_by_display_width() {
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
            [
                truncate_start("abc", 3),
                truncate_start("abcd", 3),
                truncate_start("漢字漢字", 4),
                truncate_start("abc", 0)
            ],
            ["abc", "…cd", "…字", ""]
        );
    }
}
