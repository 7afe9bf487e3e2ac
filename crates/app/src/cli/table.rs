//! Tables with columns aligned by display width that fit the screen.

use std::borrow::Cow;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use super::error::CliError;
use super::out::Out;
use super::style::{PLAIN, QUIET, paint};

pub(crate) use crate::text::layout::truncate_to_width;

/// A table cell: parts of cleaned text, each with a style.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    parts: Vec<(Style, String)>,
    /// Whether the start of a wide cell is cut instead of its end.
    keeps_end: bool,
}

impl Cell {
    /// Creates a cell with one part.
    pub(crate) fn new(style: impl Into<Style>, text: impl Into<String>) -> Cell {
        Cell { parts: vec![(style.into(), text.into())], keeps_end: false }
    }

    /// Appends a part with its own style.
    pub(crate) fn and(mut self, style: impl Into<Style>, text: impl Into<String>) -> Cell {
        self.parts.push((style.into(), text.into()));
        self
    }

    /// Makes a wide cell lose the start of its first part. The end of a path is more informative than its start.
    pub(crate) fn keeping_end(self) -> Cell {
        Cell { keeps_end: true, ..self }
    }

    fn width(&self) -> usize {
        self.parts.iter().map(|(_, text)| text.width()).sum()
    }

    /// Renders the parts with their styles, truncated to `width` columns.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut free = width;
        let mut remaining = self.width();
        let mut rendered = String::new();
        if self.keeps_end
            && remaining > width
            && let Some(((style, first), rest)) = self.parts.split_first()
        {
            let rest_width = remaining - first.width();
            let fitted = truncate_start(first, width.saturating_sub(rest_width));
            let rest = Cell { parts: rest.to_vec(), keeps_end: false };
            return paint(*style, &fitted) + &rest.render(width.min(rest_width));
        }
        for (style, text) in &self.parts {
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

/// The rank of a column that only decorates: it is omitted before any other column is cut.
pub(crate) const DECORATION: u8 = u8::MAX;
/// The width to which the shrinking column shrinks before other columns are omitted.
const COMFORTABLE_WIDTH: usize = 20;
/// The width to which the shrinking column shrinks if no more columns can be omitted.
const MIN_WIDTH: usize = 12;

/// A column of a table.
#[derive(Debug)]
struct Column {
    head: Cow<'static, str>,
    align: Align,
    max_width: usize,
    /// Columns of a higher rank are omitted first if the screen is narrow. 0: never.
    rank: u8,
}

/// A table with headings. Columns in which every cell is empty are omitted.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
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

    /// Adds a column with a maximum width on a screen. A column of width 0 is hidden.
    pub(crate) fn column(
        mut self,
        head: impl Into<Cow<'static, str>>,
        align: Align,
        max_width: usize,
    ) -> Table {
        self.columns.push(Column { head: head.into(), align, max_width, rank: 0 });
        self
    }

    /// Makes the last added column shrink if the table is wider than the screen.
    pub(crate) fn shrinking(mut self) -> Table {
        self.shrinking = self.columns.len().checked_sub(1);
        self
    }

    /// Omits the last added column if the screen is too narrow, before columns of a lower rank.
    pub(crate) fn omitted_at(mut self, rank: u8) -> Table {
        if let Some(column) = self.columns.last_mut() {
            column.rank = rank;
        }
        self
    }

    /// Adds a row, with at most one cell per column.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Prints the table, or nothing if it has no rows. Prints no heading if all headings are empty.
    ///
    /// If the table is wider than the screen, decorations are omitted, one column shrinks, and then columns are omitted by
    /// rank. In a file or a pipe the table has its full width.
    pub(crate) fn print(&self, out: &mut Out) -> Result<(), CliError> {
        self.render(out.table_width()).iter().try_for_each(|line| out.line(line))
    }

    /// Renders the table as lines of at most `width` columns, if possible. `None` is no limit.
    pub(crate) fn render(&self, width: Option<usize>) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let widths = self.fit_widths(width);
        let mut lines = Vec::with_capacity(self.rows.len() + 1);
        if self.columns.iter().any(|column| !column.head.is_empty()) {
            let heads: Vec<Cell> =
                self.columns.iter().map(|column| Cell::new(QUIET, &*column.head)).collect();
            lines.push(self.render_row(&heads, &widths));
        }
        lines.extend(self.rows.iter().map(|row| self.render_row(row, &widths)));
        lines
    }

