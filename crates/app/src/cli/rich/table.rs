//! Tables whose columns are aligned by display width.

use pulldown_cmark::Alignment;

use super::page::Page;
use super::styled::{StyledText, overlay};
use super::wrap::wrap_words;
use crate::cli::error::CliError;
use crate::cli::style::{PLAIN, QUIET, STRONG};

/// Minimum number of columns of a narrowed cell.
const MIN_CELL_WIDTH: usize = 6;

/// The text between two cells.
const SEPARATOR: &str = " │ ";

/// A table that is being read. The first row is its head.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<StyledText>>,
    /// The cells of the current row.
    row: Vec<StyledText>,
}

impl Table {
    /// Creates a table without rows.
    pub(super) fn new(alignments: Vec<Alignment>) -> Table {
        Table { alignments, rows: Vec::new(), row: Vec::new() }
    }

    /// Adds a cell to the current row.
    pub(super) fn push_cell(&mut self, cell: StyledText) {
        self.row.push(cell);
    }

    /// Ends the current row. `rest` is the source of cells beyond the last column.
    pub(super) fn end_row(&mut self, rest: &StyledText) {
        let mut row = std::mem::take(&mut self.row);
        if let Some(last) = row.last_mut().filter(|_| !rest.text().is_empty()) {
            last.push(PLAIN, " ");
            last.append(rest);
        }
        self.rows.push(row);
    }

    /// Prints the table. Cells are wrapped if it is too wide; if there are too many columns, each row becomes a list.
    pub(super) fn print(&self, page: &mut Page<'_>) -> Result<(), CliError> {
        match self.fit_columns(page.text_width()) {
            Some(widths) => self.print_grid(&widths, page),
            None => self.print_records(page),
        }
    }

    /// Returns the widths of the columns in a table of at most `width` columns. Returns `None` if they do not fit.
    ///
    /// Narrow columns keep their width; the others share the rest evenly.
    fn fit_columns(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut widths = vec![1; count];
        for (idx, cell) in self.rows.iter().flat_map(|row| row.iter().enumerate()) {
            widths[idx] = cell.width().max(widths[idx]);
        }
        let free = width.checked_sub(SEPARATOR.chars().count() * count.saturating_sub(1))?;
        if widths.iter().map(|width| *width.min(&MIN_CELL_WIDTH)).sum::<usize>() > free {
            return None;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|idx| widths[*idx]);
        let mut left = free;
        for (rank, idx) in order.into_iter().enumerate() {
            widths[idx] = widths[idx].min(left / (count - rank)).max(1);
            left -= widths[idx];
        }
        Some(widths)
    }

    /// Prints the rows with aligned columns and a rule below the head. Rows with wrapped cells are separated by rules.
    fn print_grid(&self, widths: &[usize], page: &mut Page<'_>) -> Result<(), CliError> {
        let is_wrapped = self.rows.iter().flat_map(|row| row.iter().zip(widths)).any(|(c, w)| c.width() > *w);
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let rule = StyledText::new(QUIET, &rule.join("─┼─"));
        let separator = StyledText::new(QUIET, SEPARATOR);
        for (idx, row) in self.rows.iter().enumerate() {
            if idx == 1 || (idx > 1 && is_wrapped) {
                page.print_line(&rule)?;
            }
            let cells: Vec<Vec<StyledText>> =
                row.iter().zip(widths).map(|(cell, width)| wrap_cell(cell, *width, idx == 0)).collect();
            for at in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
                let mut line = StyledText::default();
                for (column, width) in widths.iter().enumerate() {
                    if column > 0 {
                        line.append(&separator);
                    }
                    let part = cells.get(column).and_then(|cell| cell.get(at)).cloned().unwrap_or_default();
                    let free = width.saturating_sub(part.width());
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => free,
                        Some(Alignment::Center) => free / 2,
                        _ => 0,
                    };
                    line.push(PLAIN, &" ".repeat(before));
                    line.append(&part);
                    if column + 1 < widths.len() {
                        line.push(PLAIN, &" ".repeat(free - before));
                    }
                }
                page.print_line(&line)?;
            }
        }
        Ok(())
    }

    /// Prints each row as a list of its cells, each after the head of its column.
    fn print_records(&self, page: &mut Page<'_>) -> Result<(), CliError> {
        let Some((head, rows)) = self.rows.split_first() else { return Ok(()) };
        // Without rows the head is all there is.
        let rows = if rows.is_empty() { std::slice::from_ref(head) } else { rows };
        for (idx, row) in rows.iter().enumerate() {
            if idx > 0 {
                page.print_blank()?;
            }
            for (column, cell) in row.iter().enumerate() {
                if cell.text().is_empty() && idx > 0 {
                    continue;
                }
                let mut line = StyledText::default();
                if let Some(head) =
                    head.get(column).filter(|head| !head.text().is_empty() && !std::ptr::eq(*head, cell))
                {
                    line.push(STRONG, head.text());
                    line.push(QUIET, ": ");
                }
                line.append(cell);
                page.print_prose(&line)?;
            }
        }
        Ok(())
    }
}

/// Breaks a cell into lines of at most `width` columns. The head is bold.
fn wrap_cell(cell: &StyledText, width: usize, is_head: bool) -> Vec<StyledText> {
    let ranges = wrap_words(cell.text(), width);
    ranges
        .into_iter()
        .map(|range| cell.slice(range, |style| if is_head { overlay(style, STRONG) } else { style }))
        .collect()
}
