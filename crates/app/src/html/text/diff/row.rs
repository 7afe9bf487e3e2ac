//! The rows of a drawn change.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::text::clean;

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// With more lines on either side the change is not looked for: all of the old goes, all of the new comes.
const LONGEST: usize = 20_000;

/// Lines of a change that stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The number of its first line before the change.
    pub(crate) old_start: u32,
    /// The number of its first line after the change.
    pub(crate) new_start: u32,
    /// The lines, each with ` `, `-` or `+` before it.
    pub(crate) lines: Vec<String>,
}

/// What a row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Same,
    Removed,
    Added,
    /// So many lines are left out.
    Gap(u32),
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) sign: Sign,
    /// The numbers of the line before and after the change.
    pub(super) old: u32,
    pub(super) new: u32,
    /// The line, cleaned and without its end.
    pub(super) text: String,
}

/// Makes rows of the change from one cleaned text to another.
pub(super) fn compared(old: &str, new: &str) -> Vec<Row> {
    let old = old.lines().collect::<Vec<_>>();
    let new = new.lines().collect::<Vec<_>>();
    let mut rows = Vec::new();
    if old.len() > LONGEST || new.len() > LONGEST {
        put(&mut rows, Sign::Removed, &old, (0, 0));
        put(&mut rows, Sign::Added, &new, (0, 0));
        return rows;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut seen = 0;
    for op in group_diff_ops(ops, AROUND).iter().flatten() {
        let (_, was, is) = op.as_tag_tuple();
        gap(&mut rows, was.start.saturating_sub(seen));
        seen = was.end;
        let at = (was.start, is.start);
        if matches!(op, DiffOp::Equal { .. }) {
            put(&mut rows, Sign::Same, new.get(is).unwrap_or_default(), at);
        } else {
            put(&mut rows, Sign::Removed, old.get(was).unwrap_or_default(), at);
            put(&mut rows, Sign::Added, new.get(is).unwrap_or_default(), at);
        }
    }
    if !rows.is_empty() {
        gap(&mut rows, old.len().saturating_sub(seen));
    }
    rows
}

/// Makes rows of hunks.
pub(super) fn placed(hunks: &[Hunk]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut seen = None;
    for hunk in hunks {
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        if let Some(seen) = seen {
            gap(&mut rows, old.saturating_sub(seen) as usize);
        }
        for line in &hunk.lines {
            let mut rest = line.chars();
            let sign = match rest.next() {
                Some('+') => Sign::Added,
                Some('-') => Sign::Removed,
                // What diffs say about a missing end of line is no line.
                Some('\\') => continue,
                _ => Sign::Same,
            };
            // A return within a line would be drawn as the end of the line.
            let text = clean::text(rest.as_str()).trim_end_matches('\n').replace('\n', "␍");
            rows.push(Row { sign, old, new, text });
            old = old.saturating_add(u32::from(sign != Sign::Added));
            new = new.saturating_add(u32::from(sign != Sign::Removed));
        }
        seen = Some(old);
    }
    rows
}

fn gap(rows: &mut Vec<Row>, lines: usize) {
    if lines > 0 {
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        rows.push(Row { sign: Sign::Gap(lines), old: 0, new: 0, text: String::new() });
    }
}

/// Adds lines of one sign, the first of them at the places `at`, counted from zero.
fn put(rows: &mut Vec<Row>, sign: Sign, lines: &[&str], at: (usize, usize)) {
    let number = |at: usize, by: usize| u32::try_from(at + by + 1).unwrap_or(u32::MAX);
    rows.extend(lines.iter().enumerate().map(|(by, line)| Row {
        sign,
        old: number(at.0, by),
        new: number(at.1, by),
        text: (*line).to_owned(),
    }));
}
