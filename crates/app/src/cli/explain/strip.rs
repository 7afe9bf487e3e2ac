//! A session as a strip, from its first entry to its last: what is loaded of it.

use anstyle::Style;
use rethread_engine::ops::{Explanation, Fate, Verdict};

use super::super::error::CliError;
use super::super::figures::count;
use super::super::out::Out;
use super::super::style::{BAD, GOOD, MARK, PLAIN, QUIET, paint};
use super::super::table::Cell;

/// What a fate looks like, and what it is called.
const LOOKS: [(Fate, char, Style, &str); 4] = [
    (Fate::Loaded, '█', GOOD, "loaded"),
    (Fate::Compacted, '▒', PLAIN, "summed up"),
    (Fate::LeftOut, '▁', MARK, "left out"),
    (Fate::Lost, '·', BAD, "out of reach"),
];
/// Widest strip.
const WIDEST: usize = 80;

/// Draws the strip and says what its signs mean.
pub(super) fn print(explained: &Explanation, verdict: &Verdict, out: &mut Out) -> Result<(), CliError> {
    let fates: Vec<usize> = verdict.fates(explained).into_iter().map(number).collect();
    if fates.is_empty() {
        return Ok(());
    }
    let cells = strip(&fates, out.width().min(WIDEST));
    let drawn: Vec<String> = runs(&cells).iter().map(|(style, text)| paint(*style, text)).collect();
    out.line(&drawn.concat())?;
    for line in legend(verdict, out.width()) {
        out.line(&line)?;
    }
    out.line("")
}

/// Draws a small strip, for a table.
pub(super) fn cell(explained: &Explanation, verdict: &Verdict, width: usize) -> Cell {
    let fates: Vec<usize> = verdict.fates(explained).into_iter().map(number).collect();
    if fates.is_empty() {
        return Cell::default();
    }
    let runs = runs(&strip(&fates, width));
    runs.into_iter().fold(Cell::default(), |cell, (style, text)| cell.and(style, text))
}

/// Says what the signs of all strips mean.
pub(super) fn signs() -> String {
    LOOKS.map(|(_, sign, _, name)| format!("{sign} {name}")).join("   ")
}

/// Unites cells that look the same.
fn runs(cells: &[usize]) -> Vec<(Style, String)> {
    let run = |cells: &[usize]| (LOOKS[cells[0]].2, LOOKS[cells[0]].1.to_string().repeat(cells.len()));
    cells.chunk_by(|a, b| a == b).map(run).collect()
}

/// Says what the signs mean, and how many entries each stands for.
fn legend(verdict: &Verdict, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut used = 0;
    for (fate, sign, style, name) in LOOKS {
        let number = verdict.count(fate);
        if number == 0 {
            continue;
        }
        let text = format!(" {} {name}", count(number as u64));
        let drawn = format!("{}{}", paint(style, &sign.to_string()), paint(QUIET, &text));
        let wide = 1 + text.len();
        match lines.last_mut() {
            Some(line) if used + 3 + wide <= width => {
                *line = format!("{line}   {drawn}");
                used += 3 + wide;
            }
            _ => {
                lines.push(drawn);
                used = wide;
            }
        }
    }
    lines
}

fn number(fate: Fate) -> usize {
    LOOKS.iter().position(|(known, ..)| *known == fate).unwrap_or_default()
}

/// Spreads fates over cells so that each has its share of them, near the place where it occurs; none that occurs is
/// left out where there is room.
fn strip(fates: &[usize], width: usize) -> Vec<usize> {
    let mut owed = [0.0; LOOKS.len()];
    let mut parts = Vec::with_capacity(width);
    let mut cells = Vec::with_capacity(width);
    for k in 0..width {
        let from = k * fates.len() / width;
        let slice = &fates[from..((k + 1) * fates.len() / width).max(from + 1)];
        let mut part = [0.0; LOOKS.len()];
        slice.iter().for_each(|&fate| part[fate] += 1.0 / slice.len() as f64);
        for (owed, part) in owed.iter_mut().zip(part) {
            *owed += part;
        }
        let most = (0..LOOKS.len()).fold(0, |most, fate| if owed[fate] > owed[most] { fate } else { most });
        owed[most] -= 1.0;
        parts.push(part);
        cells.push(most);
    }
    (0..LOOKS.len()).filter(|fate| fates.contains(fate)).for_each(|fate| {
        let most = (0..width).fold(0, |most, k| if parts[k][fate] > parts[most][fate] { k } else { most });
        if !cells.contains(&fate) {
            cells[most] = fate;
        }
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::strip;

    fn drawn(fates: &str, width: usize) -> String {
        let fates: Vec<usize> = fates.bytes().map(|digit| usize::from(digit - b'0')).collect();
        strip(&fates, width).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_fate_has_its_share_near_its_place() {
        assert_eq!(drawn("0033", 8), "00003333");
        assert_eq!(drawn("0033", 2), "03");
        assert_eq!(drawn("0303030303030303", 4), "0303");
        assert_eq!(drawn("0003000300030003", 4), "0030");
    }

    #[test]
    fn whatever_occurs_is_seen() {
        assert_eq!(drawn(&format!("{}1{}", "3".repeat(900), "3".repeat(100)), 10), "3333333331");
    }
}
