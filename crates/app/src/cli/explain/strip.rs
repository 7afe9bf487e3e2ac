//! Draws a session as a strip of characters that shows which entries are loaded, in file order.

use rethread_engine::ops::explain::{ClientVerdict, EntryFate, Explanation};

use crate::cli::error::CliError;
use crate::cli::figures::group_digits;
use crate::cli::out::Out;
use crate::cli::style::{BAD, GOOD, MARK, PLAIN, QUIET, paint};
use crate::cli::table::Cell;
use crate::config::TextRole;

/// The symbol, style and name of each fate.
const LEGEND: [(EntryFate, char, TextRole, &str); 4] = [
    (EntryFate::Loaded, '█', GOOD, "loaded"),
    (EntryFate::Compacted, '▒', PLAIN, "compacted"),
    (EntryFate::Omitted, '▁', MARK, "omitted"),
    (EntryFate::Lost, '·', BAD, "unreachable"),
];
/// The maximum width of a strip, in columns.
const MAX_WIDTH: usize = 80;

/// Prints the strip and its legend. Prints nothing if the session has no entries.
pub(super) fn print(
    explanation: &Explanation,
    verdict: &ClientVerdict,
    out: &mut Out,
) -> Result<(), CliError> {
    let fates: Vec<usize> = verdict.entry_fates(explanation).into_iter().map(find_fate_index).collect();
    if fates.is_empty() {
        return Ok(());
    }
    let cells = build_cells(&fates, out.width().min(MAX_WIDTH));
    let painted: Vec<String> = join_cells(&cells).iter().map(|(style, text)| paint(*style, text)).collect();
    out.line(&painted.concat())?;
    for line in render_counted_legend(verdict, out.width()) {
        out.line(&line)?;
    }
    out.line("")
}

/// Builds a table cell with a strip of `width` columns. It is empty if the session has no entries.
pub(super) fn build_strip_cell(explanation: &Explanation, verdict: &ClientVerdict, width: usize) -> Cell {
    let fates: Vec<usize> = verdict.entry_fates(explanation).into_iter().map(find_fate_index).collect();
    if fates.is_empty() {
        return Cell::default();
    }
    let runs = join_cells(&build_cells(&fates, width));
    runs.into_iter().fold(Cell::default(), |cell, (style, text)| cell.and(style, text))
}

/// Returns the legend of all strips, without counts, on one line.
pub(super) fn format_legend() -> String {
    LEGEND.map(|(_, symbol, _, name)| format!("{symbol} {name}")).join("   ")
}

/// Joins adjacent equal cells into runs of symbols. Cells are indices into [`LEGEND`].
fn join_cells(cells: &[usize]) -> Vec<(TextRole, String)> {
    let run = |cells: &[usize]| (LEGEND[cells[0]].2, LEGEND[cells[0]].1.to_string().repeat(cells.len()));
    cells.chunk_by(|a, b| a == b).map(run).collect()
}

/// Renders the legend with the number of entries per symbol, in lines of at most `width` columns.
fn render_counted_legend(verdict: &ClientVerdict, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut used = 0;
    for (fate, symbol, style, name) in LEGEND {
        let count = verdict.count(fate);
        if count == 0 {
            continue;
        }
        let text = format!(" {} {name}", group_digits(count as u64));
        let painted = format!("{}{}", paint(style, &symbol.to_string()), paint(QUIET, &text));
        let item_width = 1 + text.len();
        match lines.last_mut() {
            Some(line) if used + 3 + item_width <= width => {
                *line = format!("{line}   {painted}");
                used += 3 + item_width;
            }
            _ => {
                lines.push(painted);
                used = item_width;
            }
        }
    }
    lines
}

/// Returns the index of a fate in [`LEGEND`].
fn find_fate_index(fate: EntryFate) -> usize {
    LEGEND.iter().position(|(listed, ..)| *listed == fate).unwrap_or_default()
}

/// Distributes fates over `width` cells in proportion, close to their positions (error diffusion). Every fate that
/// occurs gets a cell, if there are enough cells. Fates and cells are indices into [`LEGEND`].
fn build_cells(fates: &[usize], width: usize) -> Vec<usize> {
    let mut error = [0.0; LEGEND.len()];
    let mut shares_by_cell = Vec::with_capacity(width);
    let mut cells = Vec::with_capacity(width);
    for idx in 0..width {
        let start = idx * fates.len() / width;
        let slice = &fates[start..((idx + 1) * fates.len() / width).max(start + 1)];
        let mut shares = [0.0; LEGEND.len()];
        slice.iter().for_each(|&fate| shares[fate] += 1.0 / slice.len() as f64);
        for (error, share) in error.iter_mut().zip(shares) {
            *error += share;
        }
        let most =
            (0..LEGEND.len()).fold(0, |most, fate| if error[fate] > error[most] { fate } else { most });
        error[most] -= 1.0;
        shares_by_cell.push(shares);
        cells.push(most);
    }
    (0..LEGEND.len()).filter(|fate| fates.contains(fate)).for_each(|fate| {
        let most = (0..width).fold(0, |most, idx| {
            if shares_by_cell[idx][fate] > shares_by_cell[most][fate] { idx } else { most }
        });
        if !cells.contains(&fate) {
            cells[most] = fate;
        }
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::build_cells;

    fn draw(fates: &str, width: usize) -> String {
        let fates: Vec<usize> = fates.bytes().map(|digit| usize::from(digit - b'0')).collect();
        build_cells(&fates, width).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fates_are_drawn_in_proportion() {
        assert_eq!(draw("0033", 8), "00003333");
        assert_eq!(draw("0033", 2), "03");
        assert_eq!(draw("0303030303030303", 4), "0303");
        assert_eq!(draw("0003000300030003", 4), "0030");
    }

    #[test]
    fn every_fate_that_occurs_is_shown() {
        assert_eq!(draw(&format!("{}1{}", "3".repeat(900), "3".repeat(100)), 10), "3333333331");
    }
}
