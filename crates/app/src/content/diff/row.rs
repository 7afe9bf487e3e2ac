//! The rows of a diff.

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::text::clean;

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum number of lines on either side that are compared. Longer texts are shown as removed and added completely.
const MAX_LINES: usize = 20_000;

/// Consecutive lines of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The number of the first line before the change.
    pub(crate) old_start: u32,
    /// The number of the first line after the change.
    pub(crate) new_start: u32,
    /// The lines, each prefixed with ` `, `-` or `+`.
    pub(crate) lines: Vec<String>,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Same,
    Removed,
    Added,
    /// Omitted lines, with their number.
    Gap(u32),
}

/// A row of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    /// The line number before the change, from 1. Not meaningful for added rows and gaps.
    pub(crate) old: u32,
    /// The line number after the change, from 1. Not meaningful for removed rows and gaps.
    pub(crate) new: u32,
    /// The cleaned line without its line break.
    pub(crate) text: String,
}

/// Compares two cleaned texts by lines. Returns the changed lines with [`CONTEXT_LINES`] around them, or no rows if
/// all lines are equal.
pub(crate) fn rows_from_texts(old: &str, new: &str) -> Vec<Row> {
    let old = old.lines().collect::<Vec<_>>();
    let new = new.lines().collect::<Vec<_>>();
    let mut rows = Vec::new();
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        push_lines(&mut rows, RowKind::Removed, &old, (0, 0));
        push_lines(&mut rows, RowKind::Added, &new, (0, 0));
        return rows;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut seen = 0;
    for op in group_diff_ops(ops, CONTEXT_LINES).iter().flatten() {
        let (_, old_range, new_range) = op.as_tag_tuple();
        push_gap(&mut rows, old_range.start.saturating_sub(seen));
        seen = old_range.end;
        let start = (old_range.start, new_range.start);
        if matches!(op, DiffOp::Equal { .. }) {
            push_lines(&mut rows, RowKind::Same, new.get(new_range).unwrap_or_default(), start);
        } else {
            push_lines(&mut rows, RowKind::Removed, old.get(old_range).unwrap_or_default(), start);
            push_lines(&mut rows, RowKind::Added, new.get(new_range).unwrap_or_default(), start);
        }
    }
    if !rows.is_empty() {
        push_gap(&mut rows, old.len().saturating_sub(seen));
    }
    rows
}

/// Converts hunks to rows, with a gap between two hunks.
pub(crate) fn rows_from_hunks(hunks: &[Hunk]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut seen = None;
    for hunk in hunks {
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        if let Some(seen) = seen {
            push_gap(&mut rows, old.saturating_sub(seen) as usize);
        }
        for line in &hunk.lines {
            let mut rest = line.chars();
            let kind = match rest.next() {
                Some('+') => RowKind::Added,
                Some('-') => RowKind::Removed,
                // `\ No newline at end of file` is not a line of the file.
                Some('\\') => continue,
                _ => RowKind::Same,
            };
            // A carriage return within a line would be rendered as a line break.
            let text = clean::text(rest.as_str()).trim_end_matches('\n').replace('\n', "␍");
            rows.push(Row { kind, old, new, text });
            old = old.saturating_add(u32::from(kind != RowKind::Added));
            new = new.saturating_add(u32::from(kind != RowKind::Removed));
        }
        seen = Some(old);
    }
    rows
}

/// Adds a gap of this many lines, unless it is empty.
fn push_gap(rows: &mut Vec<Row>, lines: usize) {
    if lines > 0 {
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        rows.push(Row { kind: RowKind::Gap(lines), old: 0, new: 0, text: String::new() });
    }
}

/// Adds lines of one kind. `start` contains the zero-based old and new numbers of the first line.
fn push_lines(rows: &mut Vec<Row>, kind: RowKind, lines: &[&str], start: (usize, usize)) {
    let number = |start: usize, idx: usize| u32::try_from(start + idx + 1).unwrap_or(u32::MAX);
    rows.extend(lines.iter().enumerate().map(|(idx, line)| Row {
        kind,
        old: number(start.0, idx),
        new: number(start.1, idx),
        text: (*line).to_owned(),
    }));
}
