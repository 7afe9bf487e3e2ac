//! Draws a bar chart of the context sizes along a path.

use crate::cli::figures::format_tokens;
use crate::cli::style::{MARK, PLAIN, QUIET, paint};

/// The height of the chart, in rows.
const HEIGHT: usize = 8;
/// The width of the labels and the axis.
const MARGIN: usize = 8;
/// The maximum width of a column.
const MAX_COLUMN_WIDTH: usize = 4;

/// Blocks by height, in eighths of a row.
const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A context size to draw, in tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) size: u64,
    /// Whether it is an estimate, which is drawn with another block.
    pub(super) estimated: bool,
    /// The symbol of a drop before it.
    pub(super) symbol: Option<char>,
    /// The turn that begins with it.
    pub(super) turn: Option<u32>,
}

/// Draws the columns as lines of at most `width` columns, with drop symbols and turn numbers below them.
pub(super) fn draw_chart(columns: &[Column], width: usize) -> Vec<String> {
    let peak = columns.iter().map(|column| column.size).max().unwrap_or(0).max(1);
    let columns = fit_columns(columns, width.saturating_sub(MARGIN).max(1));
    let mut lines = Vec::new();
    for row in (0..HEIGHT).rev() {
        let label = match row {
            _ if row == HEIGHT - 1 => format_tokens(peak),
            _ if row == HEIGHT / 2 - 1 => format_tokens(peak / 2),
            _ => String::new(),
        };
        let axis = if label.is_empty() { "│" } else { "┤" };
        let blocks: String = columns.iter().map(|column| select_block_char(column, peak, row)).collect();
        lines.push(format!(
            "{} {}",
            paint(QUIET, &format!("{label:>6} {axis}")),
            paint(PLAIN, blocks.trim_end())
        ));
    }
    let bottom = paint(QUIET, &format!("     0 ┼{}", "─".repeat(columns.len() + 1)));
    lines.push(bottom);
    let symbols: String = columns.iter().map(|column| column.symbol.unwrap_or(' ')).collect();
    if !symbols.trim().is_empty() {
        lines.push(format!("{}{}", " ".repeat(MARGIN + 1), paint(MARK, symbols.trim_end())));
    }
    lines.push(format!("{}{}", " ".repeat(MARGIN + 1), paint(QUIET, draw_turn_labels(&columns).trim_end())));
    lines
}

/// Scales the columns to less than `max_width`: repeats a size up to 4 times, or takes the largest of several.
fn fit_columns(columns: &[Column], max_width: usize) -> Vec<Column> {
    let width = max_width.saturating_sub(1).clamp(1, (columns.len() * MAX_COLUMN_WIDTH).max(1));
    // The index of the first size in a column. If a size fills several columns, they share it.
    let first = |idx: usize| idx * columns.len() / width;
    let merge = |idx: usize| {
        let is_first = idx == 0 || first(idx - 1) < first(idx);
        let merged = &columns[first(idx)..first(idx + 1).max(first(idx) + 1).min(columns.len())];
        Column {
            size: merged.iter().map(|column| column.size).max().unwrap_or(0),
            estimated: merged.iter().all(|column| column.estimated),
            // Compactions are rare and take precedence over other drops.
            symbol: merged.iter().filter_map(|column| column.symbol).max().filter(|_| is_first),
            turn: merged.iter().find_map(|column| column.turn).filter(|_| is_first),
        }
    };
    if columns.is_empty() { Vec::new() } else { (0..width).map(merge).collect() }
}

/// Returns the block character of a column in a row. Row 0 is the lowest; `peak` is the largest size.
fn select_block_char(column: &Column, peak: u64, row: usize) -> char {
    let max_eighths = (HEIGHT * 8) as u128;
    let eighths =
        (u128::from(column.size) * max_eighths).div_ceil(u128::from(peak)).min(max_eighths) as usize;
    let row_eighths = eighths.saturating_sub(row * 8).min(8);
    match row_eighths {
        0 => ' ',
        _ if column.estimated => '░',
        eighths => STEPS[eighths],
    }
}

/// Returns the line of turn numbers below the columns, as many as fit.
fn draw_turn_labels(columns: &[Column]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (idx, column) in columns.iter().enumerate() {
        let Some(turn) = column.turn.filter(|_| idx >= used) else { continue };
        let name = format!("t{turn}");
        if idx > 0 && idx + name.len() > columns.len() {
            break;
        }
        line.push_str(&" ".repeat(idx - line.len()));
        line.push_str(&name);
        used = idx + name.len() + 2;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Column, draw_chart};
    use anstream::adapter::strip_str;

    fn column(size: u64) -> Column {
        Column { size, estimated: false, symbol: None, turn: None }
    }

    fn render(columns: &[Column], width: usize) -> String {
        draw_chart(columns, width)
            .iter()
            .map(|line| strip_str(line).to_string())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn sizes_symbols_and_turns_are_aligned() {
        let mut columns = [1000, 30_000, 60_000, 80_000, 20_000, 22_000].map(column);
        columns[0].turn = Some(1);
        columns[3].turn = Some(2);
        columns[4].symbol = Some('▼');
        columns[5].estimated = true;
        insta::assert_snapshot!(render(&columns, 27), @"
        80.0k ┤          ███
              │          ███
              │       ██████
              │       ██████
        40.0k ┤       ██████
              │    █████████   ░░░
              │    ████████████░░░
              │ ▁▁▁████████████░░░
            0 ┼───────────────────
                            ▼
                t1       t2
        ");
    }

    #[test]
    fn charts_are_never_wider_than_the_screen() {
        let many: Vec<Column> =
            (0..1000).map(|idx| Column { turn: Some(idx as u32), ..column(idx) }).collect();
        for (count, width) in
            [(0, 80), (1, 1), (1, 80), (3, 10), (70, 80), (71, 80), (72, 80), (1000, 80), (1000, 9)]
        {
            let widest = render(&many[..count], width).lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.max(super::MARGIN + 3)), "{count} in {width}: {widest:?}");
        }
    }
}
