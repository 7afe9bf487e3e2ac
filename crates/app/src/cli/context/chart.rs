//! Sizes along a way as columns of blocks.

use super::super::figures::tokens;
use super::super::style::{MARK, PLAIN, QUIET, paint};

/// How high the chart is, in rows.
const HEIGHT: usize = 8;
/// Columns before the chart: the number of a row and the axis.
const MARGIN: usize = 8;
/// How wide a column is at most.
const WIDEST: usize = 4;

const STEPS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A size to draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) size: u64,
    /// Whether it is only judged: drawn with another block.
    pub(super) judged: bool,
    /// A sign for what happened before it.
    pub(super) sign: Option<char>,
    /// The number of the turn that begins with it.
    pub(super) turn: Option<u32>,
}

/// Draws the columns, at most `width` wide, with what is below them.
pub(super) fn draw(columns: &[Column], width: usize) -> Vec<String> {
    let peak = columns.iter().map(|column| column.size).max().unwrap_or(0).max(1);
    let columns = fitted(columns, width.saturating_sub(MARGIN).max(1));
    let mut lines = Vec::new();
    for row in (0..HEIGHT).rev() {
        let label = match row {
            _ if row == HEIGHT - 1 => tokens(peak),
            _ if row == HEIGHT / 2 - 1 => tokens(peak / 2),
            _ => String::new(),
        };
        let axis = if label.is_empty() { "│" } else { "┤" };
        let blocks: String = columns.iter().map(|column| block(column, peak, row)).collect();
        lines.push(format!(
            "{} {}",
            paint(QUIET, &format!("{label:>6} {axis}")),
            paint(PLAIN, blocks.trim_end())
        ));
    }
    let floor = paint(QUIET, &format!("     0 ┼{}", "─".repeat(columns.len() + 1)));
    lines.push(floor);
    let signs: String = columns.iter().map(|column| column.sign.unwrap_or(' ')).collect();
    if !signs.trim().is_empty() {
        lines.push(format!("{}{}", " ".repeat(MARGIN + 1), paint(MARK, signs.trim_end())));
    }
    lines.push(format!("{}{}", " ".repeat(MARGIN + 1), paint(QUIET, turns(&columns).trim_end())));
    lines
}

/// Makes as many columns as there is room for: one size several times, or the largest of several.
fn fitted(columns: &[Column], room: usize) -> Vec<Column> {
    let wide = room.saturating_sub(1).clamp(1, (columns.len() * WIDEST).max(1));
    // The first of the sizes in a column; where one fills several columns, all of these begin with it.
    let first = |k: usize| k * columns.len() / wide;
    let unite = |k: usize| {
        let begins = k == 0 || first(k - 1) < first(k);
        let some = &columns[first(k)..first(k + 1).max(first(k) + 1).min(columns.len())];
        Column {
            size: some.iter().map(|column| column.size).max().unwrap_or(0),
            judged: some.iter().all(|column| column.judged),
            // A compaction, of which there are few, is shown before other drops.
            sign: some.iter().filter_map(|column| column.sign).max().filter(|_| begins),
            turn: some.iter().find_map(|column| column.turn).filter(|_| begins),
        }
    };
    if columns.is_empty() { Vec::new() } else { (0..wide).map(unite).collect() }
}

/// Says what a column shows in a row, counted from below.
fn block(column: &Column, peak: u64, row: usize) -> char {
    let most = (HEIGHT * 8) as u128;
    let eighths = (u128::from(column.size) * most).div_ceil(u128::from(peak)).min(most) as usize;
    let here = eighths.saturating_sub(row * 8).min(8);
    match here {
        0 => ' ',
        _ if column.judged => '░',
        here => STEPS[here],
    }
}

/// Writes the numbers of turns below the columns they begin with, as many as have room.
fn turns(columns: &[Column]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (k, column) in columns.iter().enumerate() {
        let Some(turn) = column.turn.filter(|_| k >= used) else { continue };
        let name = format!("t{turn}");
        if k > 0 && k + name.len() > columns.len() {
            break;
        }
        line.push_str(&" ".repeat(k - line.len()));
        line.push_str(&name);
        used = k + name.len() + 2;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Column, draw};
    use anstream::adapter::strip_str;

    fn column(size: u64) -> Column {
        Column { size, judged: false, sign: None, turn: None }
    }

    fn drawn(columns: &[Column], width: usize) -> String {
        draw(columns, width).iter().map(|line| strip_str(line).to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn sizes_signs_and_turns_stand_below_each_other() {
        let mut columns = [1000, 30_000, 60_000, 80_000, 20_000, 22_000].map(column);
        columns[0].turn = Some(1);
        columns[3].turn = Some(2);
        columns[4].sign = Some('▼');
        columns[5].judged = true;
        insta::assert_snapshot!(drawn(&columns, 27), @"
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
    fn no_drawing_is_wider_than_the_screen() {
        let many: Vec<Column> = (0..1000).map(|k| Column { turn: Some(k as u32), ..column(k) }).collect();
        for (count, width) in
            [(0, 80), (1, 1), (1, 80), (3, 10), (70, 80), (71, 80), (72, 80), (1000, 80), (1000, 9)]
        {
            let widest = drawn(&many[..count], width).lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width.max(super::MARGIN + 3)), "{count} in {width}: {widest:?}");
        }
    }
}