    /// Returns the width of each column. Omitted columns have width 0.
    fn fit_widths(&self, screen_width: Option<usize>) -> Vec<usize> {
        let natural_width = |(idx, column): (usize, &Column)| {
            let widest = self.rows.iter().filter_map(|row| row.get(idx)).map(Cell::width).max().unwrap_or(0);
            let width = if widest == 0 { 0 } else { widest.max(column.head.width()) };
            let is_capped = screen_width.is_some() || column.max_width == 0;
            if is_capped { width.min(column.max_width) } else { width }
        };
        let mut widths: Vec<usize> = self.columns.iter().enumerate().map(natural_width).collect();
        let Some(screen_width) = screen_width else { return widths };
        let excess = |widths: &[usize]| {
            let gaps = widths.iter().filter(|&&width| width > 0).count().saturating_sub(1) * 2;
            (self.indent + gaps + widths.iter().sum::<usize>()).saturating_sub(screen_width)
        };
        let next_omitted = |widths: &[usize], min_rank: u8| {
            let candidates = (0..widths.len()).filter(|&idx| widths[idx] > 0);
            candidates
                .filter(|&idx| self.columns[idx].rank >= min_rank)
                .max_by_key(|&idx| self.columns[idx].rank)
        };
        while excess(&widths) > 0
            && let Some(idx) = next_omitted(&widths, DECORATION)
        {
            widths[idx] = 0;
        }
        let last_left_aligned =
            || (0..widths.len()).rfind(|&idx| self.columns[idx].align == Align::Left && widths[idx] > 0);
        let Some(shrinking) = self.shrinking.or_else(last_left_aligned) else { return widths };
        let natural = widths[shrinking];
        let shrink_to = |widths: &mut [usize], min_width: usize| {
            let excess = excess(widths);
            widths[shrinking] = natural.saturating_sub(excess).max(min_width.min(natural));
        };
        shrink_to(&mut widths, COMFORTABLE_WIDTH);
        while excess(&widths) > 0
            && let Some(idx) = next_omitted(&widths, 1)
        {
            widths[idx] = 0;
            widths[shrinking] = natural;
            shrink_to(&mut widths, COMFORTABLE_WIDTH);
        }
        widths[shrinking] = natural;
        let min_width =
            if excess(&widths) + COMFORTABLE_WIDTH > natural { MIN_WIDTH } else { COMFORTABLE_WIDTH };
        shrink_to(&mut widths, min_width);
        widths
    }

    fn render_row(&self, row: &[Cell], widths: &[usize]) -> String {
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
            if self.columns[idx].align == Align::Right {
                pending_spaces += padding;
            }
            if !text.is_empty() {
                line.push_str(&" ".repeat(pending_spaces));
                line.push_str(&text);
                pending_spaces = 0;
            }
            pending_spaces += 2 + if self.columns[idx].align == Align::Left { padding } else { 0 };
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::{Align, Cell, PLAIN, Table, truncate_start, truncate_to_width};
    use anstream::adapter::strip_str;

    fn render(table: &Table, width: Option<usize>) -> Vec<String> {
        table.render(width).iter().map(|line| strip_str(line).to_string()).collect()
    }

    #[test]
    fn narrow_tables_lose_decorations_then_width_then_columns_by_rank() {
        let mut table = Table::new(0)
            .column("name", Align::Left, 60)
            .shrinking()
            .column("calls", Align::Right, 9)
            .omitted_at(1)
            .column("errors", Align::Right, 9)
            .omitted_at(2)
            .column("", Align::Left, 12)
            .omitted_at(super::DECORATION);
        let name = "a name that takes forty columns in all..";
        table.row(vec![name.into(), "123".into(), "4".into(), "████████████".into()]);
        let columns = |width| render(&table, width).remove(1);
        assert_eq!(columns(Some(80)), format!("{name}    123       4  ████████████"));
        assert_eq!(
            columns(Some(60)),
            format!("{name}    123       4"),
            "bars are omitted before names are cut"
        );
        assert_eq!(columns(Some(40)), "a name that takes forty …    123       4");
        assert_eq!(columns(Some(30)), "a name that takes fort…    123");
        assert_eq!(columns(Some(24)), "a name that takes forty…");
        assert_eq!(columns(Some(10)), "a name that…");
        assert_eq!(columns(None), columns(Some(80)));
        let path = Cell::new(PLAIN, "/home/ada/tides").keeping_end();
        assert_eq!(strip_str(&path.render(9)).to_string(), "…da/tides");
    }

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
